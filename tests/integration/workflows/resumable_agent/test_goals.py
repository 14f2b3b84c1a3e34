"""A task with a goal: turns of a model, its calls side by side, and what it makes of its own mistakes."""

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from perdure import AgentTask
from perdure.agent.state import TaskRun
from perdure.documents import validated
from perdure.errors import InvalidTask
from perdure.values.beginnings import BeginRequest
from perdure.values.tasks import TaskResult
from tests.conftest import Servers
from tests.crash.test_tool_steps import reset
from tests.integration.workflows.resumable_agent.test_branches import most_at_once
from tests.support.goals import AGENT, Agents, agents_on, goal
from tests.support.harness import Bench, bench
from tests.support.pages import blocks
from tests.support.turn_server import Asked, Call, Fails, Hangs, Says, Script
from tests.support.waiting import until


@pytest.fixture
def agents(servers: Servers, tmp_path: Path, httpserver: HTTPServer) -> Agents:
    return agents_on(servers, tmp_path, httpserver)


def lines_of(ledger: str) -> list[str]:
    return Path(ledger).read_text(encoding="utf-8").split()


async def result_of(agents: Bench, handle: WorkflowHandle[Any, TaskResult]) -> TaskResult:
    return await agents.client.get_workflow_handle(handle.id, result_type=TaskResult).result()


@pytest.mark.parametrize("api", ["responses", "chat"])
@pytest.mark.slow
async def test_calls_of_a_turn_are_made_side_by_side_and_the_last_text_is_the_answer(agents: Agents, api: str) -> None:
    def script(asked: Asked) -> Says:
        match asked.turns:
            case 0:
                lines = [{"ledger": ledger, "line": f"line{number}"} for number in range(4)]
                return Says("Looking.", tuple(Call("dwell", line) for line in lines))
            case 1:
                return Says(calls=(Call("append", {"ledger": f"{ledger}.once", "line": "+".join(asked.outputs)}),))
            case _:
                return Says(f"It is {asked.outputs[-1]}")

    async with agents(script, settings={"model_api": api}) as (one, server):
        ledger = str(one.ledger())
        handle = await one.start(goal("Find out what it is"))
        result = await handle.result()
        await one.replay(handle)
        assert result.output == 'It is {"line": "line0+line1+line2+line3"}'
        assert (result.done, result.failed) == (5, 0)
        assert result.tokens > 3 * 10
        assert lines_of(f"{ledger}.once") == ["line0+line1+line2+line3"]
        assert most_at_once((await handle.fetch_history()).events) == 4
    first = server.asked[0]
    assert "Find out what it is" in first.first
    assert first.instructions.startswith("Be brief.")
    assert first.tools == {"echo", "append", "dwell", "garbles", "note", "recall", "remember", "correct"}


@pytest.mark.slow
async def test_a_provider_of_ones_own_takes_the_turns(
    servers: Servers, tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    [provider] = [one.text for one in blocks(Path("docs/models.md")) if one.file == "claude.py"]
    (tmp_path / "claude.py").write_text(provider, encoding="utf-8")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", httpserver.url_for(""))
    used = {"usage": {"input_tokens": 7, "output_tokens": 3}, "stop_reason": "end_turn"}
    acts = {"type": "tool_use", "id": "a", "name": "echo", "input": {"value": 7}}
    for content in ([acts], [{"type": "text", "text": "It is 7"}]):
        httpserver.expect_ordered_request("/v1/messages").respond_with_json({"content": content, **used})
    agents = tmp_path / "agents"
    agents.mkdir()
    (agents / "worker.yaml").write_text(AGENT.replace("openai:test", f"{tmp_path / 'claude.py'}:x"), encoding="utf-8")
    async with bench(servers, tmp_path, more={"agents": (agents,)}) as one:
        result = await (await one.start(goal("Find out what it is"))).result()
    assert (result.output, result.done, result.tokens) == ("It is 7", 1, 20)
    assert json.loads(httpserver.log[1][0].data)["messages"][-1]["content"][0]["content"] == "7"


@pytest.mark.slow
async def test_unknown_tools_bad_arguments_and_failures_go_back_to_the_model(agents: Agents) -> None:
    def script(asked: Asked) -> Says:
        match asked.turns, len(asked.told):
            case 0, _:
                return Says(calls=(Call("ecko", {}), Call("echo", "{"), Call("echo", "[1]"), Call("echo", {"valu": 1})))
            case 1, _:
                return Says(calls=(Call("garbles", {}), Call("echo", {"value": 7})))
            case 2, 0:
                return Says()
            case _:
                return Says(" | ".join((*asked.outputs, *asked.told)))

    async with agents(script) as (one, _):
        handle = await one.start(goal())
        said = str((await handle.result()).output).split(" | ")
        await one.replay(handle)
    assert "there is no tool 'ecko'" in said[0]
    assert "not JSON" in said[1]
    assert "not a JSON object" in said[2]
    assert "did you mean 'value'" in said[3]
    assert "garbles" in said[4]
    assert said[5] == "7"
    assert "empty" in said[6]


@pytest.mark.parametrize("tool", ["nothing", "echo"], ids=["no such tool", "arguments that never fit"])
@pytest.mark.slow
async def test_a_model_that_makes_mistakes_only_is_stopped(agents: Agents, tool: str) -> None:
    async with agents(lambda asked: Says(calls=(Call(tool, {f"no{asked.turns}": 1}),))) as (one, server):
        with pytest.raises(WorkflowFailureError) as caught:
            await (await one.start(goal())).result()
    assert "5 unusable turns in a row" in str(caught.value.cause)
    assert len(server.asked) == 5


@pytest.mark.slow
async def test_the_same_calls_again_and_again_are_told_and_then_stopped_and_act_no_more(agents: Agents) -> None:
    async with agents(lambda _: Says(calls=(Call("append", {"ledger": ledger, "line": "x"}),))) as (one, server):
        ledger = str(one.ledger())
        with pytest.raises(WorkflowFailureError) as caught:
            await (await one.start(goal())).result()
        assert "same calls 6 times in a row" in str(caught.value.cause)
        assert lines_of(ledger) == ["x", "x"]
    assert not any(asked.told for asked in server.asked[:3])
    assert "3 times in a row" in server.asked[3].told[-1]


@pytest.mark.slow
async def test_so_are_two_turns_of_calls_that_come_again_and_again(agents: Agents) -> None:
    wanted = ["append", "echo"]

    def script(asked: Asked) -> Says:
        number = sum(asked is not one for one in server.asked)
        line = {"ledger": ledger, "line": "x"} if number % 2 == 0 else {"value": 1}
        return Says(calls=(Call(wanted[number % 2], line),))

    async with agents(script) as (one, server):
        ledger = str(one.ledger())
        with pytest.raises(WorkflowFailureError) as caught:
            await (await one.start(goal())).result()
        assert "same calls 6 times in a row" in str(caught.value.cause)
        assert lines_of(ledger) == ["x", "x", "x"]
        assert len(server.asked) == 12
    assert not any(asked.told for asked in server.asked[:6])
    assert "3 times in a row" in server.asked[6].told[-1]


@pytest.mark.slow
@pytest.mark.parametrize(("field", "problem"), [("turns: 3", "took the 3 turns"), ("tokens: 500", "may use 500")])
async def test_a_budget_stops_the_task_in_good_order(agents: Agents, field: str, problem: str) -> None:
    agent = AGENT.replace("turns: 30", field)
    async with agents(lambda asked: Says(calls=(Call("echo", {"value": asked.turns}),)), agent) as (one, _):
        handle = await one.start(goal())
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
        assert problem in str(caught.value.cause)
        result = await handle.query("result", result_type=TaskResult)
    assert result.done >= 1
    assert result.tokens > 0


@pytest.mark.slow
async def test_faults_of_the_server_are_waited_out_as_long_as_it_says(agents: Agents) -> None:
    asked_times: list[float] = []

    def script(asked: Asked) -> Says | Fails:
        asked_times.append(time.monotonic())
        match len(asked_times):
            case 1:
                return Fails(429, {"Retry-After": "2"})
            case 2:
                return Fails(500)
            case 3:
                return Fails(200, body='{"id": "r", "obj')
            case _:
                return Says("done")

    async with agents(script) as (one, _):
        assert (await (await one.start(goal())).result()).output == "done"
    assert 2.0 <= asked_times[1] - asked_times[0] < 6.0
    assert len(asked_times) == 4


@pytest.mark.slow
async def test_a_turn_whose_model_hangs_is_cut_off_and_asked_for_again(servers: Servers, tmp_path: Path) -> None:
    over, asked_times = threading.Event(), list[float]()

    def script(_: Asked) -> Says | Hangs:
        asked_times.append(time.monotonic())
        return Hangs(over) if len(asked_times) == 1 else Says("done")

    with HTTPServer(host="127.0.0.1", port=0, threaded=True) as server:
        try:
            async with agents_on(servers, tmp_path, server)(script, settings={"model_timeout": 1.0}) as (one, _):
                assert (await (await one.start(goal())).result()).output == "done"
        finally:
            over.set()
    assert 1.0 <= asked_times[1] - asked_times[0] < 5.0
    assert len(asked_times) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("says", "problem"),
    [
        (Fails(401), "PRD223"),
        (Fails(400, body='{"error": {"message": "m", "code": "bad"}}'), "PRD220"),
        (Says(declines=True), "declines"),
    ],
)
async def test_what_would_be_refused_again_is_not_asked_again(agents: Agents, says: Says | Fails, problem: str) -> None:
    async with agents(lambda _: says) as (one, server):
        with pytest.raises(WorkflowFailureError) as caught:
            await (await one.start(goal())).result()
    assert problem in str(caught.value.cause)
    assert len(server.asked) == 1


@pytest.mark.slow
async def test_working_memory_stays_small_keeps_its_notes_and_goes_on_through_rollovers(agents: Agents) -> None:
    def script(asked: Asked) -> Says:
        number = int(asked.outputs[-1].rpartition("#")[2]) if asked.outputs else 0
        if number == 24:
            return Says("noted" if "- keep: it is blue" in asked.first else "lost")
        calls = [Call("echo", {"value": f"{'long ' * 700}#{number + 1}"})]
        if number == 0:
            calls.insert(0, Call("note", {"kind": "constraints", "text": "keep: it is blue"}))
        # What it says is also its summary of earlier turns. Half a character can be neither stored nor sent.
        return Says(f"turn {number} \ud800", tuple(calls))

    settings = {"summary_model": "openai:cheap"}
    async with agents(script, continue_after=40, settings=settings) as (one, server):
        task = goal()
        handle = await one.start(task)
        result = await result_of(one, handle)
        assert result.output == "noted"
        assert result.done == 24
        tenant = one.services.tenant_key.tenant_of(task.user_id)
        told = await one.services.episodes.told(tenant, task.session, recent=100)
        given_way = [episode for episode in told if "/turn[" in episode.id]
        assert given_way, "what is no longer shown can be found in the session"
        assert all("echo" in episode.text for episode in given_way)
    longest = max(len(asked.first) + sum(map(len, asked.outputs)) for asked in server.asked)
    assert longest < 8_000 * 4 * 1.2
    assert any("What you did before" in asked.first for asked in server.asked)
    summaries = ["Shorten this record" in asked.instructions for asked in server.asked]
    assert any(summaries)
    assert [asked.model == "cheap" for asked in server.asked] == summaries


@pytest.mark.slow
async def test_a_turn_that_gave_way_is_recalled_by_what_it_said(agents: Agents) -> None:
    said = "Zorblatt sleeps in the old mill"

    def script(asked: Asked) -> Says:
        if "Shorten this record" in asked.instructions:
            return Says("It echoed.")
        if asked.outputs and asked.outputs[-1].startswith("<memory"):
            return Says("found" if said in asked.outputs[-1] else "lost")
        number = int(asked.outputs[-1].rpartition("#")[2]) if asked.outputs else 0
        if number == 24:
            return Says(calls=(Call("recall", {"text": "Where does Zorblatt sleep?"}),))
        return Says(
            f"It is turn {number}." if number else said, (Call("echo", {"value": f"{'x ' * 1_500}#{number + 1}"}),)
        )

    async with agents(script) as (one, server):
        task = goal()
        result = await (await one.start(task)).result()
        assert result.output == "found"
        assert "1 of the session by words" in result.recalls[-1].why
        tenant = one.services.tenant_key.tenant_of(task.user_id)
        shown = await one.services.episodes.told(tenant, task.session, recent=10, important=5)
    assert not any(said in episode.text for episode in shown), "it is among neither the newest nor the most important"
    assert said not in server.asked[-2].first


@pytest.mark.slow
@pytest.mark.parametrize("fault", [Fails(401), Fails(500)], ids=["refuses", "is away"])
async def test_a_task_goes_on_where_the_model_for_summaries_does_not_make_one(agents: Agents, fault: Fails) -> None:
    def script(asked: Asked) -> Says | Fails:
        if asked.model == "cheap":
            return fault
        number = int(asked.outputs[-1].rpartition("#")[2]) if asked.outputs else 0
        if number == 12:
            return Says("through" if "What you did before" in asked.first else "lost")
        return Says(f"turn {number}", (Call("echo", {"value": f"{'long ' * 700}#{number + 1}"}),))

    async with agents(script, settings={"summary_model": "openai:cheap"}) as (one, server):
        handle = await one.start(goal())
        result = await result_of(one, handle)
    assert (result.output, result.done) == ("through", 12)
    assert any(asked.model == "cheap" for asked in server.asked)


async def delete_run(agents: Bench, handle: WorkflowHandle[Any, Any]) -> None:
    """Have Temporal forget a task's run, as its retention does."""
    execution = WorkflowExecution(workflow_id=handle.id, run_id=handle.result_run_id or "")
    request = DeleteWorkflowExecutionRequest(namespace="default", workflow_execution=execution)
    await agents.client.workflow_service.delete_workflow_execution(request)

    async def is_gone() -> bool:
        try:
            await agents.client.get_workflow_handle(handle.id, run_id=handle.result_run_id).describe()
        except RPCError as error:
            return error.status is RPCStatusCode.NOT_FOUND
        return False

    await until(is_gone, bool, 60)


def counts_up(ledger: str) -> Script:
    """Return a script that appends a line for each turn, and answers after the fourth."""

    def script(asked: Asked) -> Says:
        if len(asked.outputs) == 4:
            return Says(" ".join(asked.outputs))
        return Says(calls=(Call("append", {"ledger": ledger, "line": f"line{len(asked.outputs)}"}),))

    return script


@pytest.mark.slow
async def test_a_later_run_goes_on_from_the_turns_that_were_taken_and_repeats_none(
    agents: Agents, tmp_path: Path
) -> None:
    ledger = str(tmp_path / "ledger")
    task = goal()
    async with agents(counts_up(ledger), AGENT.replace("turns: 30", "turns: 2")) as (one, server):
        with pytest.raises(WorkflowFailureError) as caught:
            await (await one.start(task)).result()
        assert "took the 2 turns" in str(caught.value.cause)
        (tmp_path / "agents" / "worker.yaml").write_text(AGENT, encoding="utf-8")
        handle = await one.start(task)
        result = await handle.result()
        await one.replay(handle)
        assert [f"line{number}" in str(result.output) for number in range(4)] == [True] * 4
        assert lines_of(ledger) == [f"line{number}" for number in range(4)]
        assert len(server.asked) == 5, "no turn that acted is asked anew"


@pytest.mark.slow
async def test_a_later_run_has_in_view_what_is_done_and_what_comes_next(agents: Agents, tmp_path: Path) -> None:
    def script(asked: Asked) -> Says:
        if not asked.turns:
            noted = [("next", "ask Ada"), ("next", "count the doors"), ("done", "ask Ada")]
            return Says(calls=tuple(Call("note", {"kind": kind, "text": text}) for kind, text in noted))
        return Says(asked.first)

    task = goal()
    async with agents(script, AGENT.replace("turns: 30", "turns: 1")) as (one, server):
        with pytest.raises(WorkflowFailureError):
            await (await one.start(task)).result()
        (tmp_path / "agents" / "worker.yaml").write_text(AGENT, encoding="utf-8")
        handle = await one.start(task)
        seen = str((await handle.result()).output)
        await one.replay(handle)
    assert "Done, as you noted:\n- ask Ada" in seen
    assert "Next, as you noted:\n- count the doors" in seen
    assert len(server.asked) == 2, "the turn that noted it is not asked anew"


@pytest.mark.slow
async def test_a_task_whose_run_is_gone_is_refused_once_it_has_acted(
    agents: Agents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.conversations.LISTED_WITHIN", 2)
    ledger = str(tmp_path / "ledger")
    task = goal()
    async with agents(counts_up(ledger), AGENT.replace("turns: 30", "turns: 1")) as (one, _):
        handle = await one.start(task)
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        await delete_run(one, handle)
        with pytest.raises(WorkflowFailureError) as caught:
            await (await one.start(task)).result()
        assert "Temporal no longer has" in str(caught.value.cause)
        assert "turn[1].call[0]" in str(caught.value.cause)
        assert lines_of(ledger) == ["line0"]


@pytest.mark.slow
async def test_an_older_run_does_not_stand_for_a_newer_one_that_is_gone(
    agents: Agents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.conversations.LISTED_WITHIN", 2)
    ledger, asked_in = str(tmp_path / "ledger"), list[int]()

    def script(asked: Asked) -> Says:
        append = Call("append", {"ledger": ledger, "line": f"line{len(asked.outputs)}"})
        asked_in.append(len(asked.outputs))
        # Asked anew, the model puts its third call at another place: there, it is another effect.
        moved = asked_in.count(2) > 1
        return Says(calls=(Call("append", {"ledger": ledger, "line": "other"}), append) if moved else (append,))

    task = goal()
    limited = AGENT.replace("turns: 30", "turns: 2")
    async with agents(script, limited) as (one, server):
        first = await one.start(task)
        with pytest.raises(WorkflowFailureError):
            await first.result()
        (tmp_path / "agents" / "worker.yaml").write_text(AGENT.replace("turns: 30", "turns: 3"), encoding="utf-8")
        second = await one.start(task)
        with pytest.raises(WorkflowFailureError):
            await second.result()
        await delete_run(one, second)
        with pytest.raises(WorkflowFailureError) as caught:
            await (await one.start(task)).result()
        assert "has acted (turn[3].call[0]) in a run that Temporal no longer has" in str(caught.value.cause)
        assert lines_of(ledger) == ["line0", "line1", "line2"]
        assert len(server.asked) == 3


@pytest.mark.slow
async def test_a_run_that_was_reset_takes_no_turn_beside_those_that_acted(agents: Agents, tmp_path: Path) -> None:
    ledger, seconds = str(tmp_path / "ledger"), list[int]()

    def script(asked: Asked) -> Says:
        if len(asked.outputs) != 1:
            return Says(calls=(Call("echo", {"value": "seen"}),)) if not asked.outputs else Says("done")
        append = Call("append", {"ledger": ledger, "line": "line"})
        seconds.append(1)
        # Asked anew, the model puts the same call at another place.
        return Says(calls=(append,) if len(seconds) == 1 else (Call("echo", {"value": "more"}), append))

    task = goal()
    async with agents(script) as (one, _):
        handle = await one.start(task)
        await handle.result()
        again = await reset(one, handle, before="turn[2]")
        with pytest.raises(WorkflowFailureError) as caught:
            await again.result()
        assert "reset to before it acted (turn[2].call[0])" in str(caught.value.cause)
        assert "run the task again under its id" in str(caught.value.cause)
        result = await (await one.start(task)).result()
        assert (result.output, lines_of(ledger), len(seconds)) == ("done", ["line"], 1)


@pytest.mark.slow
async def test_what_the_model_remembers_outlives_a_run_that_is_terminated(agents: Agents, tmp_path: Path) -> None:
    sentence = "The bakery on the corner opens at six."

    def script(asked: Asked) -> Says:
        if not asked.outputs:
            return Says(calls=(Call("remember", {"text": sentence}),))
        return Says(calls=(Call("linger", {"ledger": str(tmp_path / "ledger")}),))

    task = goal(memory="on")
    async with agents(script, AGENT.replace("dwell", "linger")) as (one, _):
        handle = await one.start(task)
        tenant = one.services.tenant_key.tenant_of(task.user_id)

        async def remembered() -> list[str]:
            return [entry.text for entry in (await one.services.longterm.everything(tenant)).values()]

        await until(remembered, lambda texts: texts == [sentence])
        await handle.terminate()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "tools", "recalls"),
    [("on", {"note", "recall", "remember", "correct"}, 1), ("read", {"note", "recall"}, 1), ("off", {"note"}, 0)],
)
async def test_an_agent_has_no_more_memory_than_its_file_says_whatever_the_task_asks(
    agents: Agents, mode: str, tools: set[str], recalls: int
) -> None:
    def script(asked: Asked) -> Says:
        return Says("done") if asked.turns else Says(calls=(Call("remember", {"text": "The bakery opens at six."}),))

    async with agents(script, f"{AGENT}memory: {mode}\n") as (one, server):
        handle = await one.start(goal(memory="on"))
        result = await handle.result()
        await one.replay(handle)
    assert server.asked[0].tools - {"echo", "append", "dwell", "garbles"} == tools
    assert (len(result.recalls), len(result.jobs)) == (recalls, int(mode == "on"))


@pytest.mark.slow
async def test_a_goal_is_bound_to_its_words_once_it_has_acted(agents: Agents, tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger")
    task = goal("One thing")
    async with agents(counts_up(ledger), AGENT.replace("turns: 30", "turns: 1")) as (one, _):
        with pytest.raises(WorkflowFailureError):
            await (await one.start(task)).result()
        with pytest.raises(WorkflowFailureError) as caught:
            await (await one.start(task.changed(goal="Another thing"))).result()
        assert "differs in goal" in str(caught.value.cause)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"goal": "x" * 1_000_000}, "at most 20"),
        ({"goal": " "}, "name a skill, or give a goal"),
        ({"goal": "x", "inputs": {"a": 1}}, "say it in the goal"),
        ({"goal": "x", "skill": "s"}, "give one of the two"),
    ],
)
def test_a_goal_that_cannot_be_one_is_refused(more: dict[str, Any], problem: str) -> None:
    with pytest.raises((InvalidTask, ValueError), match=problem):
        validated(AgentTask, {"task_id": "t", "user_id": "u", **more}, "", InvalidTask)


@pytest.mark.slow
async def test_what_the_context_cannot_hold_is_left_out_and_then_given_up(agents: Agents) -> None:
    def script(asked: Asked) -> Says | Fails:
        if asked.turns > 2:
            body = '{"error": {"message": "m", "code": "context_length_exceeded"}}'
            return Fails(400, body=body)
        if asked.outputs and asked.outputs[-1] == "5":
            return Says("through")
        return Says(calls=(Call("echo", {"value": int(asked.outputs[-1]) + 1 if asked.outputs else 0}),))

    async with agents(script) as (one, server):
        result = await (await one.start(goal())).result()
    assert result.output == "through"
    assert any("What you did before" in asked.first for asked in server.asked)


@pytest.mark.slow
@pytest.mark.parametrize("api", ["responses", "chat"])
async def test_hostile_calls_are_told_once_and_stop_nothing(agents: Agents, api: str) -> None:
    deep = [f'{{"value": {"[" * levels}{"]" * levels}}}' for levels in (195, 300)]
    hostile = ('{"value": NaN}', '{"value": 1e999}', "[" * 100_000, '{"value": "\\ud800"}', "null", *deep)

    def script(asked: Asked) -> Says:
        if asked.turns:
            return Says(" | ".join(asked.outputs))
        named = ("multi_tool_use.parallel", "a name", "", "x" * 300)
        return Says(calls=(*(Call("echo", one) for one in hostile), *(Call(name, {}) for name in named)))

    async with agents(script, settings={"model_api": api}) as (one, server):
        handle = await one.start(goal())
        result = await handle.result()
        await one.replay(handle)
    assert len(server.asked) == 2, "no turn is asked anew"
    said = str(result.output).split(" | ")
    assert all("not JSON" in line or "not a JSON object" in line for line in said[: len(hostile) - 2]), said
    assert all("nested" in line and "at most 128" in line for line in said[len(hostile) - 2 : len(hostile)]), said
    assert all("there is no tool" in line for line in said[len(hostile) :]), said
    assert (result.done, result.refused) == (0, ())


@pytest.mark.parametrize("api", ["responses", "chat"])
@pytest.mark.slow
async def test_answers_in_odd_forms_are_turns_that_are_counted_and_asked_once(agents: Agents, api: str) -> None:
    call = {"name": "echo", "arguments": {"value": "seen"}}
    odd: dict[str, list[dict[str, Any]]] = {
        "responses": [
            {"output": None, "usage": {"input_tokens": 7}},
            {"output": [{"type": "function_call", **call}]},
        ],
        "chat": [
            {"choices": [{"message": None}], "usage": {"prompt_tokens": 7}},
            {
                "choices": [
                    {"message": {"tool_calls": [{"function": {"name": "echo", "arguments": {"value": "seen"}}}]}}
                ]
            },
        ],
    }
    bodies = iter(odd[api])

    def script(asked: Asked) -> Says | Fails:
        body = next(bodies, None)
        return Fails(200, body=json.dumps(body)) if body else Says(" | ".join((*asked.told, *asked.outputs)))

    async with agents(script, settings={"model_api": api}) as (one, server):
        result = await (await one.start(goal())).result()
    assert "Your turn was empty" in str(result.output)
    assert "seen" in str(result.output)
    assert result.tokens >= 7
    assert len(server.asked) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "lacks",
    [{"tools": ("playbooks.dependency_audit.tools",)}, {"openai_api_key": None}],
    ids=["the tool", "the key"],
)
async def test_a_turn_is_taken_by_a_worker_that_has_what_it_needs(
    agents: Agents, servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: dict[str, Any]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    replies = iter([Fails(429, {"Retry-After": "5"})])
    async with agents(lambda _: next(replies, Says("done"))) as (one, server):
        handle = await one.start(goal())
        await until(lambda: asyncio.sleep(0, len(server.asked)), bool, 60)

    async def why_it_waits() -> str:
        waiting = (await handle.describe()).raw_description.pending_activities
        return waiting[0].last_failure.message if waiting else "nothing waits"

    other = {"openai_api_key": "k", "openai_base_url": server.url, **lacks}
    async with bench(servers, tmp_path, queue=one.queue, more=other):
        assert "another may" in await until(why_it_waits, lambda found: "PRD222" not in found, 60)
    async with agents(lambda _: Says("done"), queue=one.queue):
        assert (await handle.result()).output == "done"


@pytest.mark.slow
async def test_what_the_model_remembers_may_be_long(agents: Agents) -> None:
    text = "The shop in Ghent opens at nine. " * 150

    def script(asked: Asked) -> Says:
        return Says(str(asked.outputs)) if asked.turns else Says(calls=(Call("remember", {"text": text}),))

    async with agents(script) as (one, _):
        result = await (await one.start(goal())).result()
    assert (result.refused, len(result.jobs)) == ((), 1)


@pytest.mark.slow
async def test_a_goal_that_was_refused_in_between_is_gone_on_with(agents: Agents, tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger")
    task = goal("One thing")
    async with agents(counts_up(ledger), AGENT.replace("turns: 30", "turns: 2")) as (one, server):
        with pytest.raises(WorkflowFailureError):
            await (await one.start(task)).result()
        with pytest.raises(WorkflowFailureError):
            await (await one.start(task.changed(goal="Another thing"))).result()
        (tmp_path / "agents" / "worker.yaml").write_text(AGENT, encoding="utf-8")
        await (await one.start(task)).result()
        assert lines_of(ledger) == [f"line{number}" for number in range(4)]
        assert len(server.asked) == 5


async def test_a_goal_has_no_step_to_begin_at(agents: Agents) -> None:
    async with agents(lambda _: Says("done")) as (one, _):
        begin = BeginRequest(step="turn").model_dump()
        run = TaskRun.model_validate({**goal("Count to three").model_dump(), "begin": begin})
        with pytest.raises(WorkflowFailureError) as caught:
            await (await one.start(run)).result()
        assert "PRD101 from: a model's turns have no steps that another run would take as well" in str(
            caught.value.cause
        )
