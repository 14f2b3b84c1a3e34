"""``perdure audit``: whether the audit is intact, and what it says of a user."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from perdure.errors import InvalidInput
from perdure.memory.audit.verification import AuditFinding
from perdure.plurals import counted
from perdure.policies.decision import SHORT
from perdure.policies.ruling import Ruling
from perdure.settings import Settings
from perdure.stores.audit.lines import AuditLine
from worker.audits import LEAST_DAYS, MOST_DAYS
from worker.cli.memory import Of
from worker.cli.reach import gateway, person
from worker.cli.tasks import AsJson
from worker.exit_status import Exit
from worker.gateway import Gateway
from worker.terminal.output import out, say, show_json


async def verify(*, as_json: AsJson = False) -> None:
    """Check that no line of the audit is missing or was changed; exits with 1 where one is.

    What a killed process may have left unwritten (reads of its last second) is reported, and is not a failure.

    Example: perdure audit verify
    """
    async with Gateway(Settings(), None) as here:
        found = await here.verify_audit(by=person())
    if as_json:
        show_json(found)
    else:
        for one in found.problems:
            out.print(f"{_place(one)}{one.what}", markup=False)
        for one in found.notes:
            say(f"note: {_place(one)}{one.what}")
        out.print(
            f"{counted(found.files, 'file')}, {counted(found.lines, 'line')}: "
            + (
                counted(len(found.problems), "problem")
                if found.problems
                else f"nothing {'else ' if found.notes else ''}is missing or was changed"
            )
        )
        if found.problems:
            say(_MISSING)
            say(_CHANGED)
    if found.problems:
        raise typer.Exit(Exit.FAILED)


async def show(
    *,
    user: Annotated[str, typer.Option("--user", help="Whose memory.")] = "",
    of: Of = None,
    installation: Annotated[
        bool, typer.Option("--installation", help="Who administered it, and who came in with a token for all users.")
    ] = False,
    since: Annotated[datetime | None, typer.Option(help="Only what happened then or later (UTC).")] = None,
    as_json: AsJson = False,
) -> None:
    """Show who wrote, changed or read a user's memories, or a team's or an agent's, when and why.

    With --installation, who made or revoked tokens, scheduled tasks or had collections deleted. It needs the tenant
    key, and no server.

    Example: perdure audit show --user ada --since 2026-11-01
    """
    if (given := bool(user.strip()) + bool(of) + installation) != 1:
        problem = "is given with another of the three" if given else "is missing, and --of and --installation too"
        raise InvalidInput("--user", problem, fix="give one of --user, --of and --installation")
    moment = since and since.replace(tzinfo=UTC)
    async with Gateway(Settings(), None) as here:
        found = await here.audit(user, of=of, installation=installation, since=moment, by=person())
    if as_json:
        show_json([line.model_dump(mode="json", include=_SHOWN) for line in found])
        return
    for line in found:
        out.print(f"{line.at:%Y-%m-%d %H:%M:%S}  {line.kind.value:<7}  {_who(line)}  {line.operation}", markup=False)
        if line.ruling is not None:
            out.print(f"    {_ruling(line.ruling)}", markup=False)
        for why, ids in line.ids.items():
            what = ", ".join(ids) or (counted(line.number, "entry") if line.number else "")
            out.print(f"    {why}" + (f": {what}" if what else ""), markup=False)
    say(counted(len(found), "line"))


async def remove(
    *,
    older: Annotated[int, typer.Option(min=LEAST_DAYS, max=MOST_DAYS, help="Days since a file's last line.")] = 365,
    as_json: AsJson = False,
) -> None:
    """Remove old files of the audit. Another file records that first, so that it does not look like tampering.

    Example: perdure audit remove --older 365
    """
    async with gateway(Settings()) as here:
        removed = await here.remove_audit(older, by=person())
    if as_json:
        show_json({"removed": removed})
    else:
        out.print(f"removed {counted(len(removed), 'file')}")


async def accept(*, as_json: AsJson = False) -> None:
    """Accept that what is missing now is lost: 'verify' still shows it, but no longer as a problem.

    Example: perdure audit accept
    """
    async with gateway(Settings()) as here:
        accepted = await here.accept_audit_losses(by=person())
        left = (await here.verify_audit(by=person())).problems
    if as_json:
        show_json({"accepted": accepted, "problems": [one.model_dump(mode="json") for one in left]})
    else:
        for problem in left:
            out.print(f"cannot be accepted  {_place(problem)}{problem.what}", markup=False)
        if left:
            say(_CHANGED)
        of_ends = f"accepted the loss of {counted(len(accepted), 'file')}, or of their ends"
        out.print(of_ends if accepted else "there is no loss to accept")
    if left:
        raise typer.Exit(Exit.FAILED)


_MISSING = (
    "lines that are missing: restore the folder 'audit' from a backup, or record the loss with 'perdure audit accept'"
)
_CHANGED = "lines that were changed: keep the file as evidence, and restore it from a backup"

_SHOWN = {"kind", "at", "tenant", "operation", "by", "ids", "number", "ruling"}


def _ruling(ruling: Ruling) -> str:
    said = f", answered {ruling.answer}" if ruling.answer else ""
    spoke = ", ".join(f"{one.policy} {one.version[:SHORT]} ({one.outcome})" for one in ruling.policies) or "none spoke"
    about = f"{ruling.tool} at {ruling.step}, arguments {ruling.arguments[:SHORT]}"
    return f"{ruling.outcome}{said}: {about}; policies {ruling.version[:SHORT]}: {spoke}"


def _place(one: AuditFinding) -> str:
    return (f"{one.file}, line {one.line}: " if one.line else f"{one.file}: ") if one.file else ""


def _who(line: AuditLine) -> str:
    return f"{line.by.kind.value} {line.by.id}".strip() if line.by else "?"
