"""``perdure memories held``, ``approve`` and ``reject``: what waits for a person before it is believed."""

from typing import Annotated

import typer

from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.holds import Decided
from perdure.values.jobs import Fate
from worker.cli.memories import Because
from worker.cli.memory import Of, User
from worker.cli.reach import gateway, person
from worker.cli.tasks import AsJson
from worker.exit_status import Exit
from worker.terminal.output import out, say, show_json

Id = Annotated[str, typer.Argument(help="The hold's id, as 'memories held' and the receipt show it.")]


async def held(
    *, user: User, of: Of = None, limit: Annotated[int, typer.Option(min=1, max=1_000)] = 50, as_json: AsJson = False
) -> None:
    """Show what waits for a person's approval: by a write policy, or because it contradicts something.

    Example: perdure memories held --user ada
    """
    async with gateway(Settings()) as installation:
        found = await installation.held(user, of=of, limit=limit, by=person())
    if as_json:
        show_json([one.model_dump(mode="json") for one in found])
        return
    for one in found:
        out.print(one.id, markup=False)
        out.print(f"    {one.question.text}", markup=False)
        out.print(f"    until {one.question.until:%Y-%m-%d %H:%M:%S %Z}, then: {one.question.otherwise}", markup=False)
    say(counted(len(found), "memory"))


async def approve(
    identifier: Id,
    *,
    user: User,
    of: Of = None,
    text: Annotated[str, typer.Option(help="What to remember instead of what was offered.")] = "",
    because: Because = "",
    as_json: AsJson = False,
) -> None:
    """Remember what is on hold, and wait until it is searchable. It then replaces what it contradicts.

    Example: perdure memories approve mem_4a1f --user ada
    """
    await _decide(identifier, (user, of), because, approved=True, text=text, as_json=as_json)


async def reject(identifier: Id, *, user: User, of: Of = None, because: Because = "", as_json: AsJson = False) -> None:
    """Reject what is on hold: 'memories rejected' then lists it, without its text.

    Example: perdure memories reject mem_4a1f --user ada --because 'it was a joke'
    """
    await _decide(identifier, (user, of), because, approved=False, as_json=as_json)


async def _decide(
    identifier: str, whose: tuple[str, str | None], because: str, *, approved: bool, text: str = "", as_json: bool
) -> None:
    user, of = whose
    async with gateway(Settings()) as installation:
        decided: Decided = await installation.decide(
            user, identifier, of=of, approve=approved, note=because, text=text, by=person()
        )
    items = decided.receipt.items if decided.receipt else ()
    if as_json:
        show_json(decided)
    else:
        for line in items:
            out.print(f"{line.fate.value:<10}  {line.decision.value:<9}  {line.id}  {line.reason}", markup=False)
        say(f"{decided.outcome.value} {identifier}")
    if any(line.fate is Fate.REJECTED for line in items):
        raise typer.Exit(Exit.FAILED)
