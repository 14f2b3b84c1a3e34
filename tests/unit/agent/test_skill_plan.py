"""The plan of a skill: every step once in order, through failures, questions and rollovers, as a simple walk would."""

from datetime import UTC, date, datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.agent.plan import Act, ActionFailure, Ask, Finish, waited
from perdure.agent.preparation import PreparedTask, ToolShape
from perdure.agent.skill_plan import MAIN, SkillPlan
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.steps.calls import (
    Ended,
    LetCall,
    PromptCall,
    Result,
    Resumed,
    Scope,
    StepCall,
    TaskFacts,
    Value,
    WaitCall,
    Waits,
)
from perdure.agent.steps.prompt_steps import ASKED
from perdure.agent.steps.wait_calls import ExpectCall, TakeCall
from perdure.durations import Wait
from perdure.frames import Frame
from perdure.identity import idempotency_key
from perdure.names import Activity
from perdure.skills.library import read_skill, skill_of
from perdure.skills.shape import Skill
from perdure.skills.steps import ForEach, Step
from perdure.tools import Effect
from perdure.values.bindings import TaskBinding
from perdure.values.events import TakenEvent
from perdure.values.questions import AfterFailure, FailedAttempt, QuestionKind, TakenAnswer, typed
from perdure.values.tasks import MemoryMode, StepStatus

NOW = datetime(2026, 1, 2, 3, tzinfo=UTC)
LATER = NOW + timedelta(seconds=5)
FAILED = FailedAttempt(began=NOW)

steps = st.sampled_from(["fail", "continue", "ask", "strange", "recall", "remember"])
inner = st.lists(steps | st.tuples(st.integers(0, 3), st.lists(steps, min_size=1, max_size=2)), min_size=1, max_size=3)
shapes = st.lists(steps | st.tuples(st.integers(0, 3), inner), min_size=1, max_size=4)


def document(shape: list[Any], prefix: str, lengths: dict[str, int]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number, entry in enumerate(shape):
        name = f"{prefix}{number}"
        if isinstance(entry, tuple):
            length, inside = cast("tuple[int, list[Any]]", entry)
            lengths[name] = length
            block = {"id": name, "for_each": "${[]}", "as": f"e{name}", "steps": document(inside, name, lengths)}
            found.append(block)
        elif entry == "recall":
            found.append({"id": name, "recall": {"text": "x"}})
        elif entry == "remember":
            found.append({"id": name, "remember": [{"memory": "x"}]})
        else:
            found.append({"id": name, "tool": "echo", "on_failure": "fail" if entry == "strange" else entry})
    return found


def plan_of(skill: Skill | None, memory: MemoryMode = MemoryMode.ON) -> tuple[SkillPlan, TaskState]:
    assert skill is not None
    prepared = PreparedTask.model_validate(
        {
            "tenant": "t",
            "skill": skill,
            "version": skill.digest,
            "tools": {"echo": {"effect": "read", "timeout": 1}},
            "inputs": {},
            "reads": {"": (), **{step.id: () for _, step, _ in skill.walk()}},
            "date": NOW.date(),
            "heartbeat": 4,
        }
    )
    plan = SkillPlan(TaskRun(task_id="t", user_id="u", skill=skill.name, memory=memory), prepared)
    return plan, plan.begin(TaskState(prepared=prepared, started_at=NOW, renewed_at=NOW))


class Walk:
    """The reference: a recursive walk that fails whenever it is told to, and answers every question in turn."""

    def __init__(self, lengths: dict[str, int], failures: list[bool], answers: list[AfterFailure]) -> None:
        self.lengths, self.failures, self.answers = lengths, failures, answers
        self.seen: list[str] = []
        self.ended: dict[StepStatus, int] = {}

    def walk(self, steps: tuple[Step, ...], around: str = "") -> bool:
        """Return whether the task goes on."""
        for step in steps:
            path = f"{around}{step.id}"
            if isinstance(step, ForEach):
                for index in range(self.lengths[step.id]):
                    if not self.walk(step.steps, f"{path}[{index}]."):
                        return False
            else:
                status = self.step(path, getattr(step, "on_failure", "fail"))
                self.ended[status or StepStatus.FAILED] = self.ended.get(status or StepStatus.FAILED, 0) + 1
                if status is None:
                    return False
        return True

    def step(self, path: str, on_failure: str) -> StepStatus | None:
        while True:
            self.seen.append(path)
            if not (self.failures and self.failures.pop()):
                return StepStatus.DONE
            if on_failure == "continue":
                return StepStatus.FAILED
            answer = (self.answers.pop() if self.answers else AfterFailure.STOP) if on_failure == "ask" else None
            if answer is not AfterFailure.RETRY:
                return StepStatus.SKIPPED if answer is AfterFailure.SKIP else None


@given(
    shape=shapes,
    failures=st.lists(st.booleans(), max_size=12),
    answers=st.lists(st.sampled_from([*AfterFailure, AfterFailure("strange")]), max_size=6),
    rolls=st.sets(st.integers(0, 60)),
)
@settings(max_examples=300)
def test_a_skill_is_walked_as_it_is_written(
    shape: list[Any], failures: list[bool], answers: list[AfterFailure], rolls: set[int]
) -> None:
    lengths: dict[str, int] = {}
    skill = skill_of({"name": "s", "steps": document(shape, "s", lengths)})
    reference = Walk(lengths, list(failures), list(answers))
    completes = reference.walk(skill.steps)
    plan, state = plan_of(skill)
    seen, moves = list[str](), 0
    while not isinstance(move := plan.next(state, NOW), Finish):
        if moves in rolls:  # what travels to the next run is the state as JSON
            state = TaskState.model_validate_json(state.model_dump_json())
            assert plan.next(state, NOW) == move
        moves += 1
        if isinstance(move, Ask):
            assert move.question.kind is QuestionKind.FAILURE
            value = answers.pop() if answers else AfterFailure.STOP
            answer = TakenAnswer(question_id=move.question.id, value=value, at=NOW)
            state = plan.answered(state, move.branch, answer)
            continue
        assert isinstance(move, Act)
        [action] = move.actions
        branch = action.branch
        busy = state.branch(branch, path=action.path)
        assert plan.next(busy, NOW) == Act(), "one at a time"
        if action.activity == "expand":
            length = lengths[action.path.rpartition(".")[2]]
            done = Result(status=StepStatus.DONE)
            state = plan.ended(state, branch, Ended(result=done, elements=tuple(range(length))))
            continue
        seen.append(action.path)
        if failures and failures.pop():
            state = plan.failed(state, branch, ActionFailure("because", FAILED))
        else:
            state = plan.ended(state, branch, Ended(result=Result(status=StepStatus.DONE)))
    assert seen == reference.seen
    assert state.ended == reference.ended
    assert (move.problem == "") is completes
    assert not completes or state.total == state.done


def test_steps_side_by_side_are_on_their_way_together_and_each_asks_for_itself() -> None:
    block = {"for_each": "${[]}", "as": "n", "at_once": 2, "steps": [{"id": "a", "tool": "echo", "on_failure": "ask"}]}
    plan, state = plan_of(skill_of({"name": "s", "steps": [block, {"id": "last", "tool": "echo"}]}))
    state = plan.ended(state, MAIN, Ended(result=Result(status=StepStatus.DONE), elements=("x", "y", "z")))
    move = plan.next(state, NOW)
    assert isinstance(move, Act)
    assert [action.path for action in move.actions] == ["n[0].a", "n[1].a"]
    for action in move.actions:
        state = state.branch(action.branch, path=action.path)
    assert plan.next(state, NOW) == Act(), "no more than two"
    first, second = (action.branch for action in move.actions)
    state = plan.failed(state.branch(first, path=""), first, ActionFailure("because", FAILED))
    asked = plan.next(state, NOW)
    assert isinstance(asked, Ask)
    assert (asked.branch, asked.question.id) == (first, "n[0].a")
    state = state.branch(first, path="n[0].a")
    # While one waits, the other goes on.
    state = plan.ended(state.branch(second, path=""), second, Ended(result=Result(status=StepStatus.DONE)))
    move = plan.next(state, NOW)
    assert isinstance(move, Act)
    assert [action.path for action in move.actions] == ["n[2].a"]
    third = move.actions[0].branch
    state = plan.ended(state, third, Ended(result=Result(status=StepStatus.DONE)))
    skipped = TakenAnswer(question_id="n[0].a", value=AfterFailure.SKIP, at=NOW)
    state = plan.answered(state.branch(first, path=""), first, skipped)
    move = plan.next(state, NOW)
    assert isinstance(move, Act)
    assert [(action.branch, action.path) for action in move.actions] == [(MAIN, "last")]
    assert (set(state.branches), state.ended) == ({MAIN}, {StepStatus.DONE: 2, StepStatus.SKIPPED: 1})


def test_steps_side_by_side_without_a_condition_need_no_activity_to_be_listed() -> None:
    lanes = [{"id": "a", "tool": "echo"}, [{"id": "b", "tool": "echo"}, {"id": "c", "tool": "echo"}]]
    for when, activity in (({}, ""), ({"when": "${true}"}, "expand")):
        plan, state = plan_of(skill_of({"name": "s", "steps": [{"parallel": lanes, **when}]}))
        assert state.total == 0
        move = plan.next(state, NOW)
        assert isinstance(move, Act)
        [action] = move.actions
        assert (action.activity, action.is_step) == (activity, False)
        outcome = action.known or Ended(result=Result(status=StepStatus.DONE), elements=(0, 1))
        state = plan.ended(state, MAIN, outcome)
        assert state.total == 3
        move = plan.next(state, NOW)
        assert isinstance(move, Act)
        assert [action.path for action in move.actions] == ["a", "b"]
    skipped = plan.ended(
        plan_of(state.prepared.skill)[1], MAIN, Ended(result=Result(status=StepStatus.DONE), elements=())
    )
    assert isinstance(plan.next(skipped, NOW), Finish)
    assert (skipped.total, skipped.done) == (0, 0)


def test_the_answers_of_a_failure_are_those_of_its_question() -> None:
    plan, state = plan_of(skill_of({"name": "s", "steps": [{"id": "a", "tool": "echo", "on_failure": "ask"}]}))
    move = plan.next(plan.failed(state, MAIN, ActionFailure("because", FAILED)), NOW)
    assert isinstance(move, Ask)
    assert move.question.choices == ("retry", "skip", "stop")
    assert typed("skip", move.question.answer) == AfterFailure.SKIP
    assert move.question.about is not None
    assert (move.question.about.tool, len(move.question.about.idempotency_key)) == ("echo", 64)


@pytest.mark.parametrize(
    ("mode", "runs"),
    [
        (MemoryMode.ON, ["recall_step", "remember_step"]),
        (MemoryMode.READ, ["recall_step", ""]),
        (MemoryMode.OFF, ["", ""]),
        (MemoryMode("private"), ["", ""]),
    ],
)
def test_an_unknown_memory_mode_counts_as_off(mode: MemoryMode, runs: list[str]) -> None:
    steps = [{"id": "a", "recall": {"text": "x"}}, {"id": "b", "remember": [{"memory": "x"}]}]
    plan, state = plan_of(skill_of({"name": "s", "steps": steps}), mode)
    found: list[str] = []
    while isinstance(move := plan.next(state, NOW), Act):
        [action] = move.actions
        found.append(action.activity)
        state = plan.ended(state, MAIN, action.known or Ended(result=Result(status=StepStatus.DONE)))
    assert found == runs


def test_unknown_values_of_another_build_fall_on_the_safe_side() -> None:
    plan, state = plan_of(skill_of({"name": "s", "steps": [{"id": "a", "tool": "echo"}, {"id": "b", "tool": "echo"}]}))
    first = plan.next(state, NOW)
    assert isinstance(first, Act)
    call = first.actions[0].call
    assert isinstance(call, StepCall)
    state = plan.ended(state, MAIN, Ended.model_validate({"result": {"status": "postponed"}, "mood": "good"}))
    assert state.done == 1, "a step with an unknown status has ended"
    step = call.step.changed(on_failure="whatever")
    assert state.prepared.skill is not None
    strange = state.prepared.skill.changed(steps=(step, step.changed(id="b")))
    plan = SkillPlan(TaskRun(task_id="t", user_id="u", skill="s"), state.prepared.changed(skill=strange))
    move = plan.next(plan.failed(state, MAIN, ActionFailure("because", FAILED)), NOW)
    assert move == Finish(problem="step b: because"), "an unknown on_failure fails the task"


@pytest.mark.parametrize("effect", ["read", "once"])
def test_a_call_has_the_time_that_was_pinned_for_its_task_and_a_once_effect_its_binding(effect: str) -> None:
    plan, state = plan_of(skill_of({"name": "s", "steps": [{"id": "a", "tool": "echo"}]}))
    binding = TaskBinding(skill="s", version="1", inputs={}, day=NOW.date())
    tools = {"echo": ToolShape(effect=Effect(effect), timeout=1.5)}
    prepared = state.prepared.changed(binding=binding, tools=tools)
    plan = SkillPlan(TaskRun(task_id="t", user_id="u", skill="s"), prepared)
    move = plan.next(state, NOW)
    assert isinstance(move, Act)
    call = move.actions[0].call
    assert isinstance(call, StepCall)
    assert (call.timeout, call.binding) == (1.5, binding if effect == "once" else None)


def test_a_step_is_called_with_the_task_its_place_and_what_it_reads() -> None:
    skill = skill_of(
        {
            "name": "s",
            "inputs": {"a": "string", "b": "string"},
            "steps": [{"id": "one", "tool": "echo", "args": {"x": "${inputs.b}"}}],
            "output": "${task.id}",
        }
    )
    day, inputs = date(2026, 3, 4), {"a": Value(inline=1), "b": Value(inline=2)}
    prepared = plan_of(skill)[1].prepared.changed(
        inputs=inputs,
        date=day,
        reads={"": (("task", "id"), ("steps", "one", "status")), "one": (("inputs", "b"), ("task", "date"))},
    )
    plan = SkillPlan(TaskRun(task_id="t", user_id="u", skill="s", date=day, agent="auditor"), prepared)
    state = plan.begin(TaskState(prepared=prepared, started_at=NOW, renewed_at=NOW))
    now = datetime(2026, 3, 31, 3, 4, 5, 6, tzinfo=UTC)
    act = plan.next(state, now)
    assert isinstance(act, Act)
    [action] = act.actions
    assert isinstance(action.call, StepCall)
    facts = TaskFacts(id="t", date=day, agent="auditor")
    assert action.call.scope == Scope(inputs={"b": Value(inline=2)}, task=facts)
    assert (action.call.task_id, action.call.session, action.call.path) == ("t", "t", "one")
    assert action.call.occurred_at == datetime(2026, 3, 4, 12, tzinfo=UTC), "noon of the task's date"
    early = plan.next(state, datetime(2026, 3, 1, 3, tzinfo=UTC))
    assert isinstance(early, Act)
    [action] = early.actions
    assert isinstance(action.call, StepCall)
    assert action.call.occurred_at == datetime(2026, 3, 2, 3, tzinfo=UTC), "at most a day ahead"
    finish = plan.next(plan.ended(state, MAIN, Ended(result=Result(status=StepStatus.DONE))), now)
    assert isinstance(finish, Finish)
    assert finish.evaluation is not None
    assert finish.evaluation.output == "${task.id}"
    assert finish.evaluation.scope == Scope(task=facts, steps={"one": {"status": Value(inline="done")}})


@pytest.mark.parametrize(
    ("failed", "arguments", "began", "deadline"),
    [
        (FailedAttempt(began=NOW, arguments='{"x": 2}', deadline=LATER), '{"x": 2}', NOW, LATER),
        (FailedAttempt(began=NOW), '{"x": "${inputs.b}"}', NOW, None),
        (None, '{"x": "${inputs.b}"}', None, None),
    ],
    ids=["called", "before its arguments were known", "cut off"],
)
def test_the_question_of_a_failure_says_what_is_known_of_its_last_attempt(
    failed: FailedAttempt | None, arguments: str, began: datetime | None, deadline: datetime | None
) -> None:
    step = {"id": "one", "tool": "echo", "args": {"x": "${inputs.b}"}, "on_failure": "ask"}
    plan, state = plan_of(skill_of({"name": "s", "inputs": {"b": "string"}, "steps": [step]}))
    state = plan.failed(state, MAIN, ActionFailure("because", failed))
    asked = plan.next(TaskState.model_validate_json(state.model_dump_json()), LATER)
    assert isinstance(asked, Ask)
    about = asked.question.about
    assert about is not None
    assert (about.tool, about.arguments) == ("echo", arguments)
    assert (about.attempted_at, about.deadline) == (began, deadline)
    assert about.idempotency_key == idempotency_key("t", "t", "one")
    again = plan.answered(state, MAIN, TakenAnswer(question_id="one", value="retry", at=LATER))
    assert again.branches[MAIN].failed is None


def test_a_step_carries_what_it_is_of_and_what_it_gets_back() -> None:
    prepared, task = once_task()
    plan = SkillPlan(task, prepared)
    state = plan.begin(TaskState(prepared=prepared, started_at=NOW, renewed_at=NOW))
    resumed = Resumed(
        resume={"asked": "approval"},
        asked=QuestionKind.APPROVAL,
        answer=TakenAnswer(question_id="a", value="yes", at=NOW),
    )
    move = plan.next(state.branch(MAIN, resumed=resumed), LATER)
    assert isinstance(move, Act)
    call = move.actions[0].call
    assert isinstance(call, StepCall)
    assert (call.tenant, call.epoch, call.session, call.memory) == ("t", 7, "s", MemoryMode.READ)
    assert (call.resumed, call.earlier, call.timeout) == (resumed, None, 1)
    # What a person has tried again, the first attempt may have claimed.
    again = plan.next(state.branch(MAIN, again=True), LATER)
    assert isinstance(again, Act)
    assert isinstance(again.actions[0].call, StepCall)
    assert again.actions[0].call.earlier == NOW
    day = date(2024, 3, 9)
    dated = SkillPlan(task.changed(date=day), prepared).next(state, LATER)
    assert isinstance(dated, Act)
    assert isinstance(dated.actions[0].call, StepCall)
    assert dated.actions[0].call.occurred_at == datetime(2024, 3, 9, 12, tzinfo=UTC)


def test_what_a_person_skips_is_read_as_skipped_with_its_problem() -> None:
    skill = skill_of(
        {
            "name": "s",
            "steps": [{"id": "a", "tool": "echo", "on_failure": "ask"}, {"id": "b", "tool": "echo"}],
        }
    )
    plan, state = plan_of(skill)
    reads = {"": (), "a": (), "b": (("steps", "a", "problem"), ("steps", "a", "status"))}
    plan = SkillPlan(TaskRun(task_id="t", user_id="u", skill="s"), state.prepared.changed(reads=reads))
    state = plan.failed(state, MAIN, ActionFailure("it broke"))
    state = plan.answered(state, MAIN, TakenAnswer(question_id="a", value=AfterFailure.SKIP, at=NOW))
    assert state.ended == {StepStatus.SKIPPED: 1}
    move = plan.next(state, NOW)
    assert isinstance(move, Act)
    assert isinstance(move.actions[0].call, StepCall)
    assert move.actions[0].call.scope.steps == {
        "a": {"problem": Value(inline="it broke"), "status": Value(inline="skipped")}
    }


def once_task() -> tuple[PreparedTask, TaskRun]:
    skill = skill_of({"name": "s", "steps": [{"id": "a", "tool": "pay"}]})
    prepared = PreparedTask.model_validate(
        {
            **{"tenant": "t", "epoch": 7, "skill": skill, "version": skill.digest, "inputs": {}, "heartbeat": 4},
            **{"tools": {"pay": {"effect": "once", "timeout": 1}}, "reads": {"": (), "a": ()}, "date": NOW.date()},
        }
    )
    return prepared, TaskRun(task_id="t", user_id="u", session_id="s", skill="s", memory=MemoryMode.READ)


def test_what_a_skipped_block_did_not_run_reads_as_skipped() -> None:
    lanes = [{"id": "a", "tool": "echo"}, {"id": "b", "tool": "echo"}]
    steps = [{"parallel": lanes, "when": "${false}"}, {"id": "c", "tool": "echo"}]
    plan, state = plan_of(skill_of({"name": "s", "steps": steps}))
    reads = {**state.prepared.reads, "c": (("steps", "a", "output"), ("steps", "a", "status"))}
    plan = SkillPlan(TaskRun(task_id="t", user_id="u", skill="s"), state.prepared.changed(reads=reads))
    skipped = plan.ended(state, MAIN, Ended(result=Result(status=StepStatus.DONE), elements=()))
    move = plan.next(skipped, NOW)
    assert isinstance(move, Act)
    call = move.actions[0].call
    assert isinstance(call, StepCall)
    assert {part: value.inline for part, value in call.scope.steps["a"].items()} == {
        "output": None,
        "status": "skipped",
    }


def test_a_prompt_is_answered_by_a_model_and_its_tokens_are_counted() -> None:
    skill = read_skill("name: s\nsteps: [{id: a, prompt: Name it.}, {id: b, prompt: Go on., on_failure: continue}]")
    plan, state = plan_of(skill)
    move = plan.next(state, NOW)
    assert isinstance(move, Act)
    [action] = move.actions
    assert (action.activity, action.requests, action.is_step) == (Activity.PROMPT_STEP, ASKED, True)
    assert isinstance(action.call, PromptCall)
    state = plan.ended(state, MAIN, Ended(result=Result(status=StepStatus.DONE), tokens=40))
    state = plan.failed(state, MAIN, ActionFailure("PRD111 no"))
    assert (state.tokens, state.ended) == (40, {StepStatus.DONE: 1, StepStatus.FAILED: 1})
    assert isinstance(plan.next(state, NOW), Finish)


@pytest.mark.parametrize(
    ("let", "is_known"),
    [
        ({"a": 1, "b": ["x", {"c": None}]}, True),
        ({"a": "${inputs.n}"}, False),
        ({"a": {"b": ["x ${1}"]}}, False),
        ({"a": "$${literal}"}, False),
        ({"a": "x" * 4_000}, True),
        ({"a": "x" * 4_096}, False),
        ({"a": "ä" * 2_100}, False),
    ],
)
def test_names_need_an_activity_only_where_there_is_something_to_work_out(let: dict[str, Any], is_known: bool) -> None:
    plan, state = plan_of(skill_of({"name": "s", "steps": [{"let": let}, {"id": "b", "tool": "echo"}]}))
    assert state.total == 1
    move = plan.next(state, NOW)
    assert isinstance(move, Act)
    [action] = move.actions
    assert (action.is_step, action.known is not None) == (False, is_known)
    if action.known is None:
        assert isinstance(action.call, LetCall)
    else:
        assert {name: value.inline for name, value in action.known.result.parts.items()} == let
    state = plan.ended(state, MAIN, Ended(result=Result(status=StepStatus.DONE)))
    assert (state.done, state.ended) == (0, {}), "it counts as no step"
    failed = plan.next(plan.failed(plan_of(state.prepared.skill)[1], MAIN, ActionFailure("PRD103 no")), NOW)
    assert failed == Finish(problem="step let a: PRD103 no")


@pytest.mark.parametrize(
    ("wait", "until"),
    [
        ({"wait": "5s"}, LATER),
        ({"wait": "5s", "when": "${true}"}, None),
        ({"wait": "${'5s'}"}, None),
        ({"wait": LATER.isoformat()}, None),
    ],
)
def test_until_when_a_step_waits_is_known_or_worked_out_from_when_it_begins(
    wait: dict[str, str], until: datetime | None
) -> None:
    plan, state = plan_of(skill_of({"name": "s", "steps": [{"id": "a", **wait}, {"id": "b", "tool": "echo"}]}))
    move = plan.next(state, NOW)
    assert isinstance(move, Act)
    [action] = move.actions
    assert (action.path, action.is_step) == ("a", True)
    assert (action.known, action.waits) == (None, Waits(until=until) if until else None)
    if until is None:
        assert action.activity == Activity.WAIT_STEP
        assert isinstance(action.call, WaitCall)
        assert action.call.now == NOW
    state = state.branch(MAIN, path="a", until=LATER)
    again = TaskState.model_validate_json(state.model_dump_json())
    assert again.waits == state.waits == (Wait(step="a", until=LATER),)
    assert plan.next(again, LATER) == Act(), "its branch is busy"
    ended = plan.ended(again.branch(MAIN, path="", until=None), MAIN, Ended(result=Result(status=StepStatus.DONE)))
    assert (ended.ended, ended.waits) == ({StepStatus.DONE: 1}, ())
    move = plan.next(ended, LATER)
    assert isinstance(move, Act)
    assert [action.path for action in move.actions] == ["b"]


@pytest.mark.parametrize(
    ("wait", "known"),
    [
        ({"event": "paid"}, Waits(event="paid")),
        (
            {"event": "paid", "deadline": "5s", "otherwise": [1]},
            Waits(until=LATER, event="paid", otherwise=Value(inline=[1])),
        ),
        ({"event": "paid", "deadline": "5s", "otherwise": "x" * 200}, None),
        ({"event": "paid ${task.id}"}, None),
        ({"event": "paid", "deadline": "${'5s'}"}, None),
        ({"event": "paid", "deadline": LATER.isoformat()}, None),
        ({"event": "paid", "deadline": "5s", "otherwise": {"a": "${task.id}"}}, None),
    ],
)
def test_what_a_step_waits_for_is_known_or_worked_out_and_what_came_is_taken(
    wait: dict[str, Any], known: Waits | None
) -> None:
    plan, state = plan_of(skill_of({"name": "s", "steps": [{"id": "a", "wait": wait}, {"id": "b", "tool": "echo"}]}))
    move = plan.next(state, NOW)
    assert isinstance(move, Act)
    [action] = move.actions
    assert (action.path, action.is_step, action.waits) == ("a", True, known)
    if known is None:
        assert action.activity == Activity.EXPECT_EVENT
        assert isinstance(action.call, ExpectCall)
    conditional = {"name": "s", "steps": [{"id": "a", "wait": wait, "when": "${true}"}]}
    other, begun = plan_of(skill_of(conditional))
    move = other.next(begun, NOW)
    assert isinstance(move, Act)
    assert move.actions[0].activity == Activity.EXPECT_EVENT
    event = TakenEvent(name="paid", value={"a": 1}, at=NOW)
    delivered = TaskState.model_validate_json(state.branch(MAIN, delivered=event).model_dump_json())
    move = plan.next(delivered, NOW)
    assert isinstance(move, Act)
    assert move.actions[0].activity == Activity.TAKE_EVENT
    assert isinstance(move.actions[0].call, TakeCall)
    assert move.actions[0].call.event == event


def test_where_no_event_came_its_default_is_the_output_or_the_step_fails() -> None:
    plan, state = plan_of(
        skill_of({"name": "s", "steps": [{"id": "a", "wait": {"event": "x"}}], "output": "${steps.a}"})
    )
    expecting = state.branch(MAIN, path="a", until=LATER, event="x")
    failed = waited(plan, expecting, MAIN)
    assert plan.next(failed, LATER) == Finish(
        problem=f"step a: the event 'x' did not come until {LATER:%Y-%m-%d %H:%M:%S %Z}"
    )
    ended = waited(plan, expecting.branch(MAIN, otherwise=Value(inline=None)), MAIN)
    assert (ended.ended, ended.waits) == ({StepStatus.DONE: 1}, ())


@pytest.mark.parametrize("on_failure", ["fail", "ask"])
def test_the_step_whose_failure_ends_the_task_is_one_that_failed(on_failure: str) -> None:
    step = {"id": "b", "tool": "echo", "on_failure": on_failure}
    plan, state = plan_of(skill_of({"name": "s", "steps": [{"id": "a", "tool": "echo"}, step]}))
    state = plan.ended(state, MAIN, Ended(result=Result(status=StepStatus.DONE)))
    frame = Frame(file="shop.py", line=3, function="order")
    state = plan.failed(state, MAIN, ActionFailure("it broke", FAILED.changed(frames=(frame,))))
    if on_failure == "ask":
        state = plan.answered(state, MAIN, TakenAnswer(question_id="b", value=AfterFailure.STOP, at=NOW))
    assert plan.next(state, NOW) == Finish(problem="step b: it broke")
    assert state.ended == {StepStatus.DONE: 1, StepStatus.FAILED: 1}
    [report] = state.incomplete
    assert (report.step, report.status, report.problem, report.frames) == ("b", StepStatus.FAILED, "it broke", (frame,))


def test_names_whose_failure_ends_the_task_are_no_step_that_failed() -> None:
    plan, state = plan_of(skill_of({"name": "s", "steps": [{"let": {"a": "${1 / 0}"}}, {"id": "b", "tool": "echo"}]}))
    state = plan.failed(state, MAIN, ActionFailure("PRD103 no"))
    assert (state.ended, [report.step for report in state.incomplete]) == ({}, ["let a"])
