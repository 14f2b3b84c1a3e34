import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure.agent.steps import step_episodes
from perdure.agent.steps.calls import Acting, Ended, Result, StepCall, Value
from perdure.agent.steps.task_calls import AnnounceCall
from perdure.agent.steps.wait_calls import TakeCall
from perdure.skills.steps import EventStep, ToolStep
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Lane
from perdure.values.episodes import DRAFT, LONGEST, EpisodeKind, importance
from perdure.values.events import TakenEvent
from perdure.values.items import MemoryItem, RecordItem
from perdure.values.questions import Question, QuestionKind, TakenAnswer
from perdure.values.statements import Voice
from perdure.values.steering import GivenFeedback, Heard
from perdure.values.tasks import MemoryMode, StepStatus

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
CALL = StepCall(
    acting=Acting(user="ada", agent="agent", skill="s", task_skill="s", date=NOW.date(), done=0),
    tenant="t_1",
    session="s",
    task_id="t",
    path="a.look",
    occurred_at=NOW,
    step=ToolStep(id="look", tool="look"),
)


def test_what_a_tool_returned_is_not_told() -> None:
    ended = Ended(result=Result(status=StepStatus.DONE, parts={"output": Value(inline={"password": "xyzzy"})}))
    episode = step_episodes.done(CALL, "run", ended, NOW)
    assert (episode.text, episode.is_promotable) == ("a.look: look done", False)
    assert episode.importance == importance(EpisodeKind.TOOL)


def test_insights_are_what_was_learned_and_not_its_payload() -> None:
    common: dict[str, Any] = {"occurrence": "t/a#0", "occurred_at": NOW}
    items = [
        RecordItem(lane=Lane.PATTERN, key="nodeenv", payload={"raw": "xyzzy"}, **common),
        RecordItem(lane=Lane.RECOMMENDATION, key="k", payload=1, summary="Use wheels.", **common),
        RecordItem(lane=Lane.FEEDBACK, key="k", payload=1, **common),
        MemoryItem(content="Deploys happen on Tuesdays.", **common),
    ]
    found = step_episodes.insights(items, NOW)
    assert [one.text for one in found] == ["pattern nodeenv", "Use wheels.", "Deploys happen on Tuesdays."]
    assert {(one.id, one.step, one.kind) for one in found} == {("insight/t/a#0", "", EpisodeKind.INSIGHT)}
    assert not any(one.is_promotable for one in found), "it is on its way to memory"


def test_what_a_result_states_is_the_same_episodes_in_each_attempt_and_waits_for_memory() -> None:
    [one, other] = step_episodes.stated(CALL, "look", "run", ["Rooms are blue.", "Doors are red."], NOW)
    assert (one.id, other.id) == ("run/a.look/stated#0", "run/a.look/stated#1")
    assert (one.said, one.text, one.by) == ("Rooms are blue.", "a.look: look states: Rooms are blue.", Voice.TOOL)
    assert one.is_promotable
    later = NOW + timedelta(minutes=1)
    assert [again.id for again in step_episodes.stated(CALL, "look", "run", ["Rooms are blue."], later)] == [one.id]


def test_an_insight_matters_as_much_as_it_is_believed_unless_its_importance_is_given() -> None:
    common: dict[str, Any] = {"occurrence": "t/a#0", "occurred_at": NOW, "content": "Deploys happen on Tuesdays."}
    judged: list[dict[str, Any]] = [{"confidence": 0.2}, {"confidence": 0.9}, {"confidence": 0.9, "importance": 0.2}]
    low, high, given = step_episodes.insights([MemoryItem(**common, **one) for one in judged], NOW)
    assert low.importance == given.importance < high.importance


@pytest.mark.parametrize(
    ("before", "after", "attempt", "how", "promotable"),
    [
        ({"url": "a", "n": 1}, {"url": "b", "n": 1}, 1, "with another value of url", True),
        ({"url": "a", "n": 1}, {"url": "b", "n": 2}, 1, "with another value of n, url", True),
        ({"url": "a"}, {"url": "a"}, 3, "at attempt 3", False),
        ({"url": "a"}, {"url": "a"}, 1, "when it was tried again later", False),
        ({}, {"url": "a"}, 2, "at attempt 2", False),
    ],
)
def test_how_a_failure_was_resolved(
    before: dict[str, JsonValue], after: dict[str, JsonValue], attempt: int, how: str, promotable: bool
) -> None:
    failure = step_episodes.failed(CALL, "run", "it took longer than 2 s", json.dumps(before) if before else "", NOW)
    assert (failure.id, failure.step) == (step_episodes.failure_id("run", "a.look"), "a.look")
    found = step_episodes.resolved(CALL, "run", failure, attempt=attempt, arguments=json.dumps(after), at=NOW)
    assert found.said == f'look failed with "it took longer than 2 s", and succeeded {how}.'
    assert (found.kind, found.is_promotable) == (EpisodeKind.RESOLUTION, promotable)
    assert not {"a", "b"} & {*found.arguments.values(), *failure.arguments.values()}, "values are not told"


def test_arguments_that_were_shortened_are_compared_as_a_whole() -> None:
    one, other = (step_episodes.digests(f'{{"url": "{letter}…') for letter in "ab")
    assert step_episodes.changes(one, other) == ["its arguments"]
    assert step_episodes.changes(one, one) == []


def test_an_answer_is_a_decision_in_the_words_of_the_person() -> None:
    answer = TakenAnswer(question_id="a", value="Always use wheels.", by="ada", at=NOW)
    found = step_episodes.answered("run", "a", answer, "Which?")
    assert (found.said, found.before) == ("Always use wheels.", "agent: Which?")
    assert found.is_promotable
    long = step_episodes.answered("run", "a", answer.changed(value="x" * (LONGEST + 1)), "Which?")
    assert not long.is_promotable, "what is cut off may say the opposite"


def test_a_persons_word_is_a_decision_of_which_memory_takes_the_reason() -> None:
    kim = Actor(kind=ActorKind.PERSON, id="kim")
    word = GivenFeedback(step="packages[3].look", passed=False, text="Licences are never guessed.", by=kim, at=NOW)
    episode = step_episodes.judged(word, "w1", "run")
    assert (episode.id, episode.kind, episode.step) == ("run/judged/w1", EpisodeKind.DECISION, "packages[3].look")
    assert episode.text == (
        "packages[3].look did not pass: Licences are never guessed. (judged by kim at 2026-05-01 12:00:00 UTC)"
    )
    assert (episode.said, episode.by, episode.is_promotable) == ("Licences are never guessed.", Voice.USER, True)
    assert "kim" not in episode.seen_by("ada").text
    bare = step_episodes.judged(GivenFeedback(passed=True, by=kim, at=NOW), "w2", "run")
    assert bare.text.startswith("the task passed (judged by kim at ")
    assert not bare.is_promotable, "it says nothing to remember"


def test_what_is_left_of_a_long_question_is_its_end() -> None:
    answer = TakenAnswer(question_id="a", value="2958", by="ada", at=NOW)
    question = f"{'The account is locked. ' * 40}"[:768] + "What is your PIN?"
    before = step_episodes.answered("run", "a", answer, question).before
    assert len(before) == DRAFT
    assert before.startswith("agent: ")
    assert before.endswith("What is your PIN?")


@given(st.text(min_size=1, max_size=2_000), st.text(min_size=1, max_size=2_000))
def test_ids_are_bounded_and_apart(one: str, other: str) -> None:
    ids = [step_episodes.failure_id("run", path) for path in (one, other)]
    assert all(len(identifier) <= 300 for identifier in ids)
    assert (ids[0] == ids[1]) == (one == other)


def test_a_question_is_a_turn_of_the_agents_that_no_memory_is_extracted_from() -> None:
    question = Question(id="a.look", kind=QuestionKind.APPROVAL, text="Which licence?")
    call = AnnounceCall(tenant="t_1", session="s", memory=MemoryMode.ON, question=question)
    episode = step_episodes.asked(call, "run", NOW)
    assert (episode.kind, episode.text, episode.at, episode.step) == (EpisodeKind.TURN, "Which licence?", NOW, "a.look")
    assert (episode.by, episode.is_promotable) == (Voice.AGENT, False)
    assert episode.id == step_episodes.question_id("run", "a.look") == "run/a.look/asked"


def test_a_question_that_nobody_answered_is_no_longer_open_and_no_memory_is_extracted_from_it() -> None:
    question = Question(id="a.look#2", kind=QuestionKind.APPROVAL, text="May it look?", otherwise="this call fails")
    call = AnnounceCall(tenant="t_1", session="s", memory=MemoryMode.ON, question=question, lapsed=True)
    episode = step_episodes.lapsed(call, "run", NOW)
    assert (call.asks, call.changed(lapsed=False).asks) == (False, True)
    assert episode.text == 'a.look: nobody answered in time (this call fails): "May it look?"'
    assert (episode.kind, episode.step, episode.at, episode.is_promotable) == (EpisodeKind.ERROR, "a.look", NOW, False)
    assert episode.id == "run/a.look#2/lapsed"


def test_an_answer_belongs_to_the_step_that_asked_and_a_done_step_to_itself() -> None:
    answer = TakenAnswer(question_id="q", value="MIT", at=NOW, by="ada")
    plain = step_episodes.answered("run", "a.look", answer)
    asked = step_episodes.answered("run", "a.look", answer, "Which licence?")
    assert (plain.step, plain.by, plain.before) == ("a.look", Voice.USER, "")
    assert plain.text == "a.look: MIT (answered by ada at 2026-05-01 12:00:00 UTC)"
    nobody = step_episodes.answered("run", "a.look", answer.changed(by="", value={"n": 1}))
    assert plain.importance == importance(EpisodeKind.DECISION, by=Voice.USER)
    assert (nobody.text, nobody.said) == ('a.look: {"n": 1} (answered at 2026-05-01 12:00:00 UTC)', '{"n": 1}')
    assert asked.before == "agent: Which licence?"
    assert step_episodes.done(CALL, "run", Ended(result=Result(status=StepStatus.DONE)), NOW).step == "a.look"


def test_the_digests_and_long_ids_of_episodes_stay_what_they_are_for_ever() -> None:
    """They are compared with those that an earlier release has stored."""
    assert step_episodes.digests('{"path": "a"}') == {"path": "47f773a5a090"}
    assert step_episodes.digests('{"path": "a') == {"": "e16ea251c7c1"}
    assert step_episodes.failure_id("r", "x" * 291) == f"r/{'x' * 291}/failed", (
        "300 characters are no more than it may have"
    )
    assert step_episodes.failure_id("r", "x" * 292) == f"b6eb030df1edd20588d959f5…{'x' * 243}/failed"


KIM = Actor(kind=ActorKind.PERSON, id="kim")
BOT = Actor(kind=ActorKind.AGENT, id="bot")


@pytest.mark.parametrize(("by", "voice", "person"), [(KIM, Voice.USER, "kim"), (BOT, Voice.TOOL, "")])
def test_only_a_person_speaks_for_the_user_and_is_named_for_an_erasure(by: Actor, voice: Voice, person: str) -> None:
    message = Heard(id="m1", text="Use the blue one.", by=by, at=NOW)
    told = step_episodes.heard(message, "run", "Which one?")
    assert (told.id, told.by, told.person, told.said) == ("run/told/m1", voice, person, message.text)
    assert told.text == f"{message.text} (sent by {by.kind.value} {by.id} at 2026-05-01 12:00:00 UTC)"
    assert (told.before, told.is_promotable) == ("agent: Which one?", False)

    turn = step_episodes.said(message, "run", "Which one?")
    assert (turn.id, turn.by, turn.text, turn.before) == ("run/said/m1", voice, message.text, "agent: Which one?")
    assert step_episodes.said(message, "run").before == ""

    call = TakeCall(
        step=EventStep.model_validate({"id": "paid", "wait": {"event": "paid"}}),
        event=TakenEvent(name="paid", value={"amount": "xyzzy"}, by=by, at=NOW),
        tenant=CALL.tenant,
        session=CALL.session,
        task_id=CALL.task_id,
        path="paid",
        occurred_at=NOW,
    )
    came = step_episodes.delivered(call, "run")
    assert (came.id, came.step, came.person, came.at) == ("run/paid/delivered", "paid", person, NOW)
    assert came.text == f"paid: paid (delivered by {by.kind.value} {by.id} at 2026-05-01 12:00:00 UTC)"


def test_what_is_told_without_an_id_is_told_apart_by_its_moment() -> None:
    message = Heard(id="", text="Go on.", by=KIM, at=NOW)
    later = message.changed(at=NOW + timedelta(seconds=1))
    first, second = (step_episodes.heard(one, "run").id for one in (message, later))
    assert first != second
