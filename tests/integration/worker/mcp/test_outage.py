"""What a client's model is told while a server is away."""

import asyncio
from pathlib import Path
from uuid import uuid4

import pytest

from localservers import Server
from tests.conftest import OwnServers
from tests.integration.worker.http.test_mcp import connected, said
from tests.support.http_service import http_service
from tests.support.waiting import until
from worker.mcp import memories


@pytest.mark.slow
async def test_who_remembers_while_weaviate_is_away_is_told_that_it_goes_on(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "ENDS_WITHIN", 3.0)
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with http_service(fleet.addresses, tmp_path / "home") as service:
        token = await service.token(user_id=uuid4().hex)
        given = {"statement": "The billing service runs on Postgres 16.", "key": "one"}
        await fleet.stop(Server.WEAVIATE)
        async with connected(service, token) as client, asyncio.timeout(60):
            waits = await client.call_tool("remember", given)
            assert waits.structured_content is not None, said(waits)
            assert waits.structured_content["fate"] == "accepted"
            assert "goes on" in waits.structured_content["reason"]
        await fleet.start(Server.WEAVIATE)
        async with connected(service, token) as client, asyncio.timeout(60):
            said_once = waits.structured_content
            await until(
                lambda: client.call_tool("remember", given), lambda answer: answer.structured_content != said_once
            )
            found = await client.call_tool("recall", {"text": "Which Postgres does billing run on?"})
            assert found.structured_content is not None
            assert len(found.structured_content["items"]) == 1
