"""``perdure erase``: remove everything that is kept of a user, a team or an agent, and prove it."""

import sys
from typing import Annotated

import typer

from perdure.documents import validated
from perdure.errors import InvalidInput
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.erasures import ErasureReceipt
from perdure.values.requests import EraseRequest
from worker.cli.memory import Of, User
from worker.cli.reach import gateway, person
from worker.cli.tasks import AsJson
from worker.exit_status import Exit
from worker.terminal.output import out, say, show_json


async def erase(
    *,
    user: User,
    of: Of = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation; this cannot be undone.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase everything that is kept of a user: memories, episodes, running tasks, histories. It cannot be undone.

    With --of, erase what is kept of a team or an agent that the user belongs to, and its list of members. What the
    members have of their own stays.

    Example: perdure erase --user ada
    """
    if not user.strip():
        raise InvalidInput("--user", "is empty", fix="say whose memory")
    if not yes:
        _confirm(user, of)
    request = validated(EraseRequest, {"user_id": user, "of": of}, "")
    receipt = await gateway(Settings()).erase(request, by=person())
    if as_json:
        show_json(receipt)
    else:
        show(receipt)
    if not receipt.proved:
        raise typer.Exit(Exit.FAILED)


def show(receipt: ErasureReceipt) -> None:
    """Print a receipt for a person."""
    entries, runs = counted(receipt.entries, "entry"), counted(receipt.executions, "workflow run")
    keys = counted(receipt.keys, "Redis key")
    if receipt.earlier:
        say("Nothing was erased: the user is not a member of a team or agent with this name. The earlier receipt:")
    out.print(f"erased {entries}, {keys} and {runs}; epoch {receipt.epoch}, {receipt.at:%Y-%m-%d %H:%M:%S} UTC")
    out.print(
        "proved: every store was asked again and has nothing left" if receipt.proved else "NOT PROVED", markup=False
    )
    say("not reached:")
    for one in receipt.unreachable:
        say(f"  {one}")


def _confirm(user: str, of: str | None) -> None:
    name = "owner" if of else "user id"
    if not sys.stdin.isatty():
        raise InvalidInput("--yes", "is missing", fix=f"add --yes, or run it in a terminal and type the {name}")
    if typer.prompt(f"This cannot be undone. Type the {name} to erase it") != (of or user):
        raise InvalidInput("--of" if of else "--user", "is not what you typed; nothing was erased")
