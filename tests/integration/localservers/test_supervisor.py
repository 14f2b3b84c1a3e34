"""The detached supervisor: attaching, stopping, dying, ports that are taken, homes that cannot be used."""

import asyncio
import contextlib
import fcntl
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError

from localservers import HomeUnusable, Server, ServerNotStarted, ensure, running, state, stop
from localservers.commands import is_free
from localservers.fleet import weaviate_key
from localservers.state import HomeLock
from perdure.settings import Addresses, Settings
from tests.conftest import Servers, clean_settings
from tests.support.waiting import until, until_true


@pytest.fixture
def settings(tmp_path: Path) -> Generator[Settings]:
    """Settings of an empty home with addresses for Temporal and Weaviate: only Redis is started, in 0.1 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:9")
        made = clean_settings(tmp_path / "home", weaviate_url="http://127.0.0.1:9")
        yield made
        stop(made)


def redis_port(addresses: Addresses) -> int:
    port = urlsplit(addresses.redis_url).port
    assert port
    return port


async def write_and_read(addresses: Addresses) -> object:
    redis = Redis.from_url(addresses.redis_url)
    try:
        await redis.incr("perdure-test")
        return await redis.get("perdure-test")
    finally:
        await redis.aclose()


def gone(pid: int) -> bool:
    """Whether a process has ended; a zombie counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def environment_of(pid: int) -> list[str]:
    """Return the environment of a process; empty for one whose program is just being loaded."""
    return [entry for entry in Path(f"/proc/{pid}/environ").read_text().split("\0") if entry]


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.02)


async def test_all_three_come_up_keep_their_data_and_their_ports(tmp_path: Path) -> None:
    settings = clean_settings(tmp_path / "home")
    said: list[str] = []
    try:
        first = ensure(settings, worker=False, progress=said.append)
        assert {line.split(":")[0] for line in said if "(" in line and ":" in line} >= set(Server)
        assert await write_and_read(first) == b"1"
        async with httpx.AsyncClient(base_url=first.weaviate_url) as weaviate:
            assert (await weaviate.get("/v1/schema")).status_code == 401
            assert first.weaviate_api_key
            key = {"Authorization": f"Bearer {first.weaviate_api_key.get_secret_value()}"}
            assert (await weaviate.get("/v1/schema", headers=key)).status_code == 200
        current = state(settings)
        assert current
        pids = [current.pid, *(server.pid for server in current.servers.values())]
        assert stop(settings)
        assert all(gone(pid) for pid in pids[1:])
        await eventually(lambda: gone(pids[0]))

        second = ensure(settings, worker=False)
        assert second == first
        assert await write_and_read(second) == b"2"
    finally:
        stop(settings)


def test_a_second_one_attaches_at_once_and_says_so(settings: Settings) -> None:
    first = ensure(settings, worker=False)
    said: list[str] = []
    started = time.monotonic()

    second = ensure(settings, worker=False, progress=said.append)

    assert time.monotonic() - started < 1
    assert second == first == running(settings)
    assert said == [f"using the servers that are running in {settings.home}"]


def test_two_at_once_start_one(settings: Settings) -> None:
    program = (
        "from perdure.settings import *; from localservers import *; print(ensure(Settings(), worker=False).redis_url)"
    )
    environment = os.environ | settings.environment()
    both = [
        subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = {process.communicate(timeout=60)[0] for process in both}

    assert len(answers) == 1
    assert "redis://" in answers.pop()


def test_nothing_runs(settings: Settings) -> None:
    assert running(settings) is None
    assert not stop(settings)


async def test_a_killed_supervisor_leaves_no_orphan_and_can_be_followed_by_another(settings: Settings) -> None:
    ensure(settings, worker=False)
    current = state(settings)
    assert current
    redis = current.servers["redis"].pid

    os.kill(current.pid, signal.SIGKILL)
    await eventually(lambda: gone(redis))
    # The servers die with its main thread, which its other threads may outlive by a moment.
    await eventually(lambda: running(settings) is None)

    assert await write_and_read(ensure(settings, worker=False)) == b"1"


async def test_a_server_that_dies_is_started_again_on_its_port(settings: Settings) -> None:
    addresses = ensure(settings, worker=False)
    assert await write_and_read(addresses) == b"1"
    current = state(settings)
    assert current

    os.kill(current.servers["redis"].pid, signal.SIGKILL)

    def restarts() -> int:
        now = state(settings)
        return now.servers["redis"].restarts if now else 0

    await eventually(lambda: restarts() == 1)
    assert await write_and_read(addresses) == b"2"


async def test_a_full_disk_does_not_have_one_process_that_ends_take_the_others_with_it(settings: Settings) -> None:
    addresses = ensure(settings, worker=False)
    before = state(settings)
    assert before
    known = children(before.pid)
    resource.prlimit(before.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    os.kill(before.servers["redis"].pid, signal.SIGKILL)
    # It begins it again and again, though it can write neither that down nor what it says.
    for _ in range(2):
        await until_true(lambda: bool(children(before.pid) - known))
        for pid in children(before.pid) - known:
            known.add(pid)
            os.kill(pid, signal.SIGKILL)
    await until_true(lambda: bool(children(before.pid) - known))
    for pid in (before.pid, *children(before.pid)):
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    async def answers() -> bool:
        with contextlib.suppress(ConnectionError, OSError):
            return bool(await write_and_read(addresses))
        return False

    await until(answers, bool)

    def is_told() -> bool:
        now = state(settings)
        return now is not None and now.pid == before.pid and now.servers["redis"].pid in children(before.pid) - known

    # What could not be written is written within the ten seconds after which logs are looked at.
    await until_true(is_told)


def children(pid: int) -> set[int]:
    """Return the processes that a process has started, and that are not over."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {int(one) for one in found if "State:\tZ" not in Path(f"/proc/{one}/status").read_text()}


def test_a_taken_port_is_replaced_and_said(settings: Settings) -> None:
    port = redis_port(ensure(settings, worker=False))
    stop(settings)
    said: list[str] = []
    with socket.create_server(("127.0.0.1", port)):
        addresses = ensure(settings, worker=False, progress=said.append)

    assert redis_port(addresses) != port
    assert f"port {port} of redis is taken; using {redis_port(addresses)} instead" in said


def test_a_home_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = clean_settings(tmp_path / "file" / "home")

    with pytest.raises(HomeUnusable, match="PERDURE_HOME"):
        ensure(settings, worker=False)


def test_servers_may_open_as_many_files_as_the_system_lets_them(settings: Settings) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 1_024), hard))
    try:
        ensure(settings, worker=False)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    current = state(settings)
    assert current
    assert resource.prlimit(current.servers["redis"].pid, resource.RLIMIT_NOFILE) == (hard, hard)


def test_a_server_that_does_not_come_up_says_why(settings: Settings, tmp_path: Path) -> None:
    broken = tmp_path / "bin" / "redis-server"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'v=7.0.15' || { echo 'no such option'; exit 7; }\n")
    broken.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
        with pytest.raises(Exception, match=r"(?s)redis ended with status 7 before.*no such option"):
            ensure(settings, worker=False)

    assert running(settings) is None


def test_what_is_written_is_its_owners_alone(settings: Settings) -> None:
    ensure(settings, worker=False)

    assert stat.S_IMODE(settings.home.stat().st_mode) == 0o700
    assert "api_key" not in json.dumps(json.loads((settings.home / "ports.json").read_text()))
    assert stat.S_IMODE((settings.home / "servers.json").stat().st_mode) == 0o600


def test_a_worker_is_added_to_servers_that_run(settings: Settings) -> None:
    ensure(settings, worker=False)
    said: list[str] = []

    ensure(settings, worker=True, progress=said.append)

    assert "starting a worker for them" in said
    now = state(settings)
    assert now
    assert now.worker


def test_nothing_is_started_where_everything_is_configured(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEMPORAL_ADDRESS", "t.example:7233")
        settings = clean_settings(tmp_path / "home", weaviate_url="http://w.example", redis_url="redis://r.example")
        said: list[str] = []

        addresses = ensure(settings, worker=True, progress=said.append)

    assert addresses.temporal == "t.example:7233"
    assert said == ["the settings have an address for every server; none is started here"]
    assert not (tmp_path / "home").exists()


async def test_a_worker_follows_a_server_that_had_to_move(servers: Servers, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEMPORAL_ADDRESS", servers.temporal)
        settings = clean_settings(
            tmp_path / "home",
            weaviate_url=servers.weaviate_url,
            weaviate_grpc_port=servers.weaviate_grpc_port,
            weaviate_api_key=servers.weaviate_api_key,
            task_queue="moved",
            forgetting_cron="off",
        )
        try:
            port = redis_port(ensure(settings, worker=True))
            current = state(settings)
            assert current
            assert current.worker
            first = current.worker.pid
            # Suspended, so that another process can take the port before the supervisor restarts the server.
            os.kill(current.pid, signal.SIGSTOP)
            try:
                os.kill(current.servers["redis"].pid, signal.SIGKILL)
                await eventually(lambda: is_free(port))
                other = socket.create_server(("127.0.0.1", port))
            finally:
                os.kill(current.pid, signal.SIGCONT)
            with other:

                def moved() -> bool:
                    now = state(settings)
                    return bool(now and now.worker and redis_port(now.addresses) != port and now.worker.pid != first)

                await eventually(moved)
            now = state(settings)
            assert now
            assert now.worker
            worker = now.worker.pid
            await eventually(lambda: bool(environment_of(worker)))
            assert f"PERDURE_REDIS_URL={now.addresses.redis_url}" in environment_of(worker)
        finally:
            stop(settings)


def test_an_address_in_the_settings_wins_over_servers_that_run(settings: Settings) -> None:
    local = ensure(settings, worker=False)
    elsewhere = settings.changed(weaviate_url="http://elsewhere:8080")

    addresses = running(elsewhere)

    assert addresses
    assert (addresses.weaviate_url, addresses.redis_url) == ("http://elsewhere:8080", local.redis_url)
    with pytest.raises(HomeUnusable, match="perdure down"):
        ensure(elsewhere, worker=True)


def test_the_key_of_a_configured_weaviate_is_kept_when_attaching(settings: Settings) -> None:
    keyed = Settings.model_validate(settings.model_dump() | {"weaviate_api_key": "theirs"})

    for addresses in (ensure(keyed, worker=False), ensure(keyed, worker=False), running(keyed)):
        assert addresses
        assert addresses.weaviate_api_key
        assert addresses.weaviate_api_key.get_secret_value() == "theirs"


HOLDER = """
import fcntl, sys, time
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
import os
file.write(str(os.getpid()))
file.flush()
time.sleep(60)
"""


async def test_stopping_one_that_has_just_come_signals_nobody_else(settings: Settings) -> None:
    settings.home.mkdir()
    holder = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        HOLDER,
        str(HomeLock(settings.home).path),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert holder.stdout
    await holder.stdout.readline()
    program = "from perdure.settings import *; from localservers import *; print(stop(Settings(), print), flush=True)"
    # In its own process group, which is what signalling process id 0 would reach.
    stopping = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        program,
        env=os.environ | settings.environment(),
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(stopping.wait()), 1)

    await holder.communicate(b"\n")
    out, _ = await stopping.communicate()
    assert (stopping.returncode, out.decode().splitlines()[-1]) == (0, "True")
    assert holder.returncode == -signal.SIGTERM


ACQUIRER = """
import pathlib, sys
from localservers.state import HomeLock
lock = HomeLock(pathlib.Path(sys.argv[1]))
assert lock.acquire(20)
print("held", flush=True)
sys.stdin.read()
"""


async def test_the_id_of_a_killed_holder_is_gone_before_anybody_holds_the_lock(tmp_path: Path) -> None:
    lock = HomeLock(tmp_path)
    lock.path.write_text("1")
    with lock.path.open() as looker:
        fcntl.flock(looker, fcntl.LOCK_SH)
        holder = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            ACQUIRER,
            str(tmp_path),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        await eventually(lambda: lock.path.read_text() == "")

    assert holder.stdout
    await holder.stdout.readline()
    assert lock.holder() == holder.pid
    await holder.communicate(b"")


async def test_being_stopped_while_starting_is_called_so(settings: Settings, tmp_path: Path) -> None:
    slow = tmp_path / "bin" / "redis-server"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'v=7.0.15' || exec sleep 60\n")
    slow.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
        starting = asyncio.create_task(asyncio.to_thread(ensure, settings, worker=False))
        await eventually((settings.home / "logs" / "redis.log").exists)
        assert stop(settings)
        with pytest.raises(ServerNotStarted, match="stopped before all servers were ready"):
            await starting


def test_a_key_that_a_full_disk_left_empty_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "weaviate.key").write_text("")

    key = weaviate_key(tmp_path)

    assert len(key) > 20
    assert weaviate_key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / "weaviate.key").stat().st_mode) == 0o600
