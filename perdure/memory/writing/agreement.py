"""Whether two statements say the same, contradict each other, or have nothing to do with each other. Pure.

Two things are never taken for one because they are alike: numbers, identifiers and names have to be equal. What
differs has to be the one thing that is said; where anything else differs as well, it is doubtful that both are
about the same.
"""

from collections import Counter
from collections.abc import Sequence

from perdure.memory.extraction.lexicon import PREPOSITIONS, word_list
from perdure.memory.extraction.phrases import is_identifier
from perdure.memory.writing.differences import differing
from perdure.memory.writing.sides import COMPARING, HAVING, NAMED, RUNNING, TYPED, Agreement, Side, is_turned, side_of
from perdure.values.assertions import SPEAKERS, Assertion
from perdure.words import stem

_OPPOSED = {Agreement.SAME, Agreement.CONTRADICTION}
_DIRECTED = frozenset({"from", "to"})
_ONE_WAY = frozenset({"precede", "follow", "replicate", "mirror", "back", "copy", "forward", "feed"})
"""What one does to another, the other cannot do to it."""
_UNTELLING = frozenset({"new", "your"})
"""What says of a thing nothing that tells it from others."""
_DISTINGUISHING = frozenset(
    map(
        stem,
        word_list(
            "old other second first third former previous next spare backup guest work private home weekend test stage"
            " staging production son daughter wife husband mother father brother sister"
        ),
    )
)
"""What is said of one of several."""
_WISHES = frozenset({"like", "want", "prefer"})
_HAPPENING = frozenset({"air", "happen", "meet"})
"""What says when or where something is, as "be" does."""
_MUTUAL = frozenset({"be", "have", "share", "meet", "marry", "date", "resemble", "know", "cost", "suit", "fit"})
"""What holds of two the one way round and the other."""
_EMPTY = frozenset(
    stem(word) for word in ["any", "all", "more", "some", "it", "them", "do", "be", "there", "here", "really"]
)
_SWITCHED = word_list("on off enabled disabled active inactive open closed up down true false yes no")


def agreement(old: Assertion, new: Assertion) -> Agreement:
    """Return how a later statement stands to an earlier one; both are somebody's about the same user."""
    found = _agreement(old, new)
    if found in _OPPOSED and {found, _agreement(new, old)} == _OPPOSED:
        # The same one way round and a contradiction the other: undecidable.
        return Agreement.LIKELY
    return found


def _agreement(old: Assertion, new: Assertion) -> Agreement:
    one, other = side_of(old), side_of(new)
    if (old.subject, old.attribute, old.value, old.negated) == (new.subject, new.attribute, new.value, new.negated):
        return Agreement.SAME
    # "Room 1 of house 2" is not "room 2 of house 1".
    is_renumbered = sorted(one.actor) == sorted(other.actor) and _numbered(one) != _numbered(other)
    if is_renumbered or set(old.about).isdisjoint(new.about):
        return Agreement.APART
    if one.said == other.said and _compatible(one.verb, other.verb):
        return _reordered(old, one, new, other)
    if not _compatible(one.verb, other.verb):
        return Agreement.APART
    same_actor = sorted(one.actor) == sorted(other.actor)
    if not same_actor and not _near(one.actor, other.actor):
        return Agreement.APART
    if _is_switched(old, new):
        found = Agreement.CONTRADICTION
    elif is_turned(one, other):
        found = Agreement.LIKELY
    else:
        found = _denied(old, one, other) if old.negated != new.negated else differing(old, one, new, other)
    return Agreement.LIKELY if found is Agreement.CONTRADICTION and not same_actor else found


def _is_switched(old: Assertion, new: Assertion) -> bool:
    """Return whether one says that a thing is on and the other that it is off."""
    if not old.attribute == new.attribute == "be" or old.value == new.value:
        return False
    (one, _, where), (other, _, elsewhere) = old.value.partition(" "), new.value.partition(" ")
    return {one, other} <= _SWITCHED and one != other and where == elsewhere


def _numbered(frame: Side) -> list[str]:
    """Return what tells the actor from others of its kind, in its order."""
    return [word for word in frame.actor if is_identifier(word)]


def _reordered(old: Assertion, one: Side, new: Assertion, other: Side) -> Agreement:
    """Judge two statements of the same words."""
    if old.negated != new.negated:
        return Agreement.CONTRADICTION
    before, after = (*one.actor, one.verb, *one.words), (*other.actor, other.verb, *other.words)
    if _is_done_by_another(one, other):
        return Agreement.CONTRADICTION if new.revises else Agreement.APART
    if before == after or _is_same_in_order(one, before, other, after):
        return Agreement.SAME
    if _is_of_two(one):
        return Agreement.LIKELY
    one_way = one.verb == other.verb in _ONE_WAY
    return Agreement.CONTRADICTION if one_way or COMPARING & {*before} else Agreement.APART


def _is_same_in_order(one: Side, before: Sequence[str], other: Side, after: Sequence[str]) -> bool:
    """Return whether two statements of the same words say the same although these come in another order."""
    compared = bool(COMPARING & {*before})
    one_way = one.verb == other.verb in _ONE_WAY and one.actor != other.actor
    if _is_of_two(one):
        return False
    if not (one_way or compared):
        # "Ann trains Bo", "Bo trains Ann".
        if one.verb == other.verb not in _MUTUAL and sorted(one.actor) != sorted(other.actor):
            return False
        if not _DIRECTED & {*before}:
            return True
    here, there = ([word for word in words if word not in PREPOSITIONS] for words in (before, after))
    return (here == there and not compared) or (one.facets == other.facets and one.actor == other.actor)


def _is_of_two(frame: Side) -> bool:
    """Return whether one thing is said of one, and another of another: "Mum is 60 and dad is 65"."""
    if COMPARING & {*frame.words}:
        return False
    return bool({"is", "are"} & {*frame.words}) or any(
        frame.words.count(word) > 1 for word in ("in", "on", "at", "for")
    )


def _is_done_by_another(one: Side, other: Side) -> bool:
    """Return whether the speaker does, in one of two statements of the same words, what somebody else does otherwise.

    "My brother drives and I navigate" and "I drive and my brother navigates", unlike "Kim and I share a flat".
    """
    speak = [not SPEAKERS.isdisjoint(frame.actor) for frame in (one, other)]
    return speak[0] != speak[1] and one.verb == other.verb and one.verb not in _MUTUAL


def _compatible(one: str, other: str) -> bool:
    """Return whether two verbs can say the same of a thing."""
    if "quit" in (one, other):
        # Who gave something up may like it still.
        return not {one, other} & {"like", "prefer"}
    if "be" in (one, other) and {one, other} & _HAPPENING:
        return True
    return (
        one == other
        or {one, other} == NAMED
        or "change" in (one, other)
        or {one, other} <= _WISHES
        or {one, other} <= RUNNING
        or {one, other} <= HAVING
    )


def _near(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether a thing that is named with fewer words may be one that was named with more of them.

    Who says more than before means another one: "my bank", "my business bank".
    """
    less, more = set(other) - _UNTELLING, set(one) - _UNTELLING
    added = more - less
    return less <= more and not (less & SPEAKERS or added & _DISTINGUISHING or any(map(is_identifier, added)))


def _denied(old: Assertion, one: Side, other: Side) -> Agreement:
    """Judge two statements of which one denies: it contradicts what says all that it denies."""
    denied, stated = (one.said, other.said) if old.negated else (other.said, one.said)
    plain = [Counter({word: 1 for word in words if word not in _EMPTY}) for words in (denied, stated)]
    if not plain[0] <= plain[1]:
        return Agreement.APART
    # Who does not eat nuts may eat pine nuts; who works on no Monday works on none at nine either.
    typed = {word for kind in TYPED for word in (other if old.negated else one).facets.get(kind, ())}
    return Agreement.LIKELY if {*plain[1]} - {*plain[0]} - typed else Agreement.CONTRADICTION
