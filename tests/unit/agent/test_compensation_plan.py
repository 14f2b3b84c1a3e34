"""The plan that undoes effects: what is called for each, and what becomes of those that cannot be undone."""

from datetime import UTC, date, datetime, timedelta

import pytest

from perdure.agent.compensation_plan import CompensationPlan
from perdure.agent.plan import Act, Action, ActionFailure, Finish
from perdure.agent.preparation import InnerSkill, PreparedTask
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.steps.calls import Compensation, Ended, Result, Resumed, StepCall, Value
from perdure.skills.library import read_skill
from perdure.skills.steps import COMPENSATE
from perdure.values.bindings import TaskBinding
from perdure.values.questions import EffectFate, FailedAttempt, Question, QuestionKind, TakenAnswer, choice_of
from perdure.values.tasks import StepStatus

NOW = datetime(2026, 1, 2, 3, tzinfo=UTC)
EARLIER = NOW - timedelta(hours=1)
TASK = TaskRun(task_id="t", user_id="ada", session_id="s", skill="booking", agent="clerk", date=date(2026, 1, 1))
BINDING = TaskBinding(skill="booking", version="v", inputs={}, day=NOW.date())
OUTER = "name: booking\nsteps: [{id: hotel, tool: t}, {id: seat, skill: journey}, {id: plane, tool: t}]"
JOURNEY = """
name: journey
steps: [{parallel: [[{for_each: '${[1]}', as: leg, steps: [{id: train, tool: t}]}], [{id: bus, tool: t}]]}]
"""
PREPARED = PreparedTask.model_validate(
    {
        **{"tenant": "t_1", "version": "v", "inputs": {}, "date": date(2026, 1, 1), "heartbeat": 4, "binding": BINDING},
        "skill": read_skill(OUTER),
        "inner": {"journey": InnerSkill(skill=read_skill(JOURNEY), reads={})},
        "tools": {"cancel": {"effect": "once", "timeout": 3}, "note": {"effect": "idempotent", "timeout": 2}},
    }
)
PLAN = CompensationPlan(TASK, PREPARED)
YES = TakenAnswer(question_id="a", value="yes", at=NOW)
RESUMED = Resumed(resume={"asked": "approval"}, asked=QuestionKind.APPROVAL, answer=YES)
DONE = Ended(result=Result(status=StepStatus.DONE))
SKIPPED = Ended(result=Result(status=StepStatus.SKIPPED))


def state_of(*compensations: Compensation) -> TaskState:
    state = TaskState(prepared=PREPARED, started_at=NOW, renewed_at=NOW, compensations=compensations, earlier=EARLIER)
    return PLAN.begin(state.counted(StepStatus.DONE).counted(StepStatus.FAILED))


def action_of(state: TaskState) -> Action:
    move = PLAN.next(state, NOW)
    assert isinstance(move, Act)
    [action] = move.actions
    return action


HOTEL = Compensation(path="hotel", tool="cancel", arguments=Value(inline={"id": 7}))
TRAIN = Compensation(path="seat.leg[1].train", tool="note")
BROKEN = Compensation(path="plane", tool="cancel", problem="PRD103 args.id: has no value")


def test_the_last_effect_is_undone_by_a_call_that_counts_as_no_step() -> None:
    state = state_of(HOTEL, TRAIN)
    action = action_of(state)
    assert (action.branch, action.path, action.activity) == (COMPENSATE, "seat.leg[1].train.compensate", "note")
    assert (action.is_step, action.tool, action.known) == (False, PREPARED.tools["note"], None)
    assert isinstance(action.call, StepCall)
    assert (action.call.binding, action.call.earlier, action.call.timeout) == (None, None, 2)
    assert PLAN.next(state.branch(COMPENSATE, path=action.path), NOW) == Act(), "one after the other"


def test_what_undoes_an_effect_once_knows_what_its_claim_is_bound_to_and_what_was_answered() -> None:
    action = action_of(state_of(HOTEL).branch(COMPENSATE, resumed=RESUMED))
    call = action.call
    assert isinstance(call, StepCall)
    assert (call.binding, call.earlier, call.resumed, call.timeout) == (BINDING, EARLIER, RESUMED, 3)
    assert (call.step.tool, call.step.id, call.arguments) == ("cancel", COMPENSATE, Value(inline={"id": 7}))
    assert (call.tenant, call.task_id, call.session, call.path) == ("t_1", "t", "s", "hotel.compensate")
    assert call.occurred_at == datetime(2026, 1, 1, 12, tzinfo=UTC)
    acting = call.acting
    assert (acting.user, acting.agent, acting.skill, acting.task_skill, acting.date, acting.done) == (
        *("ada", "clerk", "booking", "booking"),
        *(date(2026, 1, 1), 2),
    )


def test_policies_are_asked_for_the_skill_whose_effect_is_undone() -> None:
    train, bus = TRAIN, Compensation(path="seat.bus", tool="note")
    for undoing in (train, bus):
        call = action_of(state_of(undoing)).call
        assert isinstance(call, StepCall)
        assert (call.acting.skill, call.acting.task_skill) == ("journey", "booking")


def test_what_could_not_be_worked_out_is_left_without_a_call() -> None:
    state = state_of(HOTEL, BROKEN)
    action = action_of(state)
    assert (action.branch, action.path, action.activity, action.call) == (COMPENSATE, "plane.compensate", "", None)
    assert action.is_step is False
    assert action.known is not None
    state = PLAN.ended(state, COMPENSATE, action.known)
    assert (state.uncompensated, state.compensated) == (("plane: PRD103 args.id: has no value",), ())
    assert action_of(state).path == "hotel.compensate"


def test_what_became_of_each_is_kept_and_answers_are_of_one_call_alone() -> None:
    state = state_of(BROKEN, HOTEL, TRAIN, HOTEL.changed(path="bus")).branch(COMPENSATE, resumed=RESUMED)
    state = PLAN.ended(state, COMPENSATE, DONE)
    assert (state.compensated, state.branches[COMPENSATE].resumed) == (("bus",), None)
    state = PLAN.ended(state.branch(COMPENSATE, resumed=RESUMED), COMPENSATE, SKIPPED)
    assert (state.uncompensated, state.branches[COMPENSATE].resumed) == (
        ("seat.leg[1].train: it was not permitted",),
        None,
    )
    failed = FailedAttempt(began=NOW)
    state = PLAN.failed(state.branch(COMPENSATE, resumed=RESUMED), COMPENSATE, ActionFailure("x" * 1_000, failed))
    assert state.branches[COMPENSATE].resumed is None
    assert state.uncompensated[1] == f"hotel: {'x' * 298}", "a reason is cut off"
    assert state.compensations == (BROKEN,)
    state = PLAN.ended(state, COMPENSATE, SKIPPED.changed(problem="gone"))
    assert state.uncompensated[2] == "plane: gone"
    assert PLAN.next(state, NOW) == Finish()
    assert (state.compensated, len(state.uncompensated)) == (("bus",), 3)


def test_an_effect_that_a_person_was_asked_about_and_did_not_answer_is_in_doubt() -> None:
    question = Question(id="pay", kind=QuestionKind.UNKNOWN_EFFECT, text="Paid?", answer=choice_of(EffectFate))
    state = TaskState(prepared=PREPARED, started_at=NOW, renewed_at=NOW).doubted("before")
    state = state.branch("one", path="pay", question=question).branch("two", path="send", question=question)
    state = state.branch("three", path="ask", question=question.changed(kind=QuestionKind.APPROVAL)).branch("four")
    begun = PLAN.begin(state)
    assert begun.uncertain == ("before", "pay", "send")
    assert list(begun.branches) == [COMPENSATE]


def test_a_task_that_ends_asks_and_hears_nothing_of_its_own() -> None:
    state = state_of(HOTEL)
    answer = TakenAnswer(question_id="a", value="yes", at=NOW)
    assert PLAN.answered(state, COMPENSATE, answer) is state
    with pytest.raises(ValueError, match="0 messages"):
        PLAN.heard(state, [])
