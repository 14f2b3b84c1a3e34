"""What another build has stored or sent is read, kept and handed on, whatever it knows more than this one."""

import functools
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Literal, cast, get_args, get_origin

import pytest
from annotated_types import Le, Lt, MaxLen
from pydantic import BaseModel, ValidationError
from temporalio.api.common.v1 import Payload
from temporalio.exceptions import ApplicationError

from perdure.agent.preparation import PrepareCall
from perdure.agent.state import Learned, TaskRun
from perdure.agent.steps.calls import RecallTerms, StepContext
from perdure.agent.steps.items import items_of
from perdure.documents import refuse_unknown, validated
from perdure.errors import InvalidInput
from perdure.memory.recall.query import Query
from perdure.model import OpenEnum, Passed, Request, Stored
from perdure.skills.shape import Skill
from perdure.skills.steps import RememberStep
from perdure.skills.templates import RecallTemplate, RecordTemplate
from perdure.stores.journal.lines import Accepted, decode
from perdure.temporal.converter import PerdureConverter
from perdure.tolerance import tolerant
from perdure.values.changes import ActorKind
from perdure.values.holds import Hold
from perdure.values.items import RecordItem
from perdure.values.jobs import Batch
from perdure.values.questions import Answer
from perdure.values.requests import RememberRequest
from perdure.values.updates import Correction
from tests.recorded import samples

TYPES = samples.types_of_builds()
NOW = datetime(2026, 5, 1, tzinfo=UTC)
NEWER = {"from_a_newer_build": {"a": 1}}


def read(name: str) -> dict[str, Any]:
    return json.loads((samples.FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def grown(value: object, written: Any, *, choices: bool) -> Any:
    """Return what a newer build would have written: one field more in each model, one choice more for each enum."""
    match value:
        case BaseModel():
            fields = {name: grown(getattr(value, name), written[name], choices=choices) for name in written}
            return fields | NEWER
        case OpenEnum() if choices:
            return "a choice of a newer build"
        case dict():
            items = cast("dict[Any, Any]", value)
            return {str(key): grown(item, written[str(key)], choices=choices) for key, item in items.items()}
        case list() | tuple():
            pairs = zip(cast("list[Any]", value), written, strict=True)
            return [grown(item, one, choices=choices) for item, one in pairs]
        case _:
            return written


def test_every_type_has_a_sample_and_every_sample_its_type() -> None:
    assert sorted(path.stem for path in samples.FOLDER.glob("*.json")) == sorted(TYPES)


@pytest.mark.parametrize("name", TYPES)
def test_a_sample_is_read_as_it_was_written(name: str) -> None:
    assert TYPES[name].model_validate_json(json.dumps(read(name))).model_dump(mode="json") == read(name)


@pytest.mark.parametrize("name", TYPES)
def test_a_field_and_a_choice_more_are_kept(name: str) -> None:
    known = TYPES[name].model_validate(read(name))
    newer = grown(known, read(name), choices=True)
    found = TYPES[name].model_validate_json(json.dumps(newer))
    assert found.model_dump(mode="json") == newer
    if not getattr(TYPES[name], "by_hand", True):
        return
    with pytest.raises(InvalidInput, match="from_a_newer_build"):
        refuse_unknown(TYPES[name].model_validate_json(json.dumps(grown(known, read(name), choices=False))))


@pytest.mark.parametrize("name", [name for name, one in TYPES.items() if issubclass(one, Stored)])
def test_what_is_stored_carries_its_version(name: str) -> None:
    assert read(name)["format"] >= 1


@pytest.mark.parametrize("kind", OpenEnum.__subclasses__())
def test_each_enumeration_says_what_an_unknown_value_means(kind: type[OpenEnum]) -> None:
    assert "unknown" in (kind.__doc__ or "").lower()


def choices(hint: Any) -> Iterator[Any]:
    """Yield every type in a field's type that allows only some values."""
    if get_origin(hint) is Literal or (isinstance(hint, type) and issubclass(hint, Enum)):
        yield hint
    for part in get_args(hint) if get_origin(hint) is not Literal else ():
        yield from choices(part)


def is_open(choice: Any) -> bool:
    """Return whether a newer build may add a value: one that is alone tells types from one another."""
    return len(get_args(choice)) == 1 if get_origin(choice) is Literal else issubclass(choice, OpenEnum)


def test_no_choice_that_travels_is_closed() -> None:
    fields = [(name, field, info) for name, one in TYPES.items() for field, info in one.model_fields.items()]
    assert len(fields) > 300
    assert [(name, field) for name, field, info in fields for one in choices(info.annotation) if not is_open(one)] == []


def test_a_closed_choice_is_recognised() -> None:
    found = choices(dict[str, tuple[Literal["a", "b"] | None, ...]] | Literal["a"] | ActorKind | Closed)
    assert [is_open(one) for one in found] == [False, True, True, False]


class Closed(Enum):
    A = "a"


class NewerAnswer(Answer):
    channel: str = "web"


def test_a_newer_clients_defaults_are_no_mistake_of_a_person() -> None:
    sent = NewerAnswer(question_id="a", value="yes").model_dump(mode="json")
    refuse_unknown(Answer.model_validate(sent))
    with pytest.raises(InvalidInput, match="channel: is not a field here"):
        refuse_unknown(Answer.model_validate({**sent, "channel": "chat"}))


def test_an_actor_of_a_newer_door_is_taken_as_it_is() -> None:
    by = {"kind": "service", "id": "mcp", "session": "s1"}
    request = RememberRequest.model_validate({"user_id": "ada", "key": "k", "items": [], "by": by})
    refuse_unknown(request)
    assert request.model_dump(mode="json")["by"] == by


def test_a_template_of_a_newer_build_is_filled_in_as_it_was_written() -> None:
    template = RecordTemplate.model_validate({"lane": "audit", "key": "k", "payload": 1})
    context = StepContext(tenant="t_1", session="s", task_id="t", path="a", occurred_at=NOW)
    [item], refused = items_of((template,), {}, context)
    assert refused == ()
    assert isinstance(item.item, RecordItem)
    assert item.item.lane == "audit"
    terms = RecallTerms.model_validate(
        {"text": "x", "lane": "audit", "keys": ("k",), "memory_types": (), "enough": 3, "limit": 5}
    )
    assert Query.of(terms, tenant="t_1", session="s", now=NOW).lane == "audit"


def test_what_a_newer_build_carries_more_of_is_read() -> None:
    assert len(Learned.model_validate({"jobs": ["j"] * 1_000}).jobs) == 1_000


@pytest.mark.parametrize("name", TYPES)
def test_a_sample_is_read_without_bounds_as_with_them(name: str) -> None:
    unbounded: Any = tolerant(TYPES[name])
    assert unbounded._unbounded.validate_json(json.dumps(read(name))) == TYPES[name].model_validate(read(name))


LONG = "a" * 501


def stretched(value: object, written: Any) -> Any:
    """Return what a build with wider bounds would have written: each field is beyond its bound, if it has one."""
    match value:
        case BaseModel():
            found = {name: stretched(getattr(value, name), written[name]) for name in written}
            for name, field in type(value).model_fields.items():
                for bound in field.metadata if found.get(name) is not None else ():
                    found[name] = beyond(bound, found[name])
            return found
        case dict():
            items = cast("dict[Any, Any]", value)
            return {str(key): stretched(item, written[str(key)]) for key, item in items.items()}
        case list() | tuple():
            return [stretched(item, one) for item, one in zip(cast("list[Any]", value), written, strict=True)]
        case _:
            return written


def beyond(bound: object, value: Any) -> Any:
    match bound:
        case MaxLen(most) if isinstance(value, str):
            return "${" + "a" * (most - 1)
        case MaxLen(most) if isinstance(value, list):
            return cast("list[Any]", value) * (most + 1)
        case Le(most) | Lt(most) if isinstance(value, int | float):
            return cast("float", most) + 1
        case _:
            return value


def received(kind: Any, value: object) -> Any:
    """Return a value as a worker of this build reads it from Temporal."""
    payload = Payload(metadata={"encoding": b"json/plain"}, data=json.dumps(value).encode())
    return PerdureConverter().from_payloads([payload], [kind])[0]


# A task is strict until it is prepared.
READ = [name for name, one in TYPES.items() if not issubclass(one, Request) and one is not PrepareCall]


@pytest.mark.parametrize("name", READ)
def test_every_type_is_read_where_all_of_it_is_beyond_this_builds_bounds(name: str) -> None:
    wider = stretched(TYPES[name].model_validate(read(name)), read(name))
    if TYPES[name] is Hold:
        del wider["batch"]["items"][1:]  # A hold is of one memory, in any build.
    assert received(TYPES[name], wider).model_dump(mode="json") == wider


def test_one_item_beyond_bounds_is_read_alone_in_its_batch() -> None:
    [item] = read("Batch")["items"]
    found = received(Batch, {**read("Batch"), "items": [{**item, "summary": LONG}]})
    assert found.items[0].summary == LONG
    with pytest.raises(ApplicationError, match=r"items\[0\]"):
        received(Batch, {**read("Batch"), "items": [{**item, "summary": LONG, "confidence": "high"}]})
    with pytest.raises(ApplicationError, match="key"):
        received(Batch, {**read("Batch"), "key": LONG, "items": []})


@pytest.mark.parametrize(
    "fields",
    [
        {"lane": "feedback", "payload": "yes"},
        {"lane": "feedback", "payload": {"rating": 5}},
        {"lane": "recommendation", "intent": ""},
        {"lane": "pattern", "payload": None},
    ],
    ids=lambda fields: fields["lane"],
)
def test_a_record_that_another_build_took_into_its_lane_is_read_back(fields: dict[str, Any]) -> None:
    [item] = read("Batch")["items"]
    written = {**read("Batch"), "items": [{**item, **fields}]}
    assert received(Batch, written).model_dump(mode="json") == written
    assert decode(json.dumps({**read("Accepted"), "item": written["items"][0]}).encode()) is not None
    template = {"key": "k", "payload": 1} | fields
    step = tolerant(RememberStep).read(json.dumps({"id": "a", "remember": [template]}))
    assert step.remember[0].model_dump(mode="json") | fields == step.remember[0].model_dump(mode="json")
    with pytest.raises(InvalidInput):
        validated(Batch, written, "")


def rolled_over(**changes: Any) -> dict[str, Any]:
    """Return the input of a task's next run, as another build carried it."""
    return {**read("TaskRun"), "goal": "", "chat": False, **changes}


def test_a_rolled_over_task_with_a_step_of_a_newer_kind_is_left_to_that_build() -> None:
    written = rolled_over(from_a_newer_build=1, memory="audited")
    assert received(TaskRun, written).carried is not None
    written["carried"]["prepared"]["skill"]["steps"][0]["kind"] = "quantum"
    with pytest.raises(ValidationError, match="quantum"):
        received(TaskRun, written)
    with pytest.raises(ApplicationError, match="from_a_newer_build: is not a field here"):
        received(TaskRun, {"task_id": "a b", "user_id": "ada", "skill": "s", "from_a_newer_build": 1})


def test_a_rolled_over_task_is_read_beyond_bounds_and_one_that_somebody_starts_is_not() -> None:
    written = rolled_over(limits={"steps": 1_000_000})
    written["carried"]["learned"]["buffer"][0]["item"]["summary"] = LONG
    found = received(TaskRun, written)
    assert found.limits.steps == 1_000_000
    assert found.carried.learned.buffer[0].item.summary == LONG
    started = {"task_id": "t", "user_id": "ada", "skill": "s", "limits": {"steps": 1_000_000}}
    for strict in (started, {**started, "carried": None}):
        with pytest.raises(ApplicationError, match=r"limits\.steps"):
            received(TaskRun, strict)


def test_a_template_beyond_bounds_is_read_among_others() -> None:
    written = read("Skill")
    [step, *_] = written["steps"]
    longer = {**step["remember"][0], "key": "a" * 8_001}
    found = received(Skill, {**written, "steps": [{**step, "remember": [longer]}]})
    assert found.steps[0].remember[0].key == "a" * 8_001


DEEP: Any = functools.reduce(lambda inner, _: [inner], range(150), 1)
BY_VALIDATORS: dict[str, tuple[str, dict[str, Any]]] = {
    "bytes of a payload": ("RecordItem", {"payload": {"a": "x" * 17_000}}),
    "depth of a payload": ("RecordItem", {"payload": DEEP}),
    "bytes of metadata": ("MemoryItem", {"metadata_json": {"a": "x" * 5_000}}),
    "depth of a value": ("TakenEvent", {"value": DEEP}),
    "name of an event": ("EventBox", {"waiting": {"main": "n" * 201}}),
    "name": ("Batch", {"policy": "p" * 81}),
    "owner": ("OfferedItem", {"of": "team:" + "o" * 81}),
    "question": ("RecallRequest", {"text": "q" * 8_001}),
    "wait": ("WaitStep", {"wait": "900d"}),
}


@pytest.mark.parametrize(("name", "fields"), BY_VALIDATORS.values(), ids=BY_VALIDATORS)
def test_what_is_beyond_a_bound_that_a_validator_states_is_read_back(name: str, fields: dict[str, Any]) -> None:
    found = tolerant(TYPES[name]).read(json.dumps(read(name) | fields))
    assert found.model_dump(mode="json") | fields == found.model_dump(mode="json")
    with pytest.raises(InvalidInput, match=next(iter(fields))):
        validated(TYPES[name], read(name) | fields, "")
    with pytest.raises(InvalidInput, match=next(iter(fields))):
        refuse_unknown(tolerant(TYPES[name]).take(read(name) | fields))


def test_what_a_validator_refuses_for_another_reason_is_refused_without_bounds_too() -> None:
    for name, fields in {"Batch": {"policy": "-" + "p" * 81}, "TakenEvent": {"name": "n" * 201 + "\x07"}}.items():
        with pytest.raises(ValidationError):
            tolerant(TYPES[name]).read(json.dumps(read(name) | fields))


def test_what_is_beyond_this_builds_bounds_is_read_back() -> None:
    batch = read("Batch")
    several = batch["items"] * 101
    assert len(tolerant(Batch).read(json.dumps({**batch, "items": several})).items) >= 101
    line = {**read("Accepted"), "item": {**read("RecordItem"), "intent": LONG}}
    found = decode(json.dumps(line).encode())
    assert isinstance(found, Accepted)
    assert isinstance(found.item, RecordItem)
    assert found.item.intent == LONG


def test_what_is_wrong_in_another_way_is_still_refused() -> None:
    with pytest.raises(ValidationError, match="valid array"):
        tolerant(Batch).read(json.dumps({**read("Batch"), "key": LONG, "items": 1}))


def test_a_person_may_not_go_beyond_bounds() -> None:
    batch = tolerant(Batch).take({**read("Batch"), "key": LONG})
    with pytest.raises(InvalidInput, match=r"key: has 501 characters \(write at most 300\)"):
        refuse_unknown(batch)


def test_a_person_may_not_go_beyond_bounds_in_what_is_in_a_list_or_one_of_several_types() -> None:
    change = tolerant(Correction).take({"tags": [], "names": ["a" * 101]})
    with pytest.raises(InvalidInput, match=r"names\[0\]: has 101 characters .write at most 100."):
        refuse_unknown(change)
    recall = tolerant(RecallTemplate).take({"lane": "feedback", "keys": "a" * 8_001})
    with pytest.raises(InvalidInput, match="keys"):
        refuse_unknown(recall)


def test_two_types_of_one_name_are_refused_as_they_would_share_a_sample() -> None:
    class Progress(Passed):
        pass

    # The tests' own types are left out; this one stands for one of the product.
    Progress.__module__ = "perdure.doubled"
    try:
        with pytest.raises(ValueError, match=r"the same name: Progress$"):
            samples.types_of_builds()
    finally:
        Progress.__module__ = __name__
