"""The filters of every query. Pure: builds conditions, sends none."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import TypeAlias

from weaviate.classes.query import Filter

# Every condition is one of these; the package has no public name for the type.
from weaviate.collections.classes.filters import _Filters  # pyright: ignore[reportPrivateUsage]

from perdure.stores.weaviate.mapping import EVERYWHERE, NEVER, Kind, micros
from perdure.values.entries import Lane, Purpose, State
from perdure.values.filters import Filters

Condition: TypeAlias = _Filters


def state_is(*states: State) -> Condition:
    """In one of these states."""
    return Filter.by_property("state").contains_any([state.value for state in states])


def recallable(*, now: datetime, min_confidence: float = 0.0) -> Condition:
    """Current, still valid, and believed enough."""
    condition = Filter.by_property("state").equal(State.CURRENT.value)
    condition &= Filter.by_property("valid_until").greater_than(micros(now))
    return condition & believed(min_confidence) if min_confidence > 0 else condition


def begun(now: datetime) -> Condition:
    """True from now on at the latest."""
    return Filter.by_property("valid_from").less_or_equal(micros(now))


def about(terms: Sequence[str]) -> Condition:
    """About one of these."""
    return Filter.by_property("about").contains_any(list(terms))


def believed(min_confidence: float) -> Condition:
    """Believed this much."""
    return Filter.by_property("confidence").greater_or_equal(min_confidence)


def meeting(filters: Filters, kind: Kind) -> Condition:
    """Of a kind that the filters cover, and within them: what has no objection in ``Filters``."""
    found = [recallable(now=filters.now, min_confidence=filters.min_confidence)]
    if filters.since:
        found.append(Filter.by_property("last_seen").greater_or_equal(micros(filters.since)))
    if filters.until:
        found.append(Filter.by_property("last_seen").less_than(micros(filters.until)))
    if kind == "memory":
        found += _of_memory(filters)
    elif kind == "record":
        found += [of_keys(filters.lane)] if filters.lane else []
        found += [Filter.by_property("task").equal(filters.task)] if filters.task else []
    return Filter.all_of(found)


def _of_memory(filters: Filters) -> Iterable[Condition]:
    yield begun(filters.now)
    if filters.memory_types:
        yield Filter.by_property("memory_type").contains_any([one.value for one in filters.memory_types])
    if filters.tags:
        yield Filter.by_property("tags").contains_all(list(filters.tags))
    if filters.scopes:
        yield Filter.by_property("scopes").contains_any([*filters.scopes, EVERYWHERE])
    if filters.withheld:
        granted = [one.value for one in Purpose if one not in filters.withheld]
        yield Filter.by_property("purpose").contains_any(granted or [EVERYWHERE])
    if filters.task:
        yield Filter.by_property("task").equal(filters.task) | Filter.by_property("tags").contains_any([filters.task])


def identified(ids: Sequence[str]) -> Condition:
    """One of these records or memories."""
    return Filter.by_property("identifier").contains_any(list(ids))


def beginning(beginning: str) -> Condition:
    """Whose id begins with this, which holds neither of the signs ``*`` and ``?``."""
    return Filter.by_property("identifier").like(f"{beginning}*")


def filterable(kind: str) -> Condition:
    """Return what matches entries that are in every index recall filters by; a write that was cut off may miss some."""
    words, moments = ["state"], ["valid_until", "last_seen", "forget_after", "purge_after"]
    if kind == "record":
        words += ["lane"]
    if kind == "memory":
        words += ["memory_type", "purpose"]
        moments += ["valid_from"]
    found = [Filter.by_property(name).like("?*") for name in words]
    found += [Filter.by_property(name).greater_or_equal(-NEVER) for name in moments]
    return Filter.all_of([*found, Filter.by_property("confidence").greater_or_equal(0)])


def of_keys(lane: Lane, keys: Sequence[str] = ()) -> Condition:
    """In this lane, under one of these keys if there are any."""
    condition = Filter.by_property("lane").equal(lane.value)
    return condition & Filter.by_property("key").contains_any(list(keys)) if keys else condition


def called(*, labels: Collection[str], halves: Collection[str], linked: Collection[str]) -> Condition:
    """Known under one of these labels, perhaps under one with these halves, or linked to one of these labels.

    Current or superseded: the old name of something leads to what replaced it.
    """
    wanted = {"names": labels, "halves": halves, "linked": linked}
    either = [Filter.by_property(name).contains_any(list(values)) for name, values in wanted.items() if values]
    return state_is(State.CURRENT, State.SUPERSEDED) & Filter.any_of(either)


def pinned() -> Condition:
    """Always in the context, unless it was replaced or forgotten."""
    return Filter.by_property("pinned").equal(True) & state_is(State.CURRENT)


def overdue(before: datetime | int) -> Condition:
    """Due to be forgotten before a moment, which may be in microseconds already."""
    condition = state_is(State.CURRENT, State.SUPERSEDED)
    return condition & Filter.by_property("forget_after").less_or_equal(_micros(before))


def dated_otherwise(rules_version: str) -> Condition:
    """Not forgotten, and dated by other rules than these."""
    condition = state_is(State.CURRENT, State.SUPERSEDED)
    return condition & Filter.by_property("rules_version").not_equal(rules_version)


def past_purge(before: datetime | int) -> Condition:
    """Forgotten, and no longer restorable after a moment, which may be in microseconds already."""
    return state_is(State.FORGOTTEN) & Filter.by_property("purge_after").less_or_equal(_micros(before))


def _micros(moment: datetime | int) -> int:
    return moment if isinstance(moment, int) else micros(moment)
