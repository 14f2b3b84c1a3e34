"""The filters of every query. Pure: builds conditions, sends none."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TypeAlias

from weaviate.classes.query import Filter

# Every condition is one of these; the package has no public name for the type.
from weaviate.collections.classes.filters import _Filters  # pyright: ignore[reportPrivateUsage]

from perdure.entries import Lane, MemoryType, State
from perdure.stores.weaviate.mapping import NEVER, micros

Condition: TypeAlias = _Filters


def state_is(*states: State) -> Condition:
    """In one of these states."""
    return Filter.by_property("state").contains_any([state.value for state in states])


def recallable(*, now: datetime, min_confidence: float = 0.0) -> Condition:
    """Current, still valid, and believed enough."""
    condition = Filter.by_property("state").equal(State.CURRENT.value)
    condition &= Filter.by_property("valid_until").greater_than(micros(now))
    if min_confidence > 0:
        condition &= Filter.by_property("confidence").greater_or_equal(min_confidence)
    return condition


def begun(now: datetime) -> Condition:
    """True from now on at the latest, and not suspended now."""
    moment = micros(now)
    before = Filter.by_property("suspended_from").greater_than(moment)
    after = Filter.by_property("suspended_until").less_or_equal(moment)
    return Filter.by_property("valid_from").less_or_equal(moment) & (before | after)


def about(terms: Sequence[str]) -> Condition:
    """About one of these."""
    return Filter.by_property("about").contains_any(list(terms))


def identified(ids: Sequence[str]) -> Condition:
    """One of these records or memories."""
    return Filter.by_property("identifier").contains_any(list(ids))


def filterable(kind: str) -> Condition:
    """In each of the indexes that recall filters by; which a write that was cut off may leave apart."""
    condition = Filter.by_property("state").like("?*")
    condition &= Filter.by_property("valid_until").greater_or_equal(-NEVER)
    condition &= Filter.by_property("confidence").greater_or_equal(0)
    return condition & Filter.by_property("valid_from").greater_or_equal(-NEVER) if kind == "memory" else condition


def of_keys(lane: Lane, keys: Sequence[str] = ()) -> Condition:
    """In this lane, under one of these keys if there are any."""
    condition = Filter.by_property("lane").equal(lane.value)
    return condition & Filter.by_property("key").contains_any(list(keys)) if keys else condition


def of_types(memory_types: Collection[MemoryType]) -> Condition:
    """Of one of these types."""
    return Filter.by_property("memory_type").contains_any([memory_type.value for memory_type in memory_types])


def overdue(before: datetime) -> Condition:
    """Due to be forgotten before a moment."""
    condition = state_is(State.CURRENT, State.SUPERSEDED)
    return condition & Filter.by_property("forget_after").less_or_equal(micros(before))


def past_purge(before: datetime) -> Condition:
    """Forgotten, and no longer restorable after a moment."""
    return state_is(State.FORGOTTEN) & Filter.by_property("purge_after").less_or_equal(micros(before))
