"""Finds PINs and the codes of doors, alarms and safes. Pure."""

import re
from collections.abc import Iterator

from perdure.memory.extraction.findings.finding import Finding, FoldedText, Kind
from perdure.memory.extraction.findings.passwords import IS, OF
from perdure.memory.extraction.patterns import regex

_CODE = (
    r"(?:pin(?:[ -]?(?:code|number|no\.?))?|geheimzahl|code pin|cvv2?|cvc2?|cvn|cid|csc|otp|totp|2fa|mfa|(?:unlock"
    r"|swipe) pattern|tan"
    r"|one[- ]time (?:code|pass(?:word|code))"
    r"|(?:2fa|mfa|verification|security|card|access|entry|door|gate|alarm|lock|unlock|garage|safe|vault|locker"
    r"|keypad|voicemail"
    r"|building|key ?box|lock ?box|pass|secret|authenticator|sms|login|backup|recovery|cabin|house"
    r"|building|shed|disarm)(?:'s)? ?codes?"
    r"|combination|türcode|code secret|código|codice segreto)"
)
_CODE_IS = regex(
    rf"(?<![^\W_]){_CODE}{OF}(?:{IS}|\s+)[\"']?(?P<value>\d{{1,4}}(?:[- ]\d{{1,4}}){{1,5}}"
    rf"|[*#]?\d{{3,10}}[*#]?)(?![^\W_]|[.,]\d)",
    re.IGNORECASE,
)
_PLACE = regex(
    r"\b(?:doors?|gates?|alarm|safe|lock|locks|padlock|garage|locker|vault|entry|entrance|keypad|lockbox"
    r"|shed|bike|cellar"
    r"|cabin|flat|apartment|building|house|keybox|key box|voicemail|phone|tablet|card)\b",
    re.IGNORECASE,
)
_THE_CODE = regex(
    r"(?:\b(?:the|its|my|our|with|use|enter|new|and)\s+|[,;:(-]\s*|^)(?:code|combination|combo)(?: (?:for"
    r"|to|of) [\w' ]{1,30}?)?"
    r"(?:\s+(?:is|was)(?: now)?\s+|\s*[:=]\s*|\s+)(?P<value>[*#]?\d{3,10}[*#]?"
    r"|\d{1,2}(?:-\d{1,2}){2,3})(?![^\W_]|[.,]\d)",
    re.IGNORECASE,
)
_OPENS = regex(
    r"\b(?:opens?|opened|unlocks?|unlocked|disarms?|disarmed|open it|get in|let yourself in|enter|type"
    r"|punch in|press|key in)"
    r"(?: \w+)? (?:with|using|by|via)? ?(?:the )?(?:code )?"
    r"(?P<value>[*#]?(?:\d{3,8}|\d(?:[- ]\d){2,7})[*#]?)(?![^\W_]|[.,]\d)",
    re.IGNORECASE,
)
_AT_THE_DOOR = regex(
    r"\b(?:alarm|gate|door|garage|safe|locker|lockbox|keypad"
    r"|key ?box)\s*[:=]\s*(?P<value>[*#]?\d{3,8}[*#]?)(?![^\W_]|[.,:]\d)",
    re.IGNORECASE,
)
_OTHER_CODE = regex(
    r"\b(?:errors?|http|exit|status|returns?|returned|countr\w+|postal|post|area|zip|product|dress|source"
    r"|currency|tax|discount|promo\w*|coupon"
    r"|voucher|checkout|off|lines?|airport|qr|bar|item|reason|diagnosis|project|cost|department|course"
    r"|booking|reservation|reference"
    r"|order|colou?r|lines of|commit|repo\w*|bug|test|years?|standard|building code|section|paragraph|icd"
    r"|bash|python|script)\b|%",
    re.IGNORECASE,
)
_ELECTRIC = regex(r"\b(?:gpio|led|header|ic|arduino|board|zip|postal|chip|cpu|esp32)\W{0,3}$", re.IGNORECASE)


NUMBERED = (_CODE_IS, _AT_THE_DOOR, _THE_CODE, _OPENS)
"""What is found only where there is a digit."""


def pins(folded: FoldedText) -> Iterator[Finding]:
    """Yield the digits of what the text names a PIN, or the code of a door, an alarm, a safe."""
    text = folded.text
    for match in _CODE_IS.finditer(text):
        if not _ELECTRIC.search(text, max(0, match.start() - 20), match.start()):
            yield folded.found(*match.span("value"), Kind.PIN)
    for match in _AT_THE_DOOR.finditer(text):
        yield folded.found(*match.span("value"), Kind.PIN)
    for pattern in (_THE_CODE, _OPENS):
        for match in pattern.finditer(text):
            beside = text[max(0, match.start() - 120) : match.end() + 60]
            if _PLACE.search(beside) or (pattern is _THE_CODE and not _OTHER_CODE.search(beside)):
                yield folded.found(*match.span("value"), Kind.PIN)
