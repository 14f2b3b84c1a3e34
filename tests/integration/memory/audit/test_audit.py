"""The audit on real files and a real Redis: nothing is acknowledged unaudited, and no tampering goes unnoticed."""

import asyncio
import resource
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from perdure.errors import StoreUnavailable
from perdure.memory.audit.audit import Audit
from perdure.memory.audit.reader import removable, shown, verified
from perdure.memory.audit.verification import AuditReport
from perdure.stores.audit import files
from perdure.stores.audit.chain import LABEL
from perdure.stores.audit.lines import AuditKind, AuditLine
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis.audit_heads import AuditHeads
from perdure.stores.redis.connection import connect
from perdure.stores.tenant_key import TenantKey
from perdure.values.changes import Actor, ActorKind
from tests.conftest import TENANT_KEY, Servers
from tests.support.waiting import until, until_true

KEY = TenantKey(TENANT_KEY)
ADA, TASK = Actor(kind=ActorKind.PERSON, id="ada"), Actor(kind=ActorKind.AGENT, id="task-1")
TENANT = KEY.tenant_of("kim")


@dataclass(frozen=True, kw_only=True)
class Place:
    """An audit of its own: a folder, and a hash of Redis."""

    folder: Path
    redis: Redis
    name: str

    def audit(self) -> Audit:
        """Return the audit as another process writes it."""
        return Audit(self.folder, KEY, self.heads)

    @property
    def heads(self) -> AuditHeads:
        return AuditHeads(self.redis, self.name)

    @asynccontextmanager
    async def process(self) -> AsyncGenerator[Audit]:
        """Run a process that ends in order."""
        audit = self.audit()
        yield audit
        await audit.close()

    async def verified(self) -> AuditReport:
        known = [one.head for one in await self.heads.all()]
        return await asyncio.to_thread(verified, self.folder, KEY.derived(LABEL), known)

    def lines(self) -> list[AuditLine]:
        return shown(self.folder, KEY.derived(LABEL), TENANT)

    def newest(self) -> Path:
        return self.folder / max(files.sizes(self.folder))

    def files(self) -> list[Path]:
        return [self.folder / file for file in files.sizes(self.folder)]


@pytest.fixture
async def place(servers: Servers, tmp_path: Path) -> AsyncGenerator[Place]:
    redis = connect(servers.redis_url)
    await JournalMarks(tmp_path / "journal").begin(KEY.fingerprint)
    given = Place(folder=tmp_path / "journal" / files.FOLDER, redis=redis, name=f"perdure:audit:{uuid4().hex}")
    yield given
    await redis.delete(given.name)
    await redis.aclose()


async def changed(audit: Audit, number: int = 1, *, by: Actor = TASK, again: bool = False) -> None:
    ids = {"insert": [f"mem_{number}", f"mem_{number}b"], "reinforce": [f"mem_{number}c"]}
    await audit.changed(TENANT, ids, operation=f"job {number}", by=by, again=again)


@pytest.mark.slow
async def test_what_was_done_is_told_in_order_and_ends_whole(place: Place) -> None:
    async with place.process() as audit:
        await changed(audit, by=ADA)
        assert await audit.read(TENANT, ["mem_1"], why="recall", operation="r1", by=TASK)
        await audit.changed("t_other", {"insert": ["mem_1"]}, operation="theirs", by=ADA)
        await audit.written()
    one, other = place.lines()
    assert (one.kind, one.operation, one.by) == (AuditKind.CHANGED, "job 1", ADA.changed(id=KEY.tenant_of(ADA.id)))
    assert one.ids == {"insert": ("mem_1", "mem_1b"), "reinforce": ("mem_1c",)}
    assert (other.kind, other.operation, other.by, other.ids) == (AuditKind.READ, "r1", TASK, {"recall": ("mem_1",)})
    found = await place.verified()
    assert (found.files, found.lines, found.problems, found.notes) == (1, 5, (), ())


@pytest.mark.slow
async def test_a_person_stands_there_under_their_tenant_alone_whosever_memory_it_is(place: Place) -> None:
    kim, own = Actor(kind=ActorKind.PERSON, id="kim"), Actor(kind=ActorKind.PERSON, id=TENANT)
    tenants = [TENANT, "t_other", KEY.tenant_of_owner("team:a")]
    async with place.process() as audit:
        for number, tenant in enumerate(tenants):
            await audit.changed(tenant, {"insert": ["mem_1"]}, operation=f"o{number}", by=kim)
            assert await audit.read(tenant, ["mem_1"], why="recall", operation=f"r{number}", by=kim)
        await audit.written()
    folder, key = place.folder, KEY.derived(LABEL)
    assert [line.by for tenant in tenants for line in shown(folder, key, tenant)] == [own] * 6
    assert b"kim" not in place.newest().read_bytes()


@pytest.mark.parametrize("protected", [True, False], ids=["looked up", "control"])
async def test_a_retry_adds_nothing_here_or_in_another_process(place: Place, protected: bool) -> None:
    async with place.process() as first:
        await changed(first)
        await changed(first, again=protected)
        async with place.process() as second:
            await changed(second, again=protected)
            await changed(second, 2, again=protected)
    expected = ["job 1", "job 2"] if protected else ["job 1", "job 1", "job 1", "job 2"]
    assert [line.operation for line in place.lines()] == expected


async def test_a_retry_that_finds_everything_done_gives_no_other_reason(place: Place) -> None:
    async with place.process() as audit:
        await changed(audit)
        for why, number, told in (("reinforce", 1, 1), ("insert", 3, 2)):
            ids = {why: [f"mem_{number}", "mem_1b"]}
            await audit.changed(TENANT, ids, operation="job 1", by=TASK, again=True)
            assert len(place.lines()) == told, "one that nothing was said of is told: the control"


async def test_a_read_that_is_attempted_again_is_told_once(place: Place) -> None:
    async with place.process() as audit:
        for operation in ("one", "one", "two"):
            await audit.read(TENANT, ["mem_1"], why="recall", operation=operation, by=TASK)
    assert [line.operation for line in place.lines()] == ["one", "two"]


async def test_reads_are_written_within_a_second_without_anybody_waiting(place: Place) -> None:
    async with place.process() as audit:
        await audit.ready()
        began = datetime.now(UTC)
        for number in range(30):
            await audit.read(TENANT, [f"mem_{number}"], why="recall", operation=f"r{number}", by=TASK)
        assert place.lines() == []
        assert (datetime.now(UTC) - began).total_seconds() < 0.3, "no read waits for the disk"
        await until_true(lambda: len(place.lines()) == 30, 1.0)


async def test_many_changes_at_once_share_a_sync_and_each_is_there(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    appended, append = list[int](), files.ChainFile.append

    def counting(self: files.ChainFile, content: bytes) -> None:
        appended.append(content.count(b"\n"))
        append(self, content)

    monkeypatch.setattr(files.ChainFile, "append", counting)
    async with place.process() as audit:
        await audit.ready()
        await asyncio.gather(*(changed(audit, number) for number in range(40)))
        assert len(appended) <= 4, appended
        assert {line.operation for line in place.lines()} == {f"job {number}" for number in range(40)}
    assert not (await place.verified()).problems


async def test_whoever_gives_up_waiting_does_not_break_the_chain(place: Place) -> None:
    async with place.process() as audit:
        await audit.ready()
        waiting = [asyncio.create_task(changed(audit, number)) for number in range(20)]
        await asyncio.sleep(0)
        for task in waiting[::2]:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await changed(audit, 99)
    told = [line.operation for line in place.lines()]
    assert {f"job {number}" for number in (*range(1, 20, 2), 99)} <= {*told}
    assert len(told) == len({*told})
    assert not (await place.verified()).problems


def dropped(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))


def altered(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"mem_1", b"mem_2", 1))


def reordered(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[2], lines[1], *lines[3:]]))


def replaced(path: Path) -> None:
    other = next(one for one in path.parent.glob("*.jsonl") if one != path)
    shutil.copy(other, path)


@pytest.mark.parametrize("newest", [True, False], ids=["newest", "oldest"])
@pytest.mark.parametrize("tamper", [dropped, cut, altered, reordered, replaced])
async def test_a_file_that_was_tampered_with_is_named(
    place: Place, tamper: Callable[[Path], None], newest: bool
) -> None:
    for number in range(1, 4):
        async with place.process() as audit:
            await changed(audit, number)
            await changed(audit, 10 + number)
    assert not (await place.verified()).problems, "the control"
    path = place.newest() if newest else place.files()[0]
    tamper(path)
    found = await place.verified()
    assert {one.file for one in found.problems} == {path.name}


@pytest.mark.slow
async def test_a_chain_that_is_written_is_no_problem_and_a_killed_one_is_named(place: Place) -> None:
    async with place.process() as audit:
        await changed(audit)
        await told(audit)
        found = await place.verified()
        assert (found.problems, found.notes) == ((), ())
    code = (
        "import asyncio, os, signal, sys\n"
        "from pathlib import Path\n"
        "from perdure.values.changes import Actor, ActorKind\n"
        "from perdure.memory.audit.audit import Audit\n"
        "from perdure.stores.redis.connection import connect\n"
        "from perdure.stores.redis.audit_heads import AuditHeads\n"
        "from perdure.stores.tenant_key import TenantKey\n"
        "async def main():\n"
        "    heads = AuditHeads(connect(sys.argv[2]), sys.argv[3])\n"
        "    audit = Audit(Path(sys.argv[1]), TenantKey(bytes(range(32))), heads)\n"
        "    by = Actor(kind=ActorKind.SYSTEM)\n"
        "    await audit.changed('t_1', {'insert': ['mem_1']}, operation='o', by=by)\n"
        "    await audit.read('t_1', ['mem_1'], why='recall', operation='r', by=by)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    url = "redis://{host}:{port}".format(**place.redis.connection_pool.connection_kwargs)
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(place.folder), url, place.name)
    assert await killed.wait() == -9
    found = await place.verified()
    assert not found.problems
    [note] = found.notes
    assert note.file == place.newest().name
    assert "ended uncleanly" in note.what
    assert "reads of its last second may be missing" in note.what


async def test_heads_go_to_redis_and_into_the_next_chain_and_two_idle_ones_keep_still(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(audit: Audit) -> None:
        """Leave it to the test to say when a minute has passed."""

    monkeypatch.setattr(Audit, "_keep_telling", never)
    async with place.process() as first, place.process() as second:
        await changed(first)
        await changed(second, 2)
        for _ in range(3):
            await told(first, second)
        still = files.sizes(place.folder)
        await told(first, second)
        assert files.sizes(place.folder) == still, "each would answer to the other for ever"
        assert _heads_in(place) >= 1
        await changed(first, 3)
        await told(first, second)
        assert files.sizes(place.folder)[place.newest().name] > still[place.newest().name], "the other has its head"
        [known] = [one for one in await place.heads.all() if one.head.file == place.newest().name]
        assert not known.news
    assert not (await place.verified()).problems


async def test_each_minute_redis_learns_how_far_a_chain_came(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perdure.memory.audit.audit.HEADS_EVERY", 0.05)

    async def reported() -> int:
        return max((one.head.line for one in await place.heads.all()), default=0)

    async with place.process() as audit:
        for number in range(1, 4):
            before = await reported()
            await changed(audit, number)
            await until(reported, before.__lt__)


async def told(*audits: Audit) -> None:
    """Have a minute pass."""
    for audit in audits:
        await audit._tell()  # pyright: ignore[reportPrivateUsage]


def _heads_in(place: Place) -> int:
    return sum(path.read_bytes().count(b'"kind":"heads"') for path in place.files())


async def test_a_loss_of_redis_is_told_and_is_no_alarm(place: Place) -> None:
    for number in (1, 2):
        async with place.process() as audit:
            await changed(audit, number)
    await place.redis.delete(place.name)
    found = await place.verified()
    assert not found.problems
    assert [one.what[:25] for one in found.notes] == ["Redis knows of no chain, "]
    place.files()[0].unlink()
    assert (await place.verified()).problems, "what another chain knows still shows"


async def test_without_redis_all_is_written_and_the_chain_ends_in_order(place: Place) -> None:
    dead = connect("redis://127.0.0.1:1")
    audit = Audit(place.folder, KEY, AuditHeads(dead, place.name))
    await changed(audit)
    await audit.close()
    await dead.aclose()
    assert [line.operation for line in place.lines()] == ["job 1"]
    found = await asyncio.to_thread(verified, place.folder, KEY.derived(LABEL), None)
    assert not found.problems
    assert [one.what[:12] for one in found.notes] == ["Redis does n"]


async def test_a_full_disk_refuses_changes_and_keeps_reads_until_there_is_room(place: Place) -> None:
    async with place.process() as audit:
        await changed(audit)
        size = place.newest().stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 30, resource.RLIM_INFINITY))
        try:
            with pytest.raises(StoreUnavailable, match="audit: File too large"):
                await changed(audit, 2)
            assert place.newest().stat().st_size == size, "half a line is not kept"
            assert not await audit.read(TENANT, ["mem_1"], why="recall", operation="r", by=TASK), "it warns"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        # The line is on the disk a moment before its writer knows.
        await until_true(lambda: not audit._failing, 3)  # pyright: ignore[reportPrivateUsage]
        assert await audit.read(TENANT, ["mem_1"], why="recall", operation="s", by=TASK)
    assert [line.operation for line in place.lines()] == ["job 1", "r", "s"]
    assert not (await place.verified()).problems


async def test_a_folder_that_cannot_be_used_refuses_changes_and_not_reads(place: Place) -> None:
    place.folder.write_text("not a folder")
    audit = place.audit()
    with pytest.raises(StoreUnavailable, match="audit"):
        await changed(audit)
    assert not await audit.read(TENANT, ["mem_1"], why="recall", operation="r", by=TASK)
    place.folder.unlink()
    await changed(audit, 2)
    await audit.close()
    assert sorted(line.operation for line in place.lines()) == ["job 2", "r"]


async def test_a_folder_without_the_journal_is_not_written(place: Place) -> None:
    (place.folder.parent / "journal.id").unlink()
    audit = place.audit()
    with pytest.raises(StoreUnavailable, match="does not hold the journal"):
        await changed(audit)
    await audit.close()
    assert not place.folder.exists()


async def test_a_chain_whose_file_was_taken_away_goes_on_in_another_and_the_first_is_missed(place: Place) -> None:
    async with place.process() as audit:
        await changed(audit)
        await told(audit)
        gone = place.newest()
        gone.unlink()
        with pytest.raises(StoreUnavailable):
            await changed(audit, 2)
        await changed(audit, 3)
    assert [line.operation for line in place.lines()] == ["job 3"]
    assert {one.file for one in (await place.verified()).problems} == {gone.name}


async def test_a_large_chain_goes_on_in_another_file(place: Place) -> None:
    audit = place.audit()
    audit._chain._rotate_at = 1_000  # pyright: ignore[reportPrivateUsage]
    for number in range(20):
        await changed(audit, number)
    await audit.close()
    assert len(place.files()) > 3
    assert [line.operation for line in place.lines()] == [f"job {number}" for number in range(20)]
    assert (await place.verified()).notes == ()
    gone = place.files()[1]
    gone.unlink()
    assert {one.file for one in (await place.verified()).problems} == {gone.name}


async def test_old_files_are_removed_so_that_it_shows_that_it_was_on_purpose(place: Place) -> None:
    for number in range(3):
        async with place.process() as audit:
            await changed(audit, number)
    first = place.files()[0].name

    async def remove() -> Sequence[str]:
        known = [one.head for one in await place.heads.all()]
        now = datetime.now(UTC) + timedelta(minutes=1)
        removal = removable(place.folder, KEY.derived(LABEL), known, now)
        async with place.process() as remover:
            await remover.removing(removal, ADA)
            files.remove(place.folder, removal.files)
            await place.heads.forget(removal.files)
        return removal.files

    async with place.process() as lasting:
        # It knows of the chains that are removed, and is in use: it stays.
        await changed(lasting, 9)
        await told(lasting)
        stays = place.newest().name
        assert first in await remove()
        assert stays in files.sizes(place.folder)
        found = await place.verified()
        assert not found.problems
        assert {one.what for one in found.notes} == {"was removed on purpose"}
        # Also once the chain that said so is removed itself.
        await remove()
        assert not (await place.verified()).problems
        (place.folder / stays).rename(place.folder / f"{stays}.away")
        assert stays in {one.file for one in (await place.verified()).problems}, "the control"
        (place.folder / f"{stays}.away").rename(place.folder / stays)
