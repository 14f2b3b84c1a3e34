"""Large values of tasks: kept in Redis and on disk, read from either, and gone from both in time."""

import os
import time
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from temporalio.client import WorkflowFailureError

from localservers import Server
from perdure import Answer
from perdure.errors import ResultExpired, StoreLost, StoreUnavailable
from perdure.stores.journal.log import Journal
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.journal.values import ValueFiles
from perdure.stores.redis import bindings, keys
from perdure.stores.redis.bindings import TaskBindings
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.outputs import OUTPUT, Outputs
from tests.conftest import OwnServers, Servers
from tests.integration.workflows.resumable_agent.test_without_redis import refused_before
from tests.support.harness import bench
from tests.support.waiting import question_of, until

pytestmark = pytest.mark.slow

TTL = timedelta(hours=1)

READ_LATER = """
steps:
  - {id: made, tool: big, args: {size: 200000}}
  - {id: wait, tool: echo, args: {value: 1}, approve: "Go on?"}
  - {id: read, tool: echo, args: {value: "${steps.made.output.size()}"}}
output: "${steps.read.output}"
"""


async def nothing(*_: object, **__: object) -> None:
    pass


async def full(*_: object, **__: object) -> None:
    raise StoreUnavailable("journal", "No space left on device")


@pytest.fixture
async def redis(servers: Servers) -> AsyncGenerator[Redis]:
    redis = connect(servers.redis_url)
    yield redis
    await redis.aclose()


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    await JournalMarks(tmp_path).begin("the key")
    return tmp_path


@pytest.mark.parametrize("kept", [True, False], ids=["on disk", "control"])
async def test_a_value_outlives_the_loss_of_redis(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    # What a process has in memory would hide the loss.
    monkeypatch.setattr("perdure.stores.redis.outputs.CACHED_FOR", 0.0)
    if not kept:
        monkeypatch.setattr(ValueFiles, "read", nothing)
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path) as agents:
        handle = await agents.start(agents.task(agents.skill(READ_LATER)))
        question = await question_of(handle)
        await ask(agents.services.redis, "FLUSHALL")
        await handle.execute_update("answer", Answer(question_id=question.id, value="yes"))
        if kept:
            assert (await handle.result()).output == 200_000
        else:
            with pytest.raises(WorkflowFailureError) as caught:
                await handle.result()
            assert "is no longer kept" in str(caught.value.cause)


@pytest.mark.parametrize("kept", [True, False], ids=["on disk", "control"])
async def test_a_large_value_is_made_and_read_without_redis(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    monkeypatch.setattr("perdure.stores.redis.outputs.CACHED_FOR", 0.0)
    if not kept:
        monkeypatch.setattr(ValueFiles, "keep", full)
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path) as agents:
        await fleet.stop(Server.REDIS)
        text = "\n".join(line for line in READ_LATER.splitlines() if "approve" not in line)
        handle = await agents.start(agents.task(agents.skill(text)))
        if not kept:
            # Neither takes it: the step waits until one does.
            await until(lambda: refused_before(handle, "big"), bool)
            await fleet.start(Server.REDIS)
        assert (await handle.result()).output == 200_000


async def test_what_redis_lost_is_put_back(redis: Redis, folder: Path, tenant: str) -> None:
    reference = await Outputs(redis, TTL, files=ValueFiles(folder)).keep(tenant, '"é"')
    [file] = (folder / tenant / "values").glob("*.json")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ('"é"', 0o600)
    place = keys.output(tenant, OUTPUT, reference)
    await ask(redis, "DEL", place)
    assert await Outputs(redis, TTL, files=ValueFiles(folder)).get(tenant, reference) == "é"
    assert await ask(redis, "GET", place) == '"é"'
    assert await ask(redis, "PTTL", place) > 0
    # A journal is not disturbed by it.
    assert await Journal(folder).read(tenant) == []


@pytest.mark.parametrize("mounted", [False, True], ids=["unmounted", "control"])
async def test_a_value_is_not_taken_for_gone_while_its_folder_is_not_mounted(
    redis: Redis, folder: Path, tmp_path_factory: pytest.TempPathFactory, tenant: str, mounted: bool
) -> None:
    reference = await Outputs(redis, TTL, files=ValueFiles(folder)).keep(tenant, '"x"')
    await ask(redis, "DEL", keys.output(tenant, OUTPUT, reference))
    empty = tmp_path_factory.mktemp("empty")
    if mounted:
        await JournalMarks(empty).begin("the key")
    with pytest.raises(ResultExpired if mounted else StoreLost):
        await Outputs(redis, TTL, files=ValueFiles(empty)).get(tenant, reference)


async def test_a_file_that_is_not_what_was_written_is_not_read(redis: Redis, folder: Path, tenant: str) -> None:
    outputs = Outputs(redis, TTL, files=ValueFiles(folder), kind="other")
    reference = await outputs.keep(tenant, '"x"')
    [file] = (folder / tenant / "values").glob("*.json")
    file.write_text('"y"')
    await ask(redis, "DEL", keys.output(tenant, "other", reference))
    with pytest.raises(ResultExpired):
        await outputs.get(tenant, reference)


async def test_one_place_is_enough_to_keep_a_value_and_none_is_not(
    redis: Redis, folder: Path, tmp_path_factory: pytest.TempPathFactory, tenant: str
) -> None:
    away, unmounted = connect("redis://127.0.0.1:1"), ValueFiles(tmp_path_factory.mktemp("unmounted"))
    first = await Outputs(redis, TTL, files=unmounted).keep(tenant, "1")
    assert await Outputs(redis, TTL, files=unmounted).get(tenant, first) == 1
    second = await Outputs(away, TTL, files=ValueFiles(folder)).keep(tenant, "2")
    assert await Outputs(away, TTL, files=ValueFiles(folder)).get(tenant, second) == 2
    with pytest.raises(StoreUnavailable):
        await Outputs(away, TTL, files=unmounted).keep(tenant, "3")
    with pytest.raises(StoreUnavailable):
        await Outputs(away, TTL, files=unmounted).get(tenant, first)
    await away.aclose()


async def test_a_file_goes_once_it_is_old_and_gone_from_redis(redis: Redis, folder: Path, tenant: str) -> None:
    outputs = Outputs(redis, TTL, files=ValueFiles(folder))
    lost, live, young = [await outputs.keep(tenant, f'"{uuid4()}"') for _ in range(3)]
    values = folder / tenant / "values"
    torn = values / ".torn.draft"
    torn.write_text("half")
    old = time.time() - TTL.total_seconds()
    files = {reference: next(values.glob(f"*{reference}.json")) for reference in (lost, live, young)}
    for file in (files[lost], files[live], torn):
        _make_old(file)
    await ask(redis, "DEL", keys.output(tenant, OUTPUT, lost), keys.output(tenant, OUTPUT, young))
    await outputs.clean()
    assert set(values.glob("*.json")) == {files[live], files[young]}
    assert not torn.exists()
    assert files[live].stat().st_mtime > old


async def test_a_tenant_that_is_erased_meanwhile_keeps_nobody_elses_files_from_being_cleaned(
    redis: Redis, folder: Path, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = Outputs(redis, TTL, files=ValueFiles(folder))
    reference = await outputs.keep(tenant, f'"{uuid4()}"')
    [file] = (folder / tenant / "values").glob(f"*{reference}.json")
    _make_old(file)
    await ask(redis, "DEL", keys.output(tenant, OUTPUT, reference))

    async def listed_before(_: ValueFiles) -> list[str]:
        return ["t_erased", tenant]

    monkeypatch.setattr(ValueFiles, "tenants", listed_before)
    await outputs.clean()
    assert not file.exists()


OF_KEYS_ALONE = bindings._KEEP.replace("redis.call('SADD', KEYS[2], KEYS[2])", "")  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("protected", [True, False], ids=["renewed", "control"])
@pytest.mark.parametrize("made", ["while Redis was away", "before Redis lost it"])
async def test_a_file_that_redis_knows_nothing_of_lives_as_long_as_its_task(
    redis: Redis, folder: Path, tenant: str, monkeypatch: pytest.MonkeyPatch, made: str, protected: bool
) -> None:
    if not protected:
        monkeypatch.setattr(bindings, "_KEEP", OF_KEYS_ALONE)
    outputs, task = Outputs(redis, TTL, files=ValueFiles(folder)), TaskBindings(redis, TTL)
    if made == "while Redis was away":
        away = connect("redis://127.0.0.1:1")
        reference = await Outputs(away, TTL, files=ValueFiles(folder)).keep(tenant, '"x"', "task")
        await away.aclose()
    else:
        reference = await Outputs(redis, TTL, files=ValueFiles(folder)).keep(tenant, '"x"', "task")
        await ask(redis, "DEL", keys.output(tenant, OUTPUT, reference), *keys.task(tenant, "task"), keys.index(tenant))
    [file] = (folder / tenant / "values").glob("*.json")
    for _ in range(2):
        _make_old(file)
        await task.keep(tenant, "task")
        await outputs.clean()
        assert file.exists() == protected
        if not protected:
            return
    assert await outputs.get(tenant, reference, "task") == "x"
    _make_old(file)
    await ask(redis, "DEL", keys.output(tenant, OUTPUT, reference), *keys.task(tenant, "task"))
    await outputs.clean()
    assert not file.exists(), "the task's time has run out"


@pytest.mark.parametrize("cleaned", [True, False], ids=["written later", "control"])
async def test_a_file_that_could_not_be_written_is_written_later(
    own_servers: OwnServers, folder: Path, tmp_path_factory: pytest.TempPathFactory, tenant: str, cleaned: bool
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    redis = connect(fleet.addresses.redis_url)
    unmounted = ValueFiles(tmp_path_factory.mktemp("unmounted"))
    reference = await Outputs(redis, TTL, files=unmounted).keep(tenant, '"é"', "task")
    with pytest.raises(StoreLost):
        await Outputs(redis, TTL, files=unmounted).clean()
    if cleaned:
        await Outputs(redis, TTL, files=ValueFiles(folder)).clean()
        assert await ask(redis, "EXISTS", keys.UNFILED) == 0
    await ask(redis, "FLUSHALL")
    outputs = Outputs(redis, TTL, files=ValueFiles(folder))
    if cleaned:
        assert await outputs.get(tenant, reference, "task") == "é"
    else:
        with pytest.raises(ResultExpired):
            await outputs.get(tenant, reference, "task")
    await redis.aclose()


def _make_old(file: Path) -> None:
    old = time.time() - 1.5 * TTL.total_seconds()
    os.utime(file, (old, old))
