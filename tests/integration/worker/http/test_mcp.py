"""The MCP server behind the service's gate, asked by the official client over streamable HTTP."""

import asyncio
import json
import shutil
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, CallToolResult, ElicitRequestParams, ElicitResult, TextContent

from perdure.values.access_tokens import TokenScope
from tests.conftest import Servers
from tests.integration.worker.http.test_tasks import asked as asked_by
from tests.integration.worker.http.test_tasks import started
from tests.support.http_service import ADMIN, Service, answering
from tests.support.issuer import Issuer
from tests.support.waiting import until
from worker.gateway import Gateway
from worker.http.app import make_app


@asynccontextmanager
async def connected(service: Service, token: str, **how: Any) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        Client(streamable_http_client(f"{service.url}/mcp", http_client=http), **how) as client,
    ):
        yield client


def said(result: CallToolResult) -> str:
    """Return what a call told the model."""
    return "".join(one.text for one in result.content if isinstance(one, TextContent))


@pytest.mark.slow
async def test_a_client_reaches_the_memory_of_the_user_of_its_token_and_no_other(service: Service) -> None:
    ada, kim = uuid4().hex, uuid4().hex
    async with connected(service, await service.token(user_id=ada)) as client:
        kept = await client.call_tool("remember", {"statement": "The billing service runs on Postgres 16."})
        assert kept.structured_content is not None, said(kept)
        assert kept.structured_content["fate"] == "searchable"
    async with connected(service, await service.token(user_id=kim)) as other:
        found = await other.call_tool("recall", {"text": "Which Postgres does billing run on?"})
        assert found.structured_content is not None, said(found)
        assert found.structured_content["items"] == []
        gone = await other.call_tool("forget", {"memory_id": kept.structured_content["id"]})
        assert "there is no" in said(gone)
    async with connected(service, await service.token(TokenScope.READ, user_id=ada)) as reading:
        found = await reading.call_tool("recall", {"text": "Which Postgres does billing run on?"})
        assert found.structured_content is not None
        assert len(found.structured_content["items"]) == 1
        refused = await reading.call_tool("remember", {"statement": "Kim leads the team."})
        assert refused.is_error
        assert "lacks the scope 'write'" in said(refused)


TOOLS: dict[str, tuple[TokenScope, dict[str, Any]]] = {
    "remember": (TokenScope.WRITE, {"statement": "Kim leads the team."}),
    "correct": (TokenScope.WRITE, {"memory_id": "mem_1", "statement": "Kim leads the team."}),
    "forget": (TokenScope.WRITE, {"memory_id": "mem_1"}),
    "start_task": (TokenScope.TASKS, {"skill": "echo-it", "inputs": {"text": "x"}}),
    "task_progress": (TokenScope.TASKS, {"workflow_id": "task-x"}),
    "answer_question": (TokenScope.TASKS, {"workflow_id": "task-x", "question_id": "q"}),
    "recall": (TokenScope.READ, {"text": "x"}),
}
"""What each tool's use needs, with arguments that fit."""


@pytest.mark.parametrize("kind", ["own", "of a provider"])
async def test_each_tool_needs_its_scope(service: Service, provider: Issuer, user: str, kind: str) -> None:
    async def token(*scopes: TokenScope) -> str:
        if kind == "own":
            return await service.token(*scopes, user_id=user, person=True)
        told = " ".join(f"perdure:{one}" for one in (*scopes, "person"))
        return provider.token(sub=user, scope=told, exp=int(time.time()) + 600)

    async with connected(service, await token(*TokenScope)) as client:
        assert {one.name for one in (await client.list_tools()).tools} == TOOLS.keys()
    for name, (scope, arguments) in TOOLS.items():
        if scope is TokenScope.READ:
            continue  # Without it nobody connects.
        async with connected(service, await token(*{*TokenScope} - {scope})) as client:
            refused = await client.call_tool(name, arguments)
            assert refused.is_error
            assert f"lacks the scope '{scope}'" in said(refused), name
    async with connected(service, await token(*{*TokenScope} - {TokenScope.TASKS})) as client:
        with pytest.raises(MCPError, match="lacks the scope 'tasks'"):
            await client.read_resource("perdure://tasks/task-x/explanation")


async def test_a_token_for_any_user_says_which_one_to_use(service: Service) -> None:
    async with connected(service, await service.token()) as client:
        refused = await client.call_tool("recall", {"text": "x"})
        assert refused.is_error
        assert "perdure tokens create --user" in said(refused)


@pytest.mark.slow
@pytest.mark.parametrize("person", [True, False], ids=["person", "program"])
async def test_only_whom_a_person_gave_a_token_is_asked_for_an_answer(service: Service, person: bool) -> None:
    asked = list[str]()

    async def answering(_: Any, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"answer": "yes"})

    token = await service.token(user_id=uuid4().hex, person=person)
    async with connected(service, token, elicitation_callback=answering) as client:
        started = await client.call_tool("start_task", {"skill": "ask-first"})
        assert started.structured_content is not None, said(started)
        task = {"workflow_id": started.structured_content["workflow_id"]}
        where = await until(lambda: _where(client, task), _asks)
        question = {**task, "question_id": where["progress"]["questions"][0]["id"]}
        answer = await client.call_tool("answer_question", question)
        assert answer.is_error is not person, said(answer)
        assert bool(asked) is person
        if not person:
            assert "no person holds the token" in said(answer)
            await service.gateway.cancel(task["workflow_id"], by=ADMIN)
            return
        where = await until(lambda: _where(client, task), lambda found: not found["is_open"])
        assert where["result"]["output"] == "hello"


async def test_a_client_that_cannot_be_asked_over_http_is_told_where_the_user_answers(
    service: Service, ada: httpx2.AsyncClient, user: str
) -> None:
    task = await started(ada, "ask-first")
    question = await asked_by(ada, task)
    token = await service.token(user_id=user, person=True)

    async def answering(_: Any, params: ElicitRequestParams) -> ElicitResult:
        raise AssertionError(params.message)

    async with connected(service, token, mode="legacy", elicitation_callback=answering) as client:
        refused = await client.call_tool("answer_question", {"workflow_id": task, "question_id": question["id"]})
        assert "perdure inbox" in said(refused)
    await ada.post(f"/v2/control/tasks/{task}/cancel", json={})


async def test_without_a_token_nobody_is_let_in(service: Service) -> None:
    async with httpx2.AsyncClient(base_url=service.url, trust_env=False) as client:
        answer = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
    async with service.client_with(await service.token(user_id="ada")) as client:
        empty = await client.post("/mcp")
        assert (empty.status_code, empty.json()["code"]) == (400, "PRD510")
        broken = await client.post("/mcp", content=b"{", headers={"Content-Type": "application/json"})
        assert broken.status_code == 400
        assert "Traceback" not in json.dumps(broken.text)


VERSION = "2026-07-28"


async def sent(client: httpx2.AsyncClient, method: str, name: str | None = None, **params: Any) -> dict[str, Any]:
    """Send a request as a client of the latest protocol does, and return the answer."""
    about: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": VERSION, "Mcp-Method": method}
    if name is not None:
        headers["Mcp-Name"] = name
        params["name"] = name
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": about}}
    answer: dict[str, Any] = (await client.post("/mcp", json=body, headers=headers)).json()
    return answer


async def test_no_client_listens_for_ever(service: Service, user: str) -> None:
    async with await service.client(TokenScope.READ, user_id=user) as client, asyncio.timeout(10):
        answer = await sent(client, "subscriptions/listen", notifications={"toolsListChanged": True})
    assert answer["error"]["code"] == METHOD_NOT_FOUND


@pytest.mark.slow
async def test_another_process_takes_the_answer_to_what_one_asked(
    service: Service, servers: Servers, user: str, tmp_path: Path
) -> None:
    settings = service.here.settings
    other = settings.changed(home=tmp_path, journal=settings.journal_folder)
    async with (
        answering(make_app(other, Gateway(other, servers), local=False)) as (host, port),
        await service.client(user_id=user, person=True) as client,
    ):
        # It has started before the tenant key was there.
        shutil.copy(settings.tenant_key_file, other.tenant_key_file)
        task = await started(client, "ask-first")
        question = await asked_by(client, task)
        given = {"arguments": {"workflow_id": task, "question_id": question["id"]}}
        asks = (await sent(client, "tools/call", "answer_question", **given))["result"]
        [place] = asks["inputRequests"]
        said_it = {place: {"action": "accept", "content": {"answer": "yes"}}}
        client.base_url = f"http://{host}:{port}"
        unasked = await sent(client, "tools/call", "answer_question", **given, inputResponses=said_it)
        assert "inputRequests" in unasked["result"], "what was not asked is not answered"
        answer = await sent(
            client, "tools/call", "answer_question", **given, inputResponses=said_it, requestState=asks["requestState"]
        )
        assert "was taken" in json.dumps(answer)
        ended = (await client.get(f"/v2/control/tasks/{task}", params={"wait": 30})).json()
        assert ended["result"]["output"] == "hello"


async def test_an_id_that_is_too_long_to_be_one_does_not_exist(service: Service, user: str) -> None:
    async with connected(service, await service.token(user_id=user)) as client, asyncio.timeout(4):
        found = await client.call_tool("task_progress", {"workflow_id": "x" * 100_000})
        assert "PRD116" in said(found)


def _asks(where: dict[str, Any]) -> bool:
    return bool(where["progress"] and where["progress"]["questions"])


async def _where(client: Client, task: dict[str, str]) -> dict[str, Any]:
    result = await client.call_tool("task_progress", task)
    assert result.structured_content is not None, said(result)
    return result.structured_content
