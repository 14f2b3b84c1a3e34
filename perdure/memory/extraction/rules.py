"""The extractor that needs no language model: rules over what was said, how, and by whom. Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from perdure.assertions import Assertion
from perdure.entries import MemoryType, Source
from perdure.memory.extraction import reading
from perdure.memory.extraction.assertions import assertion_of
from perdure.memory.extraction.findings import remainder
from perdure.memory.extraction.grounds import (
    asked,
    changes,
    chatter,
    hearsay,
    hedges,
    orders,
    passing,
    plans,
    recalled,
    standing,
    traits,
)
from perdure.memory.extraction.screening import Screened, screen
from perdure.memory.extraction.trimming import trimmed
from perdure.said import Candidate, Extraction, Ground, Left, Said, Voice

_REASONS = {
    Ground.PRIVATE: "It identifies a person",
    Ground.SECRET: "It gives access to something",
    Ground.TRANSIENT: "It is true only for a moment",
    Ground.UNSTABLE: "It is hedged: the speaker does not vouch for it",
    Ground.CHATTER: "It keeps the conversation going and states nothing",
    Ground.QUESTION: "It asks for something rather than stating it",
    Ground.INTENTION: "It is a plan or a wish, and no result",
    Ground.SENSITIVE: "It is a guess at somebody's identity, health, beliefs or means",
    Ground.INSTRUCTION: "It is an order to an AI inside a text from elsewhere",
    Ground.HEARSAY: "It is about somebody else, at second hand",
    Ground.RECALLED: "It quotes what is already remembered",
    Ground.UNCLEAR: "What it states cannot be told",
}

_CONFIDENCE = {Voice.USER: 0.9, Voice.AGENT: 0.8, Voice.TOOL: 0.8}
"""How much each voice is believed; a choice. All are above what a write policy asks for by default (.7)."""


class _Sentence(NamedTuple):
    text: str
    ground: Ground | None
    """Why it is not believed; None: it is."""


class RuleExtractor:
    """Finds what may be believed by rules over English sentences, and abstains where it cannot tell.

    Private data and secrets are taken out in every language. A statement that is not in English is judged no further:
    it is kept if the user said it and it is no question, and otherwise left.
    """

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._allow = tuple(allow)

    async def extract(self, said: Sequence[Said]) -> list[Extraction]:
        """Return what is made of each thing that was said, in its order."""
        return [extraction_of(each, self._allow) for each in said]


def extraction_of(said: Said, allow: Iterable[str] = ()) -> Extraction:
    """Return what may be believed of one thing that was said, and why the rest is not.

    Args:
        said: What was said, by whom, after what.
        allow: Private data that is kept, see ``screening.screen``.
    """
    own = said.by is Voice.USER
    if orders.is_order_to_ai(said.text, quoted_only=own):
        return Extraction(left=(_left(Ground.INSTRUCTION),))
    screened = screen(said.text, allow)
    taken_out = _left_of(screened)
    if asked.answers_with_private(said.text, said.before):
        return Extraction(left=taken_out or (_left(Ground.PRIVATE),))
    if not screened.says_something:
        return Extraction(left=taken_out)
    statements, left = _statements(screened.text, said)
    candidates = tuple(_candidate(statement, said) for statement in statements)
    return Extraction(candidates=candidates, left=(*taken_out, *left))


def _left(ground: Ground) -> Left:
    return Left(ground=ground, reason=_REASONS[ground])


def _left_of(screened: Screened) -> tuple[Left, ...]:
    return tuple(Left(ground=kind.ground, reason=f"{_REASONS[kind.ground]}: {kind}") for kind in screened.kinds)


def _statements(text: str, said: Said) -> tuple[list[str], tuple[Left, ...]]:
    sentences = [_judged(sentence, said) for sentence in _joined(reading.sentences(text))]
    grounds = [sentence.ground for sentence in sentences if sentence.ground is not None]
    if Ground.RECALLED in grounds and said.by is not Voice.USER:
        return [], (_left(Ground.RECALLED),)
    tainting = {*_TAINTING}.intersection(grounds)
    if tainting == {Ground.TRANSIENT} and all(_happened(one) for one in sentences if one.ground is Ground.TRANSIENT):
        tainting.clear()
    kept: list[str] = []
    for sentence in sentences:
        if sentence.ground is None:
            # Beside a sentence that is not believed, another one is only if it stands by itself.
            if tainting and not standing.stands(reading.words_of(sentence.text)):
                grounds.append(Ground.UNCLEAR)
            else:
                kept.append(sentence.text)
        else:
            kept += _kept_clauses(sentence, said)
    return kept, tuple(_left(ground) for ground in dict.fromkeys(grounds))


def _happened(sentence: _Sentence) -> bool:
    """Whether a sentence tells what happened once, which says nothing of the sentences beside it."""
    words = reading.words_of(sentence.text)
    return passing.is_event(words) and not passing.is_of_now(words)


_TAINTING = frozenset(
    {Ground.TRANSIENT, Ground.UNSTABLE, Ground.HEARSAY, Ground.INTENTION, Ground.SENSITIVE, Ground.RECALLED}
)
_DIVISIBLE = frozenset(
    {Ground.TRANSIENT, Ground.UNSTABLE, Ground.INTENTION, Ground.QUESTION, Ground.CHATTER, Ground.PRIVATE}
)
"""Grounds of one clause that say nothing of another one."""

_DEPENDENT = re.compile(
    r"(?:(?:i|we|they) (?:\w+ )?(?:no longer|don't|do not|never|stopped|quit|won't|can't) \w+ (?:it|them|that"
    r"|those)\b|even\b|goes for|same (?:for|goes)|(?:that|this|it|they|these|those|them|which|both|neither|also|and|or"
    r"|but|not|never|always|only|except|because|so|then|plus|no exceptions?)\b)",
    re.IGNORECASE,
)


_IMPERSONAL = re.compile(
    r"it(?:['’]s| is| was| has been)? (?:(?:\w+ly|still|already|so|very|too|just|quite) )*(?:rain|snow|hail|pour|drizzl"
    r"|freez|thunder|storm|sunny|cloud|wind|fog|mist|cold|hot|warm|chilly|late|early|dark|getting|(?:mon|tues|wednes|thurs"
    r"|fri|satur|sun)day|spring|summer|autumn|winter|half past|\d{1,2}(?::\d\d)?(?: ?(?:o'clock|am|pm"
    r"|degrees))?[.!]?$)",
    re.IGNORECASE,
)
"""Begins with an "it" that stands for nothing said before: "It rains today"."""


def _joined(sentences: list[str]) -> list[str]:
    """Return sentences where one that cannot stand alone is joined to the one before it."""
    joined: list[str] = []
    for sentence in sentences:
        words = reading.plain_words(sentence)
        short_question = bool(joined) and joined[-1].endswith("?") and len(reading.plain_words(joined[-1])) < 5
        answers = (
            short_question
            and not sentence.endswith("?")
            and not asked.is_question(reading.words_of(joined[-1].rstrip("?")))
        )
        dependent = (len(words) < 3 or bool(_DEPENDENT.match(sentence))) and not _IMPERSONAL.match(sentence)
        alone = chatter.is_chatter(reading.words_of(sentence)) or sentence.endswith("?")
        if joined and (answers or (dependent and not alone)) and (answers or not joined[-1].endswith("?")):
            joined[-1] = f"{joined[-1].replace('?', ':') if answers else joined[-1]} {sentence}"
        else:
            joined.append(sentence)
    return joined


def _judged(sentence: str, said: Said) -> _Sentence:
    return _Sentence(sentence, _ground(sentence, said))


def _ground(sentence: str, said: Said) -> Ground | None:
    if remainder.TAKEN_OUT.search(sentence) and not remainder.says_something(sentence):
        return Ground.PRIVATE
    if not reading.is_english(sentence):
        return _foreign_ground(sentence, said.by)
    words = reading.words_of(trimmed(sentence))
    outcome = standing.is_outcome(words)
    of_voice = _ground_of_voice(sentence, words, said, outcome=outcome)
    found = of_voice or _ground_of_mood(words, said.by, outcome=outcome, begins=_begins(sentence, said))
    return None if found is Ground.TRANSIENT and _holds_since(sentence, words, said) else found


def _holds_since(sentence: str, words: str, said: Said) -> bool:
    """Whether a part tells what holds, and the others only what happened: "I moved on, I work at the mill"."""
    parts = changes.parts(sentence)
    if len(parts) < 2 or passing.is_of_now(words):
        return False
    told = [_judged(part, said) for part in parts]
    over = [one for one in told if one.ground is not None]
    return (
        bool(over)
        and all(one.ground is Ground.TRANSIENT and passing.is_event(reading.words_of(one.text)) for one in over)
        and any(
            one.ground is None and len(reading.plain_words(one.text)) > 3 and _has_subject(one.text, said)
            for one in told
        )
    )


def _has_subject(part: str, said: Said) -> bool:
    stated = assertion_of(part, said.at).assertion
    return stated is not None and not stated.attribute.startswith("you ")


def _begins(sentence: str, said: Said) -> bool:
    """Return whether something begins on a day that is named, and then lasts."""
    stated = assertion_of(sentence, said.at)
    return stated.assertion is not None and stated.valid_from is not None and stated.valid_until is None


def _foreign_ground(sentence: str, by: Voice) -> Ground | None:
    words = reading.words_of(sentence)
    if by is not Voice.USER:
        return Ground.UNCLEAR
    if asked.is_marked_as_question(words):
        return Ground.QUESTION
    short = sentence.isascii() and len(reading.plain_words(sentence)) < 3
    return Ground.CHATTER if short or chatter.is_chatter(words) else None


def _ground_of_voice(sentence: str, words: str, said: Said, *, outcome: bool) -> Ground | None:
    match said.by:
        case Voice.USER:
            recalls = recalled.quotes_memory(sentence)
        case Voice.AGENT:
            recalls = recalled.is_recalled(sentence, said.before, outcome=outcome)
        case _:
            recalls = recalled.is_search_result(sentence)
    if recalls:
        return Ground.RECALLED
    if said.by is not Voice.USER and traits.is_guess_at_trait(sentence):
        return Ground.SENSITIVE
    return Ground.HEARSAY if hearsay.is_hearsay(words) else None


def _ground_of_mood(words: str, by: Voice, *, outcome: bool, begins: bool) -> Ground | None:
    main = changes.without_reason(reading.without_conditions(words))
    lasts = begins or changes.tells_of_change(main)
    applies = {
        Ground.QUESTION: asked.is_marked_as_question(words) if by is Voice.TOOL else asked.is_asking(words),
        Ground.CHATTER: chatter.is_chatter(words) or (by is Voice.AGENT and not outcome and chatter.is_service(words)),
        Ground.INTENTION: plans.is_plan(main) or (by is Voice.AGENT and plans.is_own_next_step(words)),
        Ground.UNSTABLE: hedges.is_hedged(main),
        Ground.TRANSIENT: passing.is_momentary(main)
        or (not (outcome or lasts) and passing.is_transient(changes.without_turning_back(main))),
        Ground.UNCLEAR: chatter.is_unclear(words),
    }
    return next((ground for ground, holds in applies.items() if holds), None)


def _kept_clauses(sentence: _Sentence, said: Said) -> list[str]:
    """Return the clauses of a sentence that stand by themselves, where another clause is not believed."""
    if sentence.ground not in _DIVISIBLE:
        return []
    clauses = reading.clauses(sentence.text)
    if len(clauses) < 2:
        return []
    grounds = [_ground(clause, said) for clause in clauses]
    # "Not sure, but": what is hedged without content hedges the rest.
    if any(ground is Ground.UNSTABLE and _is_empty(clause) for clause, ground in zip(clauses, grounds, strict=True)):
        return []
    passing = not {Ground.TRANSIENT, Ground.UNSTABLE}.isdisjoint(grounds)
    return [
        clause
        for clause, ground in zip(clauses, grounds, strict=True)
        if ground is None
        and len(reading.plain_words(clause)) > 2
        and (standing.stands(reading.words_of(clause)) or not passing)
    ]


def _is_empty(clause: str) -> bool:
    return len([word for word in reading.plain_words(clause) if len(word) > 3]) < 4


_CONSTRAINT = re.compile(
    r"\b(?:must|mustn't|never|not allowed|may not|may only|have to|has to|needs?|requires?|required|only"
    r"|at most|at least|no more than|forbid\w*|forbidden|can't be|cannot be|do not|don't|allerg\w+"
    r"|limit\w*|max(?:imum)?|minimum|by law|rule|policy|prohibited|without)\b|^no\b"
)
_WE = frozenset(["i", "we"])
_BINDING_SELF = re.compile(
    r"\b(?:must|mustn't|not allowed|may not|may only|have to|required|can't|cannot|forbidden|prohibited|allerg\w+"
    r"|by law|rule)\b"
)
"""What binds people in what they say of themselves; "I never fly" is a habit, which they may change."""
_PREFERENCE = re.compile(
    r"\b(?:prefer\w*|like|love|hate|enjoy|favou?r\w*|rather|can't stand|call me|i want|i'd|my favou?rite"
    r"|best for me|for me|to me|please|drink|eat)\b|^(?:give|use|keep|answer|reply|speak|write|explain"
    r"|sign|put|send|avoid|format|address|show|make|vegetarian|window)\b"
)


_GIVEN_UP = re.compile(r"(?:i|we)(?:'ve| have)? (?:stopped|quit|given up|gave up) \w+ing\b")
"""Tells what somebody no longer does, which is no result."""


def _candidate(statement: str, said: Said) -> Candidate:
    words, by = reading.words_of(trimmed(statement)), said.by
    stated = assertion_of(statement, said.at)
    memory_type = _type_of(words, by, stated.assertion)
    explicit = by is Voice.USER and memory_type is not MemoryType.OUTCOME
    return Candidate(
        content=trimmed(statement),
        memory_type=memory_type,
        source=Source.EXPLICIT if explicit else Source.LEARNED,
        confidence=_CONFIDENCE.get(by, _CONFIDENCE[Voice.TOOL]),
        assertion=stated.assertion,
        valid_from=stated.valid_from,
        valid_until=stated.valid_until,
    )


def _type_of(words: str, by: Voice, asserted: Assertion | None) -> MemoryType:
    own = by is Voice.USER and bool(_PREFERENCE.search(words) or _GIVEN_UP.match(words))
    if standing.is_outcome(words) and not own:
        return MemoryType.OUTCOME
    if _PREFERENCE.search(words):
        return MemoryType.PREFERENCE
    of_self = asserted is not None and not _WE.isdisjoint((asserted.subject, asserted.attribute.split()[0]))
    binding = _BINDING_SELF if of_self else _CONSTRAINT
    return MemoryType.CONSTRAINT if binding.search(words) else MemoryType.FACT
