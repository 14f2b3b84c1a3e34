"""Whether two statements say the same, contradict each other, or have nothing to do with each other. Pure.

Two things are never taken for one because they are alike: numbers, identifiers and names have to be equal. What
differs has to be the one thing that is said; where anything else differs as well, it is doubtful that both are
about the same.
"""

from collections import Counter
from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from perdure.memory.extraction.lexicon import COLOURS, OPPOSITES, PREPOSITIONS, word_list
from perdure.memory.extraction.phrases import Facets, facets_of, is_identifier, stemmed
from perdure.values.assertions import SPEAKERS, Assertion
from perdure.words import stem


class Agreement(Enum):
    """How a statement stands to an earlier one."""

    SAME = auto()
    CONTRADICTION = auto()
    LIKELY = auto()
    """A contradiction if they are about the same, which only a statement that says that something changed can tell."""
    APART = auto()


_OPPOSED = {Agreement.SAME, Agreement.CONTRADICTION}

_COMPARING = frozenset(["over", "than", "above", "below", "before", "after", "beat", "outrank"])
"""Words of which what stands on their left is not what stands on their right."""
_DIRECTED = frozenset({"from", "to"})
_ONE_WAY = frozenset({"precede", "follow", "replicate", "mirror", "back", "copy"})
"""What one does to another, the other cannot do to it."""
_TYPED = frozenset({"clock", "day", "date", "frequency", "money", "duration", "language"})
_WHEN_AND_WHERE = frozenset({"clock", "day", "date", "frequency", "place"})
_SINGLE = frozenset({"place", "by", "who"})
"""Kinds of phrases of which a thing has one at a time."""
_QUALIFYING = frozenset({"for", "as", "about", "during", "when", "without", "against", "per", *_COMPARING})
"""Kinds of phrases that say of what, rather than what: another one is another thing."""
_CONTRARY = {"before": "after", "after": "before", "with": "without", "without": "with"}
"""Kinds of phrases that say the contrary of the same."""
_REMOTE = frozenset(map(stem, word_list("online remote virtual")))
"""What is held so has no place."""
_WISHES = frozenset({"like", "want", "prefer"})
_HAPPENING = frozenset({"air", "happen", "meet"})
"""What says when or where something is, as "be" does."""
_NAMED = {"be", "name"}
"""What is called Boris may be a ram, and who is called Ingrid is Ingrid."""
_RUNNING = frozenset({"be", "use"})
_HAVING = frozenset({"consume", "use"})
"""What somebody says who moved to oat milk, of the milk that was had before."""
_CHOSEN = frozenset({"prefer", "want", "consume", "use", "order", "book"})
"""What people say of themselves of which, for one purpose, there is one at a time."""
_MUTUAL = frozenset({"be", "have", "share", "meet", "marry", "date", "resemble", "know", "cost", "suit", "fit"})
"""What holds of two the one way round and the other."""
_DONE_TO = frozenset({"change", "end"})
"""What people do to one thing, and to another."""
_ONE_OBJECT = frozenset({"cost", "target", "last", "weigh", "drive", "study", "default", "change", "end"})
_MOVED = ("place", "object", "to", "by", "with", "from")
"""Kinds of phrases that "moved to" may tell a new value of, likeliest first."""
_ADDED = word_list("have sell support include offer serve accept speak know contain exist depend stop visit call fit")
"""What has one of these, has others as well."""
_CIRCUMSTANCES = {
    stem(word): kind
    for kind, words in {
        "department": "sales marketing finance engineering support operations procurement legal hr accounting research",
        "stage": "production staging beta alpha review development maintenance preview draft progress trial",
        "order": "parallel sequence",
        "trade": "liquidation insolvency stock transit demand fashion",
        "health": "diet antibiotics medication treatment pain hospital therapy",
        "absence": "holiday vacation leave sabbatical retirement strike",
        "duty": "call duty charge board",
        "condition": "touch loan probation warranty construction",
        "time": "morning afternoon evening night",
        "season": "spring summer autumn winter",
        "years": "nineties eighties seventies sixties",
        "dwelling": "flat house apartment tower basement",
    }.items()
    for word in word_list(words)
}
"""What a thing can be in, at or on in addition to any place where it is, and to anything of another kind."""
_TITLES = frozenset(map(stem, word_list("dr mr mrs ms prof nurse judge miss sir madam notary coach aunt uncle")))
_EMPTY = frozenset(
    stem(word) for word in ["any", "all", "more", "some", "it", "them", "do", "be", "there", "here", "really"]
)
_OPPOSITES = {stem(one): stem(other) for one, other in OPPOSITES.items()}
_SWITCHED = word_list("on off enabled disabled active inactive open closed up down true false yes no")
_COLOURS = frozenset(map(stem, COLOURS))


class _Frame(NamedTuple):
    actor: tuple[str, ...]
    verb: str
    words: tuple[str, ...]
    facets: Facets


def agreement(old: Assertion, new: Assertion) -> Agreement:
    """Return how a later statement stands to an earlier one; both are somebody's about the same user."""
    found = _agreement(old, new)
    if found in _OPPOSED and {found, _agreement(new, old)} == _OPPOSED:
        # The same one way round and a contradiction the other: undecidable.
        return Agreement.LIKELY
    return found


def _agreement(old: Assertion, new: Assertion) -> Agreement:
    one, other = _frame(old), _frame(new)
    if (old.subject, old.attribute, old.value, old.negated) == (new.subject, new.attribute, new.value, new.negated):
        return Agreement.SAME
    # "Room 1 of house 2" is not "room 2 of house 1".
    is_renumbered = sorted(one.actor) == sorted(other.actor) and _numbered(one) != _numbered(other)
    if is_renumbered or set(old.about).isdisjoint(new.about):
        return Agreement.APART
    if _said(one) == _said(other) and _compatible(one.verb, other.verb):
        return _reordered(old, one, new, other)
    if not _compatible(one.verb, other.verb):
        return Agreement.APART
    same_actor = sorted(one.actor) == sorted(other.actor)
    if not same_actor and not _near(one.actor, other.actor):
        return Agreement.APART
    if _is_switched(old, new):
        found = Agreement.CONTRADICTION
    elif _is_turned(one, other):
        found = Agreement.LIKELY
    else:
        found = _denied(old, one, other) if old.negated != new.negated else _differing(old, one, new, other)
    return Agreement.LIKELY if found is Agreement.CONTRADICTION and not same_actor else found


def _is_switched(old: Assertion, new: Assertion) -> bool:
    """Return whether one says that a thing is on and the other that it is off."""
    if not old.attribute == new.attribute == "be" or old.value == new.value:
        return False
    (one, _, where), (other, _, elsewhere) = old.value.partition(" "), new.value.partition(" ")
    return {one, other} <= _SWITCHED and one != other and where == elsewhere


def _is_turned(one: _Frame, other: _Frame) -> bool:
    """Return whether the two preferences are reversed: one is for A over B, the other for B over A."""
    if one.verb != "prefer" or other.verb != "prefer" or "over" not in one.words or "over" not in other.words:
        return False
    here, there = one.words.index("over"), other.words.index("over")
    first, second = one.words[:here], other.words[:there]
    rest, others = one.words[here + 1 :], other.words[there + 1 :]
    turned = bool(first and second) and rest[: len(second)] == second and others[: len(first)] == first
    # Where each says when it holds, both can, unless that is the same.
    here, there = rest[len(second) :], others[len(first) :]
    return turned and not (here and there and here != there)


def _frame(assertion: Assertion) -> _Frame:
    person, _, verb = assertion.attribute.partition(" ")
    if person in SPEAKERS and verb:
        topic, value = stemmed(assertion.subject), stemmed(assertion.value)
        facets = facets_of(value)
        if manner := facets.pop("object", None):
            facets["manner"] = manner
        return _Frame((person,), verb, (*topic, *value), facets_of(topic) | facets)
    words = tuple(stemmed(assertion.value))
    return _Frame(tuple(stemmed(assertion.subject)), assertion.attribute, words, facets_of(words))


def _said(frame: _Frame) -> Counter[str]:
    return Counter(word for word in (*frame.actor, *frame.words) if word not in PREPOSITIONS - _COMPARING - {"from"})


def _numbered(frame: _Frame) -> list[str]:
    """Return what tells the actor from others of its kind, in its order."""
    return [word for word in frame.actor if is_identifier(word)]


def _reordered(old: Assertion, one: _Frame, new: Assertion, other: _Frame) -> Agreement:
    """Judge two statements of the same words."""
    if old.negated != new.negated:
        return Agreement.CONTRADICTION
    before, after = (*one.actor, one.verb, *one.words), (*other.actor, other.verb, *other.words)
    one_way = one.verb == other.verb in _ONE_WAY
    if _is_done_by_another(one, other):
        return Agreement.CONTRADICTION if new.revises else Agreement.APART
    if before == after or not ((one_way and one.actor != other.actor) or (_COMPARING | _DIRECTED) & {*before}):
        return Agreement.SAME
    in_order = (
        [word for word in before if word not in PREPOSITIONS],
        [word for word in after if word not in PREPOSITIONS],
    )
    if in_order[0] == in_order[1] and not _COMPARING & {*before}:
        return Agreement.SAME
    if one.facets == other.facets and one.actor == other.actor:
        return Agreement.SAME
    return Agreement.CONTRADICTION if one_way or _COMPARING & {*before} else Agreement.APART


def _is_done_by_another(one: _Frame, other: _Frame) -> bool:
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
        or {one, other} == _NAMED
        or "change" in (one, other)
        or {one, other} <= _WISHES
        or {one, other} <= _RUNNING
        or {one, other} <= _HAVING
    )


def _near(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two names of things may be of one, of which one says more."""
    less, more = sorted((set(one), set(other)), key=len)
    return less < more and not less & SPEAKERS and not any(is_identifier(word) for word in more - less)


def _denied(old: Assertion, one: _Frame, other: _Frame) -> Agreement:
    """Judge two statements of which one denies: it contradicts what says all that it denies."""
    denied, stated = (_said(one), _said(other)) if old.negated else (_said(other), _said(one))
    plain = [Counter({word: 1 for word in words if word not in _EMPTY}) for words in (denied, stated)]
    if not plain[0] <= plain[1]:
        return Agreement.APART
    # Who does not eat nuts may eat pine nuts; who works on no Monday works on none at nine either.
    typed = {word for kind in _TYPED for word in (other if old.negated else one).facets.get(kind, ())}
    return Agreement.LIKELY if {*plain[1]} - {*plain[0]} - typed else Agreement.CONTRADICTION


def _differing(old: Assertion, one: _Frame, new: Assertion, other: _Frame) -> Agreement:
    """Judge two statements that both deny, or both do not."""
    former = set(stemmed(new.former))
    if former and former - PREPOSITIONS <= {*one.words, *one.actor} and not new.negated:
        return Agreement.CONTRADICTION
    if old.negated:
        return Agreement.APART
    facets, others = _aligned(one, other)
    shared = facets.keys() & others.keys()
    differing = [kind for kind in shared if not _equal(kind, facets[kind], others[kind])]
    more, less = others.keys() - shared, facets.keys() - shared
    if not differing:
        if more and less:
            contrary = any(facets.get(kind) == others.get(_CONTRARY[kind]) for kind in less & _CONTRARY.keys())
            remote = {*more, *less} == {"object", "place"} and _REMOTE & {*one.words, *other.words}
            alike = one.verb == other.verb and ("object" in shared or one.verb == "cost")
            likely = contrary or remote or alike
            return Agreement.LIKELY if likely else Agreement.APART
        return Agreement.APART if more or less else Agreement.SAME
    if len(differing) > 1:
        changed = new.revises and {*differing} <= _WHEN_AND_WHERE
        return Agreement.CONTRADICTION if changed else Agreement.APART
    [kind] = differing
    if kind == "object":
        found = _of_objects(old, one, new, other, qualified=bool(shared - {"object"}))
    elif kind in _QUALIFYING and "object" in shared:
        # "I earn my living as a beekeeper now"; what is used has many uses.
        living = kind == "as" and new.revises and one.actor[0] in SPEAKERS and one.verb not in _RUNNING
        found = Agreement.LIKELY if living else Agreement.APART
    elif kind in _TYPED:
        found = Agreement.CONTRADICTION
    elif _is_turned(one, other):
        found = Agreement.LIKELY
    else:
        # "Allergic to nuts" and "allergic to wasps" can both be.
        adjective = one.verb == "be" and "object" in shared
        said_of_many = one.actor[0] in SPEAKERS and one.verb not in _CHOSEN - {"consume"}
        several = (old.several or new.several) and (adjective or said_of_many)
        # "On the fourth floor" and "in Ghent" can both be, too.
        elsewhere = kind == "place" and (
            facets[kind][0] != others[kind][0]
            or one.verb in _ADDED
            or _CIRCUMSTANCES.get(facets[kind][-1]) != _CIRCUMSTANCES.get(others[kind][-1])
        )
        # "Works with Slack" and "with Jira", "in Rome" and "in room 4": both can be, unless it says that it changed.
        numbered = [any(map(is_identifier, words[kind])) for words in (facets, others)]
        single = kind in _SINGLE or (kind == "from" and one.verb in ("leave", "come"))
        unlike = not new.revises and (not single or numbered[0] != numbered[1])
        found = Agreement.LIKELY if several or elsewhere or unlike else Agreement.CONTRADICTION
    return Agreement.LIKELY if found is Agreement.CONTRADICTION and (more | less) else found


def _aligned(one: _Frame, other: _Frame) -> tuple[Facets, Facets]:
    """Return what both state by kind, where "moved to" states a new value of whatever was stated before."""
    facets, others = dict(one.facets), dict(other.facets)
    for these, those, verb in ((facets, others, one.verb), (others, facets, other.verb)):
        if verb == "change":
            these.pop("from", None)
            target = these.pop("to", None) or these.pop("into", None)
            if target:
                kind = next((kind for kind in _MOVED if kind in those), "to")
                these[kind] = (those[kind][0], *target) if kind == "place" else target
    return facets, others


def _equal(kind: str, one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if kind == "clock":
        return [_on_the_dial(clock) for clock in one] == [_on_the_dial(clock) for clock in other]
    if kind == "place":
        one, other = one[1:], other[1:]
    plain, others = set(one) - _TITLES, set(other) - _TITLES
    # Who says "a Skoda" after "a grey Skoda" says nothing else.
    return Counter(one) == Counter(other) or (bool(plain) and plain == others) or (kind == "object" and others < plain)


def _are_counts_of_two(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether both state numbers of different things, or one a number and the other something else."""
    counted = [any(is_identifier(word) for word in words) for words in (before, after)]
    if not (before and after and any(counted)):
        return False
    return counted[0] != counted[1] or (before[-1] != after[-1] and not is_identifier(before[-1]))


def _on_the_dial(clock: str) -> tuple[int, str]:
    hour, _, minutes = clock.removeprefix("@").partition(":")
    return int(hour), minutes


def _of_objects(old: Assertion, one: _Frame, new: Assertion, other: _Frame, *, qualified: bool) -> Agreement:
    """Judge what is said in the same way of two things: "is a Skoda" and "is a Volvo"."""
    before, after = one.facets.get("object", ()), other.facets.get("object", ())
    if {one.verb, other.verb} == _NAMED or (not new.revises and _are_counts_of_two(before, after)):
        return Agreement.LIKELY
    alike = bool(before and after) and before[-1] == after[-1]
    if one.verb in _NAMED and one.actor[0] not in SPEAKERS:
        opposed = any(_OPPOSITES.get(word) in after for word in before)
        coloured = bool(_COLOURS & {*before} and _COLOURS & {*after})
        contradicts = opposed or coloured or not (old.several or new.several)
    elif one.actor[0] in SPEAKERS:
        chosen = one.verb in _CHOSEN and (one.verb == other.verb or {one.verb, other.verb} <= _HAVING)
        contradicts = (chosen and (qualified or (alike and one.verb != "consume"))) or (alike and new.revises)
        if (one.verb == "like" or one.verb != other.verb) and not contradicts:
            return Agreement.APART
    else:
        numbers = all(any(is_identifier(word) for word in words) for words in (before, after))
        contradicts = alike or numbers or other.verb == "change"
        # "Supports Python 3.11" and "3.12"; but who has 2 cats has not 3.
        named = numbers and any(is_identifier(words[-1]) for words in (before, after))
        if one.verb in _ADDED and (named or not contradicts):
            return Agreement.APART
    done = one.verb in _DONE_TO and one.actor[0] in SPEAKERS
    return Agreement.CONTRADICTION if contradicts or (one.verb in _ONE_OBJECT and not done) else Agreement.LIKELY
