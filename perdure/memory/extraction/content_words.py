"""The words of a sentence that say something, and what it says of a change. Pure."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from perdure.memory.extraction.lexicon import (
    AUXILIARIES,
    DETERMINERS,
    NEGATIONS,
    PASSING,
    PREPOSITIONS,
    PRONOUNS,
    word_list,
)
from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.phrases import normalised, stemmed
from perdure.memory.extraction.speech import LONGEST, calm, evened, spoken, tokens_of
from perdure.memory.extraction.verbs import CLASS, CONSUMING, FORMS
from perdure.words import stem

_CHANGED = regex(
    r"\b(?:now|nowadays|these days|any ?more|any longer|no longer|again|once more|as before|as of|from (?:now"
    r"|here) on|since the"
    r"|turns out|turned out|scratch|correction|actually|swapp?ed|switched|moved|migrated|replaced|changed"
    r"|traded|promoted"
    r"|g[ai]ve up"
    r"|given up|stopped|quit|gone|sold|reversed|flipped|undone|back to|returned|ended up|settled on|instead of"
    r"|rather than|failover|cancelled|canceled|over for (?:me|us)|dropped|retired|renamed|became|become|taken over"
    r"|took over|new (?:rules?|protocol|policy|arrangement|regime|procedure)|banned|ruled out|withdrawn|turned away"
    r"|lapsed?|revoked|abolished|scrapped|phased out|no more|switchover|changeover|reverts?|reverted|had enough of"
    r"|fed up with|got rid of)\b",
    re.IGNORECASE,
)
_REVISED = regex(
    r"\b(?:is|are) (?:out|history)[;,:] (?=(?:and )?(?:now )?(?:our|my|the|it's|we|i)\b)|"
    r"\b(?:put (?:[\w' -]{1,30} )?(?:up|down) to|gr[eo]wn? to|doubled|halved|pushed (?:back |forward )?to"
    r"|brought forward|lifted|raised|lowered|widened|extended|shortened|revised|amended|rescheduled|shuffled|traded"
    r"|ousted|lost out to|overtaken|handed (?:over )?(?:by|from|to))\b",
    re.IGNORECASE,
)
"""What tells that an amount changed, or who gave way to whom; of anything else it tells nothing."""
_ENDED = regex(
    r"\b(?:no|not|never|nobody|without|no longer|g[ai]ve up|given up|stopped|quit|over for (?:me|us)|done with"
    r"|cancelled|canceled|abolished|discontinued|scrapped|dropped|ditched|banned|ruled out|withdrawn|turned away"
    r"|lapsed?|revoked|phased out)\b|n't\b",
    re.IGNORECASE,
)
_LIFTED = regex(
    r"(?:\b(?:no longer|not|never|stopped|lifted)|n't)\b[^.;]{0,30}\b(?:bann?\w*|revok\w+|withdr\w+|rul\w+ out)\b",
    re.IGNORECASE,
)
"""A ban that is lifted ends nothing."""
_THING = r"[\w.+#/' -]{1,40}?"
_FORMER = regex(
    rf"\b(?:swapp?ed|exchanged|traded|replaced|ditched|dropped)(?: out)? (?:the |my |our )?({_THING}) (?:for|with|by)\b"
    r"|\b(?:instead of|rather than|in place of|away from|(?:moved|switched|migrated|changed) from)"
    rf" ({_THING})(?= to\b|[,;.]|$)"
    rf"|(?:^|[,;] )(?:the |our |my )?({_THING}) (?:is|are|was|were|has been|have been|'s)"
    r" (?:gone|out|over|history|sold|retired|no more|dropped)\b"
    rf"|\b(?:the |our |my )?({_THING}) (?:has been|have been|was|were|is) (?:replaced|ousted|overtaken"
    rf"|swapped(?: out)?)"
    r" (?:by|with|for)\b"
    rf"|(?:^|[,;] )({_THING}) lost out to\b"
    rf"|\b(?:handed|passed|transferred)(?: over)? (?:by|from) ({_THING}) to\b"
    rf"|\b(?:ousted|displaced|overtaken) (?:the |my |our )?({_THING})(?= as\b| on\b|[,;.]|$)"
    rf"|\b(?:has|have) replaced (?:the |my |our )?({_THING})(?=[,;.]|$)"
    rf"|\btraded (?:the |my |our )?({_THING}) in\b"
    rf"|\b(?:had enough of|fed up with|tired of|sick of|bored of|done with) ({_THING})(?=[,;.:]|$)"
    rf"|(?:^|[,;] )({_THING}) (?:sold|gone|cancelled|scrapped|removed|closed)(?=[,;:])"
    rf"|, not ({_THING})(?=[,;.]|$)"
    rf"|\b(?:scratch|forget|ignore) what i said about ({_THING})(?=[,;.:]|$)",
    re.IGNORECASE,
)
_ADDED = regex(r"\b(?:also|as well|in addition|besides|another)\b|\btoo(?=[.,;!]|\s*$| now\b)", re.IGNORECASE)
_PARTS = regex(r"[;:,.](?=\s|$)|\s[-–—]+\s|\s(?=because\b)")
_FRONTED = regex(r"^(?:since|after|following) (?:the|our|my) [\w-]+,? (?=\S+ \S+)", re.IGNORECASE)
_ORDERED = word_list("from to then ahead before after over than above below under behind first")
_QUALIFYING = regex(
    r"\b(?:for|as|about|during|when|while|per|against|of|without) (?:(?:the|a|an|my|our|all) )?([\w-]+)", re.IGNORECASE
)
_COMPOUND = regex(r"(?<=[a-z])-(?=[a-z])")
_PLAIN = (
    AUXILIARIES
    | DETERMINERS
    | PREPOSITIONS
    | PRONOUNS
    | NEGATIONS
    | PASSING
    | CONSUMING
    | word_list(
        "and or but so then what which who where when how than as me us use get go keep make do become own time more"
        " longer again now back instead turn out order said scratch correction up over off gone sell flip reverse undo"
        " stop quit give cancel drop retire promote return change month year place nowadays days always usually part"
        " one other ahead i've we've have include contain offer accept support allow exist there"
    )
)
_LIGHT = _PLAIN | frozenset(map(stem, _PLAIN))
"""What says nothing by itself of what a sentence is about, and what only says that it changed."""


_FEW = 2
_LONGEST = 500


@dataclass(frozen=True)
class Telling:
    """A sentence, and the words of it that say something."""

    text: str
    order: tuple[str, ...]
    """Their stems, each once."""
    names: frozenset[str]
    """Those that are written with a capital although they begin nothing."""
    verbs: frozenset[str]
    """Those that may be what is done."""
    ordered: bool
    """Whether the order of what is named says something: "from", "then"."""

    @cached_property
    def words(self) -> frozenset[str]:
        """The same, in no order."""
        return frozenset(self.order)

    @cached_property
    def ended(self) -> bool:
        """Whether it says that something is not, or is no more."""
        return bool(_ENDED.search(self.text)) and not _LIFTED.search(self.text)

    @cached_property
    def changed(self) -> bool:
        """Whether it says itself that something is not what it was."""
        return says_it_was_otherwise(self.text)

    @cached_property
    def revised(self) -> bool:
        """Whether it says that, or that an amount is another one, or that somebody or something gave way."""
        return self.changed or bool(_REVISED.search(self.text))

    @cached_property
    def adds(self) -> bool:
        """Whether its own words say that it is in addition to something else."""
        return bool(_ADDED.search(self.text))

    @cached_property
    def former(self) -> list[frozenset[str]]:
        """What it says that something was."""
        found = (next(filter(None, match.groups()), "") for match in _FORMER.finditer(self.text))
        return [words for one in found if (words := told(one).words)]

    @cached_property
    def stated(self) -> frozenset[str]:
        """Its words but those of what it says that something was."""
        return self.words.difference(*self.former)

    @cached_property
    def parts(self) -> "list[Telling]":
        """Itself, and what could be said alone of it."""
        found = (part for part in _PARTS.split(_FRONTED.sub("", self.text)) if part.strip())
        return [self, *map(told, found)]

    @cached_property
    def qualified(self) -> frozenset[str]:
        """Words that say of what, for what or as what."""
        return frozenset(stem(word.lower()) for word in _QUALIFYING.findall(self.text))


# A batch is compared with up to a thousand memories, item by item, and to read one takes .1 ms.
@lru_cache(maxsize=2_000)
def told(text: str) -> Telling:
    """Return a sentence with its words, in the form in which they are compared."""
    if len(text) > LONGEST:
        return Telling(text, (), frozenset(), frozenset(), ordered=False)
    text = evened(text)
    plain, _ = spoken(calm(text))
    order: dict[str, None] = {}
    names: set[str] = set()
    verbs: set[str] = set()
    tokens = [part for token in tokens_of(plain or text) for part in _COMPOUND.split(token)]
    for place, token in enumerate(tokens):
        for word in normalised([token]):
            base = FORMS.get(word, word)
            for one in stemmed(CLASS.get(base, base)):
                # "The US cluster", "platform A".
                named = bool(place) and token[:1].isupper()
                capitals = named and token.isupper() and word != "i"
                if capitals or not {one, word, base} & _LIGHT:
                    order[one] = None
                    names |= {one} if named else set()
                    verbs |= {one} if word in FORMS and not named else set()
    ordered = any(token.lower() in _ORDERED for token in tokens)
    return Telling(text, tuple(order), frozenset(names), frozenset(verbs), ordered)


def says_it_was_otherwise(text: str) -> bool:
    """Return whether a text says itself that something is not what it was, so that it may contradict what is known."""
    return bool(_CHANGED.search(text))


def said(text: str) -> str:
    """Return the words of a text in no order, as one term; empty where there are so few that many texts share them."""
    words = told(text).words
    return " ".join(sorted(words))[:_LONGEST] if len(words) > _FEW else ""
