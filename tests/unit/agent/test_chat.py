"""A conversation: each message counts once and is answered in its order, also after a rollover."""

from datetime import UTC, datetime, timedelta

import pytest

from perdure.agent.chat import EXCHANGES_BYTES, EXCHANGES_KEPT, MOST_WAITING, Chat
from perdure.agent.steps.calls import Value
from perdure.errors import InvalidTask
from perdure.model import json_size
from perdure.values.changes import Actor, ActorKind
from perdure.values.chats import HANDED_ON, ChatBox, ChatEnding, ChatMessage, handed_on_in
from perdure.values.tasks import AgentTask

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ADA = Actor(kind=ActorKind.PERSON, id="ada")
TASK = AgentTask(task_id="c1", user_id="ada", agent="worker", chat=True)


def said(text: str, id_: str = "") -> ChatMessage:
    return ChatMessage(text=text, id=id_ or text, by=ADA)


def rolled(chat: Chat) -> Chat:
    """Return what the next run of the conversation has."""
    return Chat(ChatBox.model_validate_json(chat.box.model_dump_json()))


def answered(*texts: str) -> Chat:
    chat = Chat(ChatBox())
    for text in texts:
        chat.say(said(text), NOW)
        chat.take()
        chat.reply(Value(inline=f"re: {text}"), "", NOW)
    return chat


def refusal(chat: Chat, message: ChatMessage, task: AgentTask = TASK) -> str:
    with pytest.raises(InvalidTask) as caught:
        chat.check(message, task)
    return str(caught.value)


def test_messages_are_answered_one_after_the_other_also_across_a_rollover() -> None:
    chat = Chat(ChatBox())
    chat.say(said("one"), NOW)
    chat.say(said("two"), NOW)
    assert chat.waiting
    assert chat.waiting.text == "one"
    chat.take()
    chat = rolled(chat)
    assert chat.waiting is None, "one at a time"
    assert chat.reply_to("one", "c1", "t") is None
    chat.reply(Value(inline="re: one"), "", NOW)
    assert chat.waiting
    assert chat.waiting.text == "two"
    found = chat.reply_to("one", "c1", "t")
    assert found
    assert (found.text, found.chat, found.tenant) == ("re: one", "c1", "t")


def test_a_known_id_is_taken_once_and_a_reply_is_given_once() -> None:
    chat = answered("one")
    rolled_over = rolled(chat)
    for each in (chat, rolled_over):
        each.check(said("one"), TASK)
        each.say(said("one"), NOW)
        assert each.waiting is None
        each.reply(Value(inline="again"), "", NOW)
        assert [one.text for one in each.box.exchanges] == ["re: one"]
    assert (chat.received, rolled_over.received) == (2, 1)
    assert chat.received_bytes > rolled_over.received_bytes > 0


def test_who_comes_back_reads_the_last_exchanges_and_how_many_there_were_before() -> None:
    chat = answered(*(str(number) for number in range(EXCHANGES_KEPT + 3)))
    chat.say(said("open"), NOW)
    log = chat.log(TASK, "t", NOW)
    assert (len(log.exchanges), log.dropped, log.exchanges[0].message.text) == (EXCHANGES_KEPT, 3, "3")
    assert ([one.text for one in log.open], log.until) == (["open"], None)
    gone = chat.reply_to("0", "c1", "t")
    assert gone
    assert "no longer kept" in gone.problem


def test_long_exchanges_give_way_and_the_newest_stays_in_any_case() -> None:
    chat = Chat(ChatBox())
    for number in range(4):
        chat.say(said(f"{number}"), NOW)
        chat.take()
        chat.reply(Value(inline="x" * (EXCHANGES_BYTES // 3)), "", NOW)
    assert [one.message.text for one in chat.box.exchanges] == ["2", "3"]
    assert sum(json_size(one.model_dump(mode="json")) for one in chat.box.exchanges) <= EXCHANGES_BYTES
    chat.say(said("huge"), NOW)
    chat.take()
    chat.reply(Value(inline="x" * EXCHANGES_BYTES), "", NOW)
    assert [one.message.text for one in chat.box.exchanges] == ["huge"]


def test_a_long_reply_is_named_where_it_is_kept() -> None:
    chat = Chat(ChatBox())
    chat.say(said("one"), NOW)
    chat.take()
    chat.reply(Value(ref="digest", size=9), "", NOW)
    found = chat.reply_to("one", "c1", "t")
    assert found
    assert (found.text, found.ref, found.tenant) == ("", "digest", "t")


def test_it_is_active_when_something_is_said_and_when_it_is_answered() -> None:
    chat = Chat(ChatBox())
    assert chat.active_at is None
    chat.say(said("one"), NOW)
    assert chat.active_at == NOW
    chat.take()
    later = NOW + timedelta(hours=1)
    chat.reply(Value(inline="x"), "", later)
    assert chat.active_at == later
    chat.say(said("one"), later + timedelta(hours=1))
    assert chat.active_at == later, "a duplicate is nothing new"


def test_what_does_not_belong_here_is_refused() -> None:
    chat = answered("one")
    assert "'worker', and not with 'b'" in refusal(chat, said("x").changed(agent="b"))
    assert "another one is open" in refusal(chat, said("x").changed(chat="c0"))
    chat.check(said("x").changed(agent="worker", chat="c1"), TASK)
    goal = AgentTask(task_id="g", user_id="ada", goal="Find out")
    assert "g is no conversation" in refusal(chat, said("x"), goal)
    assert "unknown" in refusal(chat, ChatMessage.model_validate({"text": "x", "unknown": 1}))
    assert "201" in refusal(chat, said("x").changed(by=ADA.changed(id="x" * 201)))


def test_there_is_room_for_some_messages_and_for_duplicates_of_them() -> None:
    chat = answered("one")
    for number in range(MOST_WAITING):
        chat.check(said(f"m{number}"), TASK)
        chat.say(said(f"m{number}"), NOW)
    assert "send it again once one is" in refusal(chat, said("late"))
    chat.check(said("m0"), TASK)


def test_it_ends_once_all_is_answered_and_takes_nothing_new_meanwhile() -> None:
    chat = Chat(ChatBox())
    chat.say(said("one"), NOW)
    ending = ChatEnding(by=ADA)
    chat.check_ending(ending, TASK)
    chat.end(ending)
    assert not chat.is_ended
    assert "is ending (perdure chat" in refusal(chat, said("two"))
    chat.check(said("one"), TASK)
    chat.take()
    assert not rolled(chat).is_ended
    chat.reply(Value(inline="x"), "", NOW)
    assert rolled(chat).is_ended
    chat.close()
    assert "c1 has ended: somebody ended it" in refusal(chat, said("one"))
    with pytest.raises(InvalidTask, match="has ended"):
        chat.check_ending(ending, TASK)


@pytest.mark.parametrize(("problem", "told"), [("", "nobody said anything more"), ("cancelled", "cancelled")])
def test_why_it_has_ended_is_said_and_stays(problem: str, told: str) -> None:
    chat = Chat(ChatBox())
    chat.close(problem)
    chat.close("something else")
    assert chat.closed == told


@pytest.mark.parametrize(
    ("problem", "fix"),
    [
        ("", "nobody said anything more (perdure chat starts a new one)"),
        ("PRD104 agent: unknown", "PRD104 agent: unknown (fix the cause; then perdure chat starts a new one)"),
    ],
)
def test_a_message_without_an_answer_is_told_to_mend_only_what_is_broken(problem: str, fix: str) -> None:
    chat = Chat(ChatBox())
    chat.close(problem)
    assert str(chat.unanswered(TASK)).endswith(f"c1 has ended before it answered: {fix}")


def test_what_a_conversation_has_answered_is_no_new_message_in_the_next_one() -> None:
    chat = answered("one", "two")
    chat.say(said("three"), NOW)
    chat.say(said("four"), NOW)
    chat.take()
    assert chat.handed_on == ("one", "two"), "what was not answered may be said again"
    later = Chat(ChatBox(handled=chat.handed_on))
    later.say(said("two"), NOW)
    assert later.waiting is None
    found = later.reply_to("two", "c2", "t")
    assert found
    assert (found.text, found.problem) == ("", "it was answered, and the reply is no longer kept")
    later.say(said("three"), NOW)
    assert later.waiting
    assert later.handed_on == ("one", "two")


@pytest.mark.parametrize(
    ("memo", "ids"), [(["a", "b"], ("a", "b")), ([1, None], ("1", "None")), ("ab", ()), ({"a": 1}, ()), (None, ())]
)
def test_a_memo_of_others_hands_on_nothing(memo: object, ids: tuple[str, ...]) -> None:
    assert handed_on_in(memo) == ids


def test_as_many_are_handed_on_as_a_memo_may_have() -> None:
    assert len(answered(*map(str, range(HANDED_ON + 5))).handed_on) == HANDED_ON
