"""Tasks of one installation that use the memory of another, through its service."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import WorkflowFailureError

from activities.remote_memory import RemoteMemory, beside
from localservers import Server
from perdure import AgentTask, TaskResult
from perdure.client import Client
from perdure.errors import InvalidInput, StoreUnavailable
from perdure.memory.recall.query import Query, RecallResult
from perdure.memory.writing.batch_checks import read_batch
from perdure.settings import Settings
from perdure.values.access_tokens import TokenScope
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.jobs import ELSEWHERE, Fate, SubmitCall
from perdure.values.requests import EraseRequest
from tests.conftest import OwnServers, clean_settings
from tests.integration.workflows.resumable_agent.test_remembering import LEARN
from tests.support.harness import Bench, bench
from tests.support.http_service import ADMIN, Service, memory_item
from tests.support.losing import losing
from tests.support.waiting import until
from worker.remote_memory import examined

pytestmark = pytest.mark.slow

ASKS = """
steps:
  - {id: note, tool: echo, args: {value: "noted"}}
  - {id: ask, recall: {text: "When do deploys happen?"}}
output: {context: "${steps.ask.context}", found: "${steps.ask.items.size()}"}
"""

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
"""What looks like an access token."""

TELLS = """
inputs: {texts: list}
steps:
  - for_each: "${inputs.texts}"
    as: text
    steps:
      - {id: tell, tool: echo, args: {value: "${text}"}, remember: [{memory: "${output}"}]}
"""


@asynccontextmanager
async def near(own_servers: OwnServers, folder: Path, url: str, token: str) -> AsyncGenerator[Bench]:
    """Run a worker of an installation of its own, whose tasks use that memory."""
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    elsewhere = {"memory_url": url, "memory_token": token}
    async with bench(fleet.addresses, folder / "near", more=elsewhere) as agents:
        yield agents


async def token_of(service: Service, **fields: Any) -> str:
    return await service.token(TokenScope.READ, TokenScope.WRITE, **fields)


async def test_what_tasks_learn_is_remembered_there_and_recalled_from_there(
    service: Service, own_servers: OwnServers, tmp_path: Path, user: str
) -> None:
    async with near(own_servers, tmp_path, service.url, await token_of(service)) as agents:
        skill = agents.skill(LEARN)

        async def learns(number: int) -> TaskResult:
            given: dict[str, Any] = {"names": ["alpha", "beta"]}
            task = AgentTask(task_id=f"t{number}", user_id=user, skill=skill, inputs=given)
            return await (await agents.start(task)).result()

        first, second = await learns(1), await learns(2)
        assert [receipt.count(Fate.SEARCHABLE) for receipt in first.receipts] == [1, 1]
        assert all(job.startswith(ELSEWHERE) for job in first.jobs)
        assert (second.done, second.skipped, second.recalled) == (1, 2, 2)
        assert await agents.services.longterm.tenants() == []
        tenant = agents.services.tenant_key.tenant_of(user)
        assert tenant not in await agents.services.journal.tenants()
    async with Client(service.url, await service.token(user_id=user)) as client:
        assert {item.key for item in (await client.activity("pattern", ["alpha", "beta"])).items} == {"alpha", "beta"}
        other = await service.token(user_id=f"kim {uuid4().hex}")
    async with Client(service.url, other) as client:
        assert (await client.activity("pattern", ["alpha"])).items == (), "the control: they are one user's"


async def test_what_happened_in_the_session_stands_beside_what_is_remembered_elsewhere(
    service: Service, own_servers: OwnServers, tmp_path: Path, user: str
) -> None:
    async with Client(service.url, await service.token(user_id=user, person=True)) as client:
        await client.remember(["Deploys happen on Tuesdays."])
    async with near(own_servers, tmp_path, service.url, await token_of(service)) as agents:
        task = AgentTask(task_id="t", user_id=user, skill=agents.skill(ASKS))
        output: Any = (await (await agents.start(task)).result()).output
    assert output["found"] == 1
    assert "Deploys happen on Tuesdays." in output["context"]
    assert "note: echo done" in output["context"]


async def test_of_what_this_installation_recalls_only_what_happened_is_told() -> None:
    episode = Episode(id="e", kind=EpisodeKind.TOOL, text="note: echo done", importance=0.5, at=datetime.now(UTC))
    here = RecallResult(episodes=(episode,), context="The gate is blue.\nnote: echo done", milliseconds=1.0)
    told = beside(RecallResult(context="Kim leads the team.", milliseconds=1.0), here, 2_000)
    assert "Kim leads the team." in told.context
    assert "note: echo done" in told.context
    assert "The gate is blue." not in told.context


async def test_a_task_goes_on_without_it_and_hands_over_once_what_it_learned(
    service: Service, own_servers: OwnServers, tmp_path: Path, user: str
) -> None:
    async with (
        losing(service.url) as way,
        near(own_servers, tmp_path, way.url, await token_of(service)) as agents,
    ):
        skill = agents.skill(TELLS + '  - {id: ask, recall: {text: "Who leads the team?"}}\n')
        way.lose_all = True
        task = AgentTask(task_id="t", user_id=user, skill=skill, inputs={"texts": ["Kim leads the team."]})
        handle = await agents.start(task)
        await has_recalled(handle)
        way.lose_all = False
        ended = await handle.result()
    assert ended.status == "completed"
    assert ended.recalls[0].degraded
    assert "no answer from memory elsewhere" in ended.recalls[0].why
    async with Client(service.url, await service.token(user_id=user)) as client:

        async def found() -> Any:
            return (await client.recall("Who leads the team?")).items

        [item] = await until(found, bool)
    assert (item.text, item.seen) == ("Kim leads the team.", 1), "lost answers make no second observation"


async def has_recalled(handle: Any) -> None:
    """Wait until the task has gone on without an answer."""

    async def done() -> int:
        return int((await handle.query("progress"))["done"])

    await until(done, lambda number: number >= 2)


async def test_what_there_keeps_out_keeps_no_other_item_out_and_its_receipt_says_why(
    service: Service, own_servers: OwnServers, tmp_path: Path, user: str
) -> None:
    texts = ["Kim leads the team.", f"The token is {SECRET}.", "Lee writes the reports."]
    async with near(own_servers, tmp_path, service.url, await token_of(service)) as agents:
        task = AgentTask(task_id="t", user_id=user, skill=agents.skill(TELLS), inputs={"texts": list(texts)})
        ended = await (await agents.start(task)).result()
    [job] = ended.jobs
    async with Client(service.url, await service.token(user_id=user)) as client:
        state = await client.job(job.removeprefix(ELSEWHERE), wait=20)
        assert state.receipt
        assert [item.fate for item in state.receipt.items] == [Fate.SEARCHABLE, Fate.REJECTED, Fate.SEARCHABLE]
        assert SECRET not in state.receipt.items[1].reason
        assert {entry.text for entry in await client.memories()} == {texts[0], texts[2]}


async def test_a_task_that_is_run_again_hands_over_what_it_learns_then(
    service: Service, own_servers: OwnServers, tmp_path: Path, user: str
) -> None:
    async with near(own_servers, tmp_path, service.url, await token_of(service)) as agents:
        ends = f"  - {{id: end, tool: flaky, args: {{ledger: '{agents.ledger()}', fails: 3}}}}\n"
        task = AgentTask(
            task_id="t", user_id=user, skill=agents.skill(TELLS + ends), inputs={"texts": ["Kim leads the team."]}
        )
        with pytest.raises(WorkflowFailureError):
            await (await agents.start(task)).result()
        ended = await (await agents.start(task)).result()
        assert (len(ended.jobs), ended.refused) == (1, ())
    async with Client(service.url, await service.token(user_id=user)) as client:
        state = await client.job(ended.jobs[0].removeprefix(ELSEWHERE), wait=20)
        assert state.receipt
        [item] = (await client.recall("Who leads the team?")).items
    assert (item.text, item.seen) == ("Kim leads the team.", 1), "the same place of a task is the same observation"


@pytest.mark.parametrize("late", [True, False], ids=["learned before", "control"])
@pytest.mark.parametrize("how", ["erased", "forgotten"])
async def test_what_was_learned_before_it_was_erased_or_forgotten_there_stays_out_when_it_comes_late(
    service: Service, user: str, *, late: bool, how: str
) -> None:
    texts, began = ["Kim leads the team.", "Lee writes the reports."], datetime.now(UTC)
    async with Client(service.url, await token_of(service)) as client:
        await client.remember(texts[:1], user_id=user)
        if how == "erased":
            await service.gateway.erase(EraseRequest(user_id=user), by=ADMIN)
        else:
            [entry] = await client.memories(user_id=user)
            await client.forget(entry.id, user_id=user)
        recorded = [began if late else datetime.now(UTC), datetime.now(UTC)]
        items = [memory_item(text) for text in texts]
        receipt = await client.remember(items, key="k", user_id=user, recorded=recorded)
        assert ("was erased" in receipt.items[0].reason or "forgotten" in receipt.items[0].reason) is late
        found = {entry.text for entry in await client.memories(user_id=user)}
    assert found == ({texts[1]} if late else set(texts))


@pytest.mark.parametrize("answer", ["404 Not Found", "403 Forbidden", "302 Found", "503 Service Unavailable"])
async def test_what_stands_in_front_of_the_service_does_not_make_a_task_lose_what_it_learned(answer: str) -> None:
    async def front(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 {answer}\r\nLocation: /\r\nContent-Length: 4\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + b"none")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(front, "127.0.0.1", 0)
    item: Any = memory_item("Kim leads the team.") | {"occurred_at": datetime.now(UTC).isoformat()}
    batch = read_batch(tenant="t_" + "0" * 32, key="k", items=[item])
    async with server, Client(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "token") as client:
        elsewhere = RemoteMemory(client, 5.0)
        with pytest.raises(StoreUnavailable):
            await elsewhere.submit(SubmitCall(batch=batch, user_id="ada"))
        found = await elsewhere.recall(
            Query(tenant=batch.tenant, session="", text="who?", now=datetime.now(UTC)), user_id="ada", of=None
        )
        assert found.degraded == ("memory elsewhere",)


@pytest.mark.parametrize("counts", [False, True], ids=["refused", "control"])
async def test_a_token_that_does_not_count_is_said_and_what_was_learned_waits(
    service: Service, own_servers: OwnServers, tmp_path: Path, user: str, counts: bool
) -> None:
    token = await token_of(service) if counts else await token_of(service, user_id="somebody else")
    async with near(own_servers, tmp_path, service.url, token) as agents:
        task = AgentTask(
            task_id="t", user_id=user, skill=agents.skill(TELLS), inputs={"texts": ["Kim leads the team."]}
        )
        handle = await agents.start(task)

        async def tried() -> list[Any]:
            found = (await handle.describe()).raw_description.pending_activities
            return [one for one in found if one.activity_type.name == "submit_ingest" and one.attempt > 1]

        if counts:
            assert (await handle.result()).refused == ()
        else:
            [waiting] = await until(tried, bool)
            assert "PERDURE_MEMORY_TOKEN" in waiting.last_failure.message
            await handle.terminate()
        finding = await examined(agents.settings)
    assert finding[0] is counts
    assert counts or "one user's" in finding[1]


async def test_an_address_without_a_token_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="memory_token"):
        clean_settings(tmp_path, memory_url="http://127.0.0.1:1")
    assert isinstance(clean_settings(tmp_path, memory_url="http://127.0.0.1:1", memory_token="t"), Settings)
