"""The worker process: it ends when it is told to, and refuses in one line what it must not start with."""

import asyncio
import json
import os
import sys
import time
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from temporalio.client import Client

from localservers import Server
from perdure.memory.wholeness import COMPARED_EVERY
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.redis.outputs import OUTPUT
from tests.conftest import OwnServers, Servers
from tests.deployment import deployment
from tests.integration.memory.forgetting.test_forgetter import passing, write
from tests.integration.worker.cli.installation import STARTED_WITHIN, installation, nothing_configured, unanswered
from tests.support.guarding import Policies
from tests.support.waiting import until, until_true


@pytest.mark.slow
@pytest.mark.parametrize("how", ["terminate", pytest.param("interrupt", marks=pytest.mark.slow)])
async def test_it_ends_when_told(servers: Servers, tmp_path: Path, how: str) -> None:
    async with installation(servers, tmp_path) as given:
        process = await given.ready_worker()

        process.send_signal({"terminate": 15, "interrupt": 2}[how])

        assert await asyncio.wait_for(process.wait(), 15) == 0
        assert "worker stopping" in (tmp_path / "worker-0.log").read_text()


ELSEWHERE = {
    "TEMPORAL_ADDRESS": "127.0.0.1:9",
    "PERDURE_WEAVIATE_URL": "http://127.0.0.1:9",
    "PERDURE_REDIS_URL": "redis://127.0.0.1:9",
}
"""The addresses of servers that are asked nothing."""

REFUSED_AT_WORK = """
import asyncio, time
from perdure.errors import JournalMismatch
from worker import process

async def run(*_, **__):
    asyncio.get_running_loop().run_in_executor(None, time.sleep, 300)
    raise JournalMismatch("redis", "one", "another", "folder")

process.run = run
process.main()
"""


@pytest.mark.slow
async def test_one_that_must_not_go_on_does_not_wait_for_its_threads() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", REFUSED_AT_WORK, env=os.environ | ELSEWHERE, stderr=asyncio.subprocess.PIPE
    )
    # Nobody renews their claims any more.
    _, said = await asyncio.wait_for(process.communicate(), STARTED_WITHIN)
    assert process.returncode == 1
    assert b"error: PRD203 redis belongs to the journal" in said


PRINTS = """
import time
from perdure import tool

@tool(effect="read")
def look() -> str:
    print("it looks")
    time.sleep(60)
"""


BLOCKS = """
import time
from perdure import tool

@tool(effect="read", timeout=30)
async def look() -> None:
    time.sleep(2.5)
"""


@pytest.mark.slow
async def test_it_watches_over_its_loop_and_over_what_would_grow(servers: Servers, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(BLOCKS)
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills/blocking.yaml").write_text("name: blocking\nsteps: [{id: a, tool: look}]\n")
    how = {"skills": (tmp_path / "skills",), "tools": (str(tmp_path / "shop.py"),)}
    tenant = f"t_{uuid4().hex}"
    async with installation(servers, tmp_path, **how) as given, aclosing(connect(servers.redis_url)) as redis:
        async with deployment(servers, Path(given.environment["PERDURE_HOME"]), serving=False) as here:
            reference = await here.services.outputs.keep(tenant, '"x"')
            [value] = (here.settings.journal_folder / tenant / "values").glob(f"*{reference}.json")
            await write(here.services, tenant, passing("kept", "o1"))
        await ask(redis, "DEL", keys.output(tenant, OUTPUT, reference))
        await ask(redis, "ZREM", keys.ACTIVE, tenant)
        run_out = time.time() - timedelta(days=180).total_seconds()
        os.utime(value, (run_out, run_out))

        await given.ready_worker()

        file = given.write("task.yaml", "task_id: blocking\nuser_id: ada\nskill: blocking\n")
        assert (await given.perdure("run", file, "--detach")).status == 0
        log = tmp_path / "worker-0.log"
        await until_true(lambda: "the worker's loop is blocked" in log.read_text())
        assert "tool look" in log.read_text()
        await until_true(lambda: not value.exists())
        await until(lambda: ask(redis, "ZSCORE", keys.ACTIVE, tenant), lambda score: score is not None)


@pytest.mark.slow
async def test_what_a_tool_prints_is_in_the_log_while_it_runs(servers: Servers, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(PRINTS)
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills/looking.yaml").write_text("name: looking\nsteps: [{id: a, tool: look}]\n")
    how = {"skills": (tmp_path / "skills",), "tools": (str(tmp_path / "shop.py"),)}
    async with installation(servers, tmp_path, **how) as given:
        await given.ready_worker()
        log = tmp_path / "worker-0.log"
        file = given.write("task.yaml", "task_id: looking\nuser_id: ada\nskill: looking\n")
        assert (await given.perdure("run", file, "--detach")).status == 0
        await until_true(lambda: "it looks\n" in log.read_text(), seconds=30)


@pytest.mark.slow
async def test_it_does_not_start_under_policies_that_cannot_be_read(servers: Servers, tmp_path: Path) -> None:
    guarding = Policies(tmp_path / "policies")
    guarding.write("no-sending", when="tol == 'send'")
    async with installation(servers, tmp_path) as given:
        process, log = await given.worker(PERDURE_POLICIES=json.dumps([str(guarding.folder)]))
        assert await asyncio.wait_for(process.wait(), STARTED_WITHIN) == 2, log.read_text()
        [complaint] = [line for line in log.read_text().splitlines() if line.startswith("error: ")]
    place = f"{guarding.folder}/no-sending.yaml:4"
    assert complaint == f"error: PRD109 {place}: when: there is no name 'tol' (did you mean 'tool'?)"


@pytest.mark.slow
async def test_it_refuses_in_one_line(servers: Servers, tmp_path: Path) -> None:
    other_home = tmp_path / "other"
    other_home.mkdir()
    (other_home / "tenant.key").write_bytes(b"x" * 32)
    other_journal = tmp_path / "other journal"
    other_journal.mkdir()
    (other_journal / "journal.id").write_text("another")
    cases = (
        ({"PERDURE_JOURNAL": str(tmp_path / "not mounted")}, 3, "PRD231 journal: all of it was lost: mount the folder"),
        ({"PERDURE_JOURNAL": str(other_journal)}, 1, "PRD203 redis belongs to the journal"),
        ({"PERDURE_HOME": str(other_home)}, 1, "PRD202 the data was written under the tenant key"),
        ({"PERDURE_HOME": str(tmp_path / "no key")}, 1, "tenant.key is missing: copy it from another worker"),
        (
            {
                "PERDURE_HOME": str(tmp_path / "no key"),
                "PERDURE_JOURNAL": str(tmp_path / "no journal"),
                "PERDURE_REDIS_URL": "redis://127.0.0.1:9",
            },
            3,
            "PRD200 redis: does not answer, and only it knows whether there is a tenant key",
        ),
        ({"PERDURE_EMBEDDING": "openai", "PERDURE_OPENAI_API_KEY": "none"}, 1, "PRD201"),
        ({"PERDURE_TOOLS": '["no.such.module"]'}, 2, "no.such.module"),
        ({"PERDURE_FORGETTING_CRON": "daily"}, 2, "forgetting_cron: must be five fields such as '0 3 * * *', or off"),
        (unanswered(servers), 3, "temporal: 127.0.0.1:9 does not answer"),
        (
            nothing_configured() | {"PERDURE_HOME": str(tmp_path / "empty")},
            3,
            "nothing runs here (start it with 'perdure up'",
        ),
    )
    async with installation(servers, tmp_path) as given:
        await given.ready_worker()  # The first one decides about key, journal and model.
        for environment, status, problem in cases:
            process, log = await given.worker(**environment)

            assert await asyncio.wait_for(process.wait(), STARTED_WITHIN) == status, log.read_text()
            complaint = [line for line in log.read_text().splitlines() if not line.startswith("{")]
            assert len(complaint) == 1, complaint
            assert complaint[0].startswith("error: ")
            assert problem in complaint[0]
    assert not (tmp_path / "no key" / "tenant.key").exists()


@pytest.mark.slow
async def test_a_model_that_is_away_does_not_keep_it_from_starting(own_servers: OwnServers, tmp_path: Path) -> None:
    # A Weaviate of its own: its collections are made for the model that this worker wants.
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with installation(Servers.model_validate(fleet.addresses.model_dump()), tmp_path) as given:
        process = await given.ready_worker(
            PERDURE_EMBEDDING="openai:text-embedding-3-small",
            PERDURE_OPENAI_API_KEY="unused",
            PERDURE_OPENAI_BASE_URL="http://127.0.0.1:9/v1",
        )
        process.terminate()
        assert await asyncio.wait_for(process.wait(), 15) == 0


@pytest.mark.slow
async def test_it_notices_within_seconds_that_redis_was_emptied_although_nothing_asks_it(
    own_servers: OwnServers, namespaced: Client, tmp_path: Path, tenant: str
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with (
        aclosing(connect(fleet.addresses.redis_url)) as redis,
        installation(Servers.model_validate(fleet.addresses.model_dump()), tmp_path) as given,
    ):
        # Reconciling goes on after the worker ends, and has one id in a namespace.
        await given.ready_worker(TEMPORAL_NAMESPACE=namespaced.namespace)
        home = Path(given.environment["PERDURE_HOME"])
        async with deployment(fleet.addresses, home, serving=False) as here:
            await write(here.services, tenant, passing("kept", "o1"))
        marks = RedisMarks(redis)
        await ask(redis, "FLUSHALL")
        # The stores are compared every 10 s; what can be rebuilt is.
        await until(marks.since, bool, seconds=3 * COMPARED_EVERY)
        assert "data was lost" in (tmp_path / "worker-0.log").read_text()


@pytest.mark.slow
async def test_it_says_at_its_start_what_redis_may_lose(own_servers: OwnServers, tmp_path: Path) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with aclosing(connect(fleet.addresses.redis_url)) as redis:
        await ask(redis, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    async with installation(Servers.model_validate(fleet.addresses.model_dump()), tmp_path) as given:
        await given.ready_worker()
        log = tmp_path / "worker-0.log"
        await until_true(lambda: "Redis may lose claims, and effects may happen twice" in log.read_text(), seconds=30)
