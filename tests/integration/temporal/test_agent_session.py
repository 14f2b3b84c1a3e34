"""An agent of the OpenAI Agents SDK on Temporal whose conversation is kept in its user's memory."""

import json
import random
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from agents import OpenAIProvider, SQLiteSession
from agents.memory import Session
from openai import AsyncOpenAI
from pytest_httpserver import HTTPServer
from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.openai_agents import ModelActivityParameters, OpenAIAgentsPlugin
from temporalio.worker import Replayer, Worker

from perdure import ConsentRequest, EraseRequest, Purpose
from perdure.stores.redis.session_items import SessionItemStore
from perdure.stores.redis.tenant_inventory import holdings
from perdure.temporal import AgentSession, Plugin
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from tests.support.agent_workflow import Concierge
from tests.support.http_service import ADMIN
from tests.support.pages import blocks
from tests.support.turn_server import Asked, Says, TurnServer
from worker.gateway import Gateway

SECRET = "My key is sk-proj-9f8Qw7Er6Ty5Ui4Op3As2Df1Gh0Jk9Lz8Xc7Vb6Nm5Qa4Ws3Ed2Rf1Tg."


@workflow.defn(sandboxed=False)
class Plays:
    """Makes the calls of a session that it is told to."""

    @workflow.run
    async def run(self, user: str, session: str, queue: str, calls: list[list[Any]]) -> list[Any]:
        one = AgentSession(session, user, task_queue=queue)
        answers: list[Any] = []
        for name, *given in calls:
            answers.append(await getattr(one, name)(*given))
        return answers


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def played(here: Deployment, user: str, calls: list[list[Any]], *, session: str = "s") -> list[Any]:
    """Have a workflow make calls of a session."""
    queue = f"q-{uuid4().hex}"
    async with Worker(here.client, task_queue=queue, workflows=[Plays]):
        given = [user, session, here.queue, calls]
        return await here.client.execute_workflow(Plays.run, args=given, id=f"plays-{uuid4().hex}", task_queue=queue)


@pytest.mark.slow
async def test_the_same_calls_get_the_same_answers_as_of_the_sdks_own_session(
    servers: Servers, tmp_path: Path, user: str
) -> None:
    choose, calls, expected = random.Random(1), list[list[Any]](), list[Any]()
    theirs = SQLiteSession("s")
    for number in range(60):
        match choose.randrange(6):
            case 0 | 1 | 2:
                items = [said(f"{number}.{place} é \"'\x00") for place in range(choose.randrange(4))]
                calls.append(["add_items", items])
                expected.append(await theirs.add_items([*items]))  # type: ignore[list-item]
            case 3:
                calls.append(["pop_item"])
                expected.append(await theirs.pop_item())
            case 4:
                limit = choose.choice([1, 3, 100])
                calls.append(["get_items", limit])
                expected.append(await theirs.get_items(limit))
            case _:
                calls.append(["get_items"])
                expected.append(await theirs.get_items())
        if not number % 25:
            calls.append(["clear_session"])
            expected.append(await theirs.clear_session())
    assert isinstance(AgentSession("s", "ada"), Session)
    async with deployment(servers, tmp_path) as here:
        assert await played(here, user, calls) == expected
        assert await played(here, user, [["get_items"]], session="another") == [[]]
        assert await played(here, f"not {user}", [["get_items"]]) == [[]]


@pytest.mark.slow
@pytest.mark.parametrize("which", ["add", "remove"])
async def test_a_change_whose_answer_is_lost_is_made_once(
    servers: Servers, tmp_path: Path, user: str, which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = list[str]()
    change = getattr(SessionItemStore, which)

    async def cut_off(store: SessionItemStore, *given: Any, **more: Any) -> Any:
        answer = await change(store, *given, **more)
        if not lost:
            lost.append(which)
            raise ConnectionError("the answer was lost on its way")
        return answer

    async with deployment(servers, tmp_path) as here:
        await played(here, user, [["add_items", [said("one"), said("two")]]])
        monkeypatch.setattr(SessionItemStore, which, cut_off)
        calls: list[list[Any]] = [["add_items", [said("three")]], ["pop_item"], ["get_items"]]
        answers = await played(here, user, calls)
    assert lost
    assert answers[1:] == [said("three"), [said("one"), said("two")]]


@pytest.mark.slow
async def test_calls_ids_and_large_results_are_kept_and_a_secret_is_not(
    servers: Servers, tmp_path: Path, user: str
) -> None:
    items: list[Any] = [
        {"type": "function_call", "call_id": "call_8RtY2wQ9zKx7vB3nM5pL1dF6", "name": "look", "arguments": '{"at": 1}'},
        {"type": "function_call_output", "call_id": "call_8RtY2wQ9zKx7vB3nM5pL1dF6", "output": "é" * 200_000},
        {
            "type": "reasoning",
            "id": "rs_68af4030baa48193b0b43b4c2a176a1a",
            "encrypted_content": "gAAAAABq" + "x9" * 300,
        },
        said("My address is ada@example.com."),
    ]
    async with deployment(servers, tmp_path) as here:
        assert await played(here, user, [["add_items", items], ["get_items"]]) == [None, items]
        with pytest.raises(WorkflowFailureError) as refused:
            await played(here, user, [["add_items", [said("Here it is."), said(SECRET)]]])
        assert "it has a secret" in str(refused.value.cause.__cause__)
        assert "sk-proj" not in str(refused.value.cause.__cause__)
        assert await played(here, user, [["get_items"]]) == [items]


@pytest.mark.slow
async def test_a_session_is_exported_and_goes_with_its_user(servers: Servers, tmp_path: Path, user: str) -> None:
    async with deployment(servers, tmp_path) as here, Gateway(here.settings, servers) as perdure:
        await played(here, user, [["add_items", [said("Hello."), said("Good bye.")]]])
        lines = [json.loads(line) for line in (await perdure.exported(user, by=ADMIN))[1:]]
        kept = [(line["place"], line["item"]["content"]) for line in lines if line["kind"] == "session_item"]
        assert kept == [(0, "Hello."), (1, "Good bye.")]
        tenant = here.services.tenant_key.tenant_of(user)
        assert (await perdure.erase(EraseRequest(user_id=user), by=ADMIN)).proved
        assert not [key for key in (await holdings(here.services.redis, tenant)).keys if ":items:" in key]
        assert await played(here, user, [["get_items"]]) == [[]]


async def test_without_consent_nothing_is_kept_and_the_run_says_so(servers: Servers, tmp_path: Path, user: str) -> None:
    async with deployment(servers, tmp_path) as here, Gateway(here.settings, servers) as perdure:
        request = ConsentRequest(user_id=user, withdraw=(Purpose.GIVEN,))
        await perdure.consent(request, by=ADMIN)
        for call in (["add_items", [said("Hello.")]], ["get_items"]):
            with pytest.raises(WorkflowFailureError) as refused:
                await played(here, user, [call])
            assert "consent" in str(refused.value.cause.__cause__)
        assert await SessionItemStore(here.services.redis).everything(here.services.tenant_key.tenant_of(user)) == {}


def script(asked: Asked) -> Says:
    return Says(f"{asked.turns} turns before; first: {asked.first}; last: {[asked.first, *asked.told][-1]}")


@pytest.mark.slow
async def test_an_agent_goes_on_with_its_conversation_in_the_next_workflow(
    servers: Servers, tmp_path: Path, httpserver: HTTPServer, user: str, default_queue: str
) -> None:
    model = AsyncOpenAI(base_url=TurnServer(httpserver, script).url, api_key="none", max_retries=0)
    within = ModelActivityParameters(start_to_close_timeout=timedelta(seconds=30))
    theirs = OpenAIAgentsPlugin(model_params=within, model_provider=OpenAIProvider(openai_client=model))
    client = await Client.connect(servers.temporal, plugins=[theirs, Plugin()])
    async with deployment(servers, tmp_path, queue=default_queue) as here:
        queue = f"q-{uuid4().hex}"
        async with Worker(client, task_queue=queue, workflows=[Concierge]):

            async def told(text: str) -> tuple[WorkflowHandle[Any, Any], Any]:
                given = [user, "trip", text]
                one = await client.start_workflow(Concierge.run, args=given, id=f"c-{uuid4().hex}", task_queue=queue)
                return one, await one.result()

            _, first = await told("I am going to Lisbon.")
            handle, second = await told("When does it rain there?")
            assert first == "0 turns before; first: I am going to Lisbon.; last: I am going to Lisbon."
            assert second == "1 turns before; first: I am going to Lisbon.; last: When does it rain there?"
            with pytest.raises(WorkflowFailureError):
                await told(SECRET)
            [items] = await played(here, user, [["get_items"]], session="trip")
            assert [one["role"] for one in items] == ["user", "assistant"] * 2
            history = await handle.fetch_history()
        await Replayer(workflows=[Concierge], plugins=[theirs, Plugin()]).replay_workflow(history)


def test_the_page_shows_what_runs_here() -> None:
    [shown] = [one.text for one in blocks(Path("docs/frameworks.md")) if "Concierge" in one.text]
    assert shown == Path("tests/support/agent_workflow.py").read_text("utf-8")
