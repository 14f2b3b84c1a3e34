"""``perdure memories export``, ``import`` and ``consent``: a user's memory as a whole."""

import contextlib
import os
import re
from collections.abc import Generator
from pathlib import Path
from typing import Annotated

import typer

from perdure.documents import unreadable, validated
from perdure.errors import InvalidInput
from perdure.memory.updates.exports import schema as schema_of_lines
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.entries import Purpose
from perdure.values.jobs import Decision, Fate, Receipt
from perdure.values.requests import ConsentRequest
from worker.cli.memory import Of, User
from worker.cli.reach import gateway, person
from worker.cli.tasks import AsJson
from worker.exit_status import Exit
from worker.terminal.output import out, say, show_json

_LARGEST = 1_000_000_000
"""Bytes of a file that is read: more than 100,000 entries with their histories."""

_EXPORTED = "give a file as 'perdure memories export' wrote it"


def _show_schema(wanted: bool) -> None:
    if wanted:
        show_json(schema_of_lines())
        raise typer.Exit


async def export(
    *,
    user: User,
    of: Of = None,
    file: Annotated[Path | None, typer.Option(help="Write it here instead of on stdout; must not exist.")] = None,
    schema: Annotated[
        bool, typer.Option("--schema", is_eager=True, callback=_show_schema, help="Only show the lines' JSON Schema.")
    ] = False,
) -> None:
    """Write all that is remembered of a user, with its history, as JSON Lines after a header.

    Also consents, memberships, what is on hold, and what happened in sessions; it names no other user.

    Example: perdure memories export --user ada --file ada.jsonl
    """
    async with gateway(Settings()) as installation:
        lines = await installation.exported(user, of=of, by=person())
    if file is None:
        for line in lines:
            typer.echo(line)
    else:
        _write(file, lines)
    say(f"exported {counted(len(lines) - 1, 'line')}")


async def import_(
    file: Annotated[Path, typer.Argument(help="A file written by 'perdure memories export'.")],
    *,
    user: User,
    of: Of = None,
    as_json: AsJson = False,
) -> None:
    """Remember the contents of an export, from any user and installation, and wait until it is searchable.

    Everything is read before anything is written. What was replaced or forgotten in it stays in the file, and so do
    consents, memberships, what is on hold and episodes; what is not taken is counted on stderr.

    Example: perdure memories import ada.jsonl --user ada
    """
    async with gateway(Settings()) as installation:
        with _placing(file):
            imported = await installation.import_(user, _lines(file), of=of, by=person())
        receipts: list[Receipt] = [await installation.receipt(job, by=person()) for job in imported.jobs]
    if as_json:
        show_json([receipt.model_dump(mode="json") for receipt in receipts])
    for receipt in [] if as_json else receipts:
        for line in receipt.items:
            if line.fate is not Fate.SEARCHABLE:
                out.print(f"{line.fate.value:<10}  {receipt.job_id}[{line.index}]  {line.reason}", markup=False)
    for what, count in imported.left_out.items():
        say(f"left out {count}× {what}")
    kept = [
        (receipt.job_id in imported.earlier, line.decision)
        for receipt in receipts
        for line in receipt.items
        if line.fate is Fate.SEARCHABLE
    ]
    repeated = sum(before for before, _ in kept)
    known = sum(not before and decision is Decision.REINFORCE for before, decision in kept)
    if repeated:
        say(f"{counted(repeated, 'entry')} came with an earlier import of this file, which is not repeated")
    if known:
        say(f"{counted(known, 'entry was', 'entries were')} there already")
    say(f"imported {counted(len(kept) - repeated - known, 'entry')}")
    # What waits for a person was taken, as by ``remember``.
    if any(one.count(Fate.REJECTED) for one in receipts):
        raise typer.Exit(Exit.FAILED)


def _write(file: Path, lines: list[str]) -> None:
    try:
        # It is content, so nobody else may read it.
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as written:
            written.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise InvalidInput("--file", f"{file} cannot be written: {error.strerror}") from error


def _lines(file: Path) -> list[str]:
    try:
        with contextlib.suppress(FileNotFoundError):
            if file.stat().st_size > _LARGEST:
                raise InvalidInput(str(file), f"has more than {_LARGEST:,} bytes")
        text = file.read_text(encoding="utf-8")
        if not text.strip():
            raise InvalidInput(str(file), "is empty", fix=_EXPORTED)
        # Other characters that end a line somewhere may stand inside a text.
        return text.removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(file, error) from error


@contextlib.contextmanager
def _placing(file: Path) -> Generator[None]:
    """Add the file, and the fix that they have in common, to errors about a line of an export."""
    try:
        yield
    except InvalidInput as error:
        if not re.fullmatch(r"line \d+", error.field):
            raise
        fix = error.fix or _EXPORTED
        raise InvalidInput(error.field, error.problem, fix=fix, place=str(file)) from None


async def consent(
    *,
    user: User,
    of: Of = None,
    grant: Annotated[
        list[Purpose] | None, typer.Option(help="Allow this to be kept and recalled; may be repeated.")
    ] = None,
    withdraw: Annotated[
        list[Purpose] | None, typer.Option(help="No longer allow this to be kept; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show or change what a user consents to: keeping what is given explicitly, or extracted from what was said.

    A team's or an agent's memory has a consent of its own, which a member gives with --of.

    By default what is given is kept, and nothing is extracted. What is withdrawn is neither written nor recalled; it
    stays stored until it is forgotten or the user is erased.

    Example: perdure memories consent --user ada --withdraw extracted
    """
    asked = {"user_id": user, "of": of, "grant": tuple(grant or ()), "withdraw": tuple(withdraw or ())}
    found = await gateway(Settings()).consent(validated(ConsentRequest, asked, ""), by=person())
    if as_json:
        show_json(found)
        return
    for purpose, granted in found.granted.items():
        out.print(f"{purpose:<10}  {'granted' if granted else 'not granted'}", markup=False)
