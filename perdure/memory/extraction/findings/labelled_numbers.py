"""Finds numbers that identify a person by what a text calls them: a plate, a patient's number, spoken digits. Pure."""

import re
from collections.abc import Iterator

from perdure.memory.extraction.findings.finding import Finding, FoldedText, Kind
from perdure.memory.extraction.findings.numbers import is_reference
from perdure.memory.extraction.patterns import regex

_PLATE_LABEL = (
    r"(?:(?:number|licen[cs]e|registration|vehicle|car) ?plates?(?: number| no\.?)?|plates?(?: number)?|registered"
    r"(?: to [^.;\n]{1,40}?)? (?:under|as|number)|reg(?:istration)?(?: (?:no|nr|number|mark))?\.?|vrm|kennzeichen"
    r"|nummernschild|immatriculation|plaque|matr[íi]cula|targa|kenteken|registreringsnummer|rekisterinumero|rejestracja)"
)
_PLATE_VALUE = (
    r"(?P<value>(?=[A-ZÄÖÜ0-9 -]{0,10}\d)(?=[A-ZÄÖÜ0-9 -]{0,10}[A-ZÄÖÜ])[A-ZÄÖÜ0-9]{1,8}(?:[ -][A-ZÄÖÜ0-9]{1,6}){0,3})"
)
PLATES = (
    regex(
        rf"(?<![^\W_])(?i:{_PLATE_LABEL})(?i:\s+(?:is|ist|es|est|number|no|of|the|my|now|:))*[\s:#,=-]{{1,3}}{_PLATE_VALUE}(?![^\W_])"
    ),
    regex(
        rf"(?<![^\W_]){_PLATE_VALUE}(?i:\s+(?:is|are|=|as) (?:the|my|our|his|her|their) (?:\w+ "
        rf")?(?:{_PLATE_LABEL}))(?![^\W_])"
    ),
    regex(
        r"(?i:\b(?:plates?|skoda|škoda|volvo|toyota|honda|ford|fiat|bmw|audi|mercedes|renault|peugeot|citro[eë]n|opel|vauxhall"
        r"|kia|hyundai|mazda|nissan|suzuki|subaru|tesla|vw|volkswagen|golf|dacia|lada|jeep|car|van|truck|lorry"
        r"|motorbike|motorcycle|scooter|trailer|camper|vehicle|drives?|parked|auto|wagen)\b)"
        r"[^.;\n]{0,40}?(?<![\w-])(?P<value>[A-ZÄÖÜ]{1,3}[- ][A-Z]{1,2}[- ]?\d{2,4}[EH]?|[A-Z]{2,3}[- ]?\d{3,4}"
        r"[- ]?[A-Z]{1,3}|\d{3,4}[ -][A-Z]{3}|(?!SAE|AMD|GTI"
        r"|TDI)[A-Z]{1,3} (?=[A-Z\d]*[A-Z])(?=[A-Z\d]*\d)[A-Z\d]{4,6})(?![\w-])"
    ),
    regex(r"(?<![\w-])(?P<value>[A-HJ-PR-Y][A-HJ-PR-Y]\d{2} [A-HJ-PR-Z]{3})(?![\w-])"),
)
"""Named as one, next to a vehicle, or in the British form, which nothing else has."""


def plates(folded: FoldedText) -> Iterator[Finding]:
    """Yield the number plates of vehicles, each of which identifies who keeps it."""
    for pattern in PLATES:
        for match in pattern.finditer(folded.text):
            if sum(map(str.isalnum, match["value"])) >= 4 and not is_reference(folded.text, match.start("value")):
                yield folded.found(*match.span("value"), Kind.PLATE)


_WHOSE = (
    r"(?:my|our|his|her|their|your|patient'?s?|employee'?s?|student'?s?|pupil'?s?|client'?s?|member'?s?|insured|holder'?s?"
    r"|[A-Z][\w-]+'s)"
)
_OF_PERSON = (
    r"(?:patient|medical(?: record)?|hospital|chart|health|insurance|insured|policy|member(?:ship)?|student|pupil"
    r"|matriculation"
    r"|employee|staff|personnel|payroll|pension|benefits?|social|citizen|resident|residence|identity|identification"
    r"|id(?:entity)? card|tax(?:payer)?|driver|driving|licen[cs]e|permit|visa|voter|military|service|prisoner|inmate"
    r"|case worker"
    r"|donor|subscriber|loyalty|frequent[ -]flyer|library card|bank|savings|giro|current account|customer|account"
    r"|client|person)"
)
_NUMBER = r"(?:numbers?|no\.?|nr\.?|num|ids?|card|code|#)"
_VALUE = r"(?P<value>[A-Z]{0,4}[ -]?\d[A-Z\d]*(?:[ ./-][A-Z\d]{1,8}){0,6})(?![^\W_])"
_IS = (
    r"(?:'s|\s+(?:is|was|ist|es|est|now|of|for|the|my|our|his|her|their|keeper|holder|owner|patient|user|resident"
    r"|client|member|pupil|student|customer|father|mother|wife|husband|son|daughter|[A-Z][a-z]+)){0,8}[\s:=#,]{1,3}"
)
_ABBREVIATION = (
    r"(?:BVN|NIN|HCN|MRN|EMR|NHI|OHIP|RAMQ|PHN|IHI|UHID|ABHA|UAN|PRAN|SSNIT|NRC|NPWP|KTP|EPF|SSS|GSIS|TFN|ACN|EMBG"
    r"|PIN code"
    r"|KVNR|SV-?Nr|AHV-?Nr|USCIS|UCI|DUNS|UTR|CRN|PRN|RUT|RFC|DUI|NUI|NUIP|CI|CC|TC|NIP|EGN|IRD|IMSI|ORCID|A-?Number)"
)
PERSONAL = (
    regex(rf"(?i:\b(?:{_WHOSE} )?{_OF_PERSON}(?:'s)? {_NUMBER}|\b{_WHOSE} (?:\w+ )?{_NUMBER})(?![^\W_]){_IS}{_VALUE}"),
    regex(
        r"(?i:\b(?:licen[cs]e|passport|permit|policy|membership|insurance|visa|enrolment|registration|pension"
        r"|social security"
        r"|national insurance|medicare|blue card|green card))(?i:\s+(?:is|no\.?|nr\.?|number|#))*[\s:=#(,]{1,3}"
        r"(?P<value>(?=[\d-]*[A-Z])(?=[A-Z\d-]*\d[A-Z\d-]*\d[A-Z\d-]*\d[A-Z\d-]*\d)[A-Z\d][A-Z\d-]{6,20})(?![^\W_])"
    ),
    regex(rf"\b{_ABBREVIATION}\b(?i: {_NUMBER})?{_IS}{_VALUE}"),
    regex(rf"(?i:\b(?:patient|resident|pupil|inmate|claimant|insured)) (?:[A-Z]{{2,6}} )?{_VALUE}"),
    regex(r"(?i:\bid[- ]?(?:kort|kaart|kood|karte|code|card|nr|number))\.?[\s:=#]{1,3}(?P<value>\d{6,14})(?!\w)"),
)
_LEAST = 5
"""Digits of a personal number, at the least; fewer may be a year or a room's."""
_DATE = regex(r"\d{1,4}[-./ ]\d{1,2}[-./ ]\d{1,4}")


_RECORD = regex(r"^[ \t]*(?:PID|NK1|PV1|IN1|GT1)\|[^\n]+|\bMRN[ :#-]?\d{5,12}\b", re.MULTILINE)
"""What clinics send each other of a patient (HL7), and the number under which they know them."""


_READ_BY_MACHINES = regex(r"\b[PIACV][A-Z<][A-Z<]{3}[A-Z]+(?:<[A-Z]+)*<<[A-Z]+(?:<[A-Z]+)*<{2,}(?:\s+[A-Z\d<]{20,44})?")
"""The lines of a passport or a card that machines read (ICAO 9303)."""


def personal_numbers(folded: FoldedText) -> Iterator[Finding]:
    """Yield the numbers under which an office, a clinic, a school or a bank knows a person."""
    for pattern in (_RECORD, _READ_BY_MACHINES):
        for match in pattern.finditer(folded.text):
            yield folded.found(*match.span(), Kind.PERSONAL_NUMBER)
    for pattern in PERSONAL if folded.has_digits else ():
        for match in pattern.finditer(folded.text):
            value = match["value"]
            thing = is_reference(folded.text, match.start("value")) and not re.search(
                rf"(?i)\b{_OF_PERSON}", match.group()
            )
            if sum(map(str.isdigit, value)) >= _LEAST and not _DATE.fullmatch(value) and not thing:
                yield folded.found(*match.span("value"), Kind.PERSONAL_NUMBER)


_DIGIT = (
    r"(?:zero|oh|nought|one|two|three|four|five|six|seven|eight|nine|(?:double|triple)[ -](?:zero|oh|one|two|three"
    r"|four|five"
    r"|six|seven|eight|nine))(?: hundred)?"
)
_SPOKEN = regex(rf"(?:\bplus[ ,-]+)?\b{_DIGIT}(?:[ ,-]{{1,2}}{_DIGIT}){{6,24}}\b", re.IGNORECASE)


def spoken_numbers(folded: FoldedText) -> Iterator[Finding]:
    """Yield phone numbers and the like whose digits are written as words."""
    for match in _SPOKEN.finditer(folded.text):
        yield folded.found(*match.span(), Kind.PHONE)
