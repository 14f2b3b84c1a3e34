"""``perdure memories``: what is remembered of a user, listed, shown and changed by ids."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from perdure.documents import validated
from perdure.errors import InvalidInput
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.entries import Entry, Memory, MemoryType, headline_of
from perdure.values.updates import (
    Correction,
    Feedback,
    Merger,
    Pinning,
    Removal,
    Reversion,
    Update,
    Updated,
    UpdateRequest,
    Version,
)
from worker.cli.memory import Of, User
from worker.cli.reach import gateway, person
from worker.cli.tasks import AsJson
from worker.terminal.output import out, say, show_json

Id = Annotated[str, typer.Argument(help="The memory's id, or its beginning as 'recall' shows it.")]
Expected = Annotated[
    int | None, typer.Option(min=1, help="Refuse unless it is still at this version.", show_default=False)
]
Because = Annotated[str, typer.Option("--because", help="Why, for its history.")]


async def list_(
    *,
    user: User,
    of: Of = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Include what was replaced or forgotten, and records and turns.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List what is believed of a user, the newest first.

    Example: perdure memories list --user ada
    """
    async with gateway(Settings()) as installation:
        found = await installation.memories(user, of=of, everything=everything, by=person())
    if as_json:
        show_json([entry.model_dump(mode="json") for entry in found])
        return
    for entry in found:
        out.print(f"{entry.id}  {_summary(entry)}", markup=False)
        out.print(f"    {headline_of(entry.text)}", markup=False)
    say(counted(len(found), "entry" if everything else "memory"))


async def show(identifier: Id, *, user: User, of: Of = None, as_json: AsJson = False) -> None:
    """Show everything that is known about one memory.

    Example: perdure memories show mem_4a1f --user ada
    """
    async with gateway(Settings()) as installation:
        entry = (await installation.history(user, identifier, of=of, by=person()))[-1].entry
    if as_json:
        show_json(entry)
        return
    out.print(headline_of(entry.text), markup=False)
    fields: dict[str, Any] = entry.model_dump(mode="json", exclude={"text", "occurrences", "operations"})
    for name in ("trials", "successes"):
        fields[name] = len(fields.get(name, ())) or None
    for name, value in fields.items():
        if value not in (None, "", [], False):
            out.print(f"  {name}: {json.dumps(value, ensure_ascii=False)}", markup=False)


async def history(identifier: Id, *, user: User, of: Of = None, as_json: AsJson = False) -> None:
    """Show the versions of a memory: who made each, why and when. They are kept for 90 days, the last one longer.

    Example: perdure memories history mem_4a1f --user ada
    """
    async with gateway(Settings()) as installation:
        found = await installation.history(user, identifier, of=of, by=person())
    show_versions(found, as_json=as_json)


def show_versions(found: Sequence[Version], *, as_json: bool) -> None:
    """Print the versions of a memory, oldest first."""
    if as_json:
        show_json([version.model_dump(mode="json") for version in found])
        return
    for one in found:
        note = f": {one.note}" if one.note else ""
        by = f"{one.by.kind.value} {one.by.id}".strip()
        out.print(f"{one.version:>4}  {one.at:%Y-%m-%d %H:%M:%S}  {by}  {one.why}{note}", markup=False)
        out.print(f"      {_summary(one.entry)}  {headline_of(one.entry.text)}", markup=False)


async def correct(
    identifier: Id,
    content: Annotated[str, typer.Argument(help="What it should say; leave it out to change fields only.")] = "",
    *,
    user: User,
    of: Of = None,
    memory_type: Annotated[MemoryType | None, typer.Option("--type", show_default=False)] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Its tags from now on; may be repeated.")] = None,
    name: Annotated[list[str] | None, typer.Option(help="What it is about, from now on; may be repeated.")] = None,
    scope: Annotated[list[str] | None, typer.Option(help="Where it counts, from now on; may be repeated.")] = None,
    valid_from: Annotated[datetime | None, typer.Option(help="When it begins to be true (UTC).")] = None,
    valid_until: Annotated[datetime | None, typer.Option(help="When it stops being true (UTC).")] = None,
    asked: Annotated[
        str | None,
        typer.Option(help="A question asked about this memory; the term it uses is added to the memory's names."),
    ] = None,
    because: Because = "",
    expected: Expected = None,
    as_json: AsJson = False,
) -> None:
    """Correct what a memory says: it is believed with confidence .95.

    A correction that says something else is another memory, which replaces this one.

    Example: perdure memories correct mem_4a1f 'Ada lives in Bergen.' --user ada
    """
    given = {
        "content": content or None,
        "memory_type": memory_type,
        "tags": tag,
        "names": name,
        "scopes": scope,
        "valid_from": valid_from and valid_from.replace(tzinfo=UTC),
        "valid_until": valid_until and valid_until.replace(tzinfo=UTC),
        "asked": asked,
    }
    chosen = {field: value for field, value in given.items() if value is not None}
    if not chosen:
        raise InvalidInput("content", "is missing", fix="say what is right, or change a field: --tag, --type …")
    await _changed(validated(Correction, chosen, ""), identifier, (user, of), because, expected, as_json=as_json)


async def refine(
    identifier: Id,
    *,
    user: User,
    of: Of = None,
    helpful: Annotated[
        bool | None, typer.Option("--helpful/--not-helpful", help="Whether it helped.", show_default=False)
    ] = None,
    key: Annotated[str, typer.Option(help="What it helped with: feedback about the same thing counts once.")] = "",
    because: Because = "",
    expected: Expected = None,
    as_json: AsJson = False,
) -> None:
    """Record whether a memory helped: its confidence grows by .1, or falls by .2.

    Example: perdure memories refine mem_4a1f --user ada --helpful
    """
    if helpful is None:
        raise InvalidInput("--helpful", "is missing", fix="say whether it helped: --helpful or --not-helpful")
    update = validated(Feedback, {"helpful": helpful, "key": key}, "")
    await _changed(update, identifier, (user, of), because, expected, as_json=as_json)


async def pin(
    identifier: Id,
    *,
    user: User,
    of: Of = None,
    because: Because = "",
    expected: Expected = None,
    as_json: AsJson = False,
) -> None:
    """Keep a memory in every context; the rules never forget it.

    Example: perdure memories pin mem_4a1f --user ada
    """
    await _changed(Pinning(pinned=True), identifier, (user, of), because, expected, as_json=as_json)


async def unpin(
    identifier: Id,
    *,
    user: User,
    of: Of = None,
    because: Because = "",
    expected: Expected = None,
    as_json: AsJson = False,
) -> None:
    """Stop keeping a memory in every context: it appears only where it is asked for.

    Example: perdure memories unpin mem_4a1f --user ada
    """
    await _changed(Pinning(pinned=False), identifier, (user, of), because, expected, as_json=as_json)


async def forget(
    identifier: Id,
    *,
    user: User,
    of: Of = None,
    because: Because = "",
    expected: Expected = None,
    as_json: AsJson = False,
) -> None:
    """Forget one memory, record or turn. It can be undone for 30 days.

    Example: perdure memories forget mem_4a1f --user ada --because 'she asked'
    """
    done = await _changed(Removal(), identifier, (user, of), because, expected, as_json=as_json)
    if not as_json:
        out.print(f"  undo: perdure forget --undo --sweep {done.undo}", markup=False)


async def merge(
    identifier: Id,
    other: Annotated[str, typer.Argument(help="The id of the memory that says the same.")],
    *,
    user: User,
    of: Of = None,
    because: Because = "",
    expected: Expected = None,
    as_json: AsJson = False,
) -> None:
    """Merge two memories into one, with the text of the first and everything else that is known of both.

    Example: perdure memories merge mem_4a1f mem_77c0 --user ada
    """
    await _changed(Merger(other=other), identifier, (user, of), because, expected, as_json=as_json)


async def revert(
    identifier: Id,
    *,
    user: User,
    of: Of = None,
    version: Annotated[int, typer.Option(min=1, help="The version, as 'memories history' shows it.")],
    because: Because = "",
    expected: Expected = None,
    as_json: AsJson = False,
) -> None:
    """Restore what a memory said at an earlier version.

    Example: perdure memories revert mem_4a1f --user ada --version 2
    """
    await _changed(Reversion(version=version), identifier, (user, of), because, expected, as_json=as_json)


async def rejected(
    *, user: User, of: Of = None, limit: Annotated[int, typer.Option(min=1, max=1_000)] = 50, as_json: AsJson = False
) -> None:
    """Show what was recently refused, by a rule or a person, and why; without its text, which is not kept.

    Example: perdure memories rejected --user ada
    """
    async with gateway(Settings()) as installation:
        found = await installation.rejected(user, of=of, limit=limit, by=person())
    if as_json:
        show_json([one.model_dump(mode="json") for one in found])
        return
    for one in found:
        out.print(f"{one.at:%Y-%m-%d %H:%M:%S}  {one.job}[{one.index}]  {one.reason}", markup=False)
    say(counted(len(found), "item"))


async def _changed(
    update: Update, identifier: str, whose: tuple[str, str | None], because: str, expected: int | None, *, as_json: bool
) -> Updated:
    user, of = whose
    asked = {"user_id": user, "of": of, "id": identifier, "update": update, "note": because, "expected": expected}
    request = validated(UpdateRequest, asked, "")
    async with gateway(Settings()) as installation:
        given = [identifier, *([update.other] if isinstance(update, Merger) else [])]
        whole, *other = await installation.identified(user, given, of=of, by=person())
        changes: dict[str, Any] = {"update": Merger(other=other[0])} if other else {}
        done = await installation.update(request.changed(id=whole, **changes), by=person())
    if as_json:
        show_json(done)
    else:
        for changed, version in done.versions.items():
            out.print(f"{changed}  version {version}", markup=False)
    return done


def _summary(entry: Entry) -> str:
    parts = [entry.kind, entry.state.value, f"confidence {entry.confidence:.2f}", f"version {entry.version}"]
    if isinstance(entry, Memory):
        parts[0] = entry.memory_type.value
        if entry.trials:
            parts.append(f"{len(entry.successes)} of {counted(len(entry.trials), 'task')} succeeded")
        parts += ["pinned"] if entry.pinned else []
    return ", ".join(parts)
