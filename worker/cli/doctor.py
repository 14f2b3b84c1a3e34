"""The command that checks whether an installation keeps its promises."""

from typing import Annotated

import typer

from perdure.settings import Settings
from worker.cli.reach import person
from worker.cli.tasks import AsJson
from worker.exit_status import Exit
from worker.gateway import Gateway
from worker.terminal.output import out, say, show_json


async def doctor(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Only what a health check needs.")] = False,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep",
            help="Also check that the search by meaning finds all that is stored, and have workers repair it.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check servers, durability settings, keys, models and skills; exits with 1 if something is wrong.

    Where no servers run, it checks what it can without them.

    Example: perdure doctor --json
    """
    # That nothing runs is a finding, too.
    findings = await Gateway(Settings(), None, notify=say).status(quick=quick, deep=deep, by=person())
    if as_json:
        show_json([finding.model_dump(mode="json") for finding in findings])
    else:
        for finding in findings:
            mark = "[green]ok  [/]" if finding.ok else "[red]bad [/]"
            out.print(f"{mark} {finding.check:<18}", end="")
            out.print(finding.detail + (f"  → {finding.fix}" if finding.fix else ""), markup=False)
    if not all(finding.ok for finding in findings):
        raise typer.Exit(Exit.FAILED)
