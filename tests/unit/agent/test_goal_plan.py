"""The plan of a goal: each call once, mistakes told and counted, budgets kept, and the same through a rollover."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure import Limits
from perdure.agent.goal_plan import MAIN, MISTAKES, REPEATS, GoalPlan, conversation_of
from perdure.agent.offered_skills import OfferedSkill
from perdure.agent.plan import Act, Action, ActionFailure, Finish, beyond
from perdure.agent.preparation import PreparedTask
from perdure.agent.skill_actions import SMALL_INLINE_LIMIT
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.steps.calls import Ended, RecallCall, RememberCall, Result, StepCall, StepContext, Value
from perdure.agent.steps.foreign_calls import ForeignCall, arguments_of, child_of, task_of
from perdure.agent.turns import (
    CallKind,
    Compressed,
    Conversation,
    CorrectCall,
    ModelTurn,
    ReasonCall,
    Reasoned,
    WantedCall,
)
from perdure.model import LONGEST_QUESTION
from perdure.names import Activity
from perdure.skills.steps import MOST_AT_ONCE
from perdure.values.changes import Actor, ActorKind
from perdure.values.steering import TakenMessage
from perdure.values.tasks import MemoryMode, StepStatus

NOW = datetime(2026, 1, 2, 3, tzinfo=UTC)
AGENT: dict[str, Any] = {"name": "a", "tools": ["look", "send"], "approve": ["send"], "turns": 50}


def plan_of(
    memory: MemoryMode = MemoryMode.OFF, *, limits: Limits | None = None, **agent: Any
) -> tuple[GoalPlan, TaskState]:
    prepared = PreparedTask.model_validate(
        {
            "tenant": "t",
            "agent": AGENT | agent,
            "version": "v",
            "tools": {"look": {"effect": "read", "timeout": 1}, "send": {"effect": "once", "timeout": 1}},
            "inputs": {},
            "date": NOW.date(),
            "heartbeat": 4,
        }
    )
    task = TaskRun(task_id="k", user_id="u", goal="Find it", memory=memory, limits=limits or Limits())
    plan = GoalPlan(task, prepared)
    return plan, plan.begin(TaskState(prepared=prepared, started_at=NOW, renewed_at=NOW))


def actions(plan: GoalPlan, state: TaskState) -> tuple[Action, ...]:
    move = plan.next(state, NOW)
    assert isinstance(move, Act), move
    return move.actions


def started(state: TaskState, *begun: Action) -> TaskState:
    for action in begun:
        state = state.branch(action.branch, path=action.path)
    return state


def wanted(tool: str = "look", key: str = "", **more: Any) -> WantedCall:
    return WantedCall(tool=tool, digest=f"{tool}{key}", **more)


def reasoned(plan: GoalPlan, state: TaskState, *calls: WantedCall, text: str = "", **more: Any) -> TaskState:
    """Have the model take a turn."""
    [action] = actions(plan, state)
    assert action.activity == Activity.REASON
    outcome = Reasoned(turn=ModelTurn(text=Value(inline=text), calls=calls, **more), read=100, written=10)
    return ended(plan, started(state, action), action, reasoned=outcome.model_dump(mode="json"))


def ended(plan: GoalPlan, state: TaskState, action: Action, **parts: Any) -> TaskState:
    """Have an action end."""
    result = Result(status=StepStatus.DONE, parts={name: Value(inline=part) for name, part in parts.items()})
    return plan.ended(state.branch(action.branch, path=""), action.branch, action.known or Ended(result=result))


def returned(plan: GoalPlan, state: TaskState) -> TaskState:
    """Have all calls of the last turn end."""
    for action in actions(plan, state):
        state = ended(plan, started(state, action), action, output="found")
    return state


turns = st.lists(st.lists(st.sampled_from(["look", "send", "nothing"]), min_size=1, max_size=4), max_size=6).filter(
    # So many unusable turns in a row would end the task.
    lambda shape: sum({*turn} == {"nothing"} for turn in shape) < MISTAKES
)


@given(turns, st.data())
@settings(max_examples=150)
def test_every_call_is_made_once_in_a_place_of_its_own_through_rollovers(
    shape: list[list[str]], data: st.DataObject
) -> None:
    plan, state = plan_of()
    made: list[str] = []
    for number, tools in enumerate(shape):
        state = reasoned(plan, state, *(wanted(tool, f"{number}.{place}") for place, tool in enumerate(tools)))
        open_calls = list(actions(plan, state))
        state = started(state, *open_calls)
        assert actions(plan, state) == (), "what is on its way is not begun again"
        while open_calls:
            action = open_calls.pop(data.draw(st.integers(0, len(open_calls) - 1)))
            if action.activity:
                made.append(f"{action.path} {action.activity}")
            state = ended(plan, state, action, output="x")
            state = TaskState.model_validate_json(state.model_dump_json())
        assert set(state.branches) == {MAIN}
    expected = [
        f"turn[{number + 1}].call[{place}] {tool}"
        for number, tools in enumerate(shape)
        for place, tool in enumerate(tools)
        if tool != "nothing"
    ]
    assert sorted(made) == sorted(expected)
    state = reasoned(plan, state, text="done")
    move = plan.next(state, NOW)
    assert isinstance(move, Finish)
    assert move.evaluation is not None
    assert move.evaluation.scope.inputs == {"answer": Value(inline="done")}
    assert state.tokens == 110 * (len(shape) + 1)


def test_memory_is_asked_for_the_goal_first_and_its_words_are_no_template() -> None:
    plan, state = plan_of(MemoryMode.ON)
    [action] = actions(plan, state)
    assert (action.path, action.activity, action.is_step) == ("retrieve", Activity.RECALL_STEP, False)
    assert action.call is not None
    assert action.call.model_dump()["scope"]["elements"] == {"goal": "Find it"}
    state = ended(plan, started(state, action), action, context="<memory>")
    assert conversation_of(state) == Conversation(recalled=Value(inline="<memory>"))


def test_what_the_model_remembers_is_a_value_and_no_template() -> None:
    plan, state = plan_of(MemoryMode.ON)
    [action] = actions(plan, state)
    state = ended(plan, started(state, action), action, context="")
    text = "${inputs.secret}"
    for value in (Value(inline={"text": text}), Value(ref="kept elsewhere", size=5_000)):
        state = reasoned(plan, state, wanted("remember", str(value.size), arguments=value))
        [action] = actions(plan, state)
        assert isinstance(action.call, RememberCall)
        assert action.call.scope.inputs == {"given": value}
        state = returned(plan, state)


def test_what_the_model_corrects_is_a_value_of_its_own_place() -> None:
    plan, state = plan_of(MemoryMode.ON)
    [action] = actions(plan, state)
    assert isinstance(action.call, RecallCall)
    assert action.call.shows_ids, "what it may correct it is told by its id"
    state = ended(plan, started(state, action), action, context="")
    given = Value(ref="kept elsewhere", size=5_000)
    state = reasoned(plan, state, wanted("correct", "1", arguments=given), wanted("correct", "2", arguments=given))
    calls = actions(plan, state)
    assert [one.activity for one in calls] == [Activity.CORRECT] * 2
    for one in calls:
        assert isinstance(one.call, CorrectCall)
        assert (one.call.path, one.call.arguments, one.is_step) == (one.path, given, True)
    state = plan.failed(
        started(state, *calls).branch(calls[0].branch, path=""), calls[0].branch, ActionFailure("PRD100 no")
    )
    conversation = conversation_of(state)
    assert conversation is not None
    gave = conversation.turns[-1].gave(0)
    assert gave is not None
    assert gave.problem == "PRD100 no", "a refused correction has changed nothing"


def test_a_model_that_may_correct_nothing_is_shown_no_ids() -> None:
    plan, state = plan_of(MemoryMode.READ)
    [retrieving] = actions(plan, state)
    state = ended(plan, started(state, retrieving), retrieving, context="")
    [recalling] = actions(plan, reasoned(plan, state, wanted("recall")))
    for action in (retrieving, recalling):
        assert isinstance(action.call, RecallCall)
        assert not action.call.shows_ids


def test_what_a_task_with_a_date_observes_is_dated_to_it_and_its_model_is_told() -> None:
    day = date(2025, 11, 30)
    prepared = plan_of()[1].prepared.changed(date=day)
    plan = GoalPlan(TaskRun(task_id="k", user_id="u", goal="Find it", date=day), prepared)
    state = plan.begin(TaskState(prepared=prepared, started_at=NOW, renewed_at=NOW))
    [retrieving] = actions(plan, state)
    state = ended(plan, started(state, retrieving), retrieving, context="")
    [reasoning] = actions(plan, state)
    assert isinstance(reasoning.call, ReasonCall)
    assert reasoning.call.date == day
    state = reasoned(plan, state, wanted("look"), wanted("recall"), wanted("remember"))
    for action in (retrieving, reasoning, *actions(plan, state)):
        assert isinstance(action.call, StepContext)
        assert action.call.occurred_at == datetime(2025, 11, 30, 12, tzinfo=UTC)
    assert isinstance(retrieving.call, RecallCall)
    assert retrieving.call.now == NOW, "memory is asked as it is now"


@pytest.mark.parametrize(
    ("mode", "tool"),
    [
        (MemoryMode.OFF, "recall"),
        (MemoryMode.OFF, "correct"),
        (MemoryMode.READ, "remember"),
        (MemoryMode.READ, "correct"),
    ],
)
def test_the_memory_mode_decides_which_memory_tools_there_are(mode: MemoryMode, tool: str) -> None:
    plan, state = plan_of(mode)
    if mode.recalls:
        [action] = actions(plan, state)
        state = ended(plan, started(state, action), action, context="")
    state = reasoned(plan, state, wanted(tool, arguments=Value(inline={"text": "x"})))
    [action] = actions(plan, state)
    assert action.known is not None
    assert action.known.refused == (), "it is no memory that was refused"
    state = ended(plan, started(state, action), action)
    conversation = conversation_of(state)
    assert conversation is not None
    gave = conversation.turns[-1].gave(0)
    assert gave is not None
    assert "there is no tool" in gave.problem
    assert state.done == 0, "what was never called is no step that was done"


def test_a_tool_that_needs_approval_asks_and_the_arguments_are_literal() -> None:
    plan, state = plan_of()
    given = Value(inline={"to": "${inputs.x}"})
    state = reasoned(plan, state, wanted("send", arguments=given), wanted("look", arguments=given))
    send, look = actions(plan, state)
    assert isinstance(send.call, StepCall)
    assert isinstance(look.call, StepCall)
    assert (send.call.step.approve, look.call.step.approve) == ("May send be called?", None)
    assert send.call.arguments == look.call.arguments == given


def test_turns_of_mistakes_alone_end_the_task_and_one_good_turn_begins_the_count_anew() -> None:
    plan, state = plan_of()
    for number in range(MISTAKES - 1):
        state = returned(plan, reasoned(plan, state, wanted("nothing", str(number))))
    state = returned(plan, reasoned(plan, state, wanted("nothing", "x"), wanted("look", "x")))
    for number in range(MISTAKES):
        assert isinstance(plan.next(state, NOW), Act)
        state = (
            reasoned(plan, state, told="Your turn was empty.")
            if number % 2
            else returned(plan, reasoned(plan, state, wanted("nothing", f"again {number}")))
        )
    move = plan.next(state, NOW)
    assert isinstance(move, Finish)
    assert "5 unusable turns in a row" in move.problem


def test_turns_whose_arguments_never_fit_end_the_task_too() -> None:
    plan, state = plan_of()
    for number in range(MISTAKES):
        assert isinstance(plan.next(state, NOW), Act)
        state = reasoned(plan, state, wanted("look", str(number)), wanted("nothing", str(number)))
        look, nothing = actions(plan, state)
        # The control: one that fails otherwise was no mistake.
        state = failed(plan, ended(plan, started(state, nothing), nothing, problem="no"), look, unfit=number > 0)
    assert isinstance(plan.next(state, NOW), Act)
    state = reasoned(plan, state, wanted("look", "once more"))
    [look] = actions(plan, state)
    move = plan.next(failed(plan, state, look, unfit=True), NOW)
    assert isinstance(move, Finish)
    assert "5 unusable turns in a row" in move.problem


def failed(plan: GoalPlan, state: TaskState, action: Action, *, unfit: bool) -> TaskState:
    busy = started(state, action).branch(action.branch, path="")
    return plan.failed(busy, action.branch, ActionFailure("PRD104 no", unfit=unfit))


def test_the_same_calls_again_act_no_more_and_end_the_task() -> None:
    plan, state = plan_of()
    acted = 0
    for number in range(REPEATS + 1):
        state = reasoned(plan, state, wanted("send"), wanted("look"))
        acted += sum(action.activity == "send" for action in actions(plan, state))
        last = conversation_of(state)
        assert last is not None
        assert bool(last.turns[-1].told) is (number >= 2)
        state = returned(plan, state)
    assert acted == 2
    move = plan.next(state, NOW)
    assert isinstance(move, Finish)
    assert "6 times in a row" in move.problem


@pytest.mark.parametrize(
    ("agent", "problem"), [({"turns": 2}, "the 2 turns that agent 'a' may take"), ({"tokens": 220}, "used 220 tokens")]
)
def test_the_bounds_of_the_agent_end_the_task(agent: dict[str, Any], problem: str) -> None:
    plan, state = plan_of(**agent)
    for number in range(2):
        state = returned(plan, reasoned(plan, state, wanted("look", str(number))))
    move = plan.next(state, NOW)
    assert isinstance(move, Finish)
    assert problem in move.problem


@pytest.mark.parametrize(
    ("agent", "limits"),
    [({"turns": 2}, Limits()), ({"tokens": 220}, Limits()), ({}, Limits(tokens=220)), ({}, Limits())],
    ids=["turns", "tokens", "limits.tokens", "control"],
)
@pytest.mark.parametrize("last", ["message", "redirection", "no answer"])
def test_an_answer_stands_where_a_message_came_and_no_turn_is_left(
    agent: dict[str, Any], limits: Limits, last: str
) -> None:
    plan, state = plan_of(limits=limits, **agent)
    state = returned(plan, reasoned(plan, state, wanted("look")))
    state = reasoned(plan, state, text="five", told="Your turn was cut off" if last == "no answer" else "")
    what = {"goal": "Find another"} if last == "redirection" else {"text": "Thanks."}
    message = {"id": "one", "by": Actor(kind=ActorKind.PERSON, id="ada"), "at": NOW, **what}
    heard = plan.heard(state, [TakenMessage.model_validate(message)])
    assert heard is not None
    if not agent and limits == Limits():
        assert [action.path for action in actions(plan, heard)] == ["turn[3]"], "it is read"
        return
    move = plan.next(heard, NOW)
    if last == "message":
        assert isinstance(move, Finish)
        assert move.evaluation is not None
        assert move.evaluation.scope.inputs == {"answer": Value(inline="five")}
    elif isinstance(move, Finish):
        assert move.problem
    else:
        assert beyond(limits, actions(plan, heard)[0], heard), "the task fails with that"


def test_what_the_context_cannot_hold_gives_way_more_and_more_and_then_the_task_ends() -> None:
    plan, state = plan_of()
    for number in range(8):
        state = returned(plan, reasoned(plan, state, wanted("look", str(number))))
    kept: list[int] = []
    for _ in range(3):
        [action] = actions(plan, state)
        if action.activity == Activity.COMPRESS:
            compressed = Compressed(summary=Value(inline="short"), size=5).model_dump(mode="json")
            state = ended(plan, started(state, action), action, compressed=compressed)
            [action] = actions(plan, state)
        conversation = conversation_of(state)
        assert conversation is not None
        kept.append(len(conversation.turns))
        exceeded = Reasoned(kind=CallKind.EXCEEDED).model_dump(mode="json")
        state = ended(plan, started(state, action), action, reasoned=exceeded)
    assert kept == [8, 5, 1]
    move = plan.next(state, NOW)
    assert isinstance(move, Finish)
    assert "longer than it can" in move.problem


def test_a_later_run_stands_where_the_earlier_one_stood_and_counts_anew() -> None:
    plan, state = plan_of(turns=1)
    state = reasoned(plan, state, wanted("look"), wanted("send"))
    [look, _] = actions(plan, state)
    state = ended(plan, started(state, look), look, output="seen")
    stood = conversation_of(state)
    assert stood is not None
    later = state.prepared.changed(position=stood.changed(mistakes=4, repeated=(3,)).model_dump(mode="json"))
    plan = GoalPlan(TaskRun(task_id="k", user_id="u", goal="Find it"), later)
    state = plan.begin(TaskState(prepared=later, started_at=NOW, renewed_at=NOW))
    assert conversation_of(state) == stood
    assert [action.path for action in actions(plan, state)] == ["turn[1].call[1]"]
    assert state.tokens == 110


def test_an_effect_that_may_have_happened_is_told_so_and_the_same_call_is_not_made_again() -> None:
    plan, state = plan_of()
    state = reasoned(plan, state, wanted("send"), wanted("look"))
    send, look = actions(plan, state)
    state = started(state, send, look)
    state = plan.failed(state.branch(send.branch, path=""), send.branch, ActionFailure("PRD110 too large", acted=True))
    state = plan.failed(state.branch(look.branch, path=""), look.branch, ActionFailure("PRD112 raised"))
    conversation = conversation_of(state)
    assert conversation is not None
    told = [conversation.turns[-1].gave(place) for place in range(2)]
    assert ["may have happened" in one.problem for one in told if one] == [True, False]
    again = reasoned(plan, state, wanted("send"), wanted("look", "x"), wanted("send", "other"))
    assert [action.activity for action in actions(plan, again)] == ["", "look", "send"]

    # Nor once the turn in which it failed is shown no more.
    for number in range(9):
        [action] = actions(plan, state)
        if action.activity == Activity.COMPRESS:
            made = Compressed(summary=Value(inline="short"), size=5).model_dump(mode="json")
            state = ended(plan, started(state, action), action, compressed=made)
        state = returned(plan, reasoned(plan, state, wanted("look", f"large {number}"), size=6_000))
    conversation = conversation_of(state)
    assert conversation is not None
    assert all(call.tool != "send" for turn in conversation.turns for call in turn.calls)
    made = Compressed(summary=Value(inline="short"), size=5).model_dump(mode="json")
    [action] = actions(plan, state)
    state = ended(plan, started(state, action), action, compressed=made)
    assert [action.activity for action in actions(plan, reasoned(plan, state, wanted("send")))] == [""]


def test_a_call_that_acts_is_made_once_in_a_turn_and_in_no_more_than_two_turns_in_a_row() -> None:
    plan, state = plan_of()
    made: list[list[str]] = []
    for number in range(4):
        state = reasoned(plan, state, wanted("send"), wanted("send"), wanted("look", str(number)))
        made.append([action.activity for action in actions(plan, state)])
        state = returned(plan, state)
    state = returned(plan, reasoned(plan, state, wanted("look", "between")))
    state = reasoned(plan, state, wanted("send"))
    made.append([action.activity for action in actions(plan, state)])
    assert made == [["send", "", "look"], ["send", "", "look"], ["", "", "look"], ["", "", "look"], ["send"]]


def test_an_answer_that_did_not_end_the_task_is_asked_for_again() -> None:
    plan, state = plan_of()
    state = reasoned(plan, state, text="five")
    assert isinstance(plan.next(state, NOW), Finish)
    stood = conversation_of(state)
    assert stood is not None
    later = state.prepared.changed(position=stood.model_dump(mode="json"))
    plan = GoalPlan(TaskRun(task_id="k", user_id="u", goal="Find it", memory=MemoryMode.OFF), later)
    state = plan.begin(TaskState(prepared=later, started_at=NOW, renewed_at=NOW))
    [again] = actions(plan, state)
    assert again.path == "turn[2]"
    assert isinstance(again.call, ReasonCall)
    assert "Another answer is wanted" in again.call.conversation.turns[0].told


def test_refused_arguments_of_an_effect_may_be_mended() -> None:
    plan, state = plan_of()
    state = reasoned(plan, state, wanted("send"))
    [send] = actions(plan, state)
    state = started(state, send).branch(send.branch, path="")
    state = plan.failed(state, send.branch, ActionFailure("PRD104 to: is missing", acted=False))
    assert [one.activity for one in actions(plan, reasoned(plan, state, wanted("send")))] == ["send"]


def test_no_more_calls_are_on_their_way_than_a_block_may_have() -> None:
    plan, state = plan_of()
    state = reasoned(plan, state, *(wanted("look", str(number)) for number in range(64)))
    first = actions(plan, state)
    assert len(first) == MOST_AT_ONCE
    state = ended(plan, started(state, *first), first[0], output="x")
    [more] = actions(plan, state)
    assert more.path == f"turn[1].call[{MOST_AT_ONCE}]"


@pytest.mark.parametrize("named", ["", "openai:own"])
def test_what_names_no_model_is_asked_of_the_one_that_the_task_is_pinned_to(named: str) -> None:
    plan, state = plan_of(model=named, judge="It is polite.")
    prepared = state.prepared.changed(model="openai:pinned")
    plan = GoalPlan(TaskRun(task_id="k", user_id="u", goal="Find it", memory=MemoryMode.OFF), prepared)
    [turn] = actions(plan, state)
    assert isinstance(turn.call, ReasonCall)
    expected = named or "openai:pinned"
    assert turn.call.agent.model == expected
    move = plan.next(reasoned(plan, state, text="done"), NOW)
    assert isinstance(move, Finish)
    assert move.evaluation is not None
    assert move.evaluation.judge is not None
    assert move.evaluation.judge.model == expected


def test_a_long_goal_is_asked_of_memory_by_its_beginning() -> None:
    plan, state = plan_of(MemoryMode.ON)
    plan = GoalPlan(TaskRun(task_id="k", user_id="u", goal="long " * 4_000), state.prepared)
    [action] = actions(plan, state)
    assert isinstance(action.call, RecallCall)
    assert len(str(action.call.scope.elements["goal"])) == LONGEST_QUESTION


def test_a_constraint_that_cannot_be_kept_whole_is_refused_and_not_cut() -> None:
    plan, state = plan_of()
    for first in range(0, 21, 3):
        rules = [Value(inline={"kind": "constraints", "text": f"rule {first + place}"}) for place in range(3)]
        notes = [wanted("note", f"{first + place}", arguments=given) for place, given in enumerate(rules)]
        state = returned(plan, reasoned(plan, state, *notes, wanted("look", str(first))))
    long = Value(inline={"kind": "decisions", "text": "x" * 501})
    state = reasoned(plan, state, wanted("note", "long", arguments=long))
    conversation = conversation_of(state)
    assert conversation is not None
    assert conversation.notes.constraints == tuple(f"rule {number}" for number in range(20))
    assert conversation.notes.decisions == ()
    gave = [
        turn.gave(place) for turn in conversation.turns for place, call in enumerate(turn.calls) if call.tool == "note"
    ]
    assert [(one and one.output.inline) == "noted" for one in gave[:20]] == [True] * 20
    assert [bool(one and one.problem) for one in gave[20:]] == [True, True]


def test_a_turn_of_an_unknown_kind_is_a_mistake_and_no_answer() -> None:
    plan, state = plan_of()
    [action] = actions(plan, state)
    state = ended(plan, started(state, action), action, reasoned={"kind": "later"})
    assert [one.activity for one in actions(plan, state)] == [Activity.REASON]
    conversation = conversation_of(state)
    assert conversation is not None
    assert conversation.mistakes == 1


def test_large_turns_travel_by_reference() -> None:
    plan, state = plan_of()
    limits: list[int] = []
    for number in range(12):
        calls = [wanted("look", f"{number}.{place}") for place in range(10)]
        state = reasoned(plan, state, *calls, size=10_000)
        begun = actions(plan, state)
        call = begun[0].call
        assert isinstance(call, StepCall)
        limits.append(call.inline_limit)
        for one in begun:
            state = ended(plan, started(state, one), one, output="x" * 7_000)
        [action] = actions(plan, state)
        if action.activity == Activity.COMPRESS:
            compressed = Compressed(summary=Value(inline="short"), size=5).model_dump(mode="json")
            state = ended(plan, started(state, action), action, compressed=compressed)
    assert min(limits) == SMALL_INLINE_LIMIT


def test_messages_wait_until_a_turn_and_its_calls_have_ended() -> None:
    plan, state = plan_of()
    message = TakenMessage(id="one", text="Look again.", by=Actor(kind=ActorKind.PERSON, id="ada"), at=NOW)
    state = reasoned(plan, state, wanted(), wanted(key="2"))
    first, second = actions(plan, state)
    state = ended(plan, started(state, first, second), first, output="found")
    assert plan.heard(state, [message]) is None, "it counts against what a task keeps until then"
    state = ended(plan, state, second, output="found")
    heard = plan.heard(state, [message])
    assert heard is not None
    conversation = conversation_of(heard)
    assert conversation is not None
    assert [one.id for one in conversation.turns[-1].heard] == ["one"]


def test_tokens_of_called_skills_count_against_the_agents_and_through_a_rollover() -> None:
    plan, state = plan_of(tokens=1_000)
    state = reasoned(plan, state, wanted("look"), wanted("send"))
    look, send = actions(plan, state)
    state = started(state, look, send)
    outcome = Ended(result=Result(status=StepStatus.DONE), tokens=400)
    state = plan.ended(state.branch(look.branch, path=""), look.branch, outcome)
    assert state.tokens == 510
    state = plan.failed(state.branch(send.branch, path=""), send.branch, ActionFailure("PRD400 no", tokens=490))
    state = TaskState.model_validate_json(state.model_dump_json())
    assert state.tokens == 1_000
    move = plan.next(state, NOW)
    assert isinstance(move, Finish)
    assert "1,000 tokens" in move.problem


def with_skill(tokens: int, limits: Limits) -> tuple[GoalPlan, TaskState]:
    """Return the plan of an agent that may call a skill."""
    _, state = plan_of(tokens=tokens, skills=["audit"])
    offered = OfferedSkill(name="audit", version="1")
    prepared = state.prepared.changed(offered=(offered,), queue="q")
    plan = GoalPlan(TaskRun(task_id="k", user_id="u", goal="Find it", memory=MemoryMode.OFF, limits=limits), prepared)
    return plan, plan.begin(TaskState(prepared=prepared, started_at=NOW, renewed_at=NOW))


def called(action: Action) -> dict[str, Any]:
    """Return the task that a call of a skill is."""
    assert isinstance(action.call, ForeignCall)
    task = action.call.scope.inputs["task"].inline
    assert isinstance(task, dict)
    return task


def share(action: Action) -> int:
    """Return how many tokens a called skill may use."""
    return TaskRun.model_validate(called(action)).limits.tokens


@pytest.mark.parametrize(("tokens", "limit"), [(1_000, 10_000), (10_000, 1_000)], ids=["agent", "task"])
def test_what_is_left_when_a_skill_is_called_bounds_it_and_is_shared_by_those_of_one_turn(
    tokens: int, limit: int
) -> None:
    plan, state = with_skill(tokens, Limits(tokens=limit, steps=9))
    state = reasoned(plan, state, wanted("look"), wanted("audit", "1"), wanted("nothing"), wanted("audit", "2"))
    look, first, nothing, second = actions(plan, state)
    assert (share(first), share(second)) == (445, 445)
    assert called(first)["limits"]["steps"] == 9
    state = started(state, look, first, nothing, second)
    outcome = Ended(result=Result(status=StepStatus.DONE), tokens=400)
    state = plan.ended(state.branch(first.branch, path=""), first.branch, outcome)
    # As where a person was asked meanwhile, or a later run takes it up.
    [again] = actions(plan, state.branch(second.branch, path=""))
    assert (again.path, share(again)) == (second.path, 490)


def test_a_skill_is_not_called_where_no_tokens_are_left() -> None:
    plan, state = with_skill(110, Limits())
    state = reasoned(plan, state, wanted("audit"), wanted("look"))
    audit, look = actions(plan, state)
    assert (audit.activity, look.activity) == ("", "look")
    assert audit.known is not None
    assert audit.known.result.parts["problem"].inline == "not called: no tokens are left for it"
    move = plan.next(returned(plan, state), NOW)
    assert isinstance(move, Finish)
    assert "may use 110 (tokens)" in move.problem


def test_one_that_has_begun_is_taken_up_again_though_others_have_used_everything() -> None:
    plan, state = with_skill(1_000, Limits())
    state = reasoned(plan, state, wanted("audit"), wanted("look"))
    audit, look = actions(plan, state)
    state = started(state, audit, look)
    outcome = Ended(result=Result(status=StepStatus.DONE), tokens=2_000)
    state = plan.ended(state.branch(look.branch, path=""), look.branch, outcome)
    [again] = actions(plan, state.branch(audit.branch, path=""))
    assert (again.activity, share(again)) == (Activity.BEGIN_CALL, 1)


def test_how_much_a_skill_may_use_changes_nothing_of_what_its_claim_is_for() -> None:
    plan, state = with_skill(1_000, Limits())
    [action] = actions(plan, reasoned(plan, state, wanted("audit", arguments=Value(inline={"lock": "uv.lock"}))))
    call = action.call
    assert isinstance(call, ForeignCall)
    given: dict[str, Any] = {**called(action), "inputs": {"lock": "uv.lock"}}
    one: JsonValue = given
    other: JsonValue = {**given, "limits": {**given["limits"], "tokens": 1}}
    assert arguments_of(call.step, [one]) == arguments_of(call.step, [other]) == {"lock": "uv.lock"}
    assert task_of(call, [one]) == task_of(call, [other]) is not None
    assert child_of(call, "d", [one]) == child_of(call, "d", [other])


def test_only_what_the_model_itself_asks_is_looked_for_in_its_session() -> None:
    plan, state = plan_of(MemoryMode.ON)
    [retrieving] = actions(plan, state)
    state = ended(plan, started(state, retrieving), retrieving, context="")
    [recalling] = actions(plan, reasoned(plan, state, wanted("recall")))
    assert isinstance(retrieving.call, RecallCall)
    assert isinstance(recalling.call, RecallCall)
    assert (retrieving.call.in_session, recalling.call.in_session) == (False, True)
