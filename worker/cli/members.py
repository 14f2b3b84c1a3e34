"""``perdure memories members``: who belongs to a team or an agent. Anyone who can run it is an administrator."""

from typing import Annotated

import typer

from perdure.documents import validated
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.memberships import MemberRequest
from worker.cli.reach import gateway, person
from worker.cli.tasks import AsJson
from worker.terminal.output import out, say, show_json

Owner = Annotated[str, typer.Argument(help="team:NAME or agent:NAME.")]
Member = Annotated[str, typer.Argument(help="The user's id.")]


async def add(of: Owner, user: Member, *, as_json: AsJson = False) -> None:
    """Let a user read and write the memory of a team or an agent. Adding the first member creates it.

    Example: perdure memories members add team:ops ada
    """
    await _set(of, user, belongs=True, as_json=as_json)


async def remove(of: Owner, user: Member, *, as_json: AsJson = False) -> None:
    """Remove a user from a team or an agent, for their running tasks too. What they wrote there stays.

    Example: perdure memories members remove team:ops ada
    """
    await _set(of, user, belongs=False, as_json=as_json)


async def list_(of: Owner, *, as_json: AsJson = False) -> None:
    """List who belongs to a team or an agent, since when, and who added them.

    Example: perdure memories members list team:ops
    """
    async with gateway(Settings()) as installation:
        found = await installation.members(of, by=person())
    if as_json:
        show_json([one.model_dump(mode="json", include={"user_id", "at", "by"}) for one in found])
        return
    for one in found:
        by = f"{one.by.kind.value} {one.by.id}".strip()
        out.print(f"{one.user_id}  since {one.at:%Y-%m-%d %H:%M:%S}, added by {by}", markup=False)
    say(counted(len(found), "member"))


async def _set(of: str, user: str, *, belongs: bool, as_json: bool) -> None:
    request = validated(MemberRequest, {"of": of, "user_id": user, "belongs": belongs}, "")
    done = await gateway(Settings()).set_member(request, by=person())
    if as_json:
        show_json({"of": of, "user_id": user, "belongs": done.belongs})
    else:
        say(f"{user} {'belongs' if done.belongs else 'does not belong'} to {of}")
