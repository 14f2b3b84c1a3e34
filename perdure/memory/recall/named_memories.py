"""The memories that a question names: directly, through a relation, or through what replaced them. Pure.

The candidates are fetched by their labels, a step at a time; nothing that a question does not name is returned.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from perdure.memory.recall.query import FoundBy
from perdure.memory.recall.ranking import Profile, Scored, score_exact
from perdure.memory.retention import RetentionRules
from perdure.values.entries import Memory, State
from perdure.values.labels import label, labels_of, named

_MISSPELT = 0.9
_LINKED = 0.5
"""What is linked comes after all that is named. Both are choices: only their order matters."""

Candidates = Mapping[str, Memory]
"""Memories by id, current or superseded."""


class Links(NamedTuple):
    """Where the next candidates are found."""

    labels: Sequence[str]
    """What relations of the named memories lead to."""
    linked: Sequence[str]
    """What relations that lead to the named memories are written with."""


class NamedMemory(NamedTuple):
    """A memory that a question leads to."""

    scored: Scored
    found_by: FoundBy
    why: str


def directly(text: str, candidates: Candidates) -> dict[str, bool]:
    """Return the memories that a question names, and whether it spells their names right."""
    names = named(text, _known(candidates))
    found = {memory.id: [names[name] for name in memory.called if name in names] for memory in candidates.values()}
    return {identifier: any(exact) for identifier, exact in found.items() if exact}


def relatives(candidates: Candidates) -> list[str]:
    """Return the ids of memories that replaced these or were replaced by them, and are not candidates yet."""
    around = [identifier for memory in candidates.values() for identifier in (memory.superseded_by, memory.supersedes)]
    return [*dict.fromkeys(identifier for identifier in around if identifier and identifier not in candidates)]


def standing(candidates: Candidates, identifier: str) -> str:
    """Return the id of the memory that holds in place of one: itself, or its last successor; empty: none does."""
    passed: set[str] = set()
    while (memory := candidates.get(identifier)) is not None and identifier not in passed:
        if memory.state is not State.SUPERSEDED:
            return identifier
        passed.add(identifier)
        identifier = memory.superseded_by
    return ""


def links_of(candidates: Candidates, direct: Mapping[str, bool]) -> Links:
    """Return the labels that find what is linked to the named memories, in either direction."""
    standing_ones = {standing(candidates, identifier) for identifier in direct} - {""}
    relations = [relation.to for identifier in standing_ones for relation in candidates[identifier].relations]
    # A link to an old name is a link to the memory with the new one.
    meant = [memory for identifier, memory in candidates.items() if standing(candidates, identifier) in standing_ones]
    names = [name for memory in meant for name in memory.called]
    return Links(labels_of(relations), labels_of(names))


def answered(
    text: str,
    candidates: Candidates,
    direct: Mapping[str, bool],
    *,
    counts: Callable[[Memory], bool],
    now: datetime,
    profile: Profile,
    rules: RetentionRules,
) -> list[NamedMemory]:
    """Return what a question names and what is linked to it, best first.

    Args:
        text: The question.
        candidates: All that was fetched.
        direct: What the question names, see ``directly``.
        counts: Whether a memory is recalled.
        now: The moment at which it must hold.
        profile: The weights of the order.
        rules: How belief decays.
    """
    found: dict[str, tuple[float, FoundBy, str]] = {}
    for identifier, exact in sorted(
        direct.items(), key=lambda pair: (not pair[1], candidates[pair[0]].state is State.SUPERSEDED)
    ):
        heir = standing(candidates, identifier)
        why = "the question names it" if exact else "the question names it, misspelt"
        why = why if heir == identifier else "it replaced what the question names"
        found.setdefault(heir, (1.0 if exact else _MISSPELT, FoundBy.NAMED, why))
    links = links_of(candidates, direct)
    # The target of a relation need not be a memory: the question may name it all the same.
    ends = {*links.linked, *map(label, named(text, _known(candidates)))}
    for memory in candidates.values():
        leads_here = memory.state is State.CURRENT and any(label(one.to) in ends for one in memory.relations)
        if leads_here or {*map(label, memory.called)} & {*links.labels}:
            heir = standing(candidates, memory.id)
            found.setdefault(heir, (_LINKED, FoundBy.LINKED, "a relation links it to what the question names"))
    named_ones = [
        NamedMemory(
            score_exact(candidates[heir], now=now, profile=profile, relevance=relevance, rules=rules), found_by, why
        )
        for heir, (relevance, found_by, why) in found.items()
        if heir and counts(candidates[heir])
    ]
    return sorted(named_ones, key=lambda one: _order(one, now))


def _known(candidates: Candidates) -> list[str]:
    """Return every name that anything is known by, so that the longest of them that a question says is meant."""
    ends = [relation.to for memory in candidates.values() for relation in memory.relations]
    return [*ends, *(name for memory in candidates.values() for name in memory.called)]


def _order(one: NamedMemory, now: datetime) -> tuple[float, float, str]:
    entry = one.scored.entry
    return -one.scored.score, (now - entry.last_seen).total_seconds(), entry.id
