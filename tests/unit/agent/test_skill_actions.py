"""What is called for a skill's steps: with what, for whom, and which of them count as steps."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from perdure.agent.plan import Act, Action, ActionFailure, Ask, Finish
from perdure.agent.preparation import InnerSkill, PreparedTask
from perdure.agent.skill_actions import is_literal
from perdure.agent.skill_plan import MAIN, SkillPlan
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.steps.calls import Ended, PromptCall, Result, Resumed, StepCall, Value
from perdure.agent.steps.foreign_calls import ForeignCall
from perdure.agent.steps.inner_skill_calls import EnterCall, LeaveCall
from perdure.model import DEEPEST_VALUE
from perdure.names import Activity
from perdure.skills.library import read_skill
from perdure.skills.steps import LetStep
from perdure.values.bindings import TaskBinding
from perdure.values.questions import AfterFailure, QuestionKind, TakenAnswer
from perdure.values.tasks import StepStatus

NOW = datetime(2026, 1, 2, 3, tzinfo=UTC)
EARLIER = NOW - timedelta(hours=1)
YES = TakenAnswer(question_id="a", value="yes", at=NOW)
RESUMED = Resumed(resume={"asked": "approval"}, asked=QuestionKind.APPROVAL, answer=YES)
BINDING = TaskBinding(skill="s", version="v", inputs={}, day=NOW.date())
DONE = Ended(result=Result(status=StepStatus.DONE))


def begun(steps: str, inner: str = "", model: str = "") -> tuple[SkillPlan, TaskState]:
    """Return the plan of a task, and its state before the first step."""
    skill = read_skill(f"name: s\nsteps: {steps}")
    runs = [read_skill(inner)] if inner else []
    reads = {one.name: {"": (), **{step.id: () for _, step, _ in one.walk()}} for one in (skill, *runs)}
    prepared = PreparedTask.model_validate(
        {
            **{"tenant": "t", "skill": skill, "version": "v", "inputs": {}, "reads": reads["s"], "binding": BINDING},
            **{"tools": {"t": {"effect": "read", "timeout": 1}}, "date": NOW.date(), "heartbeat": 4},
            "model": model,
            "inner": {one.name: InnerSkill(skill=one, reads=reads[one.name]) for one in runs},
        }
    )
    plan = SkillPlan(TaskRun(task_id="t", user_id="ada", skill="s", agent="clerk"), prepared)
    return plan, plan.begin(TaskState(prepared=prepared, started_at=NOW, renewed_at=NOW))


def actions_of(plan: SkillPlan, state: TaskState) -> list[Action]:
    move = plan.next(state, NOW)
    assert isinstance(move, Act)
    return list(move.actions)


@pytest.mark.parametrize(
    ("step", "is_once", "told"),
    [
        ("activity: Charge, critical: true, remember: [{memory: m}]", True, "a: Charge"),
        ("activity: Look, effect: read", False, "a: Look"),
        ("workflow: Ship", True, "a: Ship"),
    ],
)
def test_a_call_of_others_is_claimed_where_it_must_happen_once(step: str, is_once: bool, told: str) -> None:
    plan, state = begun(f"[{{id: a, queue: q, {step}}}]")
    [action] = actions_of(plan, state.branch(MAIN, resumed=RESUMED).counted(StepStatus.DONE))
    assert (action.activity, action.path, action.told, action.is_step) == (Activity.BEGIN_CALL, "a", told, True)
    assert action.critical == ("critical" in step)
    call = action.call
    assert isinstance(call, ForeignCall)
    assert (call.resumed, call.binding, call.earlier) == (RESUMED, BINDING if is_once else None, None)
    acting = call.acting
    assert (acting.user, acting.agent, acting.skill, acting.task_skill, acting.done) == ("ada", "clerk", "s", "s", 1)
    for later, since in (
        (state.changed(earlier=EARLIER), EARLIER),
        (state.branch(MAIN, again=True), NOW),
        (state.changed(earlier=EARLIER).branch(MAIN, again=True), EARLIER),
    ):
        [again] = actions_of(plan, later)
        assert isinstance(again.call, ForeignCall)
        assert again.call.earlier == (since if is_once else None), "since when somebody may have claimed it"


def entered(inner: str, more: str = "") -> tuple[SkillPlan, TaskState, Action]:
    """Return a task after the one step of the skill that its own step runs, and how it then leaves that skill."""
    plan, state = begun(f"[{{id: a, skill: inner, inputs: {{n: '${{task.id}}'}}{more}}}]", inner)
    [entering] = actions_of(plan, state)
    assert (entering.activity, entering.told) == (Activity.ENTER_SKILL, "a: the inputs of inner")
    assert (entering.is_step, entering.path) == (False, "a")
    assert isinstance(entering.call, EnterCall)
    assert (entering.call.skill.name, list(entering.call.skill.inputs)) == ("inner", ["n"])
    state = plan.ended(state, MAIN, DONE.changed(inputs={"n": Value(inline=1)}))
    [own] = actions_of(plan, state)
    assert (own.path, own.is_step) == ("a.b", True)
    state = plan.ended(state, own.branch, DONE)
    [leaving] = actions_of(plan, state)
    return plan, state, leaving


INNER = "name: inner\ninputs: {n: string}\nsteps: [{id: b, tool: t}]\n"


def test_what_names_no_model_is_asked_of_the_one_that_the_task_is_pinned_to() -> None:
    steps = "[{id: a, prompt: One.}, {id: b, prompt: Two., model: 'openai:own'}]\njudge: It is polite."
    plan, state = begun(steps, model="openai:pinned")
    for model in ("openai:pinned", "openai:own"):
        [action] = actions_of(plan, state)
        assert isinstance(action.call, PromptCall)
        assert action.call.step.model == model
        state = plan.ended(state, MAIN, DONE)
    move = plan.next(state, NOW)
    assert isinstance(move, Finish)
    assert move.evaluation is not None
    assert move.evaluation.judge is not None
    assert move.evaluation.judge.model == "openai:pinned"


@pytest.mark.parametrize("step", ["{id: b, tool: t}", "{id: b, activity: Charge, queue: q}"])
def test_policies_are_asked_for_the_skill_whose_step_acts(step: str) -> None:
    plan, state = begun("[{id: a, skill: inner}, {id: c, tool: t}]", f"name: inner\nsteps: [{step}]\n")
    state = plan.ended(state, MAIN, DONE.changed(inputs={}))
    for path, skill in (("a.b", "inner"), ("c", "s")):
        [action] = actions_of(plan, state)
        assert action.path == path
        assert isinstance(action.call, StepCall | ForeignCall)
        assert (action.call.acting.skill, action.call.acting.task_skill) == (skill, "s")
        state = plan.ended(state, action.branch, DONE)
        if path == "a.b":
            [leaving] = actions_of(plan, state)
            state = plan.ended(state, leaving.branch, DONE)


def test_a_skill_that_gives_something_back_is_left_by_an_activity_that_counts_as_no_step() -> None:
    plan, state, leaving = entered(
        f"{INNER}output: '${{inputs.n}}'\nexpect: '${{output != null}}'", ", critical: true, remember: [{memory: m}]"
    )
    assert (leaving.activity, leaving.told, leaving.path) == (Activity.LEAVE_SKILL, "a: its output", "a")
    assert (leaving.is_step, leaving.critical, leaving.known) == (False, True, None)
    assert isinstance(leaving.call, LeaveCall)
    assert (leaving.call.output, leaving.call.expect) == ("${inputs.n}", "${output != null}")
    ended = plan.ended(state, leaving.branch, DONE)
    assert isinstance(plan.next(ended, NOW), Finish)


def test_a_skill_that_gives_nothing_back_is_left_at_once() -> None:
    plan, state, leaving = entered(INNER)
    assert (leaving.activity, leaving.path, leaving.is_step, leaving.critical) == ("", "a", False, False)
    assert leaving.known is not None
    assert leaving.known.result == Result(status=StepStatus.DONE, parts={"output": Value()})
    ended = plan.ended(state, leaving.branch, leaving.known)
    assert isinstance(plan.next(ended, NOW), Finish)


@pytest.mark.parametrize(("on_failure", "goes_on"), [("fail", False), ("continue", True)])
def test_what_a_skill_does_not_give_back_is_a_failure_inside_it(on_failure: str, goes_on: bool) -> None:
    plan, state, leaving = entered(f"{INNER}output: '${{inputs.n}}'", f", on_failure: {on_failure}")
    failed = plan.failed(state, leaving.branch, ActionFailure("PRD103 output: no"))
    while isinstance(move := plan.next(failed, NOW), Act):
        for action in move.actions:
            assert action.known is not None, "nothing new begins"
            failed = plan.ended(failed, action.branch, action.known)
    assert isinstance(move, Finish)
    assert move.problem == ("" if goes_on else "step a: PRD103 output: no")
    assert failed.ended == {StepStatus.DONE: 1}, "a step that runs a skill is none of the steps that count"


def test_of_a_skill_that_fails_what_was_under_way_counts_and_what_had_not_begun_does_not() -> None:
    lanes = "[{id: one, tool: t}, [{id: two, tool: t}, {id: three, tool: t}]"
    lanes += ", [{let: {v: '${task.id}'}}, {id: four, tool: t}], {id: five, tool: t}]"
    inner = f"name: inner\ninputs: {{n: string}}\nsteps: [{{parallel: {lanes}}}]\n"
    plan, state = begun("[{id: a, skill: inner, inputs: {n: x}, on_failure: continue}]", inner)
    state = plan.ended(state, MAIN, DONE.changed(inputs={"n": Value(inline="x")}))
    [block] = actions_of(plan, state)
    assert block.known is not None
    state = plan.ended(state, block.branch, block.known)
    under_way = {action.path: action.branch for action in actions_of(plan, state)}
    assert list(under_way) == ["a.one", "a.two", "a.let v", "a.five"]
    state = plan.failed(state, under_way["a.one"], ActionFailure("torn"))
    state = plan.ended(state, under_way["a.two"], DONE)
    state = plan.ended(state, under_way["a.let v"], DONE)
    [dropped] = actions_of(plan, state)
    assert (dropped.branch, dropped.path, dropped.is_step) == (under_way["a.five"], "a.five", False)
    assert dropped.known == Ended(result=Result(status=StepStatus.SKIPPED))
    state = plan.ended(state, dropped.branch, dropped.known or DONE)
    assert isinstance(plan.next(state, NOW), Finish)
    assert state.ended == {StepStatus.FAILED: 1, StepStatus.DONE: 1}, "one and two"


@pytest.mark.parametrize(
    ("value", "limit", "known"),
    [
        ("x" * 91, 100, True),
        ("x" * 92, 100, False),
        ("ä" * 45, 100, True),
        ("ä" * 46, 100, False),
        ("${inputs.n}", 100, False),
    ],
)
def test_a_value_is_known_where_it_is_literal_and_fits(value: Any, limit: int, known: bool) -> None:
    assert is_literal(LetStep(let={"a": value}), limit) is known


@pytest.mark.parametrize(("levels", "known"), [(DEEPEST_VALUE - 1, True), (DEEPEST_VALUE, False)])
def test_a_value_that_is_nested_too_deep_to_be_carried_is_left_to_an_activity(levels: int, known: bool) -> None:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    assert is_literal(LetStep.model_construct(let={"a": value}), 4_096) is known


def test_the_question_of_a_step_that_calls_no_tool_is_about_no_call() -> None:
    plan, state = begun("[{id: a, prompt: x, on_failure: ask}]")
    asked = plan.next(plan.failed(state, MAIN, ActionFailure("no model")), NOW)
    assert isinstance(asked, Ask)
    assert (asked.question.text, asked.question.about) == ("a failed: no model", None)


def test_what_is_tried_again_was_tried_before_until_it_has_ended() -> None:
    plan, state = begun("[{id: a, activity: A, queue: q, on_failure: ask}, {id: b, activity: B, queue: q}]")
    state = plan.failed(state, MAIN, ActionFailure("because"))
    retry = TakenAnswer(question_id="a", value=AfterFailure.RETRY, at=NOW)
    state = plan.answered(state, MAIN, retry)
    [again] = actions_of(plan, state)
    assert isinstance(again.call, ForeignCall)
    assert (again.path, again.call.earlier) == ("a", NOW)
    [after] = actions_of(plan, plan.ended(state, MAIN, DONE))
    assert isinstance(after.call, ForeignCall)
    assert (after.path, after.call.earlier) == ("b", None)


@pytest.mark.parametrize("is_named", [False, True])
def test_elements_are_named_to_people_and_in_what_temporal_keeps_by_a_setting(is_named: bool) -> None:
    inside = "[{for_each: '${[]}', as: item, steps: [{id: a, tool: t}, {id: b, skill: inner}]}]"
    plan, state = begun(
        f"[{{for_each: '${{[]}}', as: shop, steps: {inside}}}]", "name: inner\nsteps: [{id: c, tool: t}]"
    )
    state = state.changed(prepared=state.prepared.changed(summary_content=is_named))
    plan = SkillPlan(TaskRun(task_id="t", user_id="ada", skill="s", agent="clerk"), state.prepared)
    place = "shop[North]" if is_named else "shop[0]"
    state = plan.ended(state, MAIN, Ended(result=DONE.result, elements=({"name": "North"},)))
    [action] = actions_of(plan, state)
    assert (action.path, action.shown, action.told) == ("shop[0].item", "shop[North].item", f"{place}.item: its list")
    state = plan.ended(state, "shop[0]", Ended(result=DONE.result, elements=("7", [])))
    [action] = actions_of(plan, state)
    assert (action.path, action.shown) == ("shop[0].item[0].a", "shop[North].item[7].a")
    assert action.told == (action.shown if is_named else action.path)


@pytest.mark.parametrize(
    ("more", "asked", "value", "undecided"),
    [
        ("", None, "", False),
        ('when: "${true}"', None, "", True),
        ("approve: Sure", None, "", True),
        ("approve: Sure", QuestionKind.APPROVAL, "yes", False),
        ("approve: Sure", QuestionKind.APPROVAL, "no", True),
        ("", QuestionKind.APPROVAL, "no", True),
        ('when: "${true}"', QuestionKind.UNKNOWN_EFFECT, "done", False),
        ("approve: Sure", QuestionKind.INPUT, "7", False),
    ],
)
@pytest.mark.parametrize("resume", [None, {"asked": "approval"}, {"later": ["builds", {"say": "otherwise"}]}, 7])
def test_whether_a_step_is_decided_first_does_not_depend_on_what_it_handed_over(
    more: str, asked: QuestionKind | None, value: str, undecided: bool, resume: JsonValue
) -> None:
    plan, state = begun(f"[{{id: a, tool: t{', ' * bool(more)}{more}}}]")
    if asked is not None:
        answer = TakenAnswer(question_id="a", value=value, at=NOW)
        state = state.branch(MAIN, resumed=Resumed(resume=resume, asked=asked, answer=answer))
    [action] = actions_of(plan, state)
    assert action.is_undecided == undecided
