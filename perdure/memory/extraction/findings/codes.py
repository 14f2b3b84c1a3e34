"""Finds what opens, unlocks or silences something where no word calls it a code, and spelled-out numbers. Pure."""

import re
from collections.abc import Iterator

from perdure.memory.extraction.findings.finding import DIGIT, Finding, FoldedText, Kind
from perdure.memory.extraction.findings.numbers import is_reference
from perdure.memory.extraction.findings.passwords import looks_made_up
from perdure.memory.extraction.lexicon import word_list
from perdure.memory.extraction.patterns import regex

_OPENS = (
    r"(?:(?:un)?locks?|unlocked|unlocking|opens?|opened|opening|(?:dis)?arms?|disarmed|disarming|silences?|silenced"
    r"|(?:switch(?:es|ed)?|turns?|turned) (?:\w+ ){0,4}?off|deactivates?|decrypts?|log(?:s|ged|ging)? ?(?:in|on)(?:to)?"
    r"|sign(?:s|ed|ing)? ?(?:in|on)(?:to)?|gets? (?:in|into)|lets? \w+ in|access(?:es|ed)?)"
)
_WITH = (
    r"(?:with|using|by|via|at|is|:|you (?:type|enter|press|dial|tap)|typ(?:e|ing)|enter(?:ing)?|dial(?:l?ing)?"
    r"|press(?:ing)?|key(?:ing)? in|punch(?:ing)? in|tapp?(?:ing)?)"
)
_NAMED = (
    r"(?:(?:the|my|our|same|this|word|words|digits|numbers?"
    r"|password|passphrase|code|combination|pattern|phrase)[,:]? ){0,4}"
)
_WITH_VALUE = regex(
    rf"\b{_OPENS}\b[^.,;\n\[]{{0,40}}?(?:\b|(?=:)){_WITH}\s+{_NAMED}[\"'“]?(?P<value>[^\s\"'”,;()\[\]]{{4,60}})",
    re.IGNORECASE,
)
_NAMED_VALUE = regex(
    r"\b(?:pass ?words?|passphrases?|passcodes?|pins?|pwd)(?:,| -| –)\s+[\"'“]?(?P<value>[^\s\"'”,;()\[\]]{4,60})",
    re.IGNORECASE,
)
_DIGITS = regex(r"[*#]?(?:\d{4,8}|\d{1,2}(?:-\d{1,2}){2,4})[*#]?")
_AMOUNT = regex(r"\d+[a-z]{1,3}", re.IGNORECASE)
_CLOCK = regex(r"(?:[01]\d|2[0-3])[0-5]\d|(?:19|20)\d\d")
_NUMBER_WORD = (
    rf"(?:(?:double|triple) {DIGIT}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[ -]{DIGIT})?"
    rf"|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|{DIGIT})"
)
_TOLD = regex(
    rf"\b{_NUMBER_WORD}(?:(?:, (?:and )?|[ -]){_NUMBER_WORD}){{3,20}}(?:,? (?:star|hash|pound|asterisk))?\b",
    re.IGNORECASE,
)
_OF_PHONE = regex(
    r"\b(?:ring|call|phone|mobile|cell|text|reach|dial|whatsapp|sms|landline|telephone|tel|number)\b[^.;\n]{0,40}$",
    re.IGNORECASE,
)
_OF_ACCESS = regex(
    r"\b(?:alarm|gate|door|safe|locker|padlock|keypad|key ?box|lock ?box|shed|garage|vault|barrier|intercom"
    r"|(?:un)?lock\w*"
    r"|disarm\w*|pin|pass ?code|code|combination|voicemail|log ?in|password)\b",
    re.IGNORECASE,
)


_CODE_WORD = r"(?:code|pin|puk|pass ?code|combination|combo|otp)"
_CODES = regex(
    rf"\b(?:mailbox|door|gate|alarm|sim|access|entry|voicemail|one[- ]time|verification|security|sms|2fa|text(?:ed)?"
    rf"|log ?in|card|bank|safe|locker|lock|padlock|bike"
    rf"|puk|pin)\b[^.;\n\d]{{0,30}}?\b{_CODE_WORD}\b[^.;\n\d]{{0,40}}?(?P<value>\d{{3}} \d{{3,4}}"
    rf"|\d{{4,8}}|\d{{1,2}}(?:-\d{{1,2}}){{2,4}})(?![^\W_]|[.,:]\d)"
    rf"|\bpuk\b[^.;\n\d]{{0,25}}(?P<puk>\d{{8}})\b",
    re.IGNORECASE,
)
_SEPARATED = regex(
    rf"\b(?:gate|door|alarm|garage|safe|locker|entry|lock|keypad|barrier|shed)\b[^.;\n\d]{{0,20}}?\b{_CODE_WORD}\b"
    r"[^.;\n\d]{0,15}?(?P<value>(?:(?:star|hash|pound|asterisk),? )?\d(?:, |,| - )(?:\d(?:, |,| - )){2,6}"
    r"(?:\d|star|hash|pound|asterisk))(?!\w)",
    re.IGNORECASE,
)
"""Read out one by one: "star, 8, 8, 0, 3, hash"."""
_SAID_TO_PASS = regex(
    r"\b(?:say|type|enter|whisper|answer|key in|tell it|give it)[,"
    r" ]+[\"'“]?(?P<value>[a-z]+(?:-[a-z]+){1,6}-\d{1,4})(?![\w-]| [a-z])",
    re.IGNORECASE,
)
_ANSWER = regex(
    r"\b(?:maiden name|first pet|first school|first teacher|first car|security question|secret question"
    r"|memorable (?:word|place|date)"
    r"|street (?:i|we|he|she) grew up|childhood (?:friend|nickname))\b[^.;\n]{0,60}?"
    r"(?:,|\banswer(?:(?: (?:it|they) \w+)? is)?|\bsay"
    r"|:) ?(?:it's |it is |the answer is |is |that's )?"
    r"[\"'“]?(?P<value>[A-ZÀ-Ž][\w'’-]{2,40})"
)
_MYSQL = regex(r"\bmysql\w*\b[^\n]{0,80}?\s-p(?P<value>[^\s-][^\s]{3,60})")
_WORDS = regex(r"(?<![\w'-])(?:[a-z]{3,8} ){11,23}[a-z]{3,8}(?![\w'-])")
_JOINING = word_list(
    """
    the and for are but not you all any can had her was one our out has him his how its may new now old see two way
    who did get let put say she too use that with have this will your from they know want been good much some time
    very when come here just like long make many more only over such take than them then well were what about after
    again also because before being both each even every first into last most must never off once other own same
    should since still their there these those through under until where which while would always
    """
)
"""Words that join others in sentences, and of which a recovery phrase has none but by chance."""
_BASE32 = regex(r"(?<![\w-])(?=[A-Z]*[2-7])(?=[2-7]*[A-Z])[A-Z2-7]{16,64}(?![\w-])")


_VALUE_OPENS = regex(
    r"(?<![\w.:-])(?P<value>[*#]?\d{4,8}[*#]?) (?:opens|unlocks|disarms|gets you (?:in|into|past)|lets (?:you|them"
    r"|us) in) (?:the|my|our|his|her|it)\b"
    r"|\b(?:keypad|door|gate|alarm|safe|lock|locker|phone|tablet)(?: \w+)? (?:wants|asks for|expects"
    r"|takes) [\"'“]?(?P<wanted>\d{4,8})(?![\w:-]|\.\d| \w)",
    re.IGNORECASE,
)
_DIALLED = regex(
    r"\b(?:dial|turn|turned|combination|combo|spin)\b[^.;\n\d]{0,40}(?P<value>\d{1,2}(?:,? (?:then |and "
    r"|to )*\d{1,2}){2,5})(?![\w:])"
    r"|\b(?:press|type|enter|key in|punch in|tap in|dial) (?:in )?(?P<spaced>[*#]?\d(?: \d){2,7}[*#]?)(?!\w)",
    re.IGNORECASE,
)
_ASKED = regex(
    r"\b(?:pass ?word|passphrase|pass ?code)\b[^.;?\n]{0,50}\?\s+[\"'“]?(?P<value>[^\s\"'”,;()\[\]]{4,60})",
    re.IGNORECASE,
)
_ADMIN_AND = regex(
    r"\b(?:admin|root|administrator|guest|user|login)\s+(?:and|with|/|then)\s+[\"'“]?(?P<value>[^\s\"'”,;()\[\]]{4,60})",
    re.IGNORECASE,
)
_THREE_PARTS = regex(r"(?<![\w.])[\w-]{3,30}\.[\w-]{5,8}\.[\w-]{25,60}(?![\w.])")
"""How bots log in to Discord and others: who, when, and a signature."""


def phrases(folded: FoldedText) -> Iterator[Finding]:
    """Yield recovery phrases, authenticators' seeds and answers to security questions, whatever they are called."""
    for match in _WORDS.finditer(folded.text):
        words = match.group().split()
        if sum(word in _JOINING for word in words) <= len(words) // 8:
            yield folded.found(*match.span(), Kind.PASSWORD)
    for match in _BASE32.finditer(folded.text):
        if not is_reference(folded.text, match.start()) and sum(map(str.isdigit, match.group())) > 1:
            yield folded.found(*match.span(), Kind.PASSWORD)
    for pattern in (_SAID_TO_PASS, _ANSWER, _MYSQL):
        for match in pattern.finditer(folded.text):
            yield folded.found(*match.span("value"), Kind.PASSWORD)
    for pattern in (_ASKED, _ADMIN_AND):
        for match in pattern.finditer(folded.text):
            value, place = _value(match)
            if _is_made_up(value) or value.count("-") > 2:
                yield folded.found(*place, Kind.PASSWORD)
    for match in _THREE_PARTS.finditer(folded.text):
        if sum(map(str.isdigit, match.group())) > 2 and match.group() != match.group().lower():
            yield folded.found(*match.span(), Kind.KEY)


NUMBERED = (_VALUE_OPENS, _SEPARATED, _DIALLED, _CODES)
"""What is found only where there is a digit."""


def codes(folded: FoldedText) -> Iterator[Finding]:
    """Yield the digits of codes that are named a few words before, or dialled, or pressed one by one."""
    for match in _VALUE_OPENS.finditer(folded.text):
        yield folded.found(*match.span("value" if match["value"] else "wanted"), Kind.PIN)
    for match in _SEPARATED.finditer(folded.text):
        yield folded.found(*match.span("value"), Kind.PIN)
    for match in _DIALLED.finditer(folded.text):
        yield folded.found(*match.span("value" if match["value"] else "spaced"), Kind.PIN)
    for match in _CODES.finditer(folded.text):
        name = "value" if match["value"] else "puk"
        other = is_reference(folded.text, match.start(name)) or _MEASURED.match(folded.text, match.end(name))
        if not other and not _CLOCK.fullmatch(match[name]):
            yield folded.found(*match.span(name), Kind.PIN)


_OTHERWISE = regex(
    r"\b(?:opened|accessed?|accesses|random access) (?:at|by|is)\b|\b(?:turn(?:s|ed)?|switch(?:es"
    r"|ed)?) (?:\w+ ){0,4}?off at\b|\b[A-Z]{2,10}-\d+$"
    r"|[\w-]+\.[\w.-]*[a-z]{2,}$|\b(?:winrar|tpm|usb|pkcs|word|excel|photoshop|acrobat)\S*$",
    re.IGNORECASE,
)
"""What is opened by somebody, at a host, at a price or with a program; what turns itself off at a measure."""
_MEASURED = regex(
    r" ?(?:%|°|degrees?|lit(?:re|er)s?|euros?|dollars?|pounds?|points?|mhz|ghz|k?hz|ms|seconds?|minutes?|hours?"
    r"|days?|people|lines?|rows?|users?"
    r"|km|m|cm|mm|kg|g|bar|volts?|watts?|rpm|requests?|items?|steps?|times|o'clock|am|pm)\b",
    re.IGNORECASE,
)


def openings(folded: FoldedText) -> Iterator[Finding]:
    """Yield what is typed, dialled or said to open something: "the locker that opens at 32-8-15"."""
    for match in _WITH_VALUE.finditer(folded.text):
        if _OTHERWISE.search(match.group()) or _MEASURED.match(folded.text, match.end()):
            continue
        value, place = _value(match)
        clock = _CLOCK.fullmatch(value) and re.search(r"\bat\s", match.group())
        digits = _DIGITS.fullmatch(value) is not None and not clock
        if digits or _is_made_up(value):
            yield folded.found(*place, Kind.PIN if digits else Kind.PASSWORD)
    for match in _NAMED_VALUE.finditer(folded.text):
        value, place = _value(match)
        if _is_made_up(value) or _DIGITS.fullmatch(value):
            yield folded.found(*place, Kind.PASSWORD)


_ONE_BY_ONE = regex(rf"{DIGIT}(?:(?:, (?:and )?|[ -]){DIGIT})+(?:,? (?:star|hash|pound|asterisk))?", re.IGNORECASE)


def told_numbers(folded: FoldedText) -> Iterator[Finding]:
    """Yield phone numbers and codes whose digits are spelled out, in pairs too: "zero six, twelve, thirty-four"."""
    for match in _TOLD.finditer(folded.text):
        before = folded.text[max(0, match.start() - 80) : match.start()]
        if _OF_PHONE.search(before) and len(match.group().split()) > 5:
            yield folded.found(*match.span(), Kind.PHONE)
        elif _ONE_BY_ONE.fullmatch(match.group()) and (
            _OF_ACCESS.search(before) or _OF_ACCESS.search(folded.text, match.end(), match.end() + 40)
        ):
            yield folded.found(*match.span(), Kind.PIN)


def _value(match: re.Match[str]) -> tuple[str, tuple[int, int]]:
    """Return a value without the punctuation that ends its sentence, and its place."""
    value = match["value"].rstrip(".!?:")
    return value, (match.start("value"), match.start("value") + len(value))


def _is_made_up(value: str) -> bool:
    return (
        looks_made_up(value)
        and not _AMOUNT.fullmatch(value)
        and (any(map(str.isdigit, value)) or re.search(r"[!#$%&*^_@]", value) is not None)
    )
