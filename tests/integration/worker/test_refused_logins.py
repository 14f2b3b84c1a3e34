"""Servers that answer and refuse the login: said at once, with the fix, and never retried."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import grpc
import pytest
from grpc import aio
from temporalio.client import Client

from activities.jobs import IngestActivities
from perdure.errors import InvalidInput, PerdureError, StoreRefused, StoreUnavailable
from perdure.stores.redis.connection import ask, connect
from perdure.temporal.connection import connected
from perdure.values.jobs import WaitIngestCall
from tests.conftest import Servers
from tests.integration.worker.cli.installation import STARTED_WITHIN, Installation, installation

ANSWERED = {
    "redis": (
        ("redis", "tenant key", "journal", "stores", "audit"),
        "correct the user and the password in PERDURE_REDIS_URL",
    ),
    "weaviate": (("weaviate", "collections", "journal", "stores"), "correct PERDURE_WEAVIATE_API_KEY"),
}


class _Refusing(grpc.GenericRpcHandler):
    """Answers every call as Temporal's frontend answers a client that it does not know."""

    def __init__(self, status: grpc.StatusCode, *, greets: bool = False) -> None:
        self._status = status
        self._greets = greets

    def service(self, handler_call_details: Any) -> Any:
        async def greet(_: bytes, __: Any) -> bytes:
            return b""

        async def refuse(_: bytes, context: Any) -> None:
            await context.abort(self._status, "no")

        handler: Any = grpc.unary_unary_rpc_method_handler
        return handler(greet if self._greets and handler_call_details.method.endswith("/GetSystemInfo") else refuse)


@asynccontextmanager
async def refusing_server(status: grpc.StatusCode, *, greets: bool = False) -> AsyncGenerator[str]:
    server = aio.server()
    server.add_generic_rpc_handlers((_Refusing(status, greets=greets),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop(0)


@pytest.fixture(
    params=[grpc.StatusCode.UNAUTHENTICATED, pytest.param(grpc.StatusCode.PERMISSION_DENIED, marks=pytest.mark.slow)]
)
async def refusing(request: pytest.FixtureRequest) -> AsyncGenerator[str]:
    async with refusing_server(request.param) as address:
        yield address


@pytest.fixture
async def given(servers: Servers, tmp_path: Path) -> AsyncGenerator[Installation]:
    async with installation(servers, tmp_path) as given:
        yield given


async def wrong(servers: Servers) -> dict[str, dict[str, str]]:
    """Return the variables with a wrong login for each store."""
    redis = connect(servers.redis_url)
    user = uuid4().hex
    try:
        await ask(redis, "ACL", "SETUSER", user, "on", ">right", "+@all", "~*")
    finally:
        await redis.aclose()
    return {
        "redis": {"PERDURE_REDIS_URL": f"redis://{user}:wrong@{urlsplit(servers.redis_url).netloc}"},
        "weaviate": {"PERDURE_WEAVIATE_API_KEY": "wrong"},
    }


@pytest.mark.parametrize("store", [pytest.param("redis", marks=pytest.mark.slow), "weaviate"])
async def test_a_worker_whose_login_is_refused_ends_with_it(given: Installation, servers: Servers, store: str) -> None:
    process, log = await given.worker(**(await wrong(servers))[store])

    assert await asyncio.wait_for(process.wait(), STARTED_WITHIN) == 2, log.read_text()
    [line] = [line for line in log.read_text().splitlines() if not line.startswith("{")]
    assert line.startswith(f"error: PRD232 {store} refuses this client: ")
    assert ANSWERED[store][1] in line


@pytest.mark.slow
@pytest.mark.parametrize("store", ["redis", "weaviate"])
async def test_a_refused_login_is_said_by_the_doctor_and_by_recall(
    given: Installation, servers: Servers, store: str
) -> None:
    await given.ready_worker()
    variables = (await wrong(servers))[store]

    ran = await given.perdure("doctor", "--json", **variables)
    found = {one["check"]: one for one in json.loads(ran.out) if not one["ok"]}
    assert found.keys() == set(ANSWERED[store][0])
    assert all("PRD232" in one["detail"] and not one["fix"] for one in found.values())

    asked = await given.perdure("recall", "x", "--user", "ada", **variables)
    assert (asked.status, asked.out) == (2, "")
    assert asked.complaint.startswith(f"error: PRD232 {store} refuses")
    assert "ResourceWarning" not in asked.err


async def test_temporal_refusing_the_client_is_not_taken_for_its_absence(refusing: str) -> None:
    with pytest.raises(StoreRefused, match="correct the API key or the certificate"):
        await connected(refusing)
    # The control: nothing listens there.
    with pytest.raises(StoreUnavailable, match="does not answer"):
        await connected("127.0.0.1:9")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (grpc.StatusCode.PERMISSION_DENIED, StoreRefused, False),
        (grpc.StatusCode.INVALID_ARGUMENT, InvalidInput, False),
        pytest.param(grpc.StatusCode.UNAVAILABLE, StoreUnavailable, True, id="control"),
    ],
)
async def test_an_activity_that_temporal_refuses_is_not_tried_for_ever(
    status: grpc.StatusCode, kind: type[PerdureError], retryable: bool
) -> None:
    names = ("members", "submitter", "writer", "intake", "consents", "session", "changed", "erasures")
    unused: dict[str, Any] = dict.fromkeys(names)
    async with refusing_server(status, greets=True) as address:
        client = await Client.connect(address)
        activities = IngestActivities(client=client, **unused)
        with pytest.raises(kind) as refused:
            await activities.wait(WaitIngestCall(job="job"))
    assert refused.value.retryable is retryable


@pytest.mark.usefixtures("authorities")
async def test_tls_that_only_one_side_speaks_is_named(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_API_KEY", "k")
    with pytest.raises(StoreRefused, match="only one side speaks TLS"):
        await connected(servers.temporal)


async def test_a_machine_that_trusts_no_authority_is_named(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_API_KEY", "k")
    with pytest.raises(StoreRefused, match="ca-certificates"):
        await connected(servers.temporal)


@pytest.mark.parametrize(
    ("variables", "address", "complaint"),
    [
        ({}, ":::", "':::' cannot be connected to"),
        ({}, "foo bar", "'foo bar' cannot be connected to"),
        ({"TEMPORAL_API_KEY": "a\nb"}, "127.0.0.1:9", "TEMPORAL_API_KEY: has characters that no key has"),
        ({"TEMPORAL_TLS_CLIENT_CERT_PATH": "/nosuch"}, "127.0.0.1:9", "No such file or directory: '/nosuch'"),
    ],
)
async def test_a_configuration_that_cannot_be_used_is_refused(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], address: str, complaint: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InvalidInput) as refused:
        await connected(address)
    assert complaint in str(refused.value)


@pytest.mark.slow
async def test_the_doctor_survives_settings_that_cannot_be_used(given: Installation) -> None:
    for variables, broken, complaint in (
        ({"PERDURE_REDIS_URL": "redis://127.0.0.1:notaport"}, "redis", "PRD100 redis_url: is not an address"),
        ({"PERDURE_WEAVIATE_URL": "http://127.0.0.1:notaport"}, "weaviate", "PRD100 weaviate_url: "),
        ({"PERDURE_JOURNAL": "/etc/passwd"}, "journal", "PRD200 journal: Not a directory"),
        ({"PERDURE_JOURNAL": "/etc/passwd"}, "disk", "/etc/passwd is not a folder"),
        ({"TEMPORAL_ADDRESS": ":::"}, "temporal", "PRD100 temporal: ':::' cannot be connected to"),
        ({"TEMPORAL_TLS_CLIENT_CERT_PATH": "/nosuch"}, "temporal", "its client configuration cannot be read"),
    ):
        ran = await given.perdure("doctor", "--json", **variables)
        assert (ran.status, ran.err) == (1, "")
        found = {one["check"]: one for one in json.loads(ran.out)}
        assert complaint in found[broken]["detail"]
        assert not found[broken]["ok"]
        assert found["embedding"]["ok"]


@pytest.mark.slow
async def test_a_cron_that_temporal_does_not_take_is_refused(given: Installation) -> None:
    for cron, complaint in (
        ("nonsense", "PRD100 forgetting_cron: must be five"),
        ("0 3 * * NODAY", "PRD100 forgetting_cron: Temporal refuses "),
    ):
        process, log = await given.worker(PERDURE_FORGETTING_CRON=cron)
        assert await asyncio.wait_for(process.wait(), STARTED_WITHIN) == 2, log.read_text()
        [line] = [line for line in log.read_text().splitlines() if not line.startswith("{")]
        assert line.startswith(f"error: {complaint}")
