"""Whether a short answer gives what was asked for, which identifies somebody or opens something. Pure."""

import re

from perdure.memory.extraction.findings.finding import DIGIT, Kind
from perdure.memory.extraction.grounds.asked import is_marked_as_question
from perdure.memory.extraction.grounds.chatter import is_chatter
from perdure.memory.extraction.reading import words_of

_WORDS_ALONE = (
    r"pass ?words?|passphrase|pass ?code|maiden name|security (?:question|answer)|recovery (?:phrase|words)"
    r"|seed phrase"
)
_ASKED = {
    Kind.PASSWORD: rf"{_WORDS_ALONE}|credentials",
    Kind.PIN: (
        r"pin|(?:door|gate|alarm|entry|access|unlock|locker|safe|verification|security|one-?time|log-?in|sign-?in)"
        r" code|otp|combination|unlock|disarm|(?:alarm|lock|door|safe|gate) (?:off|open)"
    ),
    Kind.KEY: r"api key",
    Kind.EMAIL: r"e-?mail",
    Kind.BIRTH: r"date of birth|birthday|d\.?o\.?b|birth date",
    Kind.PHONE: r"(?:phone|mobile|contact) (?:number|no|id)|number to|reach you|(?:call|ring|text|phone) you (?:on|at)",
    Kind.CARD: r"card (?:number|no|id)|cvv|cvc",
    Kind.IBAN: r"iban|sort code|bank details|account (?:number|no|id)",
    Kind.PERSONAL_NUMBER: (
        r"(?:passport|licen[cs]e|insurance|policy|tax|security|patient|member\w*) (?:number|no|id)|ssn"
        r"|national insurance"
    ),
    Kind.PLATE: r"(?:which|what) (?:car|vehicle|plate|registration)",
    Kind.ADDRESS: (
        r"(?:home|postal|street|delivery|your|which|what|the) address|address for|ship(?:ped)? (?:it )?to"
        r"|deliver(?:ed)? to|where do you live"
    ),
}
_FOR = {kind: re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE) for kind, pattern in _ASKED.items()}
_FOR_SECRET = re.compile(rf"\b(?:{_WORDS_ALONE})\b", re.IGNORECASE)
"""What may be any words at all, without a digit in them."""

_SPEAKER = re.compile(r"^(?:user|agent|tool): ")
_SENTENCES = re.compile(r"(?<=[.!?？])\s+|\n+")
_TELLS = re.compile(
    r"\W*(?:(?:and|but|so|ok|okay|yes|no|well|great|sorry|thanks)\W+)*"
    r"(?:(?:i|we|he|she|it|they|you|that|this|there)\b"
    r"|(?:the|my|our|your|his|her|their|a|an) .*\b(?:is|are|was|were|has|have|had|will|can|may|cannot|can't|works?"
    r"|opens?|expires?|expired|went|came|failed)\b)",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\b(?:need\w*|want\w*|requir\w+|missing|ask(?:s|ed|ing)?|wait\w*|miss\w*|would like|give|tell|enter|provide"
    r"|confirm|type|state|share|send me|let me|let us|must (?:know|have)|have to (?:know|have)|which|what|who|where)\b",
    re.IGNORECASE,
)

_STATES = re.compile(
    r"\W*(?:i (?:prefer|like|want|need|use|never|always|don't|work)|we |our \w+ (?:has|have|is|are)|use "
    r"|the \w+ (?:is|are|has) )",
    re.IGNORECASE,
)
_TOLD = re.compile(rf"\d|\b{DIGIT}\b[ ,-]+{DIGIT}\b|@|\[", re.IGNORECASE)
_DECLINES = re.compile(
    r"\W*(?:(?:no|nope|sorry|oh|hm+)\W+)*i(?:'d rather not| would rather not|(?: really| have)?"
    r" (?:don't|do not|can't|cannot|won't|will not|forgot|forgotten|never))(?: [\w']+){0,6}[.!]*\s*",
    re.IGNORECASE,
)
"""One clause that gives nothing: "I don't remember it"."""


def given_kind(text: str, before: str) -> Kind | None:
    """Return what a short answer gives of what the turn before it asks for; None: nothing of that sort.

    Args:
        text: The answer.
        before: What was said before it, perhaps with who said it: "agent: what is your PIN?".
    """
    if not before or len(text.split()) > 12 or _STATES.match(text):
        return None
    asking = " ".join(one for one in _SENTENCES.split(_SPEAKER.sub("", before)) if _asks(one))
    kind = next((kind for kind, pattern in _FOR.items() if pattern.search(asking)), None)
    if kind is None or _TOLD.search(text):
        return kind
    return kind if _FOR_SECRET.search(asking) and len(text.split()) < 9 and not _gives_nothing(text) else None


def _asks(sentence: str) -> bool:
    """Whether a sentence wants something, rather than telling: "I forgot my password" is answered by no password."""
    return is_marked_as_question(sentence) or not _TELLS.match(sentence) or bool(_WANTS.search(sentence))


def _gives_nothing(text: str) -> bool:
    words = words_of(text)
    return bool(_DECLINES.fullmatch(text)) or is_chatter(words) or is_marked_as_question(words)
