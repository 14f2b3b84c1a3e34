"""What a memory asserts, in parts, so that two of them can be compared. Pure."""

from typing import Annotated

from pydantic import Field

from perdure.model import Passed
from perdure.words import stem

_Part = Annotated[str, Field(max_length=500)]

SPEAKERS = frozenset({"i", "we", "you"})
"""The speaker and the one spoken to: the first word of an attribute says which of them it is about, "i drink"."""

ABOUT_AT_MOST = 1_000
"""Memories about the terms of one batch that are compared with it, the newest. A comparison takes 60 µs: with 100
statements 6 s, which grows with both (measured)."""

SHARING = 20
"""Memories that are looked at for one statement by its rarest words. A choice."""

_AFTER_NOUN = frozenset(
    ["in", "on", "at", "of", "for", "from", "to", "with", "by", "before", "after", "over", "during", "between", "about"]
)

_OUTDOING = frozenset({"beat", "outrank", "trump"})
_COMPARING = frozenset(["over", "than", "above", "below", "before", "after"])


class Assertion(Passed):
    """A statement in parts: "team lead" (subject), "be" (attribute), "wanjiru" (value).

    The extractor normalises parts, so that equal parts mean the same. What people say about themselves has as its
    subject the thing that it is about, if there is one: "coffee", "i drink", "with milk".
    """

    subject: Annotated[_Part, Field(min_length=1)]
    attribute: Annotated[_Part, Field(min_length=1)]
    value: _Part = ""
    negated: bool = False
    """Whether it is denied: a negated value contradicts that value, and no other one."""
    several: bool = False
    """Whether the subject can have several values of the attribute at once, which then do not contradict each other."""
    revises: bool = False
    """Whether its own words say that something has changed: "now", "no longer", "switched to"."""
    former: _Part = ""
    """The value that it says is no longer true: "not at 9"."""
    said: _Part = ""
    """The stems of its sentence, in no order, as one term: it finds the same statement in another word order."""

    @property
    def about(self) -> tuple[str, ...]:
        """Its topics, at their broadest: only assertions that have one of these in common are compared."""
        person = self.attribute.split()[0]
        said = (f"={self.said}",) if self.said else ()
        if self.subject in SPEAKERS:
            return (f"{self.subject} {self.attribute}", *said)
        # "printer 31" and "printer 3" are found by their noun, and distinguished when they are compared.
        whole = self.subject.split()
        end = next((place for place, word in enumerate(whole) if place and word in _AFTER_NOUN), len(whole))
        nouns = [word for word in whole[:end] if not any(character.isdigit() for character in word)] or whole[:end]
        terms = (stem(nouns[-1]), *self._compared(), *said)
        return (*terms, self.attribute) if person in SPEAKERS else terms

    def _compared(self) -> list[str]:
        """Return the nouns that the subject is compared with: "phone", of "better than phone for reaching me"."""
        terms: list[str] = []
        words = [*(["over"] if self.attribute in _OUTDOING else []), *self.value.split()]
        for place, word in enumerate(words):
            if word in _COMPARING:
                after = words[place + 1 :]
                end = next((place for place, word in enumerate(after) if word in _AFTER_NOUN), len(after))
                terms += [stem(after[end - 1])] if end else []
        return terms
