"""One of two statements that are compared, in the parts in which they are. Pure."""

from collections import Counter
from enum import Enum, auto
from typing import NamedTuple

from perdure.memory.extraction.lexicon import PREPOSITIONS
from perdure.memory.extraction.phrases import Facets, facets_of, stemmed
from perdure.values.assertions import SPEAKERS, Assertion


class Agreement(Enum):
    """How a statement stands to an earlier one."""

    SAME = auto()
    CONTRADICTION = auto()
    LIKELY = auto()
    """A contradiction if they are about the same, which only a statement that says that something changed can tell."""
    APART = auto()


COMPARING = frozenset(["over", "than", "above", "below", "before", "after", "beat", "outrank"])
"""Words of which what stands on their left is not what stands on their right."""
TYPED = frozenset({"clock", "day", "date", "frequency", "money", "duration", "language"})
"""Kinds of phrases of which a thing has one value at a time, however it is said."""
NAMED = {"be", "name"}
"""What is called Boris may be a ram, and who is called Ingrid is Ingrid."""
RUNNING = frozenset({"be", "use"})
"""What a thing runs on, it uses."""
HAVING = frozenset({"consume", "use"})
"""What somebody says who moved to oat milk, of the milk that was had before."""


class Side(NamedTuple):
    """What one of the two statements says."""

    actor: tuple[str, ...]
    """The stems of what it is about, or who does it."""
    verb: str
    words: tuple[str, ...]
    """The stems of all else that it says."""
    facets: Facets
    """The same, by kind."""

    @property
    def said(self) -> Counter[str]:
        """All its words that say something, in no order."""
        passing = PREPOSITIONS - COMPARING - {"from"}
        return Counter(word for word in (*self.actor, *self.words) if word not in passing)

    @property
    def of_speaker(self) -> bool:
        """Whether people say it of themselves."""
        return self.actor[0] in SPEAKERS


def side_of(assertion: Assertion) -> Side:
    """Return what an assertion says, in its parts."""
    person, _, verb = assertion.attribute.partition(" ")
    if person in SPEAKERS and verb:
        topic, value = stemmed(assertion.subject), stemmed(assertion.value)
        facets = facets_of(value)
        if manner := facets.pop("object", None):
            facets["manner"] = manner
        return Side((person,), verb, (*topic, *value), facets_of(topic) | facets)
    words = tuple(stemmed(assertion.value))
    return Side(tuple(stemmed(assertion.subject)), assertion.attribute, words, facets_of(words))


def is_turned(one: Side, other: Side) -> bool:
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
