"""``perdure inbox``: everything that people are asked."""

from typing import Annotated

import typer

from perdure.settings import Settings
from worker.cli.memory import Of
from worker.cli.reach import gateway, person
from worker.cli.tasks import AsJson
from worker.terminal import display
from worker.terminal.output import counted, out, say, show_json


async def inbox(
    *,
    user: Annotated[
        str | None,
        typer.Option(
            help="Only this user's questions, memories on hold included. "
            "Default: everyone's questions, without memories on hold."
        ),
    ] = None,
    of: Of = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000)] = 50,
    as_json: AsJson = False,
) -> None:
    """Show what tasks, memories on hold and workflows ask people, each with the command that answers it.

    Example: perdure inbox --user ada
    """
    async with gateway(Settings()) as installation:
        found = await installation.inbox(user, of=of, limit=limit, by=person())
    if as_json:
        show_json([one.model_dump(mode="json") for one in found])
        return
    for one in found:
        out.print(display.how_to_answer(one.workflow_id, one.question), markup=False)
        if one.asker:
            out.print(f"  asked by the workflow {one.asker}", markup=False)
    say(counted(len(found), "question"))
