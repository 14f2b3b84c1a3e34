"""What a sentence asserts and when it holds, without a language model, for any subject matter. Pure.

It abstains (no assertion) where it cannot tell subject from verb: such a sentence contradicts nothing, and stands.
It reads English.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import NamedTuple

from perdure.memory.extraction.clauses import Clause, clause_of
from perdure.memory.extraction.comparisons import compared
from perdure.memory.extraction.conditions import conditional
from perdure.memory.extraction.content_words import said
from perdure.memory.extraction.lexicon import (
    ARTICLES,
    DETERMINERS,
    FIRST_PERSON,
    OWNERS,
    PREPOSITIONS,
    PRONOUNS,
    SHARED_ROLES,
    is_quality,
    word_list,
)
from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.phrases import Facets, facets_of, is_identifier, normalised, stemmed
from perdure.memory.extraction.speech import LONGEST, evened, spoken
from perdure.memory.extraction.times import period_of
from perdure.memory.extraction.verbs import (
    CHANGING,
    CLASS,
    CONSUMING,
    DISLIKING,
    FORMS,
    KEEPING,
    PERSONAL,
    QUITTING,
    RESPONSIBLE,
    SINGLE,
)
from perdure.values.assertions import Assertion

_PART = 500
_UNKNOWN = PRONOUNS - FIRST_PERSON - {"you"}


class Stated(NamedTuple):
    """What a sentence asserts, and when that holds."""

    assertion: Assertion | None = None
    """None: it cannot be determined."""
    valid_from: datetime | None = None
    valid_until: datetime | None = None

    @property
    def dates(self) -> dict[str, datetime]:
        """Its stated dates, by name."""
        dates = {"valid_from": self.valid_from, "valid_until": self.valid_until}
        return {name: date for name, date in dates.items() if date}


def assertion_of(text: str, at: datetime) -> Stated:
    """Return what one sentence asserts, and from when and until when.

    Its three parts go as they are into the fields of the same names of ``Candidate``; the candidate's content stays
    as it was said.

    Args:
        text: One sentence, as it was said: with "Actually", "scratch that", "until Friday".
        at: When it was said: days and weeks are counted from then, in its time zone.
    """
    if len(text) > LONGEST:
        return Stated()
    text = evened(text)
    period = period_of(_REPORTED.sub("", _OF_THE_USER.sub(_as_speaker, text)), at)
    plain, closing = spoken(period.text)
    # "Since May I wear glasses" is no end of a sentence that says that something changed.
    revises = closing and bool(plain)
    told = compared(plain) or compared(period.text) or period.text
    clause = None if _NOT_DONE.search(plain) else clause_of(conditional(told).what)
    revises = revises or bool(period.valid_from or period.valid_until)
    assertion = _asserted(clause, revises=revises) if clause else None
    if assertion is not None:
        assertion = assertion.changed(said=said(text))
    return Stated(assertion, period.valid_from, period.valid_until)


_OF_THE_USER = regex(
    r"^the (?:user|customer|client)(?:(?P<own>'s)\b| (?P<verb>[a-z]+s)\b(?! (?:is|are|was|were|has|have|runs?"
    r"|lives?)\b))",
    re.IGNORECASE,
)
_REPORTED = regex(
    r"^(?:[\w'-]+ ){1,3}(?:says?|said|confirm(?:s|ed)?|announced|wrote|writes|told (?:me|us)|tells (?:me"
    r"|us))(?: that |: )"
    r"(?=(?:from|as of|starting|the|my|our)\b)",
    re.IGNORECASE,
)
"""Who says it, before what holds."""


_NOT_DONE = regex(
    r"\b(?:(?:could|might|may|can) (?:have |be |been |\w+ly |always |just )*|(?:almost|nearly) )"
    r"(?:mov|chang|switch|swap|push|shift|renam|replac|reschedul)e?(?:d|ed)?\b",
    re.IGNORECASE,
)
"""What could be changed, or was not in the end, tells nothing of what is."""


def _as_speaker(match: re.Match[str]) -> str:
    """Return what an agent says of the user as the user says it: "The user writes novels" as "I write novels"."""
    if match["own"]:
        return "my"
    verb = match["verb"]
    return f"I {'have' if verb == 'has' else 'am' if verb == 'is' else FORMS.get(verb, verb)}"


def _asserted(clause: Clause, *, revises: bool) -> Assertion | None:
    clause = _turned(clause)
    unsaid = {"me", "us", "myself", *(["any"] if clause.negated else [])}
    subject, rest = list(clause.subject), [word for word in clause.rest if word.lower() not in unsaid]
    negated, verb = clause.negated, clause.verb
    attribute = _attribute(clause, rest)
    person = subject[0].lower() if len(subject) == 1 and subject[0].lower() in FIRST_PERSON else ""
    # Who goes off fish eats none, while an alarm goes off at six.
    if verb in QUITTING and rest and (person or verb != "go off"):
        attribute, negated = "quit", not negated
        rest = rest[1:] if rest[0].lower() in ("with", "of", "on") else rest
    if verb in DISLIKING:
        attribute, negated = "like", not negated
    if not subject:
        person = "you"
    if person and verb in CONSUMING:
        attribute = "consume"
    if person and attribute in ("like", "want", "choose") and {"over", "than"} & {word.lower() for word in rest}:
        attribute, rest = "prefer", [word for word in rest if word.lower() not in ("better", "more", "rather")]
    if clause.verb == "be" and clause.past and not (clause.passive or clause.revises or revises):
        # What was may be so still, or not.
        return None
    value = normalised([*rest, *clause.fronted])
    gratis = tuple(value) in _GRATIS or (value[:1] == ["free"] and value[1:2] in (["in"], ["for"]))
    attribute = "cost" if attribute == "be" and not person and gratis else attribute
    several = _has_several(clause, attribute)
    if person:
        topic = _object(rest)
        # "My coffee black", "my steak rare": how it is had, and not what.
        while verb != "be" and len(normalised(topic)) > 1 and is_quality(topic[-1].lower()):
            topic = topic[:-1]
        if topic:
            value = normalised([*rest[len(topic) :], *clause.fronted])
            subject, attribute = topic, f"{person} {attribute}"
        else:
            subject = [person]
    about = normalised([*clause.label, *subject])
    # Whom or what a pronoun means is not said: "it" is another thing in each of two sentences.
    if not about or (not value and not attribute) or (len(about) == 1 and about[0] in _UNKNOWN):
        return None
    return Assertion(
        subject=" ".join(about)[:_PART],
        attribute=attribute,
        value=" ".join(value)[:_PART],
        negated=negated,
        several=several,
        revises=clause.revises or revises,
        former=" ".join(normalised(clause.former))[:_PART],
    )


def _attribute(clause: Clause, rest: Sequence[str]) -> str:
    """Return what a clause says of its subject, by the name that all verbs share that say it."""
    if clause.passive and clause.verb in RESPONSIBLE and "by" in rest:
        return "who"
    if clause.passive and clause.verb in KEEPING:
        # "Kept in the shed" is where it stands, and "not kept" that there is none any more.
        if "place" in told_by([*rest, *clause.fronted]):
            return "be"
        if clause.negated and not rest:
            return "quit"
    return CLASS.get(clause.verb, clause.verb)


_GRATIS = {("free",), ("free", "of", "charge"), ("free", "charge")}
"""What is said of a thing's price with "is", as another price is with "costs"."""


def _turned(clause: Clause) -> Clause:
    """Return a clause with what it is about as its subject."""
    subject = [word.lower() for word in clause.subject]
    rest = [word.lower() for word in clause.rest]
    if subject == ["there"] and clause.verb == "be" and (topic := _object(clause.rest)):
        return clause._replace(subject=tuple(topic), verb="exist", rest=clause.rest[len(topic) :])
    if clause.verb == "be" and (found := _led_by(clause)):
        return found
    is_holder = _is_name(clause.subject) and rest[:1] and rest[0] in OWNERS | {"the"} and len(rest) > 1
    # "Payday is the 25th" names no role.
    numbered = is_holder and is_identifier(rest[1]) and (len(rest) == 2 or rest[2] in PREPOSITIONS)
    if clause.verb in ("be", "become") and is_holder and not numbered:
        role, others = _cut(clause.rest[1:], PREPOSITIONS - {"of", "for"})
        role = role[1:] if role[:1] == ("new",) else role
        return clause._replace(subject=role, rest=(*clause.subject, *others))
    if _is_done_by_name(clause):
        topic, others = _cut(clause.rest, PREPOSITIONS - {"of"})
        return clause._replace(subject=topic, verb="who", rest=("by", *clause.subject, *others), passive=True)
    told = bool(subject and rest) and subject[0] in FIRST_PERSON | {"they", "you"}
    # "Facilities moved the printer to the fourth floor".
    moved = bool(rest) and clause.verb in CHANGING and not clause.passive and rest[0] in ("the", "my", "our")
    return _led(clause) if told or (moved and "to" in rest) else clause


_LEADERS = word_list("chair chairman chairwoman head")


def _led_by(clause: Clause) -> Clause | None:
    """Return "Kim is chair of the board" and "the chair of the board is Kim" as "Kim leads the board"."""
    subject, rest = [*clause.subject], [*clause.rest]
    for role, name in ((subject, rest), (rest, subject)):
        words = role[1:] if role and role[0].lower() in ("the", "a", "an", *OWNERS) else role
        led = len(words) > 2 and words[0].lower() in _LEADERS and words[1].lower() == "of"
        if led and _is_name(name) and len(name) <= 3 and not clause.negated:
            return clause._replace(subject=tuple(words[2:]), verb="lead", rest=("by", *name), passive=True)
    return None


def _led(clause: Clause) -> Clause:
    """Return what people say that they do with a thing as said of the thing: "we moved the standup to 10"."""
    if clause.verb in CHANGING:
        if clause.rest[0].lower() in ("to", "from"):
            return _switched(clause)
        topic, others = _cut(clause.rest, {"to", "from", "into"})
        return clause._replace(subject=topic, verb="change", rest=others, revises=True) if others else clause
    if clause.verb in KEEPING and clause.subject[0].lower() in ("i", "we"):
        topic, others = _cut(clause.rest, PREPOSITIONS - {"of", "for", "as"})
        kept = others or clause.fronted or clause.negated or clause.verb == "keep"
        if topic and kept and told_by(topic).get("object"):
            return clause._replace(subject=topic, rest=others, passive=True)
    if clause.verb in ("do", "have", "hold", "run", "start", "begin", "schedule"):
        topic, others = _cut(clause.rest, {"at", "on", "in", "every"})
        told = told_by(others).keys()
        if topic and ({"clock", "day", "frequency", "date"} & told or (clause.verb == "hold" and "place" in told)):
            return clause._replace(subject=topic, verb="be", rest=others)
    if clause.verb in ("open", "close", "shut") and not clause.passive:
        # "We close the shop at six" is when the shop closes.
        topic, others = _cut(clause.rest, {"at", "on", "from", "every"})
        if topic and {"clock", "day"} & told_by([*others, *clause.fronted]).keys():
            return clause._replace(subject=topic, rest=others)
    return clause


def _cut(words: Sequence[str], at: AbstractSet[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words before the first of these, and those from it on."""
    place = next((place for place, word in enumerate(words) if word.lower() in at), len(words))
    return tuple(words[:place]), tuple(words[place:])


def _is_done_by_name(clause: Clause) -> bool:
    """Return whether a clause says who does something: "Wanjiru leads my team"."""
    if clause.verb not in RESPONSIBLE or clause.passive or not clause.rest or not _is_name(clause.subject):
        return False
    first = clause.rest[0].lower()
    # "Backups run …" begins with a capital as well.
    plural = len(clause.subject) == 1 and clause.subject[0].endswith("s") and not clause.third
    if plural or first in ("every", "each") or "object" not in told_by(clause.rest):
        return False
    return first in DETERMINERS or (clause.verb in PERSONAL and first not in PREPOSITIONS)


def _switched(clause: Clause) -> Clause:
    """Return "we switched to Linear for tickets" as "we use Linear for tickets"."""
    rest, former = list(clause.rest), clause.former
    parts: list[list[str]] = []
    for word in rest:
        if word.lower() in PREPOSITIONS or not parts:
            parts.append([word])
        else:
            parts[-1].append(word)
    target = [word for part in parts if part[0].lower() in ("to", "into") for word in part[1:]]
    former = tuple(word for part in parts if part[0].lower() == "from" for word in part[1:]) or former
    others = [word for part in parts if part[0].lower() not in ("to", "into", "from") for word in part]
    if not target:
        return clause
    # Who moved to oat milk lives nowhere else, and neither does who moved to the marketing team, or as a child.
    moved = clause.verb in ("move", "relocate") and (target[0][:1].isupper() or target[0].lower() in DETERMINERS)
    if moved and others and others[0].lower() == "for" and others[1][:1].isalpha() and len(others) == 2:
        moved = False
    elif moved and (others or target[0].lower() in DETERMINERS | {"team"}):
        return clause
    said = (*(["in"] if moved else []), *target, *others)
    return clause._replace(verb="live" if moved else "use", rest=said, former=former, revises=True)


def told_by(words: Sequence[str]) -> Facets:
    """Return what words tell, by kind."""
    return facets_of(stemmed(" ".join(normalised(words))))


def _is_name(words: Sequence[str]) -> bool:
    """Return whether words are a name: each with a capital, and no article or owner before them."""
    return (
        bool(words) and all(word[:1].isupper() for word in words) and words[0].lower() not in DETERMINERS | FIRST_PERSON
    )


def _object(rest: Sequence[str]) -> list[str]:
    """Return the words that say what is done something with: those before the first preposition."""
    place = next((place for place, word in enumerate(rest) if word.lower() in PREPOSITIONS | {"than"}), len(rest))
    words = list(rest[:place])
    told = told_by(words)
    return words if told.get("object") else []


def _has_several(clause: Clause, attribute: str) -> bool:
    if attribute not in ("be", "name"):
        return clause.verb not in SINGLE and attribute not in SINGLE
    if clause.subject and clause.subject[-1].lower() in SHARED_ROLES:
        return True
    words = [word for word in clause.rest if word.lower() not in PREPOSITIONS]
    if not words or clause.rest[0].lower() in PREPOSITIONS:
        return False
    if any(word[:1].isupper() or is_identifier(word) for word in words):
        return False
    said = [word.lower() for word in words if word.lower() not in ARTICLES]
    return (
        words[0].lower() in ("a", "an") or (bool(said) and is_quality(said[-1])) or (bool(said) and is_quality(said[0]))
    )
