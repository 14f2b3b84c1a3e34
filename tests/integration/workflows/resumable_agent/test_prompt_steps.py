"""Steps that a language model answers, beside others: asked again for what can be used, counted, and remembered."""

import json
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import cast
from uuid import uuid4

import pytest
from pydantic import JsonValue
from pytest_httpserver import HTTPServer
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from perdure import Answer, Progress
from perdure.agent.steps.foreign_calls import workflow_id
from perdure.identity import content_digest
from perdure.registry.prompts import read_prompt
from tests.conftest import Servers
from tests.support.goals import AGENT, goal, settings_of
from tests.support.harness import Bench, bench
from tests.support.turn_server import Asked, Call, Fails, Hangs, Says, Script, TurnServer
from tests.support.waiting import question_of

pytestmark = pytest.mark.slow

SKILL = """
inputs: {text: string}
steps:
  - id: licence
    prompt: "Which licence is this? ${inputs.text}"
    output: {name: string, sure: boolean}
    expect: "${output.name != ''}"
    remember: [{memory: "The package is under ${output.name}."}]
  - {id: say, tool: echo, args: {value: "${steps.licence.output.name}"}, when: "${steps.licence.output.sure}"}
output: "${steps.say.output}"
"""

Prompted = Callable[[Script], AbstractAsyncContextManager[tuple[Bench, TurnServer]]]


@pytest.fixture(params=["responses", pytest.param("chat")])
def prompted(servers: Servers, tmp_path: Path, httpserver: HTTPServer, request: pytest.FixtureRequest) -> Prompted:
    @asynccontextmanager
    async def opened(script: Script) -> AsyncGenerator[tuple[Bench, TurnServer]]:
        server = TurnServer(httpserver, script)
        model = {"model": "openai:test", "openai_api_key": "k", "openai_base_url": server.url}
        more = {**model, "model_api": request.param, "prompts": (tmp_path / "prompts",)}
        async with bench(servers, tmp_path, more=more) as one:
            yield one, server

    return opened


async def test_an_answer_is_a_steps_output_and_what_cannot_be_used_is_asked_for_again(prompted: Prompted) -> None:
    def script(asked: Asked) -> Says:
        assert asked.tools == {"answer"}
        if not asked.told:
            return Says(calls=(Call("answer", {"name": "MIT"}),))
        assert "'sure' is missing" in asked.told[0]
        return Says(calls=(Call("answer", {"name": "MIT", "sure": True}),))

    async with prompted(script) as (one, server):
        handle = await one.start(one.task(one.skill(SKILL), inputs={"text": "Permission is hereby granted …"}))
        result = await handle.result()
        await one.replay(handle)
        assert (result.output, result.done) == ("MIT", 2)
        assert result.tokens > 0
        assert len(server.asked) == 2
        assert "Which licence is this? Permission is hereby granted" in server.asked[0].first
        assert len(result.jobs) == 1


NAMED = """
inputs: {text: string}
steps:
  - {id: one, prompt: {name: which, inputs: {text: "${inputs.text}"}}}
  - {id: two, prompt: {name: which, inputs: {text: "${steps.one.output}", tone: loud}}}
output: "${steps.two.output}"
"""

WHICH = "name: which\ninputs: {text: string, tone: {default: calm}}\ntemplate: 'A ${inputs.tone} ${inputs.text}?'\n"


async def test_a_prompt_is_pinned_with_its_task_and_recorded_by_its_version(prompted: Prompted, tmp_path: Path) -> None:
    place, versions = tmp_path / "prompts" / "which.yaml", [read_prompt(WHICH).digest]
    place.parent.mkdir()
    place.write_text(WHICH, encoding="utf-8")

    def script(asked: Asked) -> Says:
        changed = WHICH.replace("A $", "Another $")
        place.write_text(changed, encoding="utf-8")
        versions.append(read_prompt(changed).digest)
        # What a model or an input says is never evaluated.
        return Says("a ${inputs.tone} answer")

    async with prompted(script) as (one, server):
        skill = one.skill(NAMED)
        handle = await one.start(one.task(skill, inputs={"text": "word"}))
        first = await handle.result()
        await one.replay(handle)
        progress = await handle.query("progress", result_type=Progress)
        second = await (await one.start(one.task(skill, inputs={"text": "word"}))).result()
    asked = [one.first for one in server.asked]
    assert asked[:3] == ["A calm word?", "A loud a ${inputs.tone} answer?", "Another calm word?"]
    assert [one.versions["prompt which"] for one in (first, progress, second)] == [*versions[:1] * 2, versions[1]]
    assert first.versions[f"skill {skill}"] == second.versions[f"skill {skill}"]


@pytest.mark.parametrize("runs", ["skill", "goal"])
async def test_a_task_keeps_the_model_of_what_names_none(
    servers: Servers, tmp_path: Path, httpserver: HTTPServer, runs: str
) -> None:
    skill = """
steps:
  - {id: wait, tool: echo, args: {value: 1}, approve: "Go on?"}
  - {id: say, prompt: Say yes.}
output: "${steps.say.output}"
judge: It is polite.
"""

    def script(asked: Asked) -> Says:
        if "answer" in asked.tools:
            return Says(calls=(Call("answer", {"passed": True, "reason": "It is."}),))
        if runs == "goal" and not asked.turns:
            return Says(calls=(Call("echo", {"value": 1}),))
        return Says("yes")

    server, queue = TurnServer(httpserver, script), f"q-{uuid4().hex}"
    agent = AGENT.replace("model: openai:test\n", "") + "approve: [echo]\njudge: It is polite.\n"
    more = settings_of(tmp_path, server, agent)
    async with bench(servers, tmp_path, queue=queue, more={**more, "model": "openai:first"}) as one:
        handle = await one.start(goal() if runs == "goal" else one.task(one.skill(skill)))
        question = await question_of(handle)
    async with bench(servers, tmp_path, queue=queue, more={**more, "model": "openai:second"}) as one:
        await handle.execute_update("answer", Answer(question_id=question.id, value="yes", by="ada"))
        result = await handle.result()
    assert result.output == "yes"
    assert {asked.model for asked in server.asked} == {"first"}
    assert [name for name in result.versions if name.startswith("model ")] == ["model openai:first"]


async def test_a_step_whose_answers_cannot_be_used_fails_as_it_says(prompted: Prompted) -> None:
    skill = """
steps:
  - {id: may, prompt: "Say something.", output: {n: integer}, on_failure: continue}
  - {id: text, prompt: "And now?"}
  - {id: must, prompt: "${steps.text.output}?", expect: "${output == 'yes'}"}
"""

    def script(asked: Asked) -> Says:
        return Says("" if asked.tools else "no")

    async with prompted(script) as (one, server):
        with pytest.raises(WorkflowFailureError) as caught:
            await one.run(skill)
        told, result = str(caught.value.cause), cast("ApplicationError", caught.value.cause).details[0]
        assert "step must: PRD111" in told
        assert result["tokens"] == server.tokens
        assert "is not what is expected" in told
        assert [asked.first for asked in server.asked] == ["Say something."] * 3 + ["And now?", "no?"]


async def test_a_step_asks_as_often_as_it_says_and_no_longer(prompted: Prompted) -> None:
    skill = """
steps:
  - {id: third, prompt: Third., expect: "${output == 'yes'}", retry: 3}
  - {id: never, prompt: Never., expect: "${output == 'yes'}", retry: 2, on_failure: continue}
  - {id: slow, prompt: Slow., timeout: 1s, on_failure: continue}
output: "${[steps.third.output, steps.never.problem, steps.slow.problem]}"
"""
    asked_of, gone = Counter[str](), threading.Event()

    def script(asked: Asked) -> Says | Hangs:
        asked_of[asked.first] += 1
        if asked.first == "Slow.":
            return Hangs(gone)
        return Says("yes" if asked.first == "Third." and asked_of["Third."] == 3 else "no")

    try:
        async with prompted(script) as (one, server):
            result = await one.run(skill)
    finally:
        gone.set()
    yes, unexpected, slow = cast("list[str]", result.output)
    assert (yes, asked_of) == ("yes", {"Third.": 3, "Never.": 2, "Slow.": 1})
    assert "never: the answer is not what is expected" in unexpected
    assert "slow: the model took longer than 1s to answer" in slow
    assert result.tokens == server.tokens


async def test_answers_of_an_attempt_that_failed_count_with_those_of_the_next(prompted: Prompted) -> None:
    skill = """
steps:
  - {id: usable, prompt: Usable., output: {n: integer}}
  - {id: never, prompt: Never., output: {n: integer}, on_failure: continue}
  - {id: twice, prompt: Twice., expect: "${output == 'yes'}", retry: 2, on_failure: continue}
output: "${[steps.never.problem, steps.twice.problem]}"
"""
    asked_of = Counter[str]()

    def script(asked: Asked) -> Says | Fails:
        asked_of[asked.first] += 1
        match asked.first, asked_of[asked.first]:
            case _, 2:
                return Fails(429)
            case "Usable.", 3:
                return Says(calls=(Call("answer", {"n": 1}),))
            case _:
                return Says("no")

    async with prompted(script) as (one, server):
        handle = await one.start(one.task(one.skill(skill)))
        result = await handle.result()
        await one.replay(handle)
    never, twice = cast("list[str]", result.output)
    assert "3 answers of the model cannot be used" in never
    assert "the answer is not what is expected" in twice
    assert asked_of == {"Usable.": 3, "Never.": 4, "Twice.": 3}, "with one failure of the server each"
    assert result.tokens == server.tokens


async def test_what_a_judge_has_used_counts_where_its_server_fails_between_two_answers(prompted: Prompted) -> None:
    skill = "steps: [{id: one, tool: echo, args: {value: 1}}]\noutput: '${steps.one.output}'\njudge: It is polite.\n"

    def script(_: Asked) -> Says | Fails:
        match len(server.asked):
            case 1:
                return Says("no")
            case 2:
                return Fails(500)
            case _:
                return Says(calls=(Call("answer", {"passed": True, "reason": "It is."}),))

    async with prompted(script) as (one, server):
        result = await one.run(skill)
    assert result.evaluation is not None
    assert result.evaluation.judgements[0].passed
    assert (len(server.asked), result.tokens) == (3, server.tokens)


async def test_a_model_that_declines_or_refuses_is_not_asked_again(prompted: Prompted) -> None:
    answers = {"Decline.": Says(declines=True), "Refuse.": Fails(400, body='{"error": {"message": "bad"}}')}
    async with prompted(lambda asked: answers[asked.first]) as (one, server):
        for request, problem in (("Decline.", "declines to answer"), ("Refuse.", "PRD220")):
            with pytest.raises(WorkflowFailureError) as caught:
                await one.run(f"steps: [{{id: a, prompt: {request}}}]")
            assert problem in str(caught.value.cause)
        assert len(server.asked) == 2


async def test_a_step_that_no_model_could_answer_is_refused_before_the_first_step(
    servers: Servers, tmp_path: Path
) -> None:
    async with bench(servers, tmp_path) as one:
        with pytest.raises(WorkflowFailureError) as caught:
            await one.run("steps: [{id: a, prompt: Say something.}]")
        assert "PERDURE_MODEL" in str(caught.value.cause)


@pytest.mark.parametrize("before", [True, False], ids=["attached", "awaited"])
@pytest.mark.parametrize("passes", [True, False])
async def test_what_a_task_that_a_step_runs_has_used_is_its_callers(
    prompted: Prompted, *, passes: bool, before: bool
) -> None:
    async with prompted(lambda _: Says("yes" if passes else "no")) as (one, server):
        inner = one.task(one.skill("steps: [{id: a, prompt: Say yes., expect: \"${output == 'yes'}\"}]"))
        given: dict[str, JsonValue] = {"task_id": inner.task_id, "skill": inner.skill, "session_id": "inner"}
        called = f"workflow: ResumableAgent, queue: {one.queue}, args: [{json.dumps(given)}]"
        task = one.task(one.skill(f"steps: [{{id: run, {called}, on_failure: continue}}]"))
        if before:
            # As a run of the caller finds it that continues an earlier one.
            args: list[JsonValue] = [given | {"user_id": task.user_id}]
            arguments = content_digest(["workflow", "ResumableAgent", {"queue": one.queue, "args": args}])
            child = workflow_id(one.services.tenant_key.tenant_of(task.user_id), task.task_id, "run", arguments)
            await one.client.start_workflow("ResumableAgent", args[0], id=child, task_queue=one.queue)
        result = await (await one.start(task)).result()
    assert (result.done, result.failed) == ((1, 0) if passes else (0, 1))
    assert result.tokens == server.tokens > 0


@pytest.mark.parametrize("undoing", ["", ", compensate: {tool: echo, args: {value: 1}}"], ids=["kept", "undone"])
async def test_so_is_what_one_has_used_whose_result_is_not_as_expected(prompted: Prompted, undoing: str) -> None:
    async with prompted(lambda _: Says("no")) as (one, server):
        inner = one.task(one.skill("steps: [{id: a, prompt: Say yes.}]"))
        given = json.dumps({"task_id": inner.task_id, "skill": inner.skill, "session_id": "inner"})
        called = f"workflow: ResumableAgent, queue: {one.queue}, args: [{given}], expect: \"${{output == 'yes'}}\""
        task = one.task(one.skill(f"steps: [{{id: run, {called}, on_failure: continue{undoing}}}]"))
        result = await (await one.start(task)).result()
    assert (result.done, result.failed) == (0, 1)
    assert result.tokens == server.tokens > 0


async def test_no_judge_is_asked_once_a_task_has_used_its_tokens(prompted: Prompted) -> None:
    skill = """
steps: [{id: one, prompt: "Say something."}]
output: "${steps.one.output}"
judge: It is polite.
"""
    async with prompted(lambda _: Says("no")) as (one, server):
        result = await one.run(skill, limits={"tokens": 1})
    assert result.evaluation is not None
    [judgement] = result.evaluation.judgements
    assert (judgement.passed, len(server.asked)) == (False, 1)
    assert "not judged: the task has used" in judgement.reason


async def test_no_model_is_asked_any_more_once_a_task_has_used_its_tokens(prompted: Prompted) -> None:
    skill = """
steps:
  - {id: one, prompt: "Say something."}
  - {id: two, prompt: "${steps.one.output}?", on_failure: continue}
"""
    async with prompted(lambda _: Says("no")) as (one, server):
        with pytest.raises(WorkflowFailureError) as caught:
            await one.run(skill, limits={"tokens": 1})
        told, result = str(caught.value.cause), cast("ApplicationError", caught.value.cause).details[0]
    assert f"step two: the task has used {server.tokens:,} tokens, and may use 1 (limits.tokens)" in told
    assert (result["done"], result["tokens"], len(server.asked)) == (1, server.tokens, 1)
