"""The plan of a conversation: limits count for each message, and what is beyond them ends one answer in good order."""

from datetime import UTC, datetime
from typing import Any

import pytest

from perdure import Limits
from perdure.agent.chat_plan import ChatPlan
from perdure.agent.goal_plan import GoalPlan, conversation_in
from perdure.agent.plan import Act, Action, Listen, beyond
from perdure.agent.preparation import PreparedTask
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.steps.calls import Ended, Result, Value
from perdure.agent.turns import CompressCall, Compressed, ModelTurn, Reasoned, WantedCall
from perdure.agent.working_memory import size
from perdure.values.changes import Actor, ActorKind
from perdure.values.steering import TakenMessage
from perdure.values.tasks import MemoryMode, StepStatus

NOW = datetime(2026, 1, 2, 3, tzinfo=UTC)
TURN = 110
"""Tokens of each turn of the model here."""


class Chat:
    """A conversation, as its workflow goes through it."""

    def __init__(self, limits: Limits, **agent: Any) -> None:
        self.limits = limits
        shapes = {"look": {"effect": "read", "timeout": 1}}
        prepared = {"tenant": "t", "version": "v", "tools": shapes, "inputs": {}, "date": NOW.date(), "heartbeat": 4}
        self.prepared = PreparedTask.model_validate(prepared | {"agent": {"name": "a", "tools": ["look"], **agent}})
        self.task = TaskRun(task_id="k", user_id="u", chat=True, memory=MemoryMode.OFF, limits=limits)
        self.plan = ChatPlan(self.task, self.prepared)
        self.state = self.plan.begin(TaskState(prepared=self.prepared, started_at=NOW, renewed_at=NOW))

    def says(self, text: str) -> None:
        message = TakenMessage(id=text, text=text, by=Actor(kind=ActorKind.PERSON, id="ada"), at=NOW)
        heard = self.plan.heard(self.state, [message])
        assert heard is not None
        self.state = heard

    def begins(self) -> list[Action]:
        """Begin what the plan wants, as far as the limits allow; return that."""
        move, begun = self.plan.next(self.state, NOW), list[Action]()
        assert isinstance(move, Act), move
        for action in move.actions:
            if problem := beyond(self.limits, action, self.state):
                refused = self.plan.refused(self.state, action.branch, problem)
                assert refused is not None
                self.state = refused
            else:
                self.state = self.state.branch(action.branch, path=action.path)
                begun.append(action)
        # As a later run has it.
        self.state = TaskState.model_validate_json(self.state.model_dump_json())
        return begun

    def ends(self, action: Action, **parts: Any) -> None:
        result = Result(status=StepStatus.DONE, parts={name: Value(inline=part) for name, part in parts.items()})
        self.state = self.plan.ended(self.state.branch(action.branch, path=""), action.branch, Ended(result=result))

    def reasons(self, *keys: str, text: str = "") -> None:
        """Have the model take a turn in which it looks at these."""
        [action] = self.begins()
        calls = tuple(WantedCall(tool="look", digest=key) for key in keys)
        outcome = Reasoned(turn=ModelTurn(text=Value(inline=text), calls=calls), read=TURN - 10, written=10)
        self.ends(action, reasoned=outcome.model_dump(mode="json"))

    def looks(self, *keys: str, output: str = "seen") -> None:
        """Have the model take such a turn, and its calls end."""
        self.reasons(*keys)
        for action in self.begins():
            self.ends(action, output=output)

    def sums_up(self) -> tuple[ModelTurn, ...]:
        """Have the turns give way that have to; return them."""
        [action] = self.begins()
        assert isinstance(action.call, CompressCall), action
        self.ends(action, compressed=Compressed(summary=Value(inline="short"), size=5).model_dump(mode="json"))
        return action.call.turns

    @property
    def listens(self) -> Listen:
        """How it answers."""
        move = self.plan.next(self.state, NOW)
        assert isinstance(move, Listen), move
        return move


def test_calls_beyond_the_steps_of_an_answer_are_not_made_and_it_ends_once_the_others_have() -> None:
    chat = Chat(Limits(steps=2))
    chat.says("Look at three.")
    chat.reasons("one", "two", "three")
    begun = chat.begins()
    assert [one.path for one in begun] == ["turn[1].call[0]", "turn[1].call[1]"]
    for action in begun:
        assert chat.plan.next(chat.state, NOW) == Act(), "what is under way is not left behind"
        assert chat.plan.heard(chat.state, []) is None
        chat.ends(action, output="seen")
    assert chat.listens.problem == "step turn[1].call[2]: this answer may run 2 steps (limits.steps)"
    last = conversation_in(chat.state).last
    assert last is not None
    told = last.gave(2)
    assert told is not None
    assert told.problem == f"not called: {chat.listens.problem}", "its model knows once it is asked again"

    chat.says("And at two others.")
    chat.looks("four", "five")
    chat.reasons(text="Seen.")
    assert (chat.listens.reply.inline, chat.listens.problem) == ("Seen.", "")
    assert chat.state.done == 4


@pytest.mark.parametrize(
    ("limits", "agent", "problem"),
    [
        (Limits(tokens=2 * TURN), {}, f"step turn[9]: this answer has used {2 * TURN} tokens, and may use {2 * TURN}"),
        (Limits(), {"tokens": 2 * TURN}, f"the model used {2 * TURN} tokens, and agent 'a' may use {2 * TURN}"),
        (Limits(), {"turns": 2}, "the model took the 2 turns that agent 'a' may take"),
    ],
    ids=["limits.tokens", "tokens", "turns"],
)
def test_tokens_and_turns_count_from_each_message(limits: Limits, agent: dict[str, Any], problem: str) -> None:
    chat = Chat(limits, **agent)
    for number in range(3):
        chat.says(f"Look {number}.")
        chat.looks(f"a{number}")
        chat.reasons(text="Seen.")
        assert chat.listens.problem == ""
    assert chat.state.tokens == 6 * TURN
    chat.says("Look twice.")
    chat.looks("b")
    chat.looks("c")
    if limits.tokens == 2 * TURN:
        assert chat.begins() == []
    assert problem in chat.listens.problem
    chat.says("And once more.")
    chat.reasons(text="Here again.")
    assert chat.listens.reply.inline == "Here again."


def test_what_was_said_stays_in_view_until_it_is_answered_whatever_gives_way() -> None:
    chat = Chat(Limits())
    chat.says("Hello")
    chat.reasons(text="Hello.")
    chat.says("Compare the five reports.")
    for number in range(5):
        chat.looks(f"report {number}", output="x" * 6_000)
    assert [[one.text for one in turn.heard] for turn in chat.sums_up()] == [["Hello"], ["Compare the five reports."]]
    conversation = conversation_in(chat.state)
    assert conversation.answering is not None
    assert conversation.answering.text == "Compare the five reports."
    assert size(conversation) - size(conversation.changed(answering=None)) == len("Compare the five reports.") // 4
    chat.looks("report 5", output="x" * 6_000)
    assert len(chat.sums_up()) == 1
    assert conversation_in(chat.state).answering == conversation.answering, "whatever gives way after it"

    chat.reasons(text="They agree.")
    chat.says("Thanks.")
    conversation = conversation_in(chat.state)
    assert (conversation.answering, conversation.turns[-1].heard[-1].text) == (None, "Thanks.")


def test_a_run_that_goes_on_from_an_earlier_one_counts_anew() -> None:
    chat = Chat(Limits(tokens=2 * TURN))
    chat.says("Look twice.")
    chat.looks("a")
    chat.looks("b")
    stood = conversation_in(chat.state).model_dump(mode="json")
    later = chat.prepared.changed(position=stood)
    chat.plan = ChatPlan(chat.task, later)
    chat.state = chat.plan.begin(TaskState(prepared=later, started_at=NOW, renewed_at=NOW))
    chat.reasons(text="Seen.")
    assert chat.listens.reply.inline == "Seen."


def test_a_task_with_a_goal_fails_beyond_its_limits() -> None:
    prepared = Chat(Limits()).prepared
    plan = GoalPlan(TaskRun(task_id="k", user_id="u", goal="Find it", memory=MemoryMode.OFF), prepared)
    state = plan.begin(TaskState(prepared=prepared, started_at=NOW, renewed_at=NOW))
    assert plan.refused(state, "main", "it is beyond") is None
