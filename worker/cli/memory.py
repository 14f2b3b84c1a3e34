"""Commands about memory: recall, remember, forget."""

import json
import secrets
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from perdure.documents import validated
from perdure.errors import InvalidInput, InvalidItem
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.entries import Lane, MemoryType
from perdure.values.jobs import Fate
from perdure.values.requests import (
    ForgetRequest,
    ForgetResult,
    RecallRequest,
    RedateRequest,
    RememberRequest,
    UndoRequest,
)
from perdure.values.strategies import ProfileName, Strategy
from worker.cli.item_files import read_items
from worker.cli.reach import gateway, person, warn_of_other_settings
from worker.cli.records import memory_of, record_of, require_one_kind
from worker.cli.tasks import AsJson
from worker.exit_status import Exit
from worker.policies import rules_of
from worker.terminal import display
from worker.terminal.output import out, say, show_json

User = Annotated[
    str, typer.Option("--user", help="The user who asks; also whose memory, unless --of is given.", show_default=False)
]
Of = Annotated[
    str | None,
    typer.Option("--of", help="Whose memory: team:NAME or agent:NAME that the user belongs to.", show_default=False),
]

_STRATEGIES = (
    "balanced: what is relevant; similarity: the same, up to the limit; precise: only what the question names; "
    "structured: all within the filters, newest first, and every constraint; "
    "hybrid: as balanced, by confidence, recency, frequency and task."
)

_ORDERED = (
    "by lane and key first; then what is known and what was said in turn, the best of each first; then what always "
    "counts: scores compare within one of these"
)
_NEWEST = "the newest first, whatever their scores; then every constraint and what is pinned"


async def recall(
    text: Annotated[str, typer.Argument(help="What it is about.")] = "",
    *,
    user: User,
    of: Of = None,
    lane: Annotated[Lane | None, typer.Option(help="Look in this log first.")] = None,
    key: Annotated[list[str] | None, typer.Option(help="For exactly this key; may be repeated.")] = None,
    session: Annotated[str, typer.Option(help="Also show the episodes of this session or task.")] = "",
    strategy: Annotated[Strategy, typer.Option(help=_STRATEGIES)] = Strategy.BALANCED,
    profile: Annotated[
        ProfileName | None,
        typer.Option(help="Order by other weights than the strategy's own.", show_default=False),
    ] = None,
    memory_type: Annotated[
        list[MemoryType] | None, typer.Option("--type", help="Only memories of this type; may be repeated.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only memories with this tag; with several: with all.")] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="Only what counts in this scope, or everywhere; with several: in any."),
    ] = None,
    since: Annotated[datetime | None, typer.Option(help="Only what was last observed then or later (UTC).")] = None,
    until: Annotated[datetime | None, typer.Option(help="Only what was last observed before then (UTC).")] = None,
    task: Annotated[str, typer.Option(help="Only what this task (its workflow id) wrote, or what is tagged so.")] = "",
    min_confidence: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Only items with at least this confidence; default: as configured (.7)."),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show also what was left out, and why.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=50)] = 10,
    as_json: AsJson = False,
) -> None:
    """Show what is remembered, with the score of each item and its parts.

    Example: perdure recall 'Who leads the team?' --user ada
    """
    if since and until and since >= until:
        problem = f"{since:%Y-%m-%d %H:%M:%S} is not before --until {until:%Y-%m-%d %H:%M:%S}: nothing lies between"
        raise InvalidInput("--since", problem, fix="swap them, or leave one out")
    if key and lane is None:
        raise InvalidInput("--key", "needs a lane", fix=f"add --lane {' or '.join(Lane)}")
    if not (text.strip() or lane or strategy is Strategy.STRUCTURED):
        fix = "say what it is about, or name a log with --lane, or list with --strategy structured"
        raise InvalidInput("text", "is missing", fix=fix)
    _check_user(user)
    asked = {
        "user_id": user,
        "of": of,
        "text": text,
        "lane": lane,
        "keys": key or (),
        "limit": limit,
        "session": session,
        "strategy": strategy,
        "profile": profile,
        "memory_types": memory_type or (),
        "tags": tag or (),
        "scopes": scope or (),
        "since": since and since.replace(tzinfo=UTC),
        "until": until and until.replace(tzinfo=UTC),
        "task": task,
        "min_confidence": min_confidence,
        "explain": explain,
    }
    request = validated(RecallRequest, asked, "")
    async with gateway(Settings()) as installation:
        found = await installation.recall(request, by=person())
    if as_json:
        show_json(found)
        return
    for item in found.items:
        out.print(f"{item.score:.3f}  {display.shown_id(item.id)}  {item.why}", markup=False)
        out.print(f"       {item.text}", markup=False)
        if item.payload is not None:
            out.print(f"       {json.dumps(item.payload, ensure_ascii=False)}", markup=False)
    for one in found.left_out:
        out.print(f"left out ({one.reason.value}, confidence {one.confidence:.2f}): {one.text}", markup=False)
    for episode in found.episodes:
        out.print(f"{episode.at:%H:%M:%S}  {episode.kind.value}: {episode.text}", markup=False)
    withheld = ", ".join(one.value for one in found.withheld)
    why = "without consent (perdure memories consent)"
    if "consents" in found.degraded:
        why = "as nothing tells now what the user consents to"
    if any(item.score < after.score for item, after in pairwise(found.items)):
        say(_NEWEST if strategy is Strategy.STRUCTURED else _ORDERED)
    say(
        f"{counted(len(found.items), 'item')} in {found.milliseconds:.0f} ms"
        + (f"; {found.trigger.told}" if found.trigger.told else "")
        + (f"; left out {why}: what is {withheld}" if withheld else "")
        + (f"; degraded: {', '.join(found.degraded)} did not answer" if found.degraded else "")
    )


async def remember(
    content: Annotated[str | None, typer.Argument(help="The statement to remember.")] = None,
    *,
    user: User,
    of: Of = None,
    file: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="A JSON list of items instead, records or memories, such as "
            '[{"kind": "memory", "content": "Tom likes tea."}]; - reads stdin.',
        ),
    ] = None,
    memory_type: Annotated[
        MemoryType | None, typer.Option("--type", help="Of a statement; a fact unless given.", show_default=False)
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="How sure it is: .9 of a statement, 1 of a record.", show_default=False),
    ] = None,
    supersedes: Annotated[str, typer.Option(help="The memory that this one replaces: its id, or the beginning.")] = "",
    key: Annotated[
        str,
        typer.Option(
            help="Your own key: an item that is sent again under it is not counted twice. "
            "With --lane: what the record is looked up by."
        ),
    ] = "",
    lane: Annotated[
        Lane | None,
        typer.Option(help="Remember a record in this log instead, with --key and --field.", show_default=False),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(help="With --lane: NAME=VALUE, the value as JSON or text; may be repeated.", show_default=False),
    ] = None,
    intent: Annotated[str, typer.Option(help="With --lane: what it was done for; a recommendation needs it.")] = "",
    occurrence: Annotated[
        str, typer.Option(help="With --lane: where it was observed; the same again is not counted twice.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Remember a statement, a record in a lane, or a file of items, and wait until it is searchable.

    Example: perdure remember 'Kim leads the team.' --user ada

    Example: perdure remember --lane pattern --key nodeenv --field licence=MIT --user ada
    """
    require_one_kind(
        {"content": content and content.strip(), "--file": file, "--lane": lane},
        of_memory={"--type": memory_type, "--supersedes": supersedes},
        of_record={"--field": field, "--intent": intent, "--occurrence": occurrence},
    )
    content = content or ""
    _check_user(user)
    batch_key = (key if lane is None else "") or f"cli-{secrets.token_hex(8)}"
    if lane is not None:
        record = record_of(
            lane,
            key=key,
            summary=content.strip(),
            intent=intent,
            fields=field or (),
            occurrence=occurrence,
            confidence=confidence,
        )
        items: list[JsonValue] = [record]
    elif file:
        items = read_items(Path(file))
    else:
        items = [memory_of(content, memory_type, confidence, supersedes)]
    stamped = tuple(_stamped(item, batch_key, index) for index, item in enumerate(items))
    asked = {"user_id": user, "of": of, "key": batch_key, "items": stamped}
    request = validated(RememberRequest, asked, "", InvalidItem)
    settings = Settings()
    warn_of_other_settings(settings)
    async with gateway(settings) as installation:
        if supersedes:
            [meant] = await installation.identified(user, [supersedes], of=of, by=person())
            stated = memory_of(content, memory_type, confidence, meant)
            request = request.changed(items=(_stamped(stated, batch_key, 0),))
        job = await installation.remember(request, by=person())
        say(f"submitted {job}")
        receipt = await installation.receipt(job, by=person())
    if as_json:
        show_json(receipt)
    else:
        for line in receipt.items:
            place = line.hold or line.id
            out.print(f"{line.fate.value:<10}  {line.decision.value:<9}  {place}  {line.reason}", markup=False)
    if receipt.count(Fate.REJECTED):
        raise typer.Exit(Exit.FAILED)


def _stamped(item: JsonValue, key: str, index: int) -> JsonValue:
    """Fill in what a person need not write: where it was observed. When is the moment of its acceptance."""
    return {"occurrence": f"{key}/{index}"} | item if isinstance(item, dict) else item


async def forget(
    what: Annotated[str, typer.Argument(hidden=True)] = "",
    *,
    user: Annotated[str, typer.Option("--user", help="Only this user's memories; who asks, with --of.")] = "",
    of: Of = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report what would be forgotten.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Restore what the latest sweep (or --sweep) forgot.")] = False,
    sweep: Annotated[str, typer.Option("--sweep", help="With --undo: the sweep that 'forget' printed.")] = "",
    approve: Annotated[
        bool, typer.Option("--approve", help="Also forget for users whose sweep the guard has held back.")
    ] = False,
    redate: Annotated[bool, typer.Option("--redate", help="Recompute due dates that earlier rules set.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget what the retention rules no longer keep, as the schedule does; with --undo, restore it.

    Example: perdure forget --dry-run
    """
    if what:
        fix = "perdure memories forget ID forgets one memory; perdure recall and perdure memories list show its id"
        raise InvalidInput(
            "arguments", "name one memory, and this forgets what the retention rules do not keep", fix=fix
        )
    require_member(user, of)
    if undo and not (user or sweep):
        raise InvalidInput("--undo", "needs a user or a sweep", fix="add --user, or --sweep with the id of one")
    if undo and (dry_run or approve):
        raise InvalidInput("--undo", "is not for --dry-run or --approve", fix="leave them out")
    if sweep and not undo:
        raise InvalidInput("--sweep", "is only for --undo", fix="add --undo, or leave --sweep out")
    if redate and (undo or dry_run or approve or user):
        raise InvalidInput("--redate", "goes through everybody, and forgets nothing", fix="leave the other options out")
    if redate:
        return await _redate(as_json=as_json)
    if undo:
        undone = await gateway(Settings()).undo(
            validated(UndoRequest, {"sweep": sweep, "user_id": user, "of": of}, ""), by=person()
        )
        if as_json:
            show_json(undone)
        else:
            out.print(f"restored {counted(undone.restored, 'entry')} of the sweep {undone.sweep}")
        return None
    # The worker's rules count; a file that cannot be used would not be noticed before it starts again.
    settings = Settings()
    rules_of(settings)
    warn_of_other_settings(settings)
    asked = {"dry_run": dry_run, "user_id": user, "of": of, "approved": approve}
    request = validated(ForgetRequest, asked, "")
    swept = await gateway(settings).forget(request, by=person())
    if as_json:
        show_json(swept)
    else:
        show_sweep(swept)
    if swept.report.failed:
        raise typer.Exit(1)
    return None


def require_member(user: str, of: str | None) -> None:
    """Refuse ``--of`` without ``--user``, the member who asks."""
    if of and not user:
        raise InvalidInput("--of", "needs a user who belongs to it", fix="add --user")


async def _redate(*, as_json: bool) -> None:
    done = await gateway(Settings()).redate(RedateRequest(again=True), by=person())
    if as_json:
        show_json(done)
    else:
        out.print(f"dated {counted(done.redated, 'entry')} anew, in the memory of {counted(done.tenants, 'user')}")
        for failed in done.failed:
            out.print(f"  left to the next pass: {failed}", markup=False)
    if done.failed:
        raise typer.Exit(1)


def show_sweep(swept: ForgetResult) -> None:
    """Print what a sweep did, for a person."""
    report = swept.report
    forgot, purged = ("would forget", "would purge") if swept.dry_run else ("forgot", "purged")
    whose = f", in the memory of {counted(report.tenants, 'user')}" if report.tenants else ": nobody has anything due"
    out.print(f"{forgot} {counted(report.forgotten, 'entry')}, {purged} {report.purged}{whose}")
    for reason, number in report.reasons.items():
        out.print(f"  {number} × {reason}", markup=False)
    for held in report.held:
        out.print(f"  held for a person: {held}  (perdure forget --approve)", markup=False)
    for failed in report.failed:
        out.print(f"  left to the next sweep: {failed}", markup=False)
    if not swept.dry_run and report.forgotten:
        out.print(f"  undo: perdure forget --undo --sweep {swept.sweep}")


def _check_user(user: str) -> None:
    if not user.strip():
        raise InvalidInput("--user", "is empty", fix="say whose memory")
