"""Finds the ids that states give to persons: by form and check digits, or by the name next to them. Pure."""

import importlib
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from perdure.memory.extraction.findings.finding import Finding, FoldedText, Kind
from perdure.memory.extraction.findings.numbers import is_reference
from perdure.memory.extraction.patterns import regex

FORMS = {
    "ar.cuit": r"\d{2}-\d{8}-\d",
    "at.vnr": r"\d{4} \d{6}",
    "be.nn": r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}",
    "br.cpf": r"\d{3}\.\d{3}\.\d{3}-\d{2}",
    "ch.ssn": r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}",
    "cl.rut": r"\d{1,2}\.\d{3}\.\d{3}-[\dkK]",
    "cn.ric": r"\d{17}[\dX]",
    "cz.rc": r"\d{6}/\d{3,4}",
    "do.cedula": r"\d{3}-\d{7}-\d",
    "ec.ci": r"\d{9}-\d",
    "es.dni": r"\d{8}[ -]?[A-Z]",
    "es.nie": r"[XYZ][ -]?\d{7}[ -]?[A-Z]",
    "fi.hetu": r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]",
    "fr.nir": r"[12] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}",
    "ie.pps": r"\d{7}[A-W][A-IW]?",
    "in_.aadhaar": r"\d{4}[ -]\d{4}[ -]\d{4}",
    "in_.pan": r"[A-Z]{5}\d{4}[A-Z]",
    "is_.kennitala": r"\d{6}-\d{4}",
    "it.codicefiscale": r"[A-Z]{6}[\dA-Z]{2}[A-Z][\dA-Z]{2}[A-Z][\dA-Z]{3}[A-Z]",
    "kr.rrn": r"\d{6}-\d{7}",
    "dk.cpr": r"\d{6}-\d{4}",
    "mx.curp": r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z\d]\d",
    "my.nric": r"\d{6}-\d{2}-\d{4}",
    "pt.cc": r"\d{8} ?\d ?[A-Z\d]{2}\d",
    "se.personnummer": r"(?:\d{2})?\d{6}[-+]\d{4}",
    "th.pin": r"\d-\d{4}-\d{5}-\d{2}-\d",
    "us.itin": r"9\d{2}-\d{2}-\d{4}",
    "pk.cnic": r"\d{5}-\d{7}-\d",
}
"""Forms that few other numbers have, by their module in python-stdnum, which checks the digits."""

_DATED = frozenset({"dk.cpr", "my.nric", "pk.cnic", "us.itin"})
"""Of these only the form or a date can be checked, so that a part's number may look like one."""

IN_LETTERS = ("it.codicefiscale",)
"""Of these letters may stand for all digits."""

UNCHECKED = (
    regex(r"(?<!\w)[A-Z]{6}\d{2}[A-EHLMPR-T]\d{2}[A-Z]\d{3}[A-Z](?!\w)"),
    regex(r"(?<![\w-])\d{3}[- ]\d{2}[- ]\d{4}(?![\w-])"),
    regex(r"(?<!\w)[A-CEGHJ-PQR-TW-Z][A-Z] \d{2} \d{2} \d{2} [A-D](?!\w)"),
)
"""US social security numbers, British national insurance numbers and Italian tax codes as they are
written, whether or not a check digit holds."""

_PLAIN = (
    *("bg.egn", "ca.sin", "de.idnr", "ee.ik", "gb.nhs", "gr.amka", "hr.oib", "id.nik", "il.idnr", "lt.asmens"),
    *("nl.bsn", "no.fodselsnummer", "pl.pesel", "ro.cnp", "si.emso", "sk.rc", "tr.tckimlik", "ua.rntrc", "za.idnr"),
    *(
        "au.tfn",
        "co.nit",
        "ru.inn",
        "us.ssn",
        "at.vnr",
        "be.nn",
        "br.cpf",
        "in_.aadhaar",
        "in_.vid",
        "th.pin",
        "fr.nif",
    ),
)
"""Ids whose digits look like any other number: found only in a sentence that names such an id."""

_NAMES = regex(
    r"\b(?:passports?|passport (?:no|number|nr)|social security|social insurance|national insurance"
    r"|ni (?:number|no)|nino"
    r"|ssn|itin|sin|nhs|medicare|medicaid|tax (?:id|file|code|number|identification)|tin|tfn|nino|utr"
    r"|pesel|aadhaar|adhaar"
    r"|aadhar|pan|bsn|burgerservicenummer|hetu|henkil[öo]tunnus|personnummer|f[øo]dselsnummer|cpr|cpf|rg|dni|nie|nif"
    r"|codice fiscale|steuer-?id|steuernummer|steueridentifikationsnummer|sozialversicherungsnummer|svnr"
    r"|rvnr|ahv(?:-?nummer)?"
    r"|nir|s[ée]cu(?:rit[ée] sociale)?|num[ée]ro (?:de )?s[ée]cu\w*|curp|rfc|rut|run|cuil|cuit|c[ée]dula"
    r"|egn|oib|emso|jmbg"
    r"|cnp|rodn[ée] [čc][íi]slo|kennitala|isikukood|asmens kodas|amka|afm|inn|snils|kimlik(?: no)?"
    r"|teudat zehut|mispar zehut"
    r"|nric|mykad|hkid|nik|ktp|cnic|pps|ppsn|rrn|national id(?:entity|entification)?|identity (?:card|number|document)"
    r"|id (?:card|number|no)|personalausweis(?:nummer)?|ausweisnummer|reisepass(?:nummer)?|driv(?:er"
    r"|ing)(?:'?s|s)? licen[cs]e"
    r"|f[üu]hrerschein(?:nummer)?|licen[cs]e (?:number|no)|residence permit|green card"
    r"|alien (?:registration )?number|visa number|voter id"
    r"|health (?:card|insurance)(?: (?:number|no|id))?|krankenversichertennummer|insurance number|pasaporte"
    r"|passeport|passaporto"
    r"|rijbewijs|matricule|citizen(?:ship)? (?:number|card)|ba?dan pajak|npwp"
    r"|паспорт|инн|снилс|身份证|身分證|マイナンバー|주민등록번호"
    r"|हाथार|आधार|هوية|תעודת זהות|егн|αμκα)(?![^\W_])",
    re.IGNORECASE,
)
_VALUE = regex(
    r"(?<![^\W_])(?:[A-Za-z]{0,6}\d[A-Za-z\d]*|[A-Z]{1,2})(?:[ ./-](?:[A-Za-z]{0,3}\d[A-Za-z\d]*"
    r"|[A-Z]{1,2})){0,7}(?![^\W_])"
)
_DATE = regex(r"\d{1,4}[-./ ]\d{1,2}[-./ ]\d{1,4}|(?:19|20)\d\d(?:[-/](?:19|20)?\d\d)?")
_PURPOSE = regex(
    r"\b(?:for|on|from|to) (?:the |my |our |her |his |their |this )?\w+(?: (?:is|was|will be))?\W{0,3}$", re.IGNORECASE
)
"""Between the name of an id and the id it says what the id is for: "my SSN for the booking:"."""

_NEAR = 45
"""Characters between the name of an id and the id, at most: "my SSN for the tax forms of last year is"."""


@cache
def _checked(name: str) -> Callable[[str], bool]:
    module: Any = importlib.import_module(f"stdnum.{name}")
    return module.is_valid


@cache
def form_of(name: str) -> re.Pattern[str]:
    """Return the form of a kind of id."""
    return regex(rf"(?<![\w.-])(?:{FORMS[name]})(?![^\W_]|[-.]\d)")


def national_ids(folded: FoldedText) -> Iterator[Finding]:
    """Yield ids that have a form of their own and whose check digits hold, and those that the text names."""
    for name in FORMS if folded.has_digits else IN_LETTERS:
        for match in form_of(name).finditer(folded.text):
            hidden = name in _DATED and is_reference(folded.text, match.start())
            if _valid(name, match.group()) and not hidden:
                yield folded.found(*match.span(), Kind.NATIONAL_ID)
    if not folded.has_digits:
        return
    for pattern in UNCHECKED:
        for match in pattern.finditer(folded.text):
            if not is_reference(folded.text, match.start()):
                yield folded.found(*match.span(), Kind.NATIONAL_ID)
    yield from _named(folded)


def _valid(name: str, written: str) -> bool:
    try:
        return bool(_checked(name)(written))
    except (ValueError, IndexError, KeyError):
        return False


def _named(folded: FoldedText) -> Iterator[Finding]:
    text = folded.text
    for label in _NAMES.finditer(text):
        if label.group().islower() and label.group() in re.findall(
            r"\S+",
            "sin pan run tin rut nie inn nik es",
        ):
            continue
        end = min(
            (at for at in (text.find("\n", label.end()), text.find(";", label.end())) if at >= 0), default=len(text)
        )
        for value in _VALUE.finditer(text, label.end(), min(end, label.end() + _NEAR + 30)):
            if value.start() - label.end() > _NEAR:
                break
            if _is_id(value.group()) and (
                not is_reference(text, value.start()) or _PURPOSE.search(text, 0, value.start())
            ):
                yield folded.found(*value.span(), Kind.NATIONAL_ID)
                break
        # "44051401359 is my PESEL": only where the check digits hold, since the number may be of something else.
        for value in _VALUE.finditer(text, max(0, label.start() - _NEAR), label.start()):
            if _is_id(value.group()) and any(_valid(name, value.group()) for name in _PLAIN):
                yield folded.found(*value.span(), Kind.NATIONAL_ID)


def _is_id(written: str) -> bool:
    digits = sum(map(str.isdigit, written))
    letters = sum(map(str.isalpha, written))
    compact = written.isalnum() and written.isupper() and len(written) >= 8 and digits >= 2
    return (compact or digits >= 5 or (digits >= 4 and letters > 0 and len(written) >= 7)) and not _DATE.fullmatch(
        written
    )
