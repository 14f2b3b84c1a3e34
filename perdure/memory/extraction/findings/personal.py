"""Finds e-mail addresses, home addresses and dates of birth in a text. Pure."""

import re
from collections.abc import Iterator

from perdure.memory.extraction.findings.finding import Finding, FoldedText, Kind
from perdure.memory.extraction.patterns import regex

_EMAIL = regex(r"[\w.%+'-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![^\W_])")
_AT_WORDS = (
    r"(?:at|ät|aet|et|a|@|arroba|arobase|chiocciola|klammeraffe|apenstaartje|snabel-?a|małpa|malpa|zavin[áa][čc])"
)
_AT_SIGN = (
    rf"(?:[\[({{<|]\s?{_AT_WORDS}\s?[\])}}>|]|\b(?:arroba|arobase|chiocciola|klammeraffe|apenstaartje|snabel-?a"
    rf"|małpa|malpa|zavin[áa][čc])\b|[_-]at[_-])"
)
_AT = rf"\s?{_AT_SIGN}\s?"
_DOT = (
    r"\s?(?:\.|[\[({<]\s?(?:dot|punkt|punto|point|ponto|kropka|punt|tečka)\s?[\])}>]|\b(?:dot|punto|ponto|punkt)\b)\s?"
)
EMAILS_DISGUISED = (
    (regex("@"), regex(r"[\w.+-]{1,64} @ ?(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![^\W_])")),
    (
        regex(_AT_SIGN, re.IGNORECASE),
        regex(rf"[\w.+-]{{1,64}}{_AT}[\w-]{{1,63}}(?:{_DOT}[\w-]{{1,63}}){{1,4}}", re.IGNORECASE),
    ),
    (
        regex(" dot ", re.IGNORECASE),
        regex(
            r"\b(?:[\w-]{1,30} (?:dot|underscore|dash) ){0,3}[\w.-]{1,40} at [\w-]{1,40}(?: dot [\w-]{2,20}){1,3}\b",
            re.IGNORECASE,
        ),
    ),
)
"""What is in each of them, which is found sooner, and the whole."""
_SSH = regex(r"\bgit@[\w.-]+[:/]")


def emails(folded: FoldedText) -> Iterator[Finding]:
    """Yield e-mail addresses, also where "[at]" and "dot" stand for the signs; ``git@host:path`` is none."""
    for match in _EMAIL.finditer(folded.text):
        if not _SSH.match(folded.text, match.start()):
            yield folded.found(*match.span(), Kind.EMAIL)
    for part, pattern in EMAILS_DISGUISED:
        for match in pattern.finditer(folded.text) if part.search(folded.text) else ():
            yield folded.found(*match.span(), Kind.EMAIL)


_MONTHS = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-zé]*\.?|januar|februar|märz|mai|juni|juli|oktober"
    r"|dezember|janvier|février|mars|avril|juin|juillet|août|enero|febrero|marzo|abril|mayo|junio|julio|agosto"
    r"|septiembre|octubre|noviembre|diciembre"
)
_ORDINAL = (
    r"(?:twenty-|thirty-)?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth"
    r"|seventeenth|eighteenth|nineteenth|twentieth|thirtieth"
)
_FULL_DATE = (
    rf"(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/. ]\d{{1,2}}[-/. ]\d{{2,4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)?(?: of| de)? (?:{_MONTHS}),?(?: de| of)? \d{{4}}"
    rf"|(?:{_ORDINAL})(?: of)? (?:{_MONTHS}),?(?: of)? (?:\d{{4}}|nineteen [\w-]+|two thousand[\w -]*)"
    rf"|(?:{_MONTHS}) (?:the )?(?:{_ORDINAL}),? (?:\d{{4}}|nineteen [\w-]+)"
    rf"|(?:{_MONTHS}) \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}})"
)
_BORN = regex(
    r"\b(?:d\.?o\.?b|date of birth|birth ?date|birth ?day|born|geboren|geburtsdatum|née? le|naissance"
    r"|nacid[oa]|nacimiento"
    rf"|nascid[oa]|nascimento|nat[oa] il|syntynyt|född|geboortedatum|urodzen\w*)\b[^.;\n\d]{{0,30}}?({_FULL_DATE})\b",
    re.IGNORECASE,
)


_NAME_AND_DATE = regex(
    rf"(?<![\w-])(?-i:[A-ZÀ-Ž][\w'-]+ (?:[A-ZÀ-Ž][\w'.-]* ){{0,2}}[A-ZÀ-Ž][\w'-]+),? \(?\*?({_FULL_DATE})(?![^\W_])",
    re.IGNORECASE,
)
_YEAR_OF_BIRTH = regex(r"(?:19\d\d|200\d|201\d)")


def births(folded: FoldedText) -> Iterator[Finding]:
    """Yield full dates, with the year, that the text names as somebody's birth."""
    for match in _BORN.finditer(folded.text):
        yield folded.found(*match.span(1), Kind.BIRTH)
    for match in _NAME_AND_DATE.finditer(folded.text):
        if _YEAR_OF_BIRTH.search(match[1]):
            yield folded.found(*match.span(1), Kind.BIRTH)


_LINE = r"((?:(?!\.\s+[A-Z])[^;\n(]){4,120}?)(?=\s*(?:$|[;\n(]|\.\s|\.$|,? (?:and|but|so|if|where|which|since) ))"
_ADDRESSES = (
    regex(
        r"\b(?:(?:home|postal|private|mailing|street|residential|personal|billing|delivery|shipping|my|his|her|their"
        r"|'s)\s+(?:postal |home |private )?address|privatadresse|wohnadresse|anschrift|adresse postale|domicilio"
        rf"|direcci[óo]n|morada|indirizzo)\b[^.;\n:\d]{{0,25}}?(?:\bis\b|\bist\b|\bes\b|\best\b|:|=|,)\s*{_LINE}",
        re.IGNORECASE,
    ),
    regex(
        r"\b(?:i|we|he|she|they|my \w+|user|customer|client)\s+(?:\w+ )?(?:live|lives|living|lived|reside"
        r"|resides)\s+at\s+" + _LINE,
        re.IGNORECASE,
    ),
    regex(
        r"(?<!mail )(?<!ip )(?<!web )(?<!mac )(?<!office )(?<!shop )(?<!company )(?<!business )(?<!venue )\baddress "
        r"for (?:the |my |our |his |her )?"
        rf"(?:invoices?|parcels?|letters?|post|delivery|deliveries|shipping|\w+)\s*(?:is|:|=)\s*{_LINE}",
        re.IGNORECASE,
    ),
    regex(
        rf"\b(?:my|our|his|her|their) (?:house|flat|apartment|home|place) (?:is|'s) (?:at|on)\s+{_LINE}", re.IGNORECASE
    ),
)
_STREET = (
    r"(?:(?:Flat|Apt\.?|Apartment|Unit|Suite|Floor|House|No\.?|Block|Door|Staircase|Room) [\w/-]{1,6},? )?"
    r"(?:\d{1,5}[a-z]?,? (?:[A-Z][\w'.-]+ ){1,4}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Close|Court|Ct|Way"
    r"|Place|Pl"
    r"|Terrace|Crescent|Gardens|Grove|Square|Boulevard|Blvd|Row|Mews|Hill|Parade|Quay|Walk|Rise|View|Park|Green)\b\.?"
    r"|(?<![\w-])[A-ZÄÖÜÅ][\w-]{0,40}(?:stra(?:ß|ss)e|str\.|gasse|weg|platz|allee|ring|damm|ufer|steig|gata|gatan|vägen|gate|vej|veien|katu"
    r"|tie|straat|laan|plein|gracht|kade|utca|ulica) \d{1,4}[a-z]?\b"
    r"|\b(?i:rue|avenue|boulevard|place|chemin|impasse|via|viale|piazza|corso|calle|avenida|plaza|paseo|rua|travessa|ul\.|ulica"
    r"|carrer) (?:d[eiua]l? |la |le |les )*(?:[A-ZÀ-Ž][\w'.-]+ ?){1,4},? \d{1,4}[a-z]?\b"
    r"|\b\d{1,4},? (?:bis,? )?(?i:rue|avenue|boulevard|place|chemin|impasse) (?:d[eu]s? |la |le |l')*[A-ZÀ-Ž][\w'-]+)"
)
_SURELY_STREET = regex(
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Terrace|Crescent|Boulevard|Blvd|Mews)\b|stra(?:ß|ss)e\b|str\.|gasse\b"
    r"|allee\b|gata[n]?\b|vägen\b|katu\b|straat\b|gracht\b|utca\b|(?i:\brue\b|\bcalle\b|\bavenida\b|\bviale\b|\bcorso\b|\brua\b"
    r"|\bimpasse\b|\bchemin\b)"
)
"""Only streets are called so; a number next to one is a house's, and somebody's unless it is said to be public."""
_AT_HOME = regex(
    r"\b(?:i|we|he|she|they|user|customer|client|tenant|patient) (?:\w+ )?(?:live|lives|living|lived|reside|resides"
    r"|stay|stays"
    r"|moved|am|are|is)\b|\b(?:lives?|living|lodg(?:es|ing)|resid(?:es?|ing)) (?:at|in)\b|\b(?:ship|send|post|mail"
    r"|deliver|bring|drop|forward|collect|pick)\w* (?:\w+ ){0,4}?(?:to|at"
    r"|round|from)\b"
    r"|\b(?:home|house|flat|apartment|resident\w*|living|lives|resident of|address|domicile|wohn\w*|zuhause|chez moi"
    r"|parcels?"
    r"|letters?)\b"
    r"|\b(?:my|his|her|their) (?:place|parents|mother|father|mum|mom|dad|sister|brother|son|daughter|wife|husband"
    r"|partner|gran\w*)\b",
    re.IGNORECASE,
)
_LIVED_IN = regex(
    r"[^.;\n]{0,40}?\b(?:is|are|=|,) (?:where (?:i|we|he|she|they)|my|our|his|her|their) (?:\w+ ){0,2}?(?:live|lives"
    r"|grew|stay|home|house|flat|place|address)",
    re.IGNORECASE,
)
_STREETS = regex(
    _STREET + r"(?:,? (?:\d{4,6}|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})(?!\w))?"
    r"(?:,? (?!I\b|My\b|We\b|The\b)[A-ZÄÖÜ][\w-]+(?:,? [A-Z]{2,3}(?!\w))?"
    r"(?:,? (?:\d{4,6}(?:-\d{3,4})?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[\dW] [A-Z\d]{4})(?!\w))?){0,2}"
)
"""A street and its house, with town, state and postcode."""
_WITH_POSTCODE = regex(
    r"(?<![\w.])\d{1,4}[a-z]?,? (?:[A-Z][\w'-]+ ?){1,4},? (?:[A-Z][\w'-]+,? ){0,3}[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}(?!\w)"
)
"""A house number, capitalised words and a British postcode: a line of an address, whatever the street is called."""
_PUBLIC = regex(
    r"\b(?:offices?|shops?|stores?|compan\w+|warehouse|venue|museum|schools?|hall|clinic|hospital|depot|branch|hotel"
    r"|station|library|factory|bakery|restaurant|cafe|café|church|headquarters|hq|surgery|gallery|theatre|theater"
    r"|market|gym|pub|bank|embassy|supplier|workshop|stops?|buildings?|conference|meetings?|events?|concerts?|garage"
    r"|salon|studio|yard|docks?|gates?|park(?:ing)?|council|courts?|universit\w+|college|campus|labs?|laborator\w+"
    r"|plant|mill|kiosk|stall|agency|centre|center|stadium|arena|pool|cinema|temple|mosque|chapel|inn|nursery"
    r"|post office|terminal|dealer\w*|showroom|outlet|franchise|bookshop|deli|diner|bistro|bus stop|junction"
    r"|dentists?|doctors?|notar(?:y|ies)|pharmac\w+|barbers?|plumbers?|boutiques?|the bus|tram|train|lawyers?"
    r"|solicitors?|surgeon|accountant|tailor|butcher|florist|hairdresser|opticians?|practice|firm|client site"
    r"|atelier|brewery|cellar|vineyard|town hall|landmark|exhibition|show)\b",
    re.IGNORECASE,
)
_BLOCK_AND_FLAT = regex(
    r"\b[A-ZÀ-Ž][\w'-]+ (?:Apt|Apartments?|Mansions?|Residences?|Villas?)\b\.?,? (?:#"
    r"|No\. ?)?\d{1,4}(?:-\d{1,5})?"
    r"(?:,? [A-Z][\w-]+)?"
)
_SENTENCES = regex(r"[.!?;]\s|\n")
_HOUSE_NUMBER = regex(r"\d")
_NOT_A_HOME = regex(r"\b(?:0x[0-9a-f]+|https?://)", re.IGNORECASE)


NUMBERED = (_BLOCK_AND_FLAT, _WITH_POSTCODE, _STREETS)
"""What is found only where there is a digit."""


def addresses(folded: FoldedText) -> Iterator[Finding]:
    """Yield what is named as a home address or as where somebody lives, and houses that are not said to be public."""
    for pattern in _ADDRESSES:
        for match in pattern.finditer(folded.text):
            line = match.group(1)
            if _HOUSE_NUMBER.search(line) and not _NOT_A_HOME.search(line) and "[" not in line:
                yield folded.found(*match.span(1), Kind.ADDRESS)
    for match in _BLOCK_AND_FLAT.finditer(folded.text):
        yield folded.found(*match.span(), Kind.ADDRESS)
    for match in _WITH_POSTCODE.finditer(folded.text):
        if _PUBLIC.search(folded.text, max(0, match.start() - 60), match.start()):
            continue
        yield folded.found(*match.span(), Kind.ADDRESS)
    for match in _STREETS.finditer(folded.text):
        before, after = max(0, match.start() - 80), match.end()
        lives = _LIVED_IN.match(folded.text, after) or _AT_HOME.search(folded.text, before, match.start())
        around = f"{_SENTENCES.split(folded.text[before : match.start()])[-1]} "
        around += _SENTENCES.split(folded.text[after : after + 60])[0]
        if lives or (_SURELY_STREET.search(match.group()) and not _PUBLIC.search(around)):
            yield folded.found(*match.span(), Kind.ADDRESS)
