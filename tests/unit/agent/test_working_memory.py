"""Working memory: bounded, the newest turns verbatim, the goal and what was noted never lost."""

import json
from datetime import UTC, date, datetime

from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import JsonValue

from activities.reasoning import MOST_CALLS
from perdure.agent.messages import hear
from perdure.agent.prompts import Made, Read, extract, messages
from perdure.agent.steering import MOST_UNREAD
from perdure.agent.steps.calls import Value
from perdure.agent.turns import RESULT_SHOWN, Conversation, ModelTurn, Notes, Returned, WantedCall
from perdure.agent.working_memory import (
    CHARACTERS,
    COMPRESSED_AT,
    CONSTRAINTS_LIMIT,
    LIMIT,
    LONGEST_NOTE,
    NOTES_KEPT,
    NOTES_LIMIT,
    SUMMARY_LIMIT,
    TURNS,
    VERBATIM,
    evicted,
    noted,
    shortened,
    shown,
    size,
    unnotable,
)
from perdure.models.language.conversation import Instruction, Reply, ToolOutput
from perdure.values.changes import Actor, ActorKind
from perdure.values.steering import LONGEST_MESSAGE, TakenMessage

DAY = date(2026, 3, 4)

results = st.lists(st.integers(0, 30_000), max_size=6)

FULL = Notes(done=tuple("d" * LONGEST_NOTE for _ in range(NOTES_LIMIT // LONGEST_NOTE)))


def turn(lengths: list[int], text: str = "") -> ModelTurn:
    calls = tuple(WantedCall(tool="t", digest=str(place)) for place in range(len(lengths)))
    outputs = {str(place): Returned(output=Value(inline="x" * length)) for place, length in enumerate(lengths)}
    seen = len(text) + sum(min(RESULT_SHOWN, length) for length in lengths)
    return ModelTurn(text=Value(inline=text), calls=calls, returned=outputs, size=seen)


def read(one: ModelTurn) -> Read:
    calls = [Made(call.tool, {}, one.returned[str(place)].output.inline, "") for place, call in enumerate(one.calls)]
    return Read(text=str(one.text.inline), calls=calls)


@given(st.lists(results, max_size=12) | st.lists(st.just(list[int]()), min_size=TURNS - 2, max_size=TURNS + 2))
def test_nothing_gives_way_while_there_is_room_and_then_all_but_the_newest_five(shape: list[list[int]]) -> None:
    conversation = Conversation(turns=tuple(map(turn, shape)), begun=len(shape))
    left = evicted(conversation)
    if size(conversation) < COMPRESSED_AT * LIMIT and len(shape) < TURNS:
        assert left == ()
    else:
        assert left == conversation.turns[: max(0, len(shape) - VERBATIM)]


@given(
    st.lists(results | st.lists(st.integers(0, 9_000), max_size=MOST_CALLS), min_size=1, max_size=VERBATIM)
    | st.just([[3_000] * MOST_CALLS] * VERBATIM),
    st.sampled_from([Notes(), FULL]),
)
def test_what_the_model_reads_of_the_newest_turns_stays_within_the_limit(shape: list[list[int]], notes: Notes) -> None:
    conversation = Conversation(turns=tuple(map(turn, shape)), begun=len(shape), notes=notes)
    cap = shown(conversation)
    said = messages("goal", "", Notes(), "", [read(one) for one in conversation.turns], day=DAY, shown=cap)
    outputs = [one for one in said if isinstance(one, ToolOutput)]
    room = LIMIT * CHARACTERS - sum(len(note) for kind in Notes.model_fields for note in getattr(notes, kind))
    # Of hundreds of calls, what says how much is left out comes on top.
    assert sum(len(one.text) for one in outputs) <= max(room, 60 * len(outputs))


@given(results, st.lists(st.integers(1, LONGEST_MESSAGE), max_size=20))
def test_messages_are_shown_whole_where_they_fit_and_stay_within_the_limit_with_the_rest(
    shape: list[int], lengths: list[int]
) -> None:
    at, by = datetime(2026, 3, 4, tzinfo=UTC), Actor(kind=ActorKind.PERSON, id="ada")
    given = [TakenMessage(id=str(n), text="m" * length, by=by, at=at) for n, length in enumerate(lengths)]
    conversation = hear(Conversation(turns=(turn(shape),), begun=1), given)
    [one] = conversation.turns
    texts = [heard.text for heard in one.heard]
    shape_of = read(one)._replace(heard=texts)
    said = messages("goal", "", Notes(), "", [shape_of], day=DAY, shown=shown(conversation))
    seen = [message.text for message in said[1:] if isinstance(message, Instruction | ToolOutput)]
    assert sum(map(len, seen)) <= LIMIT * CHARACTERS + 60 * len(seen)
    if sum(map(len, texts)) + sum(shape) <= LIMIT * CHARACTERS:
        assert seen[len(shape) :] == texts


def test_twenty_long_messages_leave_the_limit_as_it_is() -> None:
    at, by = datetime(2026, 3, 4, tzinfo=UTC), Actor(kind=ActorKind.PERSON, id="ada")
    given = [TakenMessage(id=str(n), text="m" * LONGEST_MESSAGE, by=by, at=at) for n in range(MOST_UNREAD)]
    conversation = hear(Conversation(), given)
    told = Read(text="", calls=[], heard=[one.text for one in conversation.turns[0].heard])
    said = messages("goal", "", Notes(), "", [told], day=DAY, shown=shown(conversation))
    assert sum(len(one.text) for one in said[1:] if isinstance(one, Instruction)) <= LIMIT * CHARACTERS + 60 * 20


def test_long_texts_and_arguments_are_shortened_as_results_are_and_stay_json() -> None:
    file, many = "x" * 100_000, [str(number) for number in range(20_000)]
    arguments: list[JsonValue] = [{"path": "a.txt", "content": file}, {"numbers": list(many)}]
    calls = tuple(
        WantedCall(tool="t", digest=str(place), arguments=Value(inline=one)) for place, one in enumerate(arguments)
    )
    one = ModelTurn(text=Value(inline=file), calls=calls, size=200_000 + len(str(many)))
    conversation = Conversation(turns=(one,) * VERBATIM, begun=VERBATIM)
    shape = Read(text=file, calls=[Made("t", given, "", "") for given in arguments])
    said = messages("goal", "", Notes(), "", [shape] * VERBATIM, day=DAY, shown=shown(conversation))
    assert sum(len(message.model_dump_json()) for message in said) < 1.5 * LIMIT * CHARACTERS
    for reply in [message for message in said if isinstance(message, Reply)]:
        first = json.loads(reply.calls[0].arguments)
        assert first["path"] == "a.txt"
        assert "characters left out" in first["content"]
        assert "characters left out" in json.loads(reply.calls[1].arguments)["arguments"]
        assert "characters left out" in reply.text


@given(st.lists(st.integers(0, 50_000), min_size=1, max_size=40))
@example([7_851, 8_050, 8_050, 8_050])
def test_what_is_shown_of_each_part_fits_and_leaves_little_room_unused(sizes: list[int]) -> None:
    calls = tuple(WantedCall(tool="t", digest=str(n), arguments=Value(size=size)) for n, size in enumerate(sizes))
    conversation = Conversation(turns=(ModelTurn(calls=calls, size=sum(sizes)),), begun=1)
    cap, room = shown(conversation), LIMIT * CHARACTERS
    # So much more is shown where nothing would be saved otherwise.
    taken = sum(min(size, cap + 50) for size in sizes)
    assert taken <= room
    assert cap == RESULT_SHOWN or cap == 200 or taken > 0.9 * room


@given(st.text(max_size=300), st.integers(0, 200))
def test_a_shortened_text_keeps_its_beginning_and_its_end(text: str, limit: int) -> None:
    found = shortened(text, limit)
    if len(text) <= limit + 50:
        assert found == text, "it would be no shorter"
    else:
        half = limit // 2
        assert found.startswith(text[:half])
        assert found.endswith(text[len(text) - half :] if half else "")
        assert f"{len(text) - 2 * half:,} characters" in found
        assert len(found) < len(text)


@given(st.lists(st.tuples(st.sampled_from(list(Notes.model_fields)), st.text(max_size=700)), max_size=60))
def test_notes_are_bounded_and_the_first_constraints_stay(written: list[tuple[str, str]]) -> None:
    notes = Notes()
    for kind, text in written:
        if not unnotable(notes, kind, text):
            notes = noted(notes, kind, text)
    for kind in Notes.model_fields:
        kept = getattr(notes, kind)
        assert len(kept) <= NOTES_KEPT
        assert len(set(kept)) == len(kept)
    assert sum(len(note) for kind in Notes.model_fields for note in getattr(notes, kind)) <= NOTES_LIMIT
    told = (text.strip() for kind, text in written if kind == "constraints" and 0 < len(text.strip()) <= LONGEST_NOTE)
    said, kept = dict.fromkeys(told), list[str]()
    for one in said:
        if len(kept) < NOTES_KEPT and sum(map(len, kept)) + len(one) <= CONSTRAINTS_LIMIT:
            kept.append(one)
    assert list(notes.constraints) == kept


def test_full_notes_leave_room_for_turns() -> None:
    notes = Notes()
    for kind in Notes.model_fields:
        for number in range(NOTES_KEPT):
            if not unnotable(notes, kind, text := f"{number} ".ljust(LONGEST_NOTE, kind[0])):
                notes = noted(notes, kind, text)
    conversation = Conversation(notes=notes, turns=tuple(turn([100]) for _ in range(VERBATIM + 2)), begun=7)
    assert evicted(conversation) == ()
    assert all(getattr(notes, kind) for kind in Notes.model_fields)
    assert notes.next[-1].startswith("19"), "the newest are kept"


def test_what_is_done_is_no_longer_to_come() -> None:
    notes = noted(noted(Notes(), "next", "ask Ada"), "done", "ask Ada")
    assert (notes.next, notes.done) == ((), ("ask Ada",))


def test_the_goal_its_day_and_the_notes_are_in_the_first_message_whatever_gave_way() -> None:
    notes = Notes(constraints=("only read",), decisions=("use B",))
    [first] = messages("Sort it", "<memory>", notes, "did A", [], day=DAY, shown=10)
    assert isinstance(first, Instruction)
    for part in ("Sort it", "2026-03-04 (Wednesday)", "<memory>", "- only read", "- use B", "did A"):
        assert part in first.text


@given(st.text(max_size=3_000), st.lists(st.text(max_size=3_000), max_size=30))
def test_a_summary_without_a_model_is_bounded_and_has_the_newest_turn(before: str, turns: list[str]) -> None:
    found = extract(before, turns, SUMMARY_LIMIT)
    assert len(found) <= SUMMARY_LIMIT
    if turns and (words := turns[-1].split()):
        assert words[0][:100] in found
