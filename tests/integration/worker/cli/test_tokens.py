"""Tokens as an administrator meets them, and the service that they let somebody in to."""

import asyncio
import json
import re
import resource
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from tests.integration.worker.cli.installation import Installation, Running

PORT = re.compile(r"serving (http://127\.0\.0\.1:\d+)")


@asynccontextmanager
async def serving(installed: Installation, **environment: str) -> AsyncGenerator[tuple[str, Running]]:
    """Run the service as its user does; gives its address."""
    # A fork would have the test's own libraries half loaded.
    running = await installed.start("serve", "--port", "0", **{"PYTHONUNBUFFERED": "1"} | environment)
    line = await running.says("serving ")
    match = PORT.match(line)
    assert match, line
    try:
        yield match[1], running
    finally:
        if running.process.returncode is None:
            running.process.send_signal(signal.SIGTERM)
            await running.ended()


def client_of(url: str, token: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60, trust_env=False)


async def test_a_token_is_shown_once_lets_somebody_in_and_is_revoked(installed: Installation, user: str) -> None:
    made = await installed.perdure("tokens", "create", "billing", "--user", user, "--scope", "read")
    assert made.status == 0, made.err
    token = made.out.strip()
    identifier = token.split("_")[1]
    assert f"{identifier}  billing: read, for the user {user}, until 20" in made.err
    listed = await installed.perdure("tokens", "list")
    assert identifier in listed.out
    assert token.split("_")[2] not in listed.out
    as_json = json.loads((await installed.perdure("tokens", "list", "--json")).out)
    assert [one["scopes"] for one in as_json if one["id"] == identifier] == [["read"]]
    assert "digest" not in as_json[0]
    async with serving(installed) as (url, _), client_of(url, token) as client:
        assert (await client.get("/v2/control/memories")).json() == {"memories": []}
        revoked = await installed.perdure("tokens", "revoke", identifier)
        assert revoked.status == 0, revoked.err
        assert (await client.get("/v2/control/memories")).status_code == 401
    again = await installed.perdure("tokens", "revoke", identifier)
    assert (again.status, "PRD116" in again.complaint) == (2, True)
    audited = json.loads((await installed.perdure("audit", "show", "--installation", "--json")).out)
    done = [one["ids"] for one in audited if one["kind"] == "administered"]
    assert [one for one in done if [identifier] in one.values()] == [
        {"create a token": [identifier]},
        {"revoke a token": [identifier]},
    ]


async def test_the_service_makes_a_token_for_this_machine_and_ends_when_told(
    installed: Installation, user: str
) -> None:
    home = Path(installed.environment["PERDURE_HOME"])
    async with serving(installed) as (url, running):
        file = home / "http.token"
        assert file.stat().st_mode & 0o777 == 0o600
        async with client_of(url, file.read_text().strip()) as client:
            state = (await client.get("/v2/control/status")).json()["components"]
            assert {one["component"]: one["reachable"] for one in state} == dict.fromkeys(
                ("temporal", "worker", "redis", "weaviate"), True
            )
            assert all(one["latency_ms"] > 0 for one in state)
            await client.post("/v2/control/query", json={"user_id": user, "text": "x"})
            metrics = (await client.get("/metrics")).text
            assert 'http_route="/v2/control/query"' in metrics
            assert "memory_recall_duration_seconds_bucket" in metrics
            assert (await client.get("/readyz")).status_code == 200
            file.unlink()
            assert (await client.get("/v2/control/status")).status_code == 401, "a token that is gone counts no longer"
        running.process.send_signal(signal.SIGTERM)
        ended = await running.ended()
    assert ended.status == 0, ended.err
    lines = [json.loads(line) for line in ended.err.splitlines() if line.startswith("{")]
    answered = [one for one in lines if one["event"] == "answered"]
    assert {one["route"] for one in answered} > {"POST /v2/control/query", "GET /metrics"}
    assert all(one["request"] for one in answered)
    assert user not in ended.err


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells another process's limits")
async def test_the_service_takes_as_many_connections_as_the_system_lets_it(installed: Installation) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1_024, soft), hard))
    try:
        async with serving(installed) as (_, running):
            assert resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
async def test_off_loopback_this_machines_token_does_not_count(installed: Installation) -> None:
    running = await installed.start("serve", "--host", "0.0.0.0", "--port", "0", PYTHONUNBUFFERED="1")
    line = await running.says("serving ")
    assert "token" not in line
    file = Path(installed.environment["PERDURE_HOME"]) / "http.token"
    if not file.exists():
        file.write_text("perdure-local-x\n")
    async with client_of(f"http://127.0.0.1:{line.rpartition(':')[2]}", file.read_text().strip()) as client:
        assert (await client.get("/v2/control/status")).status_code == 401
    file.unlink()
    running.process.send_signal(signal.SIGTERM)
    await running.ended()


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("tokens create a --scope read", "--user: is missing (give the one user"),
        ("tokens create a --scope read --user u --all-users", "--user: is given together with --all-users"),
        ("tokens create a --scope read --user u --lasts soon", "--lasts: is not a duration"),
        ("tokens create a/b --scope read --user u", "name: 'a/b' is not a valid name"),
        ("tokens create a --scope read --user team:ops", "user_id: 'team:ops' begins with"),
        ("serve --host nowhere.invalid", "http_port: nowhere.invalid:8321 cannot be listened on"),
    ],
)
async def test_what_is_wrong_is_refused(installed: Installation, line: str, complaint: str) -> None:
    ran = await installed.perdure(*line.split())
    assert (ran.status, complaint in ran.complaint) == (2, True), ran.err


@pytest.mark.slow
async def test_a_provider_that_is_configured_in_part_is_refused(installed: Installation) -> None:
    for variables, complaint in (
        ({"PERDURE_OIDC_ISSUER": "https://example.org"}, "oidc_audience: is missing"),
        ({"PERDURE_OIDC_AUDIENCE": "x"}, "oidc_issuer: is missing"),
        ({"PERDURE_OIDC_ISSUER": "http://example.org", "PERDURE_OIDC_AUDIENCE": "x"}, "is not an address by https"),
    ):
        ran = await installed.perdure("serve", "--port", "0", **variables)
        assert (ran.status, complaint in ran.complaint) == (2, True), ran.err


@pytest.mark.slow
async def test_a_file_of_rules_that_cannot_be_used_is_refused_in_one_line(
    installed: Installation, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("nonsense: 1\n", encoding="utf-8")
    for setting in ("PERDURE_WRITE_POLICIES", "PERDURE_RETENTION_RULES"):
        ran = await installed.perdure("serve", "--port", "0", **{setting: str(bad)})
        assert (ran.status, f"PRD100 {bad}" in ran.complaint) == (2, True), ran.err
        assert len(ran.err.strip().splitlines()) == 1, ran.err


@pytest.mark.slow
async def test_half_a_tenant_key_keeps_everybody_out_until_it_is_whole(
    installed: Installation, tmp_path: Path, user: str
) -> None:
    own = Path(installed.environment["PERDURE_HOME"])
    key = (own / "tenant.key").read_bytes()
    (tmp_path / "tenant.key").write_bytes(key[:16])
    journal = installed.environment.get("PERDURE_JOURNAL", str(own / "journal"))
    async with serving(installed, PERDURE_HOME=str(tmp_path), PERDURE_JOURNAL=journal) as (url, _):
        token = (tmp_path / "http.token").read_text().strip()
        async with client_of(url, token) as client:
            refused = await client.get("/v2/control/memories", params={"user_id": user})
            assert (refused.status_code, refused.json()["code"]) == (503, "PRD206")
            assert (await client.get("/readyz")).status_code == 503
            assert "cannot read the tenant key" in (await client.get("/login")).text
            (tmp_path / "tenant.key").write_bytes(key)
            assert (await client.get("/v2/control/memories", params={"user_id": user})).status_code == 200


@pytest.mark.slow
async def test_a_port_that_is_taken_is_named(installed: Installation) -> None:
    async with serving(installed) as (url, _):
        ran = await installed.perdure("serve", "--port", url.rpartition(":")[2])
        assert (ran.status, "cannot be listened on: Address already in use" in ran.complaint) == (2, True), ran.err


@pytest.mark.slow
async def test_a_stop_lets_changes_end_and_refuses_what_only_waits(installed: Installation, user: str) -> None:
    installed.write("skills/waits.yaml", "name: waits\nsteps:\n  - {id: paid, wait: {event: paid}}\n")
    file = installed.write("waits-task.yaml", f"task_id: {user[5:]}\nskill: waits\nuser_id: {user}\n")
    started = await installed.perdure("run", file, "--detach", "--json")
    assert started.status == 0, started.out
    task = json.loads(started.out)["workflow_id"]
    async with serving(installed) as (url, running):
        token = (Path(installed.environment["PERDURE_HOME"]) / "http.token").read_text().strip()
        async with client_of(url, token) as client:
            begun, stops = asyncio.Event(), asyncio.Event()
            item = {"kind": "memory", "content": "The lift is out of order.", "occurrence": "x"}
            body = json.dumps({"user_id": user, "items": [item]}).encode()

            async def slowly() -> AsyncGenerator[bytes]:
                yield body[:20]
                begun.set()
                await stops.wait()
                yield body[20:]

            headers = {"Content-Type": "application/json"}
            changing = asyncio.create_task(client.post("/v2/control/ingest", content=slowly(), headers=headers))
            asked = asyncio.Event()

            async def trace(event: str, _: object) -> None:
                if event.endswith("send_request_body.complete"):
                    asked.set()

            place, question = f"/v2/control/tasks/{task}", {"user_id": user, "wait": 50}
            waiting = asyncio.create_task(client.get(place, params=question, extensions={"trace": trace}))
            await asyncio.gather(begun.wait(), asked.wait())
            # What it has answered now came later than these.
            await client.get("/livez")
            running.process.send_signal(signal.SIGTERM)
            refused = await asyncio.wait_for(waiting, 10)
            assert (refused.status_code, refused.json()["code"]) == (503, "PRD209"), refused.text
            assert not changing.done()
            stops.set()
            assert (await changing).status_code == 202
    assert (await installed.perdure("cancel", file)).status == 0
