"""The command that offers memory what was said."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from perdure.documents import kind_of, unreadable, validated
from perdure.errors import InvalidInput
from perdure.identity import digest
from perdure.names import DEFAULT_POLICY
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.jobs import Fate
from perdure.values.requests import ObserveRequest
from perdure.values.statements import Voice
from worker.cli.memory import Of, User
from worker.cli.reach import gateway, person, warn_of_other_settings
from worker.cli.tasks import AsJson
from worker.terminal.output import out, say, show_json

_MOST = 100


async def observe(
    text: Annotated[str, typer.Argument(help="What was said.")] = "",
    *,
    user: User,
    of: Of = None,
    session: Annotated[str, typer.Option(help="The session in which it was said.", show_default=False)],
    said_by: Annotated[Voice, typer.Option("--by", help="Who said it.")] = Voice.USER,
    file: Annotated[
        Path | None,
        typer.Option(help="Read a file instead: one JSON object per line, at most 100; - for stdin."),
    ] = None,
    start: Annotated[
        int, typer.Option(min=0, help="The position of the first statement in the session, for a transcript.")
    ] = 0,
    policy: Annotated[str, typer.Option(help="The write policy; 'transcript' keeps turns word for word.")] = (
        DEFAULT_POLICY
    ),
    as_json: AsJson = False,
) -> None:
    """Offer memory what was said: it keeps what the write policy lets it believe, and says why it left out the rest.

    Example: perdure observe 'I prefer window seats.' --user ada --session trip-7
    """
    if bool(text.strip()) == bool(file):
        problem = "is given together with --file" if file else "is missing"
        raise InvalidInput("text", problem, fix="give either what was said, or --file")
    lines = _read(file) if file else [{"text": text, "by": said_by.value}]
    now = datetime.now(UTC)
    said = [_completed(line, session, start + place, now) for place, line in enumerate(lines)]
    asked = {"user_id": user, "of": of, "session": session, "said": said, "start": start, "policy": policy}
    request = validated(ObserveRequest, asked, "")
    settings = Settings()
    warn_of_other_settings(settings)
    async with gateway(settings) as installation:
        observed = await installation.observe(request, by=person())
        receipt = await installation.receipt(observed.job, by=person()) if observed.job else None
    if as_json:
        told = receipt.model_dump(mode="json") if receipt else None
        show_json({"observed": observed.model_dump(mode="json"), "receipt": told})
        return
    for line in receipt.items if receipt else ():
        out.print(f"{line.fate.value:<10}  {line.decision.value:<9}  {line.id}  {line.reason}", markup=False)
    for left in observed.left:
        out.print(f"left out    {left.ground.value:<9}  said {left.index + 1}: {left.reason}", markup=False)
    kept = receipt.count(Fate.SEARCHABLE) if receipt else 0
    say(f"{counted(kept, 'memory')} of {counted(len(said), 'thing')} said")


def _read(file: Path) -> list[dict[str, Any]]:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(file, error) from error
    lines = [
        _object(line, f"{file}:{number}") for number, line in enumerate(text.splitlines(), start=1) if line.strip()
    ]
    if not 1 <= len(lines) <= _MOST:
        raise InvalidInput(str(file), f"has {counted(len(lines), 'line')}", fix=f"split it: 1 to {_MOST} at a time")
    return lines


def _object(line: str, place: str) -> dict[str, Any]:
    fix = 'write an object in each line: {"text": "…"}'
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(place, "is not JSON", fix=fix) from error
    if not isinstance(found, dict):
        raise InvalidInput(place, f"is {kind_of(found)}", fix=fix)
    return cast("dict[str, Any]", found)


def _completed(line: dict[str, Any], session: str, place: int, now: datetime) -> dict[str, Any]:
    """Fill in what a person need not write: when it was said, and where."""
    text = digest("said/1", str(line.get("text")))[:12]
    return {"at": now.isoformat(), "occurrence": f"{session}/{place}/{text}"} | line
