"""What may be believed of what was said, and why the rest is not: what binds rules and language models alike. Pure.

English is judged by its sentences. A statement in another language is judged no further: it is kept if the user said
it and it is no question, and otherwise left.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from perdure.memory.extraction import parser
from perdure.memory.extraction.assertions import assertion_of
from perdure.memory.extraction.findings import remainder
from perdure.memory.extraction.grounds import (
    changes,
    chatter,
    events,
    hearsay,
    hedges,
    orders,
    plans,
    questions,
    recalled_memory,
    rendered_memory,
    stability,
    traits,
    transience,
)
from perdure.memory.extraction.openers import trimmed
from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.screening import Screened, screen
from perdure.model import LONGEST_TEXT
from perdure.values.statements import Ground, Left, Said, Voice

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
    Ground.UNCLEAR: "What it states is unclear",
}


class _Judge(NamedTuple):
    """What was said, and which grounds are a reason to leave a part of it."""

    said: Said
    believe: frozenset[Ground] = frozenset()

    def refuses(self, ground: Ground) -> bool:
        return ground not in self.believe

    def first(self, applies: Mapping[Ground, bool]) -> Ground | None:
        """Return the first ground that applies and is a reason here."""
        return next((ground for ground, holds in applies.items() if holds and self.refuses(ground)), None)


class _Sentence(NamedTuple):
    text: str
    ground: Ground | None
    """Why it is not believed; None: it is."""


class Believable(NamedTuple):
    """What may be believed of one thing that was said."""

    text: str
    """All of it without private data and secrets: what a language model may read."""
    statements: tuple[str, ...] = ()
    """What may be believed, in its words and its order."""
    left: tuple[Left, ...] = ()
    """Why the rest is not believed."""


def believable(said: Said, allow: Iterable[str] = (), believe: Iterable[Ground] = ()) -> Believable:
    """Return what may be believed of one thing that was said, and why the rest is not.

    Args:
        said: What was said, by whom, after what.
        allow: Private data that is kept, see ``screening.screen``.
        believe: Grounds that are no reason to leave a statement.
    """
    text = rendered_memory.without_rendered(said.text)
    quoted = (_left(Ground.RECALLED),) if text != said.text else ()
    judge = _Judge(said, frozenset(believe))
    if judge.refuses(Ground.INSTRUCTION) and orders.is_order_to_ai(text, quoted_only=said.by is Voice.USER):
        return Believable("", left=(*quoted, _left(Ground.INSTRUCTION)))
    screened = screen(text, allow, said.before)
    taken_out = (*quoted, *_left_of(screened))
    if not screened.says_something or not screened.text.strip():
        return Believable(screened.text, left=taken_out)
    statements, left = _statements(screened.text, judge)
    # What stands in place of private data can be longer than that.
    short = tuple(statement for statement in statements if len(statement) <= LONGEST_TEXT)
    if len(short) < len(statements):
        left = (*left, _left(Ground.UNCLEAR))
    return Believable(screened.text, short, tuple(dict.fromkeys((*taken_out, *left))))


def _left(ground: Ground) -> Left:
    return Left(ground=ground, reason=_REASONS[ground])


def _left_of(screened: Screened) -> tuple[Left, ...]:
    return tuple(Left(ground=kind.ground, reason=f"{_REASONS[kind.ground]}: {kind}") for kind in screened.kinds)


def _statements(text: str, judge: _Judge) -> tuple[list[str], tuple[Left, ...]]:
    sentences = [_sentence(sentence, judge) for sentence in _joined(parser.sentences(text))]
    grounds = [sentence.ground for sentence in sentences if sentence.ground is not None]
    if Ground.RECALLED in grounds and judge.said.by is not Voice.USER:
        return [], (_left(Ground.RECALLED),)
    tainting = {*_TAINTING}.intersection(grounds)
    if tainting == {Ground.TRANSIENT} and all(_happened(one) for one in sentences if one.ground is Ground.TRANSIENT):
        tainting.clear()
    kept: list[str] = []
    for sentence in sentences:
        if sentence.ground is None:
            # Next to a sentence that is not believed, another one is believed only if it stands by itself.
            if tainting and not stability.stands(parser.words_of(sentence.text)):
                grounds.append(Ground.UNCLEAR)
            else:
                kept.append(sentence.text)
        else:
            kept += _kept_clauses(sentence, judge)
    return kept, tuple(_left(ground) for ground in dict.fromkeys(grounds))


def _happened(sentence: _Sentence) -> bool:
    """Whether a sentence reports what happened once, which says nothing about the sentences next to it."""
    words = parser.words_of(sentence.text)
    return events.is_event(words) and not transience.is_of_now(words)


_TAINTING = frozenset(
    {Ground.TRANSIENT, Ground.UNSTABLE, Ground.HEARSAY, Ground.INTENTION, Ground.SENSITIVE, Ground.RECALLED}
)
_DIVISIBLE = frozenset(
    {Ground.TRANSIENT, Ground.UNSTABLE, Ground.INTENTION, Ground.QUESTION, Ground.CHATTER, Ground.PRIVATE}
)
"""Grounds of one clause that say nothing of another one."""

_DEPENDENT = regex(
    r"(?:(?:i|we|they) (?:\w+ )?(?:no longer|don't|do not|never|stopped|quit|won't|can't) \w+ (?:it|them|that"
    r"|those)\b|even\b|goes for|same (?:for|goes)|(?:that|this|it|they|these|those|them|which|both|neither|also|and|or"
    r"|but|not|never|always|only|except|because|so|then|plus|no exceptions?)\b)",
    re.IGNORECASE,
)


_IMPERSONAL = regex(
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
        words = parser.plain_words(sentence)
        short_question = bool(joined) and joined[-1].endswith("?") and len(parser.plain_words(joined[-1])) < 5
        answers = (
            short_question
            and not sentence.endswith("?")
            and not questions.is_question(parser.words_of(joined[-1].rstrip("?")))
        )
        dependent = (len(words) < 3 or bool(_DEPENDENT.match(sentence))) and not _IMPERSONAL.match(sentence)
        alone = chatter.is_chatter(parser.words_of(sentence)) or sentence.endswith("?")
        if joined and (answers or (dependent and not alone)) and (answers or not joined[-1].endswith("?")):
            joined[-1] = f"{joined[-1].replace('?', ':') if answers else joined[-1]} {sentence}"
        else:
            joined.append(sentence)
    return joined


def _sentence(sentence: str, judge: _Judge) -> _Sentence:
    return _Sentence(sentence, _ground(sentence, judge))


def _ground(sentence: str, judge: _Judge) -> Ground | None:
    if remainder.TAKEN_OUT.search(sentence) and not remainder.says_something(sentence):
        return Ground.PRIVATE
    if not parser.is_english(sentence):
        return _foreign_ground(sentence, judge)
    words = parser.words_of(trimmed(sentence))
    outcome = stability.is_outcome(words)
    of_voice = _ground_of_voice(sentence, words, judge, outcome=outcome)
    found = of_voice or _ground_of_mood(words, judge, outcome=outcome, begins=_begins(sentence, judge))
    return None if found is Ground.TRANSIENT and _holds_since(sentence, words, judge) else found


def _holds_since(sentence: str, words: str, judge: _Judge) -> bool:
    """Whether a part tells what holds, and the others only what happened: "I moved on, I work at the mill"."""
    parts = changes.parts(sentence)
    if len(parts) < 2 or transience.is_momentary(words):
        return False
    told = [_sentence(part, judge) for part in parts]
    over = [one for one in told if one.ground is not None]
    return (
        bool(over)
        and all(one.ground in _PASSED and _is_over(parser.words_of(one.text)) for one in over)
        and any(
            one.ground is None and len(parser.plain_words(one.text)) > 3 and _has_subject(one.text, judge)
            for one in told
        )
    )


_PASSED = frozenset({Ground.TRANSIENT, Ground.CHATTER})


def _is_over(words: str) -> bool:
    """Whether it tells what happened, or how something was: it says nothing of now."""
    return events.is_event(words) or events.is_of_the_past(words)


def _has_subject(part: str, judge: _Judge) -> bool:
    stated = assertion_of(part, judge.said.at).assertion
    return stated is not None and not stated.attribute.startswith("you ")


def _begins(sentence: str, judge: _Judge) -> bool:
    """Return whether something begins on a day that is named, and then lasts."""
    stated = assertion_of(sentence, judge.said.at)
    return stated.assertion is not None and stated.valid_from is not None and stated.valid_until is None


def _foreign_ground(sentence: str, judge: _Judge) -> Ground | None:
    words = parser.words_of(sentence)
    if judge.said.by is not Voice.USER:
        return judge.first({Ground.UNCLEAR: True})
    short = sentence.isascii() and len(parser.plain_words(sentence)) < 3
    return judge.first(
        {Ground.QUESTION: questions.is_marked_as_question(words), Ground.CHATTER: short or chatter.is_chatter(words)}
    )


def _ground_of_voice(sentence: str, words: str, judge: _Judge, *, outcome: bool) -> Ground | None:
    said = judge.said
    match said.by:
        case Voice.USER:
            recalls = recalled_memory.quotes_memory(sentence)
        case Voice.AGENT:
            recalls = recalled_memory.is_recalled(sentence, said.before, outcome=outcome)
        case _:
            recalls = recalled_memory.is_search_result(sentence)
    return judge.first(
        {
            Ground.RECALLED: recalls,
            Ground.SENSITIVE: said.by is not Voice.USER and traits.is_guess_at_trait(sentence),
            Ground.HEARSAY: hearsay.is_hearsay(words),
            Ground.QUESTION: said.by is Voice.USER and questions.is_edit(sentence),
        }
    )


def _ground_of_mood(words: str, judge: _Judge, *, outcome: bool, begins: bool) -> Ground | None:
    by = judge.said.by
    main = changes.without_reason(parser.without_conditions(words))
    lasts = begins or changes.holds_from_now_on(main)
    applies = {
        Ground.QUESTION: questions.is_marked_as_question(words) if by is Voice.TOOL else questions.is_asking(words),
        Ground.CHATTER: chatter.is_chatter(words) or (by is Voice.AGENT and not outcome and chatter.is_service(words)),
        Ground.INTENTION: plans.is_plan(main) or (by is Voice.AGENT and plans.is_own_next_step(words)),
        Ground.UNSTABLE: hedges.is_hedged(main),
        Ground.TRANSIENT: transience.is_momentary(main)
        or (not (outcome or lasts) and transience.is_transient(_lasting(main))),
        Ground.UNCLEAR: chatter.is_unclear(words),
    }
    return judge.first(applies)


def _lasting(words: str) -> str:
    """Return words without what is said of what lasts as of what passes, unless it is all that makes them lasting."""
    plain = changes.without_turning_back(words)
    return words if events.is_event(plain) and not events.is_event(words) else plain


def _kept_clauses(sentence: _Sentence, judge: _Judge) -> list[str]:
    """Return the clauses of a sentence that stand by themselves, where another clause is not believed."""
    if sentence.ground not in _DIVISIBLE:
        return []
    clauses = parser.clauses(sentence.text)
    if len(clauses) < 2:
        return []
    grounds = [_ground(clause, judge) for clause in clauses]
    # "Not sure, but" and ", I think?": what is hedged without content hedges the rest.
    if any(_is_empty(clause) and hedges.is_hedged(parser.words_of(clause)) for clause in clauses):
        return []
    is_passing = not {Ground.TRANSIENT, Ground.UNSTABLE}.isdisjoint(grounds)
    return [
        clause
        for clause, ground in zip(clauses, grounds, strict=True)
        if ground is None
        and len(parser.plain_words(clause)) > 2
        and (stability.stands(parser.words_of(clause)) or not is_passing)
    ]


def _is_empty(clause: str) -> bool:
    return len([word for word in parser.plain_words(clause) if len(word) > 3]) < 4
