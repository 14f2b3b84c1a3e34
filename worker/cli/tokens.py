"""``perdure tokens``: by what somebody may use the services. Anyone who can run it is an administrator."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from perdure.documents import validated
from perdure.durations import duration_of, lasting
from perdure.errors import InvalidInput
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.access_tokens import AccessToken, TokenRequest, TokenScope
from worker.cli.reach import gateway, person
from worker.cli.tasks import AsJson
from worker.terminal.output import out, say, show_json

_SHOWN = {"id", "name", "scopes", "user_id", "person", "created_at", "created_by", "expires_at"}

_SCOPES = (
    "What it permits; may be repeated. read: recall, look at memories and skills; write: remember, correct, forget; "
    "tasks: start, follow and steer tasks; operate: the state and the metrics; erase: erase a user, forget by "
    "the rules and undo that."
)


async def create(
    name: Annotated[str, typer.Argument(help="What its holder is called, in the audit too: billing, ada-laptop.")],
    *,
    scope: Annotated[list[TokenScope], typer.Option(help=_SCOPES, show_default=False)],
    user: Annotated[
        str | None, typer.Option("--user", help="The one user whose memory and tasks it reaches.", show_default=False)
    ] = None,
    all_users: Annotated[
        bool, typer.Option("--all-users", help="It reaches everybody's, and each request names the user.")
    ] = False,
    person_: Annotated[
        bool, typer.Option("--person", help="A person holds it, and so may answer questions and approve memories.")
    ] = False,
    lasts: Annotated[
        str, typer.Option(help="How long it counts: 12h, 90d; or 'ever', until it is revoked.", show_default=True)
    ] = "90d",
    as_json: AsJson = False,
) -> None:
    """Make a token, and show it: once, as only a digest of it is kept.

    Example: perdure tokens create billing --user ada --scope read --scope write
    """
    if bool(user) == all_users:
        problem = "is given together with --all-users" if user else "is missing"
        raise InvalidInput("--user", problem, fix="give the one user whom it is for, or --all-users")
    try:
        expires = None if lasts == "ever" else datetime.now(UTC) + duration_of(lasting(lasts))
    except (ValueError, OverflowError) as error:
        raise InvalidInput("--lasts", str(error)) from None
    asked = {"name": name, "scopes": scope, "user_id": user, "person": person_, "expires_at": expires}
    request = validated(TokenRequest, asked, "")
    async with gateway(Settings()) as installation:
        made = await installation.create_token(request, by=person())
    if as_json:
        show_json({"text": made.text, "token": made.token.model_dump(mode="json", include=_SHOWN)})
        return
    out.print(made.text, markup=False)
    say(f"{_told(made.token)}; it is not shown again")


async def list_(*, as_json: AsJson = False) -> None:
    """List all tokens, without what would let somebody in.

    Example: perdure tokens list
    """
    async with gateway(Settings()) as installation:
        found = await installation.tokens(by=person())
    if as_json:
        show_json([one.model_dump(mode="json", include=_SHOWN) for one in found])
        return
    for one in found:
        out.print(_told(one), markup=False)
    say(counted(len(found), "token"))


async def revoke(
    identifier: Annotated[str, typer.Argument(help="The token's id, as 'tokens list' shows it.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Revoke a token: the next request with it is refused.

    Example: perdure tokens revoke 4a1f77c0
    """
    async with gateway(Settings()) as installation:
        await installation.revoke_token(identifier, by=person())
    if as_json:
        show_json({"revoked": identifier})
    else:
        out.print(f"revoked {identifier}", markup=False)


def _told(token: AccessToken) -> str:
    whose = f"for the user {token.user_id}" if token.user_id else "for all users"
    end = f"until {token.expires_at:%Y-%m-%d %H:%M:%S %Z}" if token.expires_at else "until it is revoked"
    expired = " (expired)" if token.is_expired(datetime.now(UTC)) else ""
    held = ", held by a person" if token.person else ""
    return f"{token.id}  {token.name}: {', '.join(token.scopes)}, {whose}{held}, {end}{expired}"
