"""Which items and namespaces LangGraph asks for, decided as its store in memory decides it. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from langgraph.store.base import MatchCondition

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, wanted: value == wanted,
    "$ne": lambda value, wanted: value != wanted,
    "$gt": lambda value, wanted: float(value) > float(wanted),
    "$gte": lambda value, wanted: float(value) >= float(wanted),
    "$lt": lambda value, wanted: float(value) < float(wanted),
    "$lte": lambda value, wanted: float(value) <= float(wanted),
}


def meets(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value has all that a filter wants.

    Raises:
        ValueError: The filter has an operator that there is not, or compares what is no number.
    """
    return all(_equals(value.get(name), one) for name, one in (wanted or {}).items())


def _equals(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        asked = cast("Mapping[str, Any]", wanted)
        if any(name.startswith("$") for name in asked):
            return all(_compared(value, name, one) for name, one in asked.items())
        return isinstance(value, Mapping) and meets(cast("Mapping[str, Any]", value), asked)
    if isinstance(wanted, list | tuple):
        several = cast("Sequence[Any]", wanted)
        if not isinstance(value, list | tuple) or len(cast("Sequence[Any]", value)) != len(several):
            return False
        return all(_equals(*pair) for pair in zip(cast("Sequence[Any]", value), several, strict=True))
    return bool(value == wanted)


def _compared(value: Any, operator: str, wanted: Any) -> bool:
    if operator not in _COMPARISONS:
        raise ValueError(f"Unsupported operator: {operator}")
    return _COMPARISONS[operator](value, wanted)


def selected(
    namespaces: Iterable[tuple[str, ...]],
    conditions: Sequence[MatchCondition],
    depth: int | None,
) -> list[tuple[str, ...]]:
    """Return the namespaces that meet all conditions, cut to a depth, sorted.

    Raises:
        ValueError: A condition is of a kind that there is not.
    """
    found = [one for one in namespaces if all(_matches(one, condition) for condition in conditions)]
    return sorted(found if depth is None else {one[:depth] for one in found})


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", one) for one, wanted in zip(part, path, strict=True))
