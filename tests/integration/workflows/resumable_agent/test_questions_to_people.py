"""A task waits for people: approval, input, failures, effects of unknown fate; and can be cancelled."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError, CancelledError

from perdure import Answer
from perdure.identity import idempotency_key
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.values.questions import AnswerType, Question, QuestionKind
from perdure.values.tasks import Phase, Progress, TaskResult
from tests.support.harness import Bench
from tests.support.tools import written_by
from tests.support.waiting import progress_of, question_of, until_true


async def answer(handle: WorkflowHandle[Any, Any], question: str, value: str) -> Progress:
    return await handle.execute_update(
        "answer", Answer(question_id=question, value=value, by="me"), result_type=Progress
    )


async def refused(handle: WorkflowHandle[Any, Any], question: str, value: str) -> str:
    with pytest.raises(WorkflowUpdateFailedError) as caught:
        await answer(handle, question, value)
    assert isinstance(caught.value.cause, ApplicationError)
    assert caught.value.cause.type == "InvalidAnswer"
    return caught.value.cause.message


ASK = """
steps:
  - id: a
    tool: look
    args: {name: x, known: false}
    expect: "${output.licence != null}"
    ask: "What licence has ${output.name}?"
  - id: b
    tool: echo
    args: {value: "${steps.a.answer} ${steps.a.output.name}"}
output: "${steps.b.output}"
"""


async def test_an_answer_is_taken_once_and_only_for_a_question_that_is_open(agents: Bench) -> None:
    handle = await agents.start(agents.task(agents.skill(ASK)))
    question = await question_of(handle)
    assert (question.id, question.text) == ("a", "What licence has x?")
    assert (await handle.query("progress", result_type=Progress)).phase is Phase.WAITING
    assert "PRD106 question_id: there is no question 'b' (open: a)" in await refused(handle, "b", "MIT")
    assert "value: is empty" in await refused(handle, "a", " ")
    await answer(handle, "a", "MIT")
    result = await handle.result()
    assert result.output == "MIT x"


@pytest.mark.slow
async def test_an_answer_given_twice_is_refused(agents: Bench) -> None:
    more = "  - {id: c, tool: echo, args: {value: 1}, approve: 'Go on?'}"
    skill = agents.skill(ASK.replace("\noutput: ", f"\n{more}\noutput: "))
    handle = await agents.start(agents.task(skill))
    await question_of(handle)
    await answer(handle, "a", "MIT")
    await progress_of(handle, lambda progress: progress.step == "c" and bool(progress.questions))
    assert "'a' is answered already" in await refused(handle, "a", "GPL")
    assert "choose yes or no" in await refused(handle, "c", "perhaps")
    await answer(handle, "c", "no")
    result = await handle.result()
    assert result.skipped == 1


async def test_nothing_happens_before_it_is_approved(agents: Bench) -> None:
    ledger = agents.ledger()
    skill = agents.skill(
        f"steps: [{{id: a, tool: append, args: {{ledger: '{ledger}', line: x}}, approve: 'Write to ${{task.id}}?'}}]"
    )
    handle = await agents.start(agents.task(skill, task_id="approve"))
    assert (await question_of(handle)).text == "Write to approve?"
    assert not ledger.exists()
    await answer(handle, "a", "yes")
    assert (await handle.result()).done == 1
    assert ledger.read_text() == "x\n"


@pytest.mark.slow
async def test_a_failed_step_can_be_tried_again_or_skipped_by_a_person(agents: Bench) -> None:
    ledger = agents.ledger()
    skill = agents.skill(
        f"steps: [{{id: a, tool: flaky, args: {{ledger: '{ledger}', fails: 3}}, on_failure: ask}}]\n"
        "output: '${steps.a.output}'"
    )
    handle = await agents.start(agents.task(skill))
    question = await question_of(handle)
    assert question.text.startswith("a failed: PRD112 tool 'flaky' raised RuntimeError: secret number 3 (tests/")
    await answer(handle, "a", "retry")
    assert (await handle.result()).output == 4


@pytest.mark.slow
async def test_an_effect_of_unknown_fate_is_asked_about_and_not_repeated(agents: Bench) -> None:
    ledger = agents.ledger()
    skill = agents.skill(f"steps: [{{id: a, tool: breaks, args: {{ledger: '{ledger}', line: x}}}}]")
    handle = await agents.start(agents.task(skill))
    question = await question_of(handle)
    assert question.choices == ("done", "not_done")
    await answer(handle, "a", "done")
    assert (await handle.result()).done == 1
    assert ledger.read_text() == "x\n"


@pytest.mark.slow
async def test_an_effect_that_did_not_happen_is_made_to(agents: Bench) -> None:
    ledger = agents.ledger()
    skill = agents.skill(f"steps: [{{id: a, tool: breaks, args: {{ledger: '{ledger}', line: x}}}}]")
    handle = await agents.start(agents.task(skill))
    await question_of(handle)
    await answer(handle, "a", "not_done")
    assert (await handle.result()).done == 1
    assert ledger.read_text() == "x\nx\n"


@pytest.mark.parametrize(("size", "text"), [(0, "a asks, but its question is empty"), (1_500_000, "x" * 1_999 + "…")])
async def test_a_question_is_never_empty_and_never_long(agents: Bench, size: int, text: str) -> None:
    skill = agents.skill(
        f"steps: [{{id: a, tool: big, args: {{size: {size}}}, expect: '${{false}}', ask: '${{output}}${{output}}'}}]"
    )
    handle = await agents.start(agents.task(skill))
    assert (await question_of(handle)).text == text
    await answer(handle, "a", "yes")
    assert (await handle.result()).done == 1


async def test_nobody_answers(agents: Bench) -> None:
    seconds = timedelta(seconds=1) / timedelta(hours=1)
    handle = await agents.start(agents.task(agents.skill(ASK), limits={"answer_hours": seconds}))
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert "nobody answered" in str(caught.value.cause)


@pytest.mark.slow
async def test_a_task_can_be_cancelled_while_it_works_and_while_it_waits(agents: Bench) -> None:
    ledger = agents.ledger()
    skill = agents.skill(f"steps: [{{id: a, tool: linger, args: {{ledger: '{ledger}'}}}}]")
    working = await agents.start(agents.task(skill))
    await progress_of(working, lambda progress: progress.step == "a" and ledger.exists())
    waiting = await agents.start(agents.task(agents.skill(ASK)))
    await question_of(waiting)
    for handle in (working, waiting):
        await handle.cancel()
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
        assert isinstance(caught.value.cause, CancelledError)
        progress = await handle.query("progress", result_type=Progress)
        assert (progress.phase, progress.questions) == (Phase.CANCELLED, ())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "whole", "ended", "unknown"),
    [
        ("seconds: 1.0", True, True, ()),
        ("seconds: 0.5, fails: true", True, False, ("a",)),
        ("seconds: 60.0", True, False, ("a",)),
        ("seconds: 4.0", False, False, ("a",)),
    ],
    ids=["ends", "fails", "reaches its deadline", "control"],
)
async def test_a_cancelled_task_lets_an_effect_end_and_names_one_of_unknown_fate(
    agents: Bench, monkeypatch: pytest.MonkeyPatch, args: str, whole: bool, ended: bool, unknown: tuple[str, ...]
) -> None:
    if not whole:

        async def cut(call: asyncio.Task[Any]) -> Any:
            return await call

        monkeypatch.setattr("perdure.agent.steps.once.ended", cut)
    ledger = agents.ledger()
    text = f"""
steps:
  - {{id: a, tool: take_longer, args: {{ledger: '{ledger}', {args}}}}}
  - {{id: b, tool: append, args: {{ledger: '{ledger}', line: b}}}}
"""
    handle = await agents.start(agents.task(agents.skill(text)))
    await until_true(ledger.exists)
    await handle.cancel()
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert isinstance(caught.value.cause, CancelledError)
    assert ledger.read_text().split() == ["begun", "ended"][: 1 + ended]
    result = await handle.query("result", result_type=TaskResult)
    assert (result.status, result.done, result.unknown) == ("cancelled", ended, unknown)
    await agents.replay(handle)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "whole", "ended", "unknown"),
    [
        ("seconds: 1.0", True, True, ()),
        ("seconds: 60.0", True, False, ("a",)),
        ("seconds: 4.0", False, False, ("a",)),
    ],
    ids=["ends", "reaches its deadline", "control"],
)
async def test_a_cancelled_task_lets_an_effect_end_that_could_be_repeated(
    agents: Bench, monkeypatch: pytest.MonkeyPatch, args: str, whole: bool, ended: bool, unknown: tuple[str, ...]
) -> None:
    if not whole:
        monkeypatch.setattr("activities.steps._is_asked_to_stop", lambda: False)
    ledger = agents.ledger()
    text = f"steps: [{{id: a, tool: take_time_again, args: {{ledger: '{ledger}', {args}}}}}]"
    handle = await agents.start(agents.task(agents.skill(text)))
    await until_true(ledger.exists)
    await handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    assert ledger.read_text().split() == ["begun", "ended"][: 1 + ended]
    result = await handle.query("result", result_type=TaskResult)
    assert (result.status, result.done, result.unknown) == ("cancelled", ended, unknown)
    await agents.replay(handle)


TYPED = """
steps:
  - {id: a, tool: echo, args: {value: {seats: null}}, expect: "${output.seats != null}", ask: "How many seats?",
     answer: integer}
output: {answer: "${steps.a.answer}", next: "${steps.a.answer + 1}"}
"""


async def test_an_answer_has_the_type_that_its_step_declares(agents: Bench) -> None:
    handle = await agents.start(agents.task(agents.skill(TYPED)))
    await question_of(handle)
    assert "PRD106 value: 'many' is not an integer (write digits: 42)" in await refused(handle, "a", "many")
    with pytest.raises(WorkflowUpdateFailedError) as caught:
        await handle.execute_update("answer", {"question_id": "a", "value": 42, "bye": "me"})
    assert "PRD106 bye: is not a field here (did you mean 'by'?)" in str(caught.value.cause)
    [question] = await handle.query("questions", result_type=tuple[Question, ...])
    assert (question.id, question.answer.type) == ("a", AnswerType.INTEGER), "it is still open"
    await answer(handle, "a", " 42 ")
    assert (await handle.result()).output == {"answer": 42, "next": 43}


@pytest.mark.slow
async def test_a_question_says_what_it_is_about(agents: Bench) -> None:
    ledger = agents.ledger()
    skill = agents.skill(f"steps: [{{id: a, tool: breaks, args: {{ledger: '{ledger}', line: '{'x' * 600}'}}}}]")
    task = agents.task(skill)
    handle = await agents.start(task)
    about = (await question_of(handle)).about
    assert about is not None
    assert (about.tool, len(about.arguments)) == ("breaks", 500)
    assert about.arguments.startswith(f'{{"ledger": "{ledger}"')
    tenant = agents.services.tenant_key.tenant_of(task.user_id)
    assert about.idempotency_key == idempotency_key(tenant, task.task_id, "a")
    assert about.attempted_at is not None
    assert about.deadline is not None
    assert about.attempted_at <= about.deadline <= datetime.now(UTC) + timedelta(seconds=5)
    await answer(handle, "a", "done")
    await handle.result()


@pytest.mark.slow
async def test_who_answered_what_and_when_is_in_the_session(agents: Bench) -> None:
    skill = agents.skill(
        "steps:\n"
        "  - {id: a, tool: echo, args: {value: 1}, approve: 'Go on?', expect: '${false}', ask: 'Which?'}\n"
        "  - {id: b, tool: big, args: {size: 2100000}, on_failure: ask}"
    )
    task = agents.task(skill)
    handle = await agents.start(task)
    for question, value in (("a", "yes"), ("a#2", "this"), ("b", "retry"), ("b#2", "skip")):
        await question_of(handle, question)
        await answer(handle, question, value)
    assert (await handle.result()).skipped == 1
    tenant = agents.services.tenant_key.tenant_of(task.user_id)
    episodes = [one.text for one in await agents.services.episodes.told(tenant, task.session, recent=20)]
    for start in ("a: yes (answered by me at 20", "a: this (answered by me", "b: retry (ans", "b: skip (answered by"):
        assert any(text.startswith(start) for text in episodes), episodes


@pytest.mark.parametrize("told", ["", "The door of the mill is locked. " * 24], ids=["short", "long"])
async def test_what_a_step_asked_for_is_not_in_the_session(agents: Bench, told: str) -> None:
    asking = (
        f"{{id: a, tool: echo, args: {{value: 1}}, expect: '${{false}}', ask: '{told}What is the PIN of the door?'}}"
    )
    task = agents.task(agents.skill(f"steps: [{asking}]"))
    handle = await agents.start(task)
    await question_of(handle, "a")
    await answer(handle, "a", "295817")
    await handle.result()
    tenant = agents.services.tenant_key.tenant_of(task.user_id)
    episodes = await agents.services.episodes.told(tenant, task.session, recent=20)
    assert any(one.text.startswith("a: [PIN] (answered by me at 20") and one.said == "[PIN]" for one in episodes)
    assert not any("295817" in one.model_dump_json() for one in episodes)


@pytest.mark.slow
@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "control"])
async def test_a_question_about_a_failure_says_when_the_last_attempt_began(
    agents: Bench, monkeypatch: pytest.MonkeyPatch, recorded: bool
) -> None:
    if not recorded:

        def only_text(text: str, *_: object) -> tuple[str]:
            return (text,)

        monkeypatch.setattr("activities.steps.details", only_text)
    ledger = agents.ledger()
    skill = agents.skill(f"steps: [{{id: a, tool: flaky, args: {{ledger: '{ledger}', fails: 9}}, on_failure: ask}}]")
    handle = await agents.start(agents.task(skill))
    about = (await question_of(handle)).about
    assert about is not None
    if recorded:
        assert about.attempted_at is not None
        # The attempt before it was two seconds earlier, and the question came after it.
        assert written_by(ledger) - timedelta(seconds=1) < about.attempted_at <= written_by(ledger)
    else:
        assert about.attempted_at is None
    await handle.cancel()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "arguments", "cut_off"),
    [
        ("tool: flaky, args: {ledger: '${name}', fails: 9}", '{"ledger": "%s", "fails": 9}', True),
        ("tool: append_too_much, args: {ledger: '${name}', line: x}", '{"ledger": "%s", "line": "x"}', False),
        ("tool: echo, args: {value: '${name}'}, expect: '${output == 1}'", '{"value": "%s"}', False),
        ("tool: echo, args: {value: '${[name][1]}'}", '{"value": "${[name][1]}"}', False),
    ],
    ids=["of the tool", "of its result", "of the expectation", "control: before the arguments are known"],
)
async def test_a_question_about_a_failure_says_with_which_arguments_and_until_when(
    agents: Bench, step: str, arguments: str, cut_off: bool
) -> None:
    name = str(agents.ledger())
    block = f"for_each: '${{inputs.names}}', as: name, steps: [{{id: a, {step}, on_failure: ask}}]"
    skill = agents.skill(f"inputs: {{names: list}}\nsteps: [{{id: each, {block}}}]")
    handle = await agents.start(agents.task(skill, inputs={"names": [name]}))
    question = await question_of(handle, "each[0].a")
    about = question.about
    assert about is not None
    assert about.arguments == arguments.replace("%s", name)
    assert about.attempted_at is not None
    assert (about.deadline is not None) == cut_off
    assert about.deadline is None or about.attempted_at < about.deadline < about.attempted_at + timedelta(seconds=60)
    await handle.cancel()


@pytest.mark.slow
async def test_a_question_about_a_failure_names_no_end_of_what_goes_on_in_a_thread(agents: Bench) -> None:
    ledger = agents.ledger()
    args = f"{{ledger: '{ledger}', seconds: 1.5}}"
    handle = await agents.start(
        agents.task(agents.skill(f"steps: [{{id: a, tool: crawl, args: {args}, on_failure: ask}}]"))
    )
    about = (await question_of(handle)).about
    assert about is not None
    assert about.arguments == f'{{"ledger": "{ledger}", "seconds": 1.5}}'
    assert (about.attempted_at is None, about.deadline) == (False, None)
    await handle.cancel()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ("tool: take_time, args: {ledger: '%s', seconds: 9.0}", "TimeoutError: it took longer than 2 s"),
        ("tool: breaks, args: {ledger: '%s', line: x}", "ConnectionError: gone"),
    ],
    ids=["took too long", "failed"],
)
async def test_a_question_about_an_effect_says_how_its_attempt_failed(agents: Bench, step: str, problem: str) -> None:
    handle = await agents.start(agents.task(agents.skill(f"steps: [{{id: a, {step % agents.ledger()}}}]")))
    text = (await question_of(handle)).text
    tool = step.split(",", maxsplit=1)[0].removeprefix("tool: ")
    told = rf"An attempt at {tool} failed: {problem} \(.*tools\.py:\d+ in {tool}\)\. Did its effect happen\?"
    assert re.fullmatch(told, text)
    await handle.cancel()


@pytest.mark.slow
async def test_a_question_about_an_effect_of_an_earlier_run_says_when_that_was_attempted(agents: Bench) -> None:
    ledger = agents.ledger()
    task = agents.task(agents.skill(f"steps: [{{id: a, tool: breaks, args: {{ledger: '{ledger}', line: x}}}}]"))
    for _ in range(2):
        handle = await agents.start(task)
        about = (await question_of(handle)).about
        assert about is not None
        assert about.attempted_at is not None
        assert about.attempted_at <= written_by(ledger)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()


async def test_an_approval_is_about_no_attempt_and_an_input_about_the_one_that_acted(agents: Bench) -> None:
    ledger = agents.ledger()
    args = f"{{ledger: '{ledger}', line: x}}"
    asks = "approve: 'Go on?', expect: '${false}', ask: 'Which?'"
    handle = await agents.start(agents.task(agents.skill(f"steps: [{{id: a, tool: append, args: {args}, {asks}}}]")))
    approval = await question_of(handle)
    assert approval.about is not None
    assert (approval.about.attempted_at, approval.asked_at is None) == (None, False)
    await answer(handle, "a", "yes")
    about = (await question_of(handle, "a#2")).about
    assert about is not None
    assert approval.asked_at is not None
    assert about.attempted_at is not None
    assert approval.asked_at < about.attempted_at <= written_by(ledger)
    await answer(handle, "a#2", "this")
    assert (await handle.result()).done == 1


@pytest.mark.slow
@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "control"])
async def test_a_task_that_is_run_again_asks_for_no_approval_of_what_has_happened(
    agents: Bench, recorded: bool
) -> None:
    ledger, tries = agents.ledger(), agents.ledger()
    skill = agents.skill(
        f"""
steps:
  - {{id: a, tool: append, args: {{ledger: '{ledger}', line: x}}, approve: "Send Kim an invoice?"}}
  - {{id: b, tool: flaky, args: {{ledger: '{tries}', fails: 3}}}}
"""
    )
    task = agents.task(skill)
    handle = await agents.start(task)
    await question_of(handle)
    await answer(handle, "a", "yes")
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    if not recorded:
        tenant = agents.services.tenant_key.tenant_of(task.user_id)
        claim = keys.claim(tenant, idempotency_key(tenant, task.task_id, "a"))
        await ask(agents.services.redis, "DEL", claim)
    handle = await agents.start(task)
    if not recorded:
        assert (await question_of(handle)).kind is QuestionKind.APPROVAL
        await answer(handle, "a", "no")
    result = await handle.result()
    assert (result.done, result.skipped) == ((2, 0) if recorded else (1, 1))
    assert ledger.read_text() == "x\n"


@pytest.mark.slow
async def test_an_approval_says_when_an_effect_of_unknown_fate_was_attempted(agents: Bench) -> None:
    ledger = agents.ledger()
    args = f"{{ledger: '{ledger}', line: x}}"
    task = agents.task(agents.skill(f"steps: [{{id: a, tool: breaks, args: {args}, approve: 'Go on?'}}]"))
    handle = await agents.start(task)
    await question_of(handle)
    await answer(handle, "a", "yes")
    await question_of(handle, "a#2")
    await handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    handle = await agents.start(task)
    question = await question_of(handle)
    assert question.kind is QuestionKind.APPROVAL
    assert question.about is not None
    assert question.about.attempted_at is not None
    assert question.about.attempted_at <= written_by(ledger)
    await answer(handle, "a", "no")
    result = await handle.result()
    assert (result.skipped, result.unknown) == (1, ("a",))
