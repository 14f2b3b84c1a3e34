"""Finds passwords, codes and cards that a text tells in passing, in ordinary words. Pure."""

import re
from collections.abc import Iterator

from perdure.memory.extraction.findings.finding import DIGIT, Finding, FoldedText, Kind
from perdure.memory.extraction.findings.passwords import looks_made_up
from perdure.memory.extraction.lexicon import AUXILIARIES, DETERMINERS, PREPOSITIONS, word_list
from perdure.memory.extraction.patterns import regex

_JOINED = regex(
    r"\b(?:pass|pass ?word|passphrase|pass ?code|phrase|log(?:in|s)?(?: in| on)?|get in|sign in)\b[^.;\n]{0,50}?"
    r"(?:\b(?:is|being|with|to)|:)\s+[\"'“]?(?P<value>[a-z]+(?:-[a-z]+){2,5})(?![\w-])",
    re.IGNORECASE,
)
"""Words joined by hyphens, as password managers make them up: "correct-pony-lamp"."""
_JOINING = AUXILIARIES | DETERMINERS | PREPOSITIONS | word_list("and or not up out off but non pre self well")
_USED_EVERYWHERE = regex(
    r"\bthe (?:\w+ )?(?:one|word|thing) (?:i|we) (?:always |still )?(?:type|use|enter)(?: \w+){0,2} is"
    r" (?P<value>\S{4,40})",
    re.IGNORECASE,
)
_PHRASE_TO = regex(
    r"\b(?:phrase|words?) (?:to|for) (?:get(?:ting)?|log(?:ging)?|sign(?:ing)?|connect(?:ing)?|join(?:ing)?)\b"
    r"[^.;\n]{0,20}?\b(?:is|are) [\"'“]?(?P<value>[^.,;\n\"”]{4,60})",
    re.IGNORECASE,
)
_BACKUPS = regex(
    r"\b(?:2fa|mfa|otp|recovery|backup|rescue)(?: (?:2fa|mfa|recovery|backups?|codes?)){0,2}s?[:, ]+(?:are )?"
    r"(?P<value>\d{4}[- ]\d{4}(?:,? (?:and )?\d{4}[- ]\d{4})*)(?!\w)",
    re.IGNORECASE,
)
_CARD_TOLD = regex(
    rf"\b(?:visa|mastercard|master card|amex|american express|(?:credit|debit|bank) card)\b[^.;\n]{{0,25}}?"
    rf"(?P<value>\b{DIGIT}(?:[ ,-]{{1,2}}(?:then |and )?{DIGIT}){{3,20}}(?:[ ,]+\w+ times(?: over)?)?)\b",
    re.IGNORECASE,
)
_FOR_THE_API = regex(
    r"(?:\b(?:api|token|secret|key|auth)\b[^.;\n]{0,40}?(?<![\w/])(?P<after>[a-z]{2,6}_(?=[a-z]*\d)[0-9a-f]{12,64})"
    r"|(?<![\w/])(?P<before>[a-z]{2,6}_(?=[a-z]*\d)[0-9a-f]{12,64})\b[^.;\n]{0,20}?\b(?:api|token|secret|auth)\b)",
    re.IGNORECASE,
)


def casual(folded: FoldedText) -> Iterator[Finding]:
    """Yield what gives access or pays where it is not said in the form of a label and a value."""
    for match in _JOINED.finditer(folded.text):
        if _JOINING.isdisjoint(match["value"].casefold().split("-")):
            yield folded.found(*match.span("value"), Kind.PASSWORD)
    for match in _USED_EVERYWHERE.finditer(folded.text):
        if looks_made_up(match["value"].rstrip(".,;!")):
            yield folded.found(*match.span("value"), Kind.PASSWORD)
    for pattern, kind in ((_PHRASE_TO, Kind.PASSWORD), (_BACKUPS, Kind.PASSWORD), (_CARD_TOLD, Kind.CARD)):
        for match in pattern.finditer(folded.text):
            yield folded.found(*match.span("value"), kind)
    for match in _FOR_THE_API.finditer(folded.text):
        yield folded.found(*match.span("after" if match["after"] else "before"), Kind.KEY)
