"""What is said to a model between its turns: once in its conversation, until it gives way to a summary."""

from datetime import UTC, datetime

from perdure.agent.messages import HEARD_KEPT, UNANSWERED_KEPT, hear
from perdure.agent.messages import said as said_in_chat
from perdure.agent.prompts import Made, Read, messages, transcript
from perdure.agent.steps.calls import Value
from perdure.agent.turns import Conversation, ModelTurn, Notes
from perdure.agent.working_memory import LIMIT, evicted, shown, size
from perdure.models.language.conversation import Instruction
from perdure.values.changes import Actor, ActorKind
from perdure.values.steering import TakenMessage

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
ADA = Actor(kind=ActorKind.PERSON, id="ada")


def said(text: str = "", identifier: str = "", by: Actor = ADA, **more: object) -> TakenMessage:
    return TakenMessage.model_validate({"id": identifier, "text": text, "by": by, "at": NOW, **more})


def test_a_message_stands_behind_the_last_turn_which_then_is_no_answer() -> None:
    before = Conversation(turns=(ModelTurn(text=Value(inline="done"), size=4),), begun=1, mistakes=2, repeated=(3, 1))
    assert before.turns[0].is_answer
    after = hear(before, [said("Look again.", "one")])
    [turn] = after.turns
    [heard] = turn.heard
    assert heard.text == "A message from a person at 2026-01-02 03:04 UTC:\nLook again."
    assert (heard.by, heard.at, heard.id) == (ADA, NOW, "one")
    assert (turn.is_answer, turn.size, after.begun) == (False, 4 + len(heard.text), 1)
    assert (after.mistakes, after.repeated, after.goal, after.messages) == (0, (), "", ("one",))
    assert "ada" not in heard.text, "the model's provider is not told who it is"


def test_a_message_before_the_first_turn_stands_at_the_beginning() -> None:
    after = hear(Conversation(), [said("First."), said("Second.", by=Actor(kind=ActorKind.SYSTEM))])
    [turn] = after.turns
    assert [one.text.partition(" at ")[0] for one in turn.heard] == [
        "A message from a person",
        "A message from a program",
    ]
    assert (after.begun, turn.is_open, turn.is_answer) == (0, False, False)


def test_a_message_that_is_there_already_changes_nothing() -> None:
    once = hear(Conversation(), [said("First.", "one")])
    assert hear(once, [said("First.", "one")]) is once
    assert len(hear(once, [said("First.", "one"), said("Second.", "two")]).turns[0].heard) == 2
    assert len(hear(once, [said("x"), said("x")]).turns[0].heard) == 3, "without ids, each is one of its own"
    many = hear(once, [said("x", f"m{number}") for number in range(HEARD_KEPT)])
    assert (len(many.messages), many.messages[0]) == (HEARD_KEPT, "m0")


def test_a_redirection_changes_the_goal_adds_constraints_and_asks_memory_again() -> None:
    before = Conversation(recalled=Value(inline="known"), notes=Notes(constraints=("of mine",)))
    constrained = hear(before, [said(constraints=("Touch no docs.",))])
    assert (constrained.goal, constrained.recalled) == ("", before.recalled)
    [given] = constrained.constraints
    assert (given.text, given.by, given.at) == ("Touch no docs.", ADA, NOW)
    goals = [said(goal="Find it"), said(goal="Find that"), said(goal="Find this", constraints=("Be quick.",))]
    after = hear(constrained, goals)
    assert (after.goal, after.recalled) == ("Find this", None)
    assert [one.text for one in after.constraints] == ["Touch no docs.", "Be quick."]
    assert after.notes == before.notes
    [*_, last] = after.turns[-1].heard
    assert last.text.splitlines() == [
        "Redirected by a person at 2026-01-02 03:04 UTC.",
        "Your goal is another one from now on: the one that is given first.",
        "From now on this has to hold: Be quick.",
    ]


def test_the_model_reads_constraints_first_and_messages_behind_their_turn() -> None:
    turns = [Read("Looking.", [Made("look", {}, 1, "")], heard=["A message"]), Read("", [], "odd", ["B", "C"])]
    asked = messages(
        "Find it", "", Notes(constraints=("of mine",)), "", turns, day=NOW.date(), shown=100, constraints=["Be quick."]
    )
    assert isinstance(asked[0], Instruction)
    assert asked[0].text.split("\n\n")[2:] == [
        "Constraints, as you were told:\n- Be quick.",
        "Constraints, as you noted:\n- of mine",
    ]
    assert [one.text for one in asked[3:] if isinstance(one, Instruction)] == ["A message", "odd", "B", "C"]
    assert transcript(turns[0], 1, outputs=True).splitlines() == [
        "turn 1: Looking.",
        "  look({}) gave 1",
        "  A message",
    ]


def test_the_model_reads_what_it_answers_first_where_no_turn_has_it_any_more() -> None:
    [first] = messages("", "", Notes(), "did A", [], day=NOW.date(), shown=100, answering="Compare the reports.")
    assert isinstance(first, Instruction)
    assert first.text.endswith("which you are answering with the turns below:\nCompare the reports.")


def test_what_was_said_counts_in_working_memory_is_never_shortened_and_never_leaves_before_it_was_read() -> None:
    turns = tuple(ModelTurn(text=Value(inline="x" * 4_000), size=4_000) for _ in range(6))
    before = Conversation(turns=turns, begun=6, exceeded=2)
    after = hear(before, [said("y" * 4_000)])
    assert size(after) > size(before) + 1_000
    assert not any(turn.heard for turn in evicted(after))
    assert shown(hear(before.changed(turns=turns[:1]), [said("y" * 4_000) for _ in range(8)])) < 4_000
    constrained = hear(Conversation(), [said(constraints=("z" * 400,))])
    assert size(constrained.changed(turns=())) == 100
    assert LIMIT == 8_000


def test_of_messages_without_an_answer_the_last_ones_stay() -> None:
    conversation = Conversation(turns=(ModelTurn(text=Value(inline="done"), size=4),), begun=1)
    for number in range(500):
        conversation = said_in_chat(conversation, said("Anybody there?", f"m{number}"))
    [turn] = conversation.turns
    assert [one.id for one in turn.heard] == [f"m{number}" for number in range(499 - UNANSWERED_KEPT, 500)]
    assert (turn.size, conversation.message) == (4 + (UNANSWERED_KEPT + 1) * len("Anybody there?"), "m499")


def test_what_is_said_in_a_conversation_is_a_new_aim_and_what_counted_before_begins_anew() -> None:
    before = Conversation(
        turns=(ModelTurn(text=Value(inline="done"), size=4),), begun=7, mistakes=2, repeated=(3, 1), exceeded=1
    )
    after = said_in_chat(before, said("Now the other one.", "two"))
    [heard] = after.turns[-1].heard
    assert (heard.id, heard.text, heard.by, heard.at, heard.sets_aim) == ("two", "Now the other one.", ADA, NOW, True)
    assert (after.message, after.begun_before, after.mistakes, after.repeated, after.exceeded) == ("two", 7, 0, (), 0)
    assert (after.recalled, after.answering) == (None, None)
