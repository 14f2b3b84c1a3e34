"""The MCP server as clients have it, by the command over stdio and by the service over HTTP: one story for both."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
import pytest_asyncio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, TextContent, TextResourceContents

from tests.conftest import Servers
from tests.integration.worker.cli.installation import COMMAND, Installation, installation
from tests.integration.worker.cli.test_tokens import serving
from tests.support import pages
from tests.support.waiting import until
from worker.mcp.memories import DATA

STDIO, HTTP = "stdio", "http"

over_both = pytest.mark.parametrize("transport", [STDIO, HTTP])


@dataclass(frozen=True, kw_only=True)
class Doors:
    """Both ways in to one installation."""

    installed: Installation
    url: str

    @asynccontextmanager
    async def connected(self, transport: str, user: str, *, mode: str = "auto", **how: Any) -> AsyncGenerator[Client]:
        """Connect a client of a user."""
        if transport == STDIO:
            async with Client(self._command(user), mode=mode, **how) as client:
                yield client
            return
        headers = {"Authorization": f"Bearer {await self._token(user)}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(f"{self.url}/mcp", http_client=http), mode=mode, **how) as client,
        ):
            yield client

    def _command(self, user: str) -> StdioServerParameters:
        """Return the command that the documentation has a client start."""
        [block] = [block.text for block in pages.blocks(Path("docs/mcp.md")) if block.language == "json"]
        printed = json.loads(block)["mcpServers"]["perdure"]
        # Where the command is on nobody's PATH, its module is the same.
        assert printed["command"] == "perdure"
        command, *before = COMMAND
        given = [user if one == "ada" else one for one in printed["args"]]
        there = self.installed
        return StdioServerParameters(command=command, args=[*before, *given], env=there.environment, cwd=there.folder)

    async def _token(self, user: str) -> str:
        scopes = [part for scope in ("read", "write", "tasks") for part in ("--scope", scope)]
        made = await self.installed.perdure("tokens", "create", "client", "--user", user, "--person", *scopes)
        assert made.status == 0, made.err
        return made.out.strip()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def doors(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Doors]:
    async with installation(servers, tmp_path_factory.mktemp("mcp")) as given:
        await given.ready_worker()
        async with serving(given) as (url, _):
            yield Doors(installed=given, url=url)


def said(result: CallToolResult) -> str:
    """Return what a call told the model."""
    return "".join(one.text for one in result.content if isinstance(one, TextContent))


@over_both
@pytest.mark.slow
async def test_what_is_remembered_is_recalled_as_data_corrected_and_forgotten(doors: Doors, transport: str) -> None:
    user = uuid4().hex
    async with doors.connected(transport, user) as client:
        assert {one.name for one in (await client.list_tools()).tools} == {
            *("recall", "remember", "correct", "forget"),
            *("start_task", "task_progress", "answer_question"),
        }
        statement = "The billing service runs on Postgres 16."
        kept = await client.call_tool("remember", {"statement": statement, "key": "one"})
        assert kept.structured_content is not None, said(kept)
        assert kept.structured_content["fate"] == "searchable"
        again = await client.call_tool("remember", {"statement": statement, "key": "one"})
        assert again.structured_content == kept.structured_content

        found = await client.call_tool("recall", {"text": "Which Postgres does billing run on?"})
        assert found.structured_content is not None
        assert found.structured_content["notice"] == DATA
        [item] = found.structured_content["items"]
        assert item["text"] == statement
        right = await client.call_tool(
            "correct", {"memory_id": item["id"], "statement": "The billing service runs on Postgres 17."}
        )
        assert right.structured_content is not None, said(right)
        [listed] = (await client.read_resource("perdure://memories/me")).contents
        assert isinstance(listed, TextResourceContents)
        assert [one["text"] for one in json.loads(listed.text)["items"]] == ["The billing service runs on Postgres 17."]
        gone = await client.call_tool("forget", {"memory_id": right.structured_content["id"]})
        assert not gone.is_error
        left = await client.call_tool("recall", {"text": "Which Postgres does billing run on?"})
        assert left.structured_content is not None
        assert left.structured_content["items"] == []
    async with doors.connected(transport, uuid4().hex) as other:
        refused = await other.call_tool("correct", {"memory_id": item["id"], "statement": "It runs on sand."})
        assert refused.is_error
        assert "there is no" in said(refused)


@over_both
@pytest.mark.slow
async def test_what_a_model_concludes_replaces_nothing_that_a_person_has_said(doors: Doors, transport: str) -> None:
    user = uuid4().hex
    said_by_user = "The standup is at 9."
    assert (await doors.installed.perdure("remember", said_by_user, "--user", user)).status == 0
    async with doors.connected(transport, user) as client:
        held = await client.call_tool("remember", {"statement": "The standup is at 10."})
        assert held.structured_content is not None, said(held)
        assert held.structured_content["fate"] == "held"
        assert "it is inferred, and contradicts what was said" in held.structured_content["reason"]
        found = await client.call_tool("recall", {"text": "When is the standup?"})
        assert found.structured_content is not None
        assert [one["text"] for one in found.structured_content["items"]] == [said_by_user]


@over_both
@pytest.mark.slow
async def test_what_is_wrong_is_told_to_the_model_with_the_fix(doors: Doors, transport: str) -> None:
    async with doors.connected(transport, uuid4().hex) as client:
        for tool, given, told in (
            ("recall", {"text": " "}, "text: is empty"),
            ("recall", {}, "text"),
            ("recall", {"text": "x", "of": "team:nobody"}, "team:nobody"),
            ("recall", {"text": "x", "limit": 1_000}, "limit"),
            ("remember", {"statement": "Kim likes tea.", "confidence": 0.2}, "below 0.7"),
            ("remember", {"statement": "Kim may like tea."}, "hedged"),
            ("remember", {"statement": "Kim seems to be pregnant."}, "only that person has it"),
            ("remember", {"statement": ""}, "content"),
            ("forget", {"memory_id": "mem_none"}, "mem_none"),
            ("start_task", {}, "skill: is missing"),
            ("start_task", {"skill": "none-such"}, "none-such"),
            ("task_progress", {"workflow_id": "../../x"}, "there is no"),
            ("task_progress", {}, "workflow_id"),
            ("remember", {}, "statement"),
            ("correct", {"memory_id": "mem_none"}, "statement"),
            ("correct", {"statement": "Kim likes tea."}, "memory_id"),
            ("forget", {}, "memory_id"),
            ("answer_question", {"workflow_id": "task-none"}, "question_id"),
        ):
            result = await client.call_tool(tool, given)
            assert result.is_error or '"rejected"' in said(result), (tool, given)
            assert told in said(result), said(result)
            assert "Traceback" not in said(result)
        with pytest.raises(MCPError, match=r"'txt' is not an argument \(.*text"):
            await client.call_tool("recall", {"txt": "x"})
        with pytest.raises(MCPError, match="'user_id' is not an argument"):
            await client.call_tool("forget", {"memory_id": "mem_none", "user_id": "kim"})
        for resource, told in (("tasks/task-none/explanation", "there is no"), ("memories/team:none", "team:none")):
            with pytest.raises(MCPError, match=told):
                await client.read_resource(f"perdure://{resource}")


@pytest.mark.slow
@pytest.mark.parametrize(("transport", "mode"), [(STDIO, "auto"), (STDIO, "legacy"), (HTTP, "auto")])
async def test_a_question_of_a_task_is_answered_by_the_user_and_not_by_the_model(
    doors: Doors, transport: str, mode: str
) -> None:
    user, asked = uuid4().hex, list[str]()
    lock = doors.installed.write("some.lock", "nodeenv==1.12.0\n")
    folder = doors.installed.folder
    inputs = {"lock": str(folder / lock), "report": str(folder / f"{transport}-{mode}.csv")}

    async def answering(_: Any, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        if len(asked) == 1:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content={"answer": "BSD-3-Clause"})

    async with doors.connected(transport, user, mode=mode, elicitation_callback=answering) as client:
        given = {"skill": "dependency-audit", "inputs": inputs, "task_id": f"mcp-{mode}"}
        started = await client.call_tool("start_task", given)
        assert started.structured_content is not None, said(started)
        task = {"workflow_id": started.structured_content["workflow_id"]}
        question = await _asked(client, task)
        wrong = await client.call_tool("answer_question", {**task, "question_id": "none"})
        assert wrong.is_error
        assert f"open questions: {question}" in said(wrong)
        answering_it = {**task, "question_id": question}
        assert "did not answer" in said(await client.call_tool("answer_question", answering_it))
        assert "was taken" in said(await client.call_tool("answer_question", answering_it))
        assert "Which licence does nodeenv" in asked[1]
        where = await until(lambda: _where(client, task), lambda found: not found["is_open"])
        assert where["result"]["status"] == "completed"
        told = await client.read_resource(f"perdure://tasks/{task['workflow_id']}/explanation")
        [explained] = told.contents
        assert isinstance(explained, TextResourceContents)
        assert json.loads(explained.text)["recalls"]
        assert json.loads(explained.text)["notice"] == DATA
    # A client that cannot ask its user answers nothing.
    async with doors.connected(transport, uuid4().hex, mode=mode) as silent:
        other = await silent.call_tool("start_task", {**given, "task_id": f"silent-{mode}"})
        assert other.structured_content is not None
        task = {"workflow_id": other.structured_content["workflow_id"]}
        try:
            result = await silent.call_tool("answer_question", {**task, "question_id": await _asked(silent, task)})
            assert result.is_error
        except MCPError:
            pass
        assert (await _where(silent, task))["progress"]["questions"]
    async with doors.connected(transport, uuid4().hex) as stranger:
        assert "there is no" in said(await stranger.call_tool("task_progress", task))


async def _where(client: Client, task: dict[str, str]) -> dict[str, Any]:
    result = await client.call_tool("task_progress", task)
    assert result.structured_content is not None, said(result)
    return result.structured_content


async def _asked(client: Client, task: dict[str, str]) -> str:
    where = await until(
        lambda: _where(client, task), lambda found: bool(found["progress"] and found["progress"]["questions"])
    )
    return str(where["progress"]["questions"][0]["id"])
