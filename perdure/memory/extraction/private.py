"""Private data and secrets in items: taken out, or a reason to refuse them, by the write policy. Pure."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from pydantic import JsonValue, ValidationError

from perdure.documents import join
from perdure.errors import InvalidItem
from perdure.identity import stand_in
from perdure.memory.extraction.findings.finding import Kind
from perdure.memory.extraction.findings.remainder import says_something
from perdure.memory.extraction.screening import screen
from perdure.memory.write_policies import Private, WritePolicy
from perdure.memory.writing.behaviour import place_of
from perdure.model import Model
from perdure.values.items import Item
from perdure.values.jobs import UnusableItem
from perdure.values.requests import RememberRequest
from perdure.values.statements import Ground

M = TypeVar("M", bound=Model)

_TEXTS = ("content", "summary", "intent", "payload", "metadata_json")
"""What of an item may hold anything."""

_LISTED = ("names", "relations")
"""Lists of which an entry is left out that holds something: otherwise many memories would be called "[email]"."""

_DERIVED = "assertion"
"""What the content asserts: left out as a whole and stated anew of what is kept, whatever the policy says. The words of
a text in another order look like a password or an address that the text does not hold."""

_LARGEST = 20_000
"""Characters: more than any field may have. A megabyte took 5 s to screen, three times, to be refused (measured)."""

_IDENTITIES = ("key", "speaker", "session", "tags", "scopes")
"""What an item is found by: without a part of it, another one would be found."""


class _Clean(NamedTuple):
    fields: dict[str, Any]
    kinds: tuple[Kind, ...]
    problem: str = ""
    """Why it is refused whatever the policy says; empty: it is not."""
    where: str = ""
    """The field that this is about."""


def screened(item: Item, policy: WritePolicy, before: str = "") -> Item | UnusableItem:
    """Return an item as it may be kept, or why it may not.

    Args:
        item: The item.
        policy: The write policy.
        before: What was said before a turn, see ``screening.screen``.
    """
    if (occurrence := kept_occurrence(item.occurrence, policy)) != item.occurrence:
        item = item.changed(occurrence=occurrence)
    clean = _clean(_given(item.model_dump(mode="json")), policy, before)
    if clean.problem:
        return UnusableItem(reason=f"{clean.where}: {clean.problem}")
    if _keeps(policy, item.kind):
        secrets = _secrets(clean.kinds)
        return UnusableItem(reason=_refusal(secrets)) if secrets else item
    if clean.kinds and _refuses(policy):
        return UnusableItem(reason=_refusal(clean.kinds))
    content = clean.fields.get("content", getattr(item, "content", None))
    if isinstance(content, str) and "[" in content and not says_something(content):
        return UnusableItem(reason="it says nothing besides private data or a secret")
    try:
        return redacted(item, clean.fields)
    except InvalidItem as error:
        return UnusableItem(reason=f"{error.field}: {error.problem} ({error.fix})")


def with_kept_names(request: RememberRequest, policy: WritePolicy) -> RememberRequest:
    """Return a request without private data and secrets in its key, its session and where its parts were observed.

    All of these are only compared, so that a retry counts once: what stands for one does as well.
    """
    names = {"key": kept_name(request.key, policy), "session": kept_name(request.session, policy)}
    items = tuple(_with_kept_occurrence(item, policy) for item in request.items)
    turns = tuple(one.changed(occurrence=kept_occurrence(one.occurrence, policy)) for one in request.turns)
    return request.changed(**names, **({"items": items} if items else {}), **({"turns": turns} if turns else {}))


def _with_kept_occurrence(item: JsonValue, policy: WritePolicy) -> JsonValue:
    if isinstance(item, dict) and isinstance(occurrence := item.get("occurrence"), str):
        return item | {"occurrence": kept_occurrence(occurrence, policy)}
    return item


def kept_name(name: str, policy: WritePolicy) -> str:
    """Return a name as it may be kept: what stands for it, if it holds private data or a secret."""
    return stand_in(name) if screen(name[:_LARGEST], policy.allow).kinds else name


def kept_occurrence(occurrence: str, policy: WritePolicy) -> str:
    """Return the same for where something was observed: the number behind it stays, as statements differ by it."""
    place = place_of(occurrence)
    return kept_name(place, policy) + occurrence[len(place) :]


def redacted(value: M, clean: Mapping[str, Any], path: str = "") -> M:
    """Return a value with some fields as screening left them.

    The words in brackets that stand for findings can be longer than these, so what was at its limit may exceed it.

    Args:
        value: The value as it was given.
        clean: The screened fields, by name.
        path: Where the value stands in what was given; empty for the whole.

    Raises:
        InvalidItem: A screened field is larger than it may be.
    """
    for name, screened in clean.items():
        try:
            value = value.changed(**{name: screened})
        except ValidationError as problem:
            found = problem.errors(include_url=False, include_input=False, include_context=False)[0]
            said = found["msg"].removeprefix("Value error, ")
            said = f"with words such as [email] in place of private data, {said[:1].lower()}{said[1:]}"
            raise InvalidItem(join(path, name), said, fix="shorten it, or leave the private data out") from None
    return value


def screened_json(item: JsonValue, policy: WritePolicy, field: str, before: str = "") -> JsonValue:
    """Return an item as it was written, without private data and secrets: before anything else is looked at.

    Args:
        item: The item.
        policy: The write policy.
        field: Where it stands in what was given.
        before: What was said before a turn, see ``screening.screen``.

    Raises:
        InvalidItem: It holds some where it is found by, or the policy refuses such items.
    """
    if not isinstance(item, dict):
        return item
    given = {name: _cut(value) for name, value in _given(item).items()}
    clean = _clean(given, policy, before)
    if clean.problem:
        fix = "give another one, or name it in allow in the write policy"
        raise InvalidItem(join(field, clean.where), clean.problem, fix=fix)
    if _keeps(policy, item.get("kind")):
        if secrets := _secrets(clean.kinds):
            raise InvalidItem(field, _refusal(secrets))
        return item
    if clean.kinds and _refuses(policy):
        raise InvalidItem(field, _refusal(clean.kinds))
    return item | given | clean.fields


def _keeps(policy: WritePolicy, kind: object) -> bool:
    """Whether private data stay in an item of this kind."""
    return policy.private is Private.KEEP and kind == "record"


def _refuses(policy: WritePolicy) -> bool:
    return policy.private not in {Private.REDACT, Private.KEEP}


def _secrets(kinds: Iterable[Kind]) -> tuple[Kind, ...]:
    return tuple(kind for kind in kinds if kind.ground is Ground.SECRET)


def _cut(value: JsonValue) -> JsonValue:
    """Return a value as it was written; of one that no field may hold, its beginning, which is refused further on."""
    text = value if isinstance(value, str) else json.dumps(value)
    return value if len(text) <= _LARGEST else text[: _LARGEST + 1]


def _given(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: item[name] for name in (*_TEXTS, *_LISTED, _DERIVED, *_IDENTITIES) if name in item}


def _refusal(kinds: Iterable[Kind]) -> str:
    return f"it holds {_listed(kinds)} (the write policy refuses private data and secrets)"


def _listed(kinds: Iterable[Kind]) -> str:
    return ", ".join(kind.value for kind in kinds)


def _clean(given: Mapping[str, JsonValue], policy: WritePolicy, before: str) -> _Clean:
    kinds: dict[Kind, None] = {}
    fields: dict[str, Any] = {}
    for name, value in given.items():
        clean, found = _cleaned(value, policy, before if name == "content" else "")
        if not found:
            continue
        if name == _DERIVED:
            fields[name] = None
            continue
        kinds.update(dict.fromkeys(found))
        if name in _IDENTITIES:
            return _Clean({}, tuple(kinds), f"holds {_listed(found)}, and cannot be kept without", name)
        if name in _LISTED and isinstance(value, list):
            clean = [one for one in value if not _cleaned(one, policy)[1]]
        fields[name] = clean
    return _Clean(fields, tuple(kinds))


def _cleaned(value: JsonValue, policy: WritePolicy, before: str = "") -> tuple[JsonValue, tuple[Kind, ...]]:
    kinds: dict[Kind, None] = {}

    def text(written: str) -> str:
        found = screen(written, policy.allow, before)
        kinds.update(dict.fromkeys(found.kinds))
        return found.text

    def cleaned(value: JsonValue) -> JsonValue:
        match value:
            case str():
                return text(value)
            case list():
                return [cleaned(one) for one in value]
            case dict():
                clean: dict[str, JsonValue] = {}
                for name, one in value.items():
                    named = plain = text(name)
                    # Two names of which nothing else is left stay two.
                    while named in clean:
                        named = f"{plain} {len(clean)}"
                    clean[named] = cleaned(one)
                return clean
            case _:
                return value

    return cleaned(value), tuple(kinds)
