"""What the doctor says of an installation that is well, and of ones that are not."""

import json
import resource
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from localservers import Fleet, Server, find_all
from perdure.errors import StoreRefused, StoreUnavailable
from perdure.models.embedding.minilm import MiniLMEmbedder
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.weaviate.open_tenants import most_active
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from perdure.values.entries import Memory, MemoryType, Source
from perdure.values.losses import Told
from tests.conftest import OwnServers, Servers, clean_settings
from tests.deployment import deployment
from tests.integration.conftest import open_stores
from tests.integration.worker.cli.installation import Installation, nothing_configured, unanswered
from tests.support.cutting import collection_of, objects
from tests.support.guarding import Policies
from tests.support.waiting import until
from worker import doctor
from worker.doctor import Patient, examine


async def bad(installed: Installation, *options: str, **environment: str) -> dict[str, str]:
    """Return the name of each finding that is bad, with what is said of it and the fix."""
    ran = await installed.perdure("doctor", "--json", *options, **({"PERDURE_SKILLS": ""} | environment))
    assert ran.status == 1, ran.err
    return {one["check"]: f"{one['detail']} → {one['fix']}" for one in json.loads(ran.out) if not one["ok"]}


@pytest.mark.slow
async def test_all_is_well(installed: Installation) -> None:
    ran = await installed.perdure("doctor", PERDURE_SKILLS="")

    assert ran.status == 0, ran.out
    assert [line[:4] for line in ran.out.splitlines()] == ["ok  "] * 19

    quick = await installed.perdure("doctor", "--quick", "--json")
    assert quick.status == 0
    assert [one["check"] for one in json.loads(quick.out)] == ["temporal", "worker"]


@pytest.mark.slow
async def test_policies_that_cannot_be_used_are_named(installed: Installation, tmp_path: Path) -> None:
    guarding = Policies(tmp_path / "policies")
    guarding.write("no-sending", when="tol == 'send'")
    found = await bad(installed, PERDURE_POLICIES=json.dumps([str(guarding.folder)]))
    assert "no-sending.yaml:4: when: there is no name 'tol'" in found["policies"]
    assert "keep the policies that they read before" in found["policies"]


@pytest.mark.slow
async def test_an_mcp_server_that_does_not_start_is_named(installed: Installation, tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp/away.yaml").write_text("name: away\ncommand: /no/such/program\n")
    found = await bad(installed, PERDURE_MCP_SERVERS=json.dumps([str(tmp_path / "mcp")]))
    assert list(found) == ["MCP servers"]
    assert "MCP server 'away' does not answer" in found["MCP servers"]
    assert "a task that needs it is refused" in found["MCP servers"]


@pytest.mark.slow
async def test_what_is_stored_and_not_found_is_named_by_a_deep_check_and_then_repaired(
    installed: Installation, servers: Servers, tenant: str
) -> None:
    embedder = MiniLMEmbedder()
    longterm = LongTerm(
        servers.weaviate_url,
        servers.weaviate_grpc_port,
        embedding=Embedding(name=embedder.name, dimension=embedder.dimension),
        api_key=servers.weaviate_api_key,
    )
    now = datetime(2026, 5, 1, tzinfo=UTC)
    lost = Memory(
        id="mem_1", text="x", memory_type=MemoryType.FACT, source=Source.EXPLICIT, first_seen=now, last_seen=now
    )
    try:
        collection = await collection_of(longterm, tenant, "memory")
        await collection.data.insert_many(objects(tenant, [lost], {}))
        found = await bad(installed, "--deep")
        assert found.keys() == {"vectors"}
        assert "are not found by meaning" in found["vectors"]
        assert "keep a worker running" in found["vectors"]

        async def missing() -> list[str]:
            return await longterm.unsearchable(tenant)

        await until(missing, lambda ids: not ids)
    finally:
        await longterm.drop_tenant(tenant)
        await longterm.close()


@pytest.mark.slow
async def test_another_tenant_key_does_not_open_the_data(installed: Installation, tmp_path: Path) -> None:
    (tmp_path / "tenant.key").write_bytes(b"x" * 32)

    found = await bad(installed, PERDURE_HOME=str(tmp_path), PERDURE_JOURNAL="")

    assert found.keys() == {"tenant key", "journal"}
    assert "PRD202 the data was written under the tenant key" in found["tenant key"]
    assert "backup of tenant.key" in found["tenant key"]


@pytest.mark.slow
async def test_what_does_not_fit_is_named_with_its_fix(installed: Installation) -> None:
    found = await bad(
        installed,
        PERDURE_EMBEDDING="openai",
        PERDURE_OPENAI_API_KEY="none",
        PERDURE_CLAIM_TTL_DAYS="1",
        PERDURE_TASK_QUEUE="nobody-here",
    )

    assert found.keys() == {"worker", "retention", "collections"}
    assert "perdure worker" in found["worker"]
    assert "PERDURE_CLAIM_TTL_DAYS" in found["retention"]
    assert "PRD201" in found["collections"]
    assert "PERDURE_EMBEDDING" in found["collections"]


@pytest.mark.slow
async def test_a_store_that_is_not_there_is_a_finding(installed: Installation) -> None:
    found = await bad(installed, PERDURE_REDIS_URL="redis://127.0.0.1:9")

    assert found.keys() == {"redis", "tenant key", "stores"}
    assert "PRD200 redis" in found["redis"]


@pytest.mark.slow
async def test_a_loss_that_shows_only_once_a_store_answers_is_a_finding(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with open_stores(fleet.addresses, tmp_path) as own:
        async with own.whole.writing():
            pass
        await ask(own.redis, "FLUSHALL")
        settings = clean_settings(tmp_path).changed(journal=own.journal.folder)
        told, calls = RedisMarks.told, list[RedisMarks]()

        async def late(marks: RedisMarks) -> Told:
            calls.append(marks)
            if len(calls) == 1:
                raise StoreUnavailable("redis", "is being started")
            return await told(marks)

        monkeypatch.setattr(RedisMarks, "told", late)
        patient = Patient(settings=settings, addresses=fleet.addresses)
        ok, detail, _ = await doctor._stores(patient)  # pyright: ignore[reportPrivateUsage]
        assert (ok, detail) == (False, "redis: all of it was lost")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "users", "well"), [(1_048_576, 11_646, True), (20_000, 217, True), (2_000, 17, False)]
)
async def test_how_many_users_fit_is_said_and_too_few_are_a_finding(
    installed: Installation, files: int, users: int, well: bool
) -> None:
    ran = await installed.perdure("doctor", PERDURE_SKILLS="", PERDURE_WEAVIATE_OPEN_FILES=str(files))
    assert ran.status == (0 if well else 1), ran.out
    said = f"Weaviate may open {files:,} files: {users} users at once, any number in turn"
    [line] = [line for line in ran.out.splitlines() if "users at once" in line]
    mark, check, detail = line.split(maxsplit=2)
    assert (mark, check) == ("ok" if well else "bad", "users")
    assert detail.startswith(said)
    assert ("set PERDURE_WEAVIATE_OPEN_FILES to it" in detail) is not well


@pytest.mark.slow
async def test_as_many_users_fit_as_the_local_weaviate_has_files_for(servers: Servers, tmp_path: Path) -> None:
    settings = clean_settings(tmp_path / "own")
    found = {Server.WEAVIATE: find_all(settings, print)[Server.WEAVIATE]}
    fleet = Fleet(settings, found, print, others=servers.changed(weaviate_open_files=1_000))
    try:
        await fleet.start_all()
        limit, _ = resource.prlimit(fleet.child(Server.WEAVIATE).pid, resource.RLIMIT_NOFILE)
        findings = await examine(Patient(settings=settings, addresses=fleet.addresses))
    finally:
        await fleet.stop_all()
    [users] = [finding for finding in findings if finding.check == "users"]
    assert users.detail.startswith(f"Weaviate may open {limit:,} files: {most_active(limit)} users at once")


@pytest.mark.slow
async def test_a_redis_that_does_not_show_its_settings_is_used_and_said_to_be_unchecked(
    own_servers: OwnServers, tmp_path: Path
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    servers = Servers.model_validate(fleet.addresses.model_dump())
    async with aclosing(connect(servers.redis_url)) as redis:
        # As managed ones have it: their users may do anything but this.
        await ask(redis, "ACL", "SETUSER", "default", "-config")
        with pytest.raises(StoreRefused):
            await ask(redis, "CONFIG", "GET", "appendonly")
    async with deployment(servers, tmp_path) as here:
        found = {one.check: one for one in await examine(Patient(settings=here.settings, addresses=servers))}
    assert found["redis"].ok
    assert "nobody checked that it is set to appendonly yes" in found["redis"].detail
    assert [name for name in ("tenant key", "journal", "stores") if not found[name].ok] == []


@pytest.mark.slow
async def test_a_temporal_that_is_not_there_hides_nothing_else(installed: Installation, servers: Servers) -> None:
    found = await bad(installed, **unanswered(servers))

    assert found.keys() == {"temporal", "worker", "retention", "search attributes"}
    assert "PRD200 temporal: 127.0.0.1:9 does not answer" in found["temporal"]


@pytest.mark.slow
async def test_nothing_runs(installed: Installation, servers: Servers, tmp_path: Path) -> None:
    tools = {"PERDURE_TOOLS": '["no.such.module"]'}
    found = await bad(installed, PERDURE_HOME=str(tmp_path), **nothing_configured(), **tools)
    assert found.keys() == {"servers", "tools"}, "what needs no servers is checked all the same"
    assert "start it with 'perdure up'" in found["servers"]
    assert "no.such.module" in found["tools"]

    quick = await installed.perdure("doctor", "--quick", PERDURE_HOME=str(tmp_path), **nothing_configured())
    assert (quick.status, len(quick.out.splitlines())) == (1, 1)

    silent = await installed.perdure("status", "task-x", **unanswered(servers))
    assert silent.status == 3
    assert "temporal: 127.0.0.1:9 does not answer" in silent.complaint


@pytest.mark.slow
async def test_nobody_serves_the_queue(installed: Installation) -> None:
    file, _ = installed.audit("rich==15.0.0")
    started = await installed.perdure("run", file, "--detach", PERDURE_TASK_QUEUE="nobody-here")
    assert started.status == 0

    status = await installed.perdure("status", file, PERDURE_TASK_QUEUE="nobody-here")

    assert status.status == 3
    assert "start one with 'perdure worker'" in status.complaint
    assert (await installed.perdure("cancel", file)).status == 0


@pytest.mark.slow
async def test_skills_are_judged_by_the_tools_of_their_owner(installed: Installation, tmp_path: Path) -> None:
    foreign = await installed.perdure("doctor", "--json", PERDURE_SKILLS="", PERDURE_EXAMPLES="false")
    assert foreign.status == 0, "no example is there that nobody asked for"
    assert "none" in foreign.out

    (tmp_path / "mine.yaml").write_text("name: mine\nsteps: [{id: a, tool: not_there}]")
    (tmp_path / "other.yaml").write_text("name: other\nstep: []")
    found = await bad(installed, PERDURE_SKILLS=json.dumps([str(tmp_path)]))
    assert "/mine.yaml:2: steps[0].tool: there is no tool 'not_there'" in found["skills"]
    assert "/other.yaml:2: step: is not a field here (did you mean 'steps'?)" in found["skills"]


@pytest.mark.slow
async def test_every_agent_and_prompt_that_cannot_be_used_is_named(installed: Installation, tmp_path: Path) -> None:
    for name, text in {"one": "name: one\ntool: [x]", "two": "name: two\ninstructions: hm\nturns: none"}.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    found = await bad(installed, PERDURE_AGENTS=json.dumps([str(tmp_path)]))
    assert "one.yaml:2: tool: is not a field here (did you mean 'tools'?)" in found["agents"]
    assert "two.yaml:3: turns" in found["agents"]


@pytest.mark.slow
async def test_it_makes_nothing(installed: Installation, servers: Servers, tmp_path: Path) -> None:
    # A store counts as new until something was written.
    assert (await installed.perdure("remember", "x", "--user", "ada")).status == 0
    home = tmp_path / "empty"
    found = await bad(
        installed,
        PERDURE_HOME=str(home),
        PERDURE_JOURNAL="",
        PERDURE_REDIS_URL=f"{servers.redis_url}/10",
    )
    # Weaviate belongs to an installation, of which neither the empty database nor the empty folder is part.
    assert found.keys() == {"tenant key", "journal", "stores"}
    assert "copy the key of the installation there" in found["tenant key"]
    assert not home.exists()
    assert not await asked(f"{servers.redis_url}/10", "KEYS", "*")


@pytest.mark.slow
async def test_a_folder_that_is_not_the_shared_journal_is_a_finding(installed: Installation, tmp_path: Path) -> None:
    missing = await bad(installed, PERDURE_JOURNAL=str(tmp_path / "missing"))
    # What others have audited by then is missing there too.
    assert missing.keys() - {"audit"} == {"journal"}
    assert "set PERDURE_JOURNAL to the folder that the workers share" in missing["journal"]
    assert not (tmp_path / "missing").exists()

    (tmp_path / "journal.id").write_text("another")
    other = await bad(installed, PERDURE_JOURNAL=str(tmp_path))
    assert other.keys() - {"audit"} == {"journal", "stores"}
    assert "PRD203" in other["journal"]


@pytest.mark.slow
async def test_rules_that_a_worker_would_not_start_with_are_findings(installed: Installation, tmp_path: Path) -> None:
    policies, rules = tmp_path / "policies.yaml", tmp_path / "rules.yaml"
    policies.write_text("default: {minimum_confidnce: 0.5}")
    rules.write_text("half_life: 3")
    found = await bad(installed, PERDURE_WRITE_POLICIES=str(policies), PERDURE_RETENTION_RULES="")
    assert found.keys() == {"rules"}
    assert f"{policies}: default.minimum_confidnce: is not a field here" in found["rules"]
    ran = await installed.perdure("forget", "--dry-run", PERDURE_RETENTION_RULES=str(rules))
    assert (ran.status, ran.out) == (2, "")
    assert f"{rules}: half_life: is not a field here" in ran.complaint
    assert str(tmp_path / "none") in (await bad(installed, PERDURE_RETENTION_RULES=str(tmp_path / "none")))["rules"]


async def test_one_bad_setting_hides_nothing_else(installed: Installation, tmp_path: Path) -> None:
    found = await bad(
        installed,
        PERDURE_HOME=str(tmp_path),
        PERDURE_EMBEDDING="all-minilm",
        PERDURE_TOOLS='["no.such.tools"]',
        PERDURE_CLAIM_TTL_DAYS="1",
        PERDURE_REDIS_URL="http://127.0.0.1:9",
    )

    assert found.keys() == {"embedding", "tools", "tenant key", "redis", "journal", "stores", "retention"}
    assert "PRD100 embedding: there is no model 'all-minilm'" in found["embedding"]
    assert "PRD100 tools no.such.tools: cannot be imported" in found["tools"]
    assert "PRD100 redis_url: 'http' is not a scheme that Redis has" in found["redis"]


async def asked(url: str, *command: str) -> Any:
    """Ask a Redis."""
    redis = connect(url)
    try:
        return await ask(redis, *command)
    finally:
        await redis.aclose()
