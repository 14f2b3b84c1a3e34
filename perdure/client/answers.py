"""Reading what a memory service answers, whatever it calls the list that was asked for. Pure.

Services of this kind differ in little but names, and one of them changes its own. What an answer lacks is filled in;
what is no answer at all is refused.
"""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from pydantic import JsonValue, TypeAdapter, ValidationError

from perdure.identity import digest
from perdure.memory.recall.query import FoundBy, RecalledItem, RecallResult
from perdure.model import Instant
from perdure.refusals import AnswerUnusable
from perdure.tolerance import taken_back
from perdure.values.entries import EntryKind

LIST_KEYS = ("entries", "evidence", "results", "items", "records", "memories", "data")
"""Where the list is, the first of them that there is."""

_TEXTS = ("text", "content", "memory", "summary", "value")
_IDS = ("id", "uuid", "memory_id", "entry_id")
_SCORES = ("score", "similarity", "relevance")
_MOMENTS = ("last_seen", "occurred_at", "updated_at", "created_at", "timestamp", "at")

_instant: TypeAdapter[datetime] = TypeAdapter(Instant)


def listed(answer: object, known: str = "") -> tuple[str, list[object]]:
    """Return the key of the list that an answer holds, and the list.

    Args:
        answer: What a service answered: an object with the list, or the list itself, whose key is empty.
        known: Where the list was in its last answer: it is looked for there first.

    Raises:
        AnswerUnusable: There is no list in it.

    >>> listed({"count": 1, "results": ["a"]})
    ('results', ['a'])
    """
    if isinstance(answer, list):
        return "", cast("list[object]", answer)
    if isinstance(answer, dict):
        given = cast("dict[str, object]", answer)
        for key in (known, *LIST_KEYS):
            if isinstance(found := given.get(key), list):
                return key, cast("list[object]", found)
    raise AnswerUnusable(f"the memory service answers without a list under any of: {', '.join(LIST_KEYS)}")


def recalled(answer: object, known: str = "", *, now: datetime) -> tuple[str, RecallResult]:
    """Return the key of the list in an answer to a question, and what was recalled.

    An entry that has another form than this installation's keeps its text, its id and its score; the rest of it is kept
    as it is, among its fields. An entry without any text is its own JSON.

    Args:
        answer: What the service answered.
        known: Where the list was in its last answer.
        now: The moment: when an entry counts as seen that does not say when.

    Raises:
        AnswerUnusable: There is no list in it.
    """
    key, entries = listed(answer, known)
    items = tuple(_item(entry, place, now) for place, entry in enumerate(entries))
    rest = dict(cast("dict[str, object]", answer)) if isinstance(answer, dict) else {}
    rest.pop(key, None)
    plain = "\n".join(f"- {item.text}" for item in items)
    result = RecallResult(items=items, milliseconds=0.0, context=plain)
    # Each field that fits is taken; another service may mean something else by its name.
    for name in RecallResult.model_fields:
        if name in rest and name != "items":
            try:
                result = RecallResult.model_validate({**dict(result), name: _plain(rest[name])})
            except ValidationError:
                continue
    return key, result


def _item(entry: object, place: int, now: datetime) -> RecalledItem:
    try:
        return taken_back(RecalledItem, _plain(entry))
    except ValidationError:
        return _foreign(entry, place, now)


def _foreign(entry: object, place: int, now: datetime) -> RecalledItem:
    given: Mapping[str, object] = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
    told = entry if isinstance(entry, str) else _first(given, _TEXTS, str)
    text = _whole(told or json.dumps(entry, ensure_ascii=False, default=str))
    return RecalledItem(
        id=_whole(str(_first(given, _IDS, (str, int)) or f"remote-{digest('remote/1', place, text)[:24]}")),
        kind=EntryKind.MEMORY,
        text=text,
        payload=_plain(cast("object", entry)),
        found_by=FoundBy.SEMANTIC,
        score=_score(given),
        parts={},
        why="as another service ranks it",
        last_seen=_moment(given) or now,
    )


def _whole(text: str) -> str:
    """Return a text without halves of surrogate pairs, which nothing can store."""
    return text.encode("utf-8", "replace").decode()


def _plain(entry: object) -> JsonValue:
    """Return a value as others can read it too; None: it is none, as with numbers that are none."""
    try:
        return cast("JsonValue", json.loads(_whole(json.dumps(entry, ensure_ascii=False, allow_nan=False))))
    except (ValueError, RecursionError):
        return None


def _score(given: Mapping[str, object]) -> float:
    found = _first(given, _SCORES, (int, float))
    try:
        score = float(found or 0.0)
    except OverflowError:
        return 0.0
    return score if math.isfinite(score) else 0.0


def _first(given: Mapping[str, object], names: tuple[str, ...], kinds: type | tuple[type, ...]) -> Any:
    for name in names:
        value = given.get(name)
        if isinstance(value, kinds) and not isinstance(value, bool) and value != "":
            return value
    return None


def _moment(given: Mapping[str, object]) -> datetime | None:
    for name in _MOMENTS:
        try:
            if (value := given.get(name)) is not None:
                return _instant.validate_python(value).astimezone(UTC)
        except (ValidationError, OverflowError):
            continue
    return None
