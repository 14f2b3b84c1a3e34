"""The command that says whether an installation keeps its promises."""

import asyncio
from typing import Annotated

import typer

from perdure.settings import Settings
from perdure.temporal.connection import connected
from worker.cli.output import Exit, explained, out, show_json
from worker.cli.reach import reachable
from worker.cli.tasks import AsJson
from worker.doctor import Finding, Patient, examine, examine_quickly
from worker.wiring import open_services


def doctor(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Only what a health check needs.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check servers, durability settings, keys, models and skills; exits with 1 if something is wrong."""
    with explained():
        findings = asyncio.run(_doctor(Settings(), quick=quick))
        if as_json:
            show_json([finding.model_dump(mode="json") for finding in findings])
        else:
            for finding in findings:
                mark = "[green]ok  [/]" if finding.ok else "[red]bad [/]"
                out.print(f"{mark} {finding.check:<18}", end="")
                out.print(finding.detail + (f"  → {finding.fix}" if finding.fix else ""), markup=False)
        if not all(finding.ok for finding in findings):
            raise typer.Exit(Exit.FAILED)


async def _doctor(settings: Settings, *, quick: bool) -> list[Finding]:
    addresses = reachable(settings)
    client = await connected(addresses.temporal, lazy=True)
    async with open_services(settings, addresses) as services:
        patient = Patient(settings=settings, addresses=addresses, client=client, services=services)
        return await (examine_quickly(patient) if quick else examine(patient))
