"""The journal on disk: whole after any crash, shared by processes, and able to forget for good."""

import ast
import asyncio
import json
import os
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import InvalidInput, StoreLost, StoreUnavailable
from perdure.stores.journal import files as files_of
from perdure.stores.journal.folded_state import fold
from perdure.stores.journal.lines import Accepted, Changed, Forgotten, Line, Settled, accepted, decode, encode, ids_of
from perdure.stores.journal.log import Journal
from perdure.stores.journal.marks import JournalMarks
from perdure.values.changes import Actor, ActorKind, Deletion, Refusal
from perdure.values.entries import Memory, MemoryType, Source
from perdure.values.items import MemoryItem, item_id
from perdure.values.jobs import Batch

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=365)
TENANT = "t_1"
BY = Actor(kind=ActorKind.PERSON, id="ada")


def line(number: int) -> Forgotten:
    return Forgotten(deletion=Deletion(id=f"mem_{number}", reason="test", sweep="r", at=NOW))


def said(text: str) -> MemoryItem:
    return MemoryItem(content=text, occurrence=text, occurred_at=NOW)


def submitted(job: str, *texts: str) -> list[Accepted]:
    return accepted(job, Batch(tenant=TENANT, key="k", items=tuple(map(said, texts))), NOW)


def changed(text: str, version: int, operation: str) -> Changed:
    entry = Memory(
        id=item_id(TENANT, said(text)),
        text=text,
        memory_type=MemoryType.FACT,
        source=Source.EXPLICIT,
        first_seen=NOW,
        last_seen=NOW,
        version=version,
        operations=(operation,),
    )
    return Changed(entry=entry, operation=operation, by=BY, why="insert", at=NOW)


def settled(job: str, *texts: str, version: int = 1) -> Settled:
    return Settled(operation=job, versions={item_id(TENANT, said(text)): version for text in texts}, at=NOW)


def refusing(job: str, place: int, *texts: str) -> Settled:
    return settled(job, *texts).changed(refused=(Refusal(index=place, reason="test"),))


def nothing_spared(item: Accepted) -> bool:
    return False


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / TENANT).glob("*.jsonl"))


def on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted((folder / TENANT).iterdir()))


async def test_lines_come_back_in_their_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    lines = [line(number) for number in range(5)]
    for one in lines[:3]:
        await journal.append(TENANT, [one])
    await journal.append(TENANT, lines[3:])
    assert await Journal(tmp_path).read(TENANT) == lines


async def test_without_a_tenant_there_is_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "none")
    assert await journal.read(TENANT) == []
    await journal.drop(TENANT, ["mem_1"], spared=nothing_spared)
    await journal.compact(TENANT, now=NOW)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("tenant", ["../other", "a/b", "", ".", "a" * 65])
async def test_a_tenant_cannot_name_another_folder(tmp_path: Path, tenant: str) -> None:
    with pytest.raises(InvalidInput):
        await Journal(tmp_path).append(tenant, [line(1)])


async def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    await Journal(tmp_path / "journal").append(TENANT, [line(1)])
    folder = tmp_path / "journal" / TENANT
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


@pytest.mark.parametrize("torn", [b'{"kind":"forg', b"\xff\xfe", b"{}", b'{"kind":"of a newer build"}'])
async def test_half_a_line_spoils_no_other(tmp_path: Path, torn: bytes) -> None:
    journal = Journal(tmp_path)
    await journal.append(TENANT, [line(1)])
    with (tmp_path / TENANT / "current.jsonl").open("ab") as file:
        file.write(torn)
    assert await journal.read(TENANT) == [line(1)]
    await journal.append(TENANT, [line(2)])
    assert await journal.read(TENANT) == [line(1), line(2)]


async def test_files_rotate_and_nothing_is_lost(tmp_path: Path) -> None:
    journal = Journal(tmp_path, rotate_at=300)
    lines = [line(number) for number in range(12)]
    for one in lines:
        await journal.append(TENANT, [one])
    assert len(files(tmp_path)) > 3
    assert all(path.stat().st_size <= 300 for path in (tmp_path / TENANT).glob("*.jsonl"))
    assert await journal.read(TENANT) == lines


async def test_the_newest_lines_are_read_as_long_as_there_is_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path, rotate_at=200)
    for number in range(9):
        await journal.append(TENANT, [line(number)])
    assert await journal.newest("t_2", until=0) == ([], True)
    assert await journal.newest(TENANT, until=float("inf")) == (await journal.read(TENANT), True)
    # Each look at the clock takes a second, also before the end of a file, which is an empty line.
    seconds = iter(range(1_000))
    monkeypatch.setattr("perdure.stores.journal.log.time.monotonic", lambda: next(seconds))
    found, is_all = await journal.newest(TENANT, until=8)
    assert not is_all
    assert 0 < len(found) < 9
    assert found == (await journal.read(TENANT))[-len(found) :], "the newest, oldest first"


async def test_a_reader_of_the_newest_lines_keeps_no_writer_waiting(tmp_path: Path) -> None:
    files = files_of.Files(tmp_path / TENANT, rotate_at=20)
    for number in range(3):
        files.append(b'{"number": %d}\n' % number)
    with closing(files.newest()) as lines:
        assert [next(lines), next(lines)] == [b"", b'{"number": 2}']
        writes = [
            lambda: files.append(b'{"number": 3}\n'),
            lambda: files.erase(["0"], lambda _: True),
        ]
        for write in writes:
            await asyncio.wait_for(asyncio.to_thread(write), 10)
        assert [one for one in lines if one.strip()] == [b'{"number": 1}'], "neither what is new nor what was erased"
    assert files.read()[-2] == b'{"number": 3}'


async def test_the_newest_lines_are_read_whole_while_their_files_are_compacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_of, "_WORTH_IT", 1)
    files = files_of.Files(tmp_path / TENANT, rotate_at=20)
    for number in range(3):
        files.append(b'{"number": %d}\n' % number)
    with closing(files.newest()) as lines:
        next(lines)
        await asyncio.wait_for(asyncio.to_thread(files.compact, lambda lines: [True] * len(lines)), 10)
        found = [json.loads(one)["number"] for one in lines if one.strip()]
    assert (found, len(list((tmp_path / TENANT).glob("*.jsonl")))) == ([2, 1, 0], 1)


async def test_a_line_larger_than_a_file_is_kept_whole(tmp_path: Path) -> None:
    journal = Journal(tmp_path, rotate_at=10)
    await journal.append(TENANT, [line(1)])
    await journal.append(TENANT, [line(2)])
    assert files(tmp_path) == ["00000001.jsonl", "current.jsonl"]


async def test_many_writers_at_once(tmp_path: Path) -> None:
    journals = [Journal(tmp_path, rotate_at=2_000) for _ in range(4)]
    await asyncio.gather(*(journals[number % 4].append(TENANT, [line(number)]) for number in range(100)))
    found = {one.deletion.id for one in await journals[0].read(TENANT) if isinstance(one, Forgotten)}
    assert len(found) == 100


async def test_the_folder_has_one_id_however_many_ask_first(tmp_path: Path) -> None:
    made = await asyncio.gather(*(JournalMarks(tmp_path / "journal").begin("key") for _ in range(20)))
    assert len(set(made)) == 1
    assert await JournalMarks(tmp_path / "other").begin("key") not in made


async def test_nothing_is_written_where_the_journal_was(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    id_, _ = await JournalMarks(folder).begin("key")
    journal = Journal(folder)
    await journal.append(TENANT, [line(1)])
    folder.rename(tmp_path / "away")
    with pytest.raises(StoreLost, match="no longer holds it"):
        await journal.append(TENANT, [line(2)])
    assert not folder.exists()
    await Journal(folder).append(TENANT, [line(2)])  # The control: one that never saw the journal writes.
    (tmp_path / "away").rename(tmp_path / "back")
    (folder / "journal.id").write_text(id_)
    await journal.append(TENANT, [line(3)])


_FULL = textwrap.dedent("""
    import asyncio, resource, signal, sys
    from datetime import UTC, datetime
    from pathlib import Path
    from perdure.values.changes import Deletion
    from perdure.errors import StoreUnavailable
    from perdure.stores.journal.lines import Forgotten
    from perdure.stores.journal.log import Journal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    journal = Journal(Path(sys.argv[1]))
    line = Forgotten(deletion=Deletion(id="mem_x" * 40, reason="test", sweep="r", at=datetime.now(UTC)))

    async def fill():
        accepted = 0
        try:
            while accepted < 1000:
                await journal.append("t_1", [line, line])
                accepted += 2
        except StoreUnavailable as error:
            print(accepted, error)

    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    asyncio.run(fill())
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    asyncio.run(journal.append("t_1", [line]))
""")


@pytest.mark.parametrize("room", [2_000, 2_001, 2_345])
async def test_a_full_disk_refuses_and_keeps_nothing_half(tmp_path: Path, room: int) -> None:
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", _FULL, str(tmp_path), str(room)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    kept, _, problem = done.stdout.partition(" ")
    assert "journal: File too large" in problem
    assert int(kept) > 0
    # What was accepted before and after is there; of what was refused, nothing.
    assert len(await Journal(tmp_path).read("t_1")) == int(kept) + 1
    assert on_disk(tmp_path).count(b"\n") == int(kept) + 1


async def test_a_file_in_the_place_of_the_folder_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("")
    with pytest.raises(StoreUnavailable, match="journal"):
        await Journal(tmp_path / "journal").append(TENANT, [line(1)])


@pytest.mark.parametrize("erased", [True, False], ids=["erased", "control"])
async def test_what_was_refused_leaves_the_disk_and_nothing_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, erased: bool
) -> None:
    if not erased:

        def none(lines: Sequence[Line], settled: Settled) -> list[bool]:
            return [False] * len(lines)

        monkeypatch.setattr("perdure.stores.journal.folded_state.refused", none)
    journal = Journal(tmp_path, rotate_at=600)
    for job in ("one", "two", "one"):
        await journal.append(TENANT, submitted(job, f"{job} good", f"{job} bad"))
    # An attempt journaled both and wrote one; the next one found that, and refused the other.
    await journal.append(TENANT, [changed("one bad", 1, "one"), changed("one good", 1, "one")])
    before = on_disk(tmp_path)
    await journal.append(TENANT, [refusing("one", 1, "one good")])
    assert (b"one bad" not in on_disk(tmp_path)) == erased
    assert len(on_disk(tmp_path)) > len(before), "in place"
    if erased:
        left = [one for one in await journal.read(TENANT) if not isinstance(one, Settled)]
        good, two = submitted("one", "one good"), submitted("two", "two good", "two bad")
        assert left == [*good, *two, *good, changed("one good", 1, "one")]


async def test_what_was_written_and_is_refused_later_keeps_its_history(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    await journal.append(TENANT, [changed("apple", 1, "one"), settled("one", "apple")])
    await journal.append(TENANT, [refusing("one", 0)])
    assert await journal.history(TENANT, item_id(TENANT, said("apple"))) == [changed("apple", 1, "one")]


async def test_nobody_finds_refused_text_beside_the_line_that_refuses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    await journal.append(TENANT, submitted("one", "good", "bad"))

    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("perdure.stores.disk.append", full)
        with pytest.raises(StoreUnavailable):
            await journal.append(TENANT, [refusing("one", 1)])
    assert b'"bad"' not in on_disk(tmp_path)
    assert fold(await journal.read(TENANT)).pending == tuple(submitted("one", "good")), "it settles again"
    await journal.append(TENANT, [refusing("one", 1)])
    # Submitted once more after that, by a process that died before it erased its line.
    await journal.append(TENANT, submitted("one", "good", "bad"))
    monkeypatch.setattr(files_of, "_WORTH_IT", 0)
    await journal.compact(TENANT, now=NOW)
    assert b'"bad"' not in on_disk(tmp_path)


TEXTS = st.lists(st.sampled_from(["apple", "pear", "plum\n", 'quo"te', "müsli"]), min_size=1, max_size=8)


@given(TEXTS, st.integers(200, 2000), st.booleans())
def test_purged_text_is_nowhere_and_no_other_is_touched(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], rotate_at: int, compacted: bool
) -> None:
    folder = tmp_path_factory.mktemp("journal")

    async def check() -> None:
        journal = Journal(folder, rotate_at=rotate_at)
        for number, text in enumerate(texts):
            name = f"job {number}"
            await journal.append(TENANT, submitted(name, text))
            await journal.append(TENANT, [changed(text, number + 1, name), settled(name, text, version=number + 1)])
        if compacted:
            await journal.compact(TENANT, now=NOW)
        gone = item_id(TENANT, said(texts[0]))
        before = await journal.read(TENANT)
        await journal.drop(TENANT, [gone], spared=nothing_spared)
        [raw] = {encode(submitted("j", texts[0])).partition(b'"content":"')[2].partition(b'","')[0]}
        assert raw not in on_disk(folder)
        wanted = [one for one in before if gone not in ids_of(one)]
        assert await journal.read(TENANT) == wanted

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files_of, "_WORTH_IT", 0)
        asyncio.run(check())


async def test_what_was_observed_anew_is_spared_and_a_newer_builds_line_is_not(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    old, new = submitted("old", "apple")[0], submitted("new", "apple")[0]
    await journal.append(TENANT, [old, new])
    current = tmp_path / TENANT / "current.jsonl"
    with current.open("ab") as file:
        file.write(b'{"kind":"merged","of":"%s","text":"apple pie"}\n' % old.id.encode())
    await journal.drop(TENANT, [old.id], spared=lambda item: item.job == "new")
    assert await journal.read(TENANT) == [new]
    assert b"apple pie" not in current.read_bytes()


@pytest.mark.parametrize("erased", [slice(0, 30), slice(-30, None), slice(64, 192), slice(0, -1)])
async def test_an_erasure_that_a_crash_cut_off_is_finished_by_the_next(tmp_path: Path, erased: slice) -> None:
    journal = Journal(tmp_path)
    await journal.append(TENANT, [*submitted("one", "secret " * 30), *submitted("two", "public")])
    current = tmp_path / TENANT / "current.jsonl"
    first, rest = current.read_bytes().split(b"\n", 1)
    torn = bytearray(first)
    torn[erased] = b" " * len(torn[erased])
    current.write_bytes(bytes(torn) + b"\n" + rest)
    assert [one.job for one in await journal.read(TENANT) if isinstance(one, Accepted)] == ["two"]
    await journal.drop(TENANT, [item_id(TENANT, said("secret " * 30))], spared=nothing_spared)
    assert b"secret" not in current.read_bytes()
    assert [one.job for one in await journal.read(TENANT) if isinstance(one, Accepted)] == ["two"]


SECRET = MemoryItem(content="secret " * 30, occurrence="secret " * 30, occurred_at=NOW)


def _blanked(current: Path, part: Callable[[bytes], slice]) -> None:
    """Blank part of the first line, as a crash in the middle of its erasure does."""
    first, rest = current.read_bytes().split(b"\n", 1)
    torn = bytearray(first)
    erased = part(first)
    torn[erased] = b" " * len(torn[erased])
    current.write_bytes(bytes(torn) + b"\n" + rest)


def _sees_nothing(line: bytes) -> bool:
    return False


def _beginning(line: bytes) -> slice:
    return slice(0, 128)


def _end(line: bytes) -> slice:
    return slice(-128, None)


def _between_texts(line: bytes) -> slice:
    # From within one text to within the other: what is left is JSON.
    return slice(line.index(b"secret") + 20, line.index(b"secret", line.index(b"occurrence")) + 20)


@pytest.mark.parametrize("part", [_beginning, _end, _between_texts])
@pytest.mark.parametrize("finished", [True, False], ids=["finished", "control"])
async def test_a_refused_text_whose_erasure_was_cut_off_goes_when_its_job_settles_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: Callable[[bytes], slice], finished: bool
) -> None:
    if not finished:
        for protection in (f"{files_of.__name__}.is_torn", "perdure.stores.journal.log.is_broken"):
            monkeypatch.setattr(protection, _sees_nothing)
    journal = Journal(tmp_path)
    await journal.append(TENANT, accepted("one", Batch(tenant=TENANT, key="k", items=(SECRET, said("good"))), NOW))
    _blanked(tmp_path / TENANT / "current.jsonl", part)
    await journal.append(TENANT, [refusing("one", 0)])
    assert (b"secret" in on_disk(tmp_path)) == (not finished)
    assert [one.index for one in await journal.read(TENANT) if isinstance(one, Accepted)] == [1]


@pytest.mark.parametrize("part", [_beginning, _end, _between_texts])
async def test_a_jobs_texts_whose_erasure_was_cut_off_go_when_it_is_redacted_again(
    tmp_path: Path, part: Callable[[bytes], slice]
) -> None:
    journal = Journal(tmp_path)
    await journal.append(TENANT, accepted("one", Batch(tenant=TENANT, key="k", items=(SECRET,)), NOW))
    _blanked(tmp_path / TENANT / "current.jsonl", part)
    await journal.redact(TENANT, "one")
    assert b"secret" not in on_disk(tmp_path)


async def test_compaction_drops_what_a_crash_left_of_a_line_and_keeps_a_newer_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_of, "_WORTH_IT", 0)
    journal = Journal(tmp_path)
    await journal.append(TENANT, submitted("one", "secret " * 30))
    current = tmp_path / TENANT / "current.jsonl"
    _blanked(current, _beginning)
    newer = b'{"kind":"merged","text":"apple%spie"}\n' % (b" " * 80)
    with current.open("ab") as file:
        file.write(newer)
    await journal.compact(TENANT, now=LATER)
    assert on_disk(tmp_path) == newer


def much(number: int) -> list[Line]:
    lines: list[Line] = []
    for version in range(1, number + 1):
        job = f"job {version}"
        lines += [*submitted(job, "apple"), changed("apple", version, job), settled(job, "apple", version=version)]
    return [*lines, *submitted("pending", "pear"), line(1)]


class _KilledError(BaseException):
    """Stands for the power going out."""


def _dying_at(patch: pytest.MonkeyPatch, call: int) -> list[str]:
    """Have the n-th change of the disk be the last one; returns the changes that are made."""
    made: list[str] = []

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def change(*arguments: Any, **more: Any) -> Any:
            if len(made) == call:
                raise _KilledError
            made.append(name)
            return real(*arguments, **more)

        return change

    for place, name in ((os, "write"), (os, "fsync"), (Path, "rename"), (Path, "unlink")):
        patch.setattr(place, name, counted(name, getattr(place, name)))
    return made


async def test_compaction_can_be_cut_off_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_of, "_WORTH_IT", 0)
    lines, call, killed = much(6), 0, True
    while killed:
        folder = tmp_path / str(call)
        for one in lines:
            with monkeypatch.context() as patch:
                patch.setattr(files_of, "_WORTH_IT", 10**9)
                await Journal(folder, rotate_at=700).append(TENANT, [one])
        with monkeypatch.context() as patch:
            made = _dying_at(patch, call)
            try:
                await Journal(folder).compact(TENANT, now=LATER)
                killed = False
            except _KilledError:
                killed = True
        journal = Journal(folder)
        assert fold(await journal.read(TENANT)) == fold(lines), made
        # What the crash left behind forgets like all else, and the next compaction ends what this one began.
        await journal.append(TENANT, [line(2)])
        await journal.drop(TENANT, [item_id(TENANT, said("pear"))], spared=nothing_spared)
        assert b"pear" not in on_disk(folder), made
        await journal.compact(TENANT, now=LATER)
        assert fold(await journal.read(TENANT)).entries == fold(lines).entries
        assert "compacting" not in {path.name for path in (folder / TENANT).iterdir()}
        call += 1
    assert call > 8, "the control: there are so many places to die at"
    assert files(tmp_path / str(call - 1))[0].endswith(".compacted.jsonl")


async def test_a_log_is_compacted_when_it_rotates_and_has_something_to_gain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_of, "_WORTH_IT", 5_000)
    journal = Journal(tmp_path, rotate_at=3_000)
    lines = [
        one.changed(at=NOW - timedelta(days=400)) if isinstance(one, (Changed, Settled, Accepted)) else one
        for one in much(60)
    ]
    for one in lines:
        await journal.append(TENANT, [one])
    assert fold(await journal.read(TENANT)) == fold(lines)
    assert len(on_disk(tmp_path)) < len(encode(lines)) / 3


async def test_an_entrys_history_names_who_and_why(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for one in much(3):
        await journal.append(TENANT, [one])
    found = await journal.history(TENANT, item_id(TENANT, said("apple")))
    assert [(one.entry.version, one.by, one.why, one.operation) for one in found] == [
        (version, BY, "insert", f"job {version}") for version in (1, 2, 3)
    ]
    assert decode(encode(found[:1]).strip()) == found[0]


WRITERS = {
    "activities/submissions",
    "perdure/memory/change_log",
    "perdure/memory/consent_book",
    "perdure/memory/membership",
    "perdure/memory/reconciliation/reconciler",
    "perdure/memory/repair",
}
"""The modules that write the journal; all others change memory through the door."""


def appends_to_journal(module: Path) -> bool:
    awaited = [
        one.value for one in ast.walk(ast.parse(module.read_text(encoding="utf-8"))) if isinstance(one, ast.Await)
    ]
    calls = [one.func for one in awaited if isinstance(one, ast.Call)]
    return any(
        isinstance(call, ast.Attribute) and call.attr == "append" and "journal" in ast.unparse(call.value)
        for call in calls
    )


def test_the_modules_that_write_the_journal_are_these_and_documented() -> None:
    modules = [
        module for room in ("perdure", "activities", "workflows", "worker") for module in Path(room).rglob("*.py")
    ]
    assert {str(module.with_suffix("")) for module in modules if appends_to_journal(module)} == WRITERS
    rule = Path("CONTRIBUTING.md").read_text(encoding="utf-8").split("## Rules", 1)[1].split("\n- ", 2)[1]
    assert {name for name in WRITERS if f"`{name.removeprefix('perdure/')}`" not in rule} == set()
