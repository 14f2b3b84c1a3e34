"""``perdure inbox``: everything that people are asked."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from perdure.errors import PerdureError
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.inbox import OpenQuestion
from worker.cli.memory import Of
from worker.cli.reach import gateway, person
from worker.cli.tasks import AsJson
from worker.gateway import Gateway
from worker.terminal import display
from worker.terminal.answers import asked
from worker.terminal.conversation import TypedLines
from worker.terminal.output import out, say, show_json


async def inbox(
    *,
    user: Annotated[
        str | None,
        typer.Option(
            help="Only this user's questions, memories on hold included. "
            "Default: everyone's; memories on hold only with the tenant key."
        ),
    ] = None,
    of: Of = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000)] = 50,
    as_json: AsJson = False,
) -> None:
    """Show what tasks, memories on hold and workflows ask people, each with the command that answers it.

    In a terminal they can be answered in place, one after the other; an empty line leaves one open.

    Example: perdure inbox --user ada
    """
    async with gateway(Settings()) as installation:
        found = await installation.inbox(user, of=of, limit=limit, by=person())
        if sys.stdin.isatty() and sys.stdout.isatty() and not as_json:
            await _answer_all(installation, found)
            return
    if as_json:
        show_json([one.model_dump(mode="json") for one in found])
        return
    for one in found:
        out.print(display.how_to_answer(one.workflow_id, one.question), markup=False)
        if one.asker:
            out.print(f"  asked by the workflow {one.asker}", markup=False)
    say(counted(len(found), "question"))


async def _answer_all(installation: Gateway, found: Sequence[OpenQuestion]) -> None:
    """Ask one question after the other, for as long as somebody types."""
    lines = TypedLines()
    for number, one in enumerate(found, 1):
        say(f"\n{number} of {len(found)}: {one.workflow_id}" + (f", for the workflow {one.asker}" if one.asker else ""))
        try:
            if not await asked(installation, one.workflow_id, one.question, lines, by=person(), skips=True):
                return
        except PerdureError as error:
            # It was answered, or ended, since the list was made.
            say(str(error))
    if not found:
        say("0 questions")
