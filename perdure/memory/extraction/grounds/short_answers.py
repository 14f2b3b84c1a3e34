"""Whether a short answer gives what was asked for, which identifies somebody or opens something. Pure."""

import re

from perdure.memory.extraction.findings.finding import DIGIT, Kind
from perdure.memory.extraction.grounds.asked_values import AskedValue, wanted
from perdure.memory.extraction.grounds.chatter import is_chatter
from perdure.memory.extraction.grounds.questions import is_marked_as_question
from perdure.memory.extraction.lexicon import MONTHS, SHORT_MONTHS
from perdure.memory.extraction.parser import words_of
from perdure.memory.extraction.patterns import regex

_LONGEST = 12
"""Words of an answer: a longer text tells something of its own. A choice."""
_LONGEST_OF_SECRET = 25
"""Words of an answer to who asks for a secret, where something in it looks like one. A choice."""
_ANY_WORDS = 8
"""Words of an answer that may be a password although nothing in it looks like one. A choice."""
_SHORTEST_MIXED = 4
_LONGEST_MIXED = 100
"""Characters of a word with letters and digits that somebody made up, with what stands around it. A choice."""
EARLIER = "\n…\n"
"""Stands in what was said before something between an open question and what was said after it."""
_SECRETS = frozenset({Kind.PASSWORD, Kind.PIN, Kind.KEY})

_NUMERAL = (
    rf"(?:{DIGIT}|double|triple|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-{DIGIT})?|ten|eleven"
    rf"|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|hundred|thousand"
    r"|null|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|un|deux|trois|quatre|cinq|sept|huit|neuf|zéro"
    r"|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|cero|due|tre|quattro|cinque|sei|sette|otto|nove"
    r"|nul|een|twee|drie|vijf|zes|zeven|negen|um|dois|três|quatro|sete|oito)"
)
_SPELLED = regex(rf"\b{_NUMERAL}[ ,-]+(?:{_NUMERAL}|and {_NUMERAL})\b", re.IGNORECASE)
_TAKEN_OUT = regex(r"\[[A-Za-z][\w -]*\]")
_DIGITS = regex(r"\d")
_LETTER = regex(r"[^\W\d_]")
_WORDS = regex(r"[^\s,;]+")
_NUMBER = regex(r"(?<![\w.])#?\d(?:[ -]?\d){2,}[#*]?(?!\w|[.,:]\d)")
"""Digits in a row, however they are grouped."""
_DOTTED = regex(r"\d(?:\W{0,2}\d){2,}|\d+\D{1,12}\d+\D{1,12}\d|\d\d\D{1,30}\d\d")
_WHEN = regex(
    r"\b(?:(?:since|in|until|till|by|before|after|from|of|at|around|about|for|on|to) )?(?:"
    r"\d{1,2}(?:[:.]\d\d)?\s?(?:am|pm|a\.m\.|p\.m\.|o['’]clock)|\d+\s?(?:years?|months?|weeks?|days?|hours?|minutes?"
    r"|seconds?|mins?|secs?|h|times|people|persons|guests|of (?:them|us|these|those)))\b"
    r"|\b(?:since|until|till|in|by|before|after) (?:19|20)\d\d\b(?! \w+ (?:street|road|lane))"
    r"|\b(?:at|around|until|till|by|after|before) \d{1,2}(?:[:.]\d\d)?(?=\W*$|\s*[,.;:!?)]|\s+(?:and|or|if|when|on"
    r"|sharp)\b)"
    r"|\bv?\d+(?:\.\d+)+\b",
    re.IGNORECASE,
)
_MONTH = "|".join((*MONTHS, *SHORT_MONTHS))
_DATE = regex(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th|\.)?(?: of)? (?:{_MONTH})|(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?)\b"
    r"(?!\.? (?:[\w'’-]+ )?(?:street|road|lane|avenue|drive|square|way|close|court|place|st|rd|ave)\b)"
    r"(?:,? (?:19|20)\d\d\b)?",
    re.IGNORECASE,
)
_HOUSE = regex(r"(?<![\w.:/-])\d{1,5}[a-z]?(?![\w:%€$/-]|\.\d)", re.IGNORECASE)
_PLATE = regex(
    r"\b(?:[A-Z]{1,3}[ -][A-Z]{1,2}[ -]?\d{2,4}[EH]?|[A-Z]{2}\d{2} ?[A-Z]{3}|[A-Z]{2}-?\d{3}-?[A-Z]{2}"
    r"|\d[A-Z]{3}\d{3})\b"
)
_MAIL = regex(
    r"@|\b(?:at|ät)\b.{1,80}\b(?:dot|punkt)\b|\b[a-z]+[._-]?\d+\b"
    r"|\S (?:on|at|bei) (?:gmail|gmx|outlook|yahoo|icloud)\b",
    re.IGNORECASE,
)
_NUMBER_ALONE = regex(
    r"\W*(?:(?:it['’]?s|it is|that['’]?s|that is|the|code|pin|use|with|type|enter|press|try|number|is|yes|sure|ok"
    r"|okay|well"
    r"|oh|and|by|i|my|then|now|typing|entering|mine|just|still|think)\W+)*#?\d(?:[ -]?\d){2,}[#*]?(?:\W+(?:please"
    r"|thanks|then"
    r"|and|hash|star|enter|opens|it|works))*\W*",
    re.IGNORECASE,
)
_ADDRESSED = regex(
    rf"\b(?:street|road|lane|avenue|drive|square|flat|apartment|straße|strasse|rue|calle) {_NUMERAL}\b"
    rf"|\b{_NUMERAL} (?:[\w'’-]+ ){{1,3}}(?:street|road|lane|avenue|drive|square)\b",
    re.IGNORECASE,
)
"""A house whose number is a word."""

_OF_A_PHRASE = regex(r"\W*(?:[a-z]{3,8}[ ,]+){11,23}[a-z]{3,8}\W*")
"""The words of a recovery phrase, which are at least twelve."""

_REFUSES = (
    r"i(?:['’]d rather not| would rather not|(?: really| have| am|['’]m)?"
    r" (?:don['’]t|do not|can['’]t|cannot|won['’]t|will not|forgot|forgotten|never|lost|not))(?: [\w'’]+){0,6}"
    r"|not telling(?: you)?|none of your (?:business|concern)|nice try|no (?:way|chance|idea|clue|password|pin)"
    r"|no,? i (?:won['’]t|will not|can['’]t|don['’]t)(?: [\w'’]+){0,4}|(?:that|it)['’]?s (?:private|secret"
    r"|none of your business)"
    r"|(?:i['’]d )?rather not(?: say)?|there is none|(?:i )?have none|what for|skip(?: it| this| that)?|cancel|later"
)
_DEFERS = (
    r"(?:just |only )?(?:one|a|two) (?:moment|sec|second|minute|mo|tick)s?(?: please)?|moment(?: please)?|hold on"
    r"|hang on"
    r"|wait(?: a (?:sec|second|minute|moment|bit))?|give me a (?:sec|second|minute|moment)|bear with me|coming(?: up)?"
    r"|let me (?:check|look|see|think|find(?: it)?|get(?: it)?|fetch(?: it)?)(?: (?:it|that|up|for|in|my|the|notes"
    r"|first|again|quickly|a|second|moment|what|is)){0,4}"
    r"|i(?:['’]ll| will|['’]m going to| have to| need to|['’]m| am)? (?:just |quickly )?(?:check|checking|look"
    r"|looking|find|get"
    r"|fetch|search|searching)(?:ing)?(?: (?:it|that|up|for|in|my|the|notes|first|again|quickly)){0,4}|take your time"
    r"|here it comes|einen moment(?: bitte)?|moment bitte|augenblick|sekunde|un moment|un instant|un momento|momento"
    r"|(?:een )?moment(?:je)?|um momento"
)
_ALLOWS_TIME = (
    r"take your time|no (?:hurry|rush)|whenever you(?:['’]re| are) ready|i(?:['’]ll| will) wait|keine eile"
    r"|lass dir zeit|prenez votre temps|prends ton temps|sin prisa|con calma|geen haast|sem pressa"
)
_AGREES = r"go ahead|here (?:it is|you go)|done|s[ií]|oui|ja|sim|oké|claro|klar|d['’]accord|natürlich|certo"
_NOTHING = rf"(?:{_REFUSES}|{_DEFERS}|{_ALLOWS_TIME}|{_AGREES})"
_GIVES_NOTHING = regex(
    rf"\W*(?:(?:no|nope|yes|sorry|oh|hm+|ah|ok|okay|sure|well|right|thanks|please)\W+)*{_NOTHING}"
    rf"(?:[,.!…—– ]+(?:{_NOTHING}|sorry|please|thanks))*[\s.!…]*",
    re.IGNORECASE,
)
"""What answers without the value: "I don't remember it", "Let me look it up"."""


def _nothing_but(said: str) -> re.Pattern[str]:
    return regex(
        rf"\W*(?:(?:no|yes|sorry|oh|hm+|ah|ok|okay|sure|well|right|thanks|please)\W+)*(?:{said})"
        rf"(?:\W+(?:{said}|please|thanks))*\W*",
        re.IGNORECASE,
    )


_WAITS = {False: _nothing_but(_DEFERS), True: _nothing_but(_ALLOWS_TIME)}
"""What leaves a question open, by whether it is said by whoever asked it."""
_ASKS_BACK = regex(
    r"\W*(?:you mean|for|of|on|at|in|to|the one|(?:the|my|your|that) (?:\w+ ){0,2}(?:one|password|pin|code|passcode)"
    r"|(?:and )?(?:what|which|why|how|who|where|when)|again|really|do|does|did|is|are|can|may|should|shall|must"
    r"|will)\b[^?]*\?\W*",
    re.IGNORECASE,
)


def given_kind(text: str, before: str) -> Kind | None:
    """Return what a short answer gives of what the turn before it asks for; None: nothing of that sort.

    Args:
        text: The answer.
        before: What was said before it, perhaps with who said it: "agent: what is your PIN?".
    """
    if not before or not text.strip():
        return None
    earlier, _, last = before.rpartition(EARLIER)
    given = (one.kind for one in wanted(last) if _gives(text, one))
    given_late = (one.kind for one in wanted(earlier) if _gives(text, one, is_late=True))
    return next(given, None) or next(given_late, None)


def leaves_open(text: str, *, by_asker: bool = False) -> bool:
    """Whether a turn only puts an answer off, or gives time for it, so that the question still waits for one."""
    return len(text.split()) <= _LONGEST and bool(_WAITS[by_asker].fullmatch(text))


def _gives(text: str, asked: AskedValue, *, is_late: bool = False) -> bool:
    words = len(text.split())
    if asked.any_words and _OF_A_PHRASE.fullmatch(text):
        return True
    if asked.kind in _SECRETS and asked.is_named and (is_late or words > _LONGEST) and words <= _LONGEST_OF_SECRET:
        timeless = _WHEN.sub(" ", text)
        spelled = is_late and asked.kind is Kind.PIN and _SPELLED.search(text)
        return bool(_TAKEN_OUT.search(text) or _is_mixed(timeless) or _NUMBER.search(timeless) or spelled)
    if words > _LONGEST:
        return False
    if _TAKEN_OUT.search(text) or _tells(text, asked):
        return True
    return asked.any_words and words <= _ANY_WORDS and not _gives_nothing(text)


def _tells(text: str, asked: AskedValue) -> bool:
    """Whether something in an answer looks like what is asked for, rather than like a time or a count."""
    kind, timeless = asked.kind, _WHEN.sub(" ", text)
    if not asked.is_named:
        return _tells_unnamed(text, timeless, kind)
    is_short = len(text.split()) < 4
    match kind:
        case Kind.PASSWORD | Kind.BIRTH:
            told = _DIGITS.search(text) or _SPELLED.search(text) or (kind is Kind.PASSWORD and "@" in text)
        case Kind.EMAIL:
            told = _MAIL.search(timeless)
        case Kind.ADDRESS:
            told = _tells_house(text)
        case _:
            # Digits that a PIN may have are no time, but for one with an hour or a year before it.
            grouped = _DOTTED.search(text if kind is Kind.PIN else timeless)
            told = grouped or _is_mixed(timeless) or _SPELLED.search(text)
            told = told or (is_short and _DIGITS.search(timeless))
    return bool(told)


def _tells_unnamed(text: str, timeless: str, kind: Kind) -> bool:
    match kind:
        case Kind.PIN:
            return bool(_NUMBER_ALONE.fullmatch(text) or (_SPELLED.search(text) and len(text.split()) < 8))
        case Kind.PHONE:
            return len(_DIGITS.findall(timeless)) > 4 or len(_SPELLED.findall(text)) > 1
        case Kind.PLATE:
            return bool(_PLATE.search(text))
        case Kind.ADDRESS:
            return _tells_house(text)
        case _:
            return bool(_DIGITS.search(text) or _SPELLED.search(text))


def _tells_house(text: str) -> bool:
    return bool(_HOUSE.search(_DATE.sub(" ", _WHEN.sub(" ", text))) or _ADDRESSED.search(text))


def _is_mixed(text: str) -> bool:
    """Whether a word has letters and a digit, as in what somebody made up."""
    return any(
        _SHORTEST_MIXED <= len(word) <= _LONGEST_MIXED and _DIGITS.search(word) and _LETTER.search(word)
        for word in _WORDS.findall(text)
    )


def _gives_nothing(text: str) -> bool:
    # An exclamation mark makes any word chatter, and a password may be any word.
    words = words_of(text).rstrip("!. ")
    if _GIVES_NOTHING.fullmatch(text) or is_chatter(words):
        return True
    return is_marked_as_question(text) and bool(_ASKS_BACK.fullmatch(text))
