"""Finds payment cards, IBANs, IP addresses and phone numbers in a text, and tells them from other numbers. Pure."""

import ipaddress
import re
from collections.abc import Iterator

import phonenumbers
from phonenumbers import PhoneNumberType
from stdnum import iban, isbn, luhn

from perdure.memory.extraction.findings.finding import Finding, FoldedText, Kind
from perdure.memory.extraction.patterns import regex

_REFERENCE = regex(
    r"\b(?:orders?|tickets?|invoices?|parcels?|packages?|tracking|shipments?|consignments?|ref|references?"
    r"|sku|isbn|issn"
    r"|ean|upc|gtin|imei|parts?|serials?|articles?|items?|models?|batch|lot|version|builds?|commits?|case|docket|file"
    r"|claims?|contracts?|customer|jobs?|runs?|asin|doi|patent|catalog(?:ue)?|release|revision|firmware|checksum|hash"
    r"|booking|reservation|delivery|receipt|product|material|barcode|port|row|page|bestellnummer|auftrag|rechnung"
    r"|commande|facture|pedido|factura)"
    r"\W{0,3}(?:(?:numbers?|no|nr|num|codes?|ids?|is|was|n°|references?|called|named)\b\W{0,3}){0,3}$",
    re.IGNORECASE,
)
"""Directly before a number it says that the number identifies a thing."""

_BEFORE = 60
"""Characters before a number in which its label is looked for."""


def is_reference(text: str, start: int) -> bool:
    """Whether what stands directly before a number names it as that of a thing: an order, a version, a book."""
    return _REFERENCE.search(text, max(0, start - _BEFORE), start) is not None


def _groups(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [match.span() for match in regex(r"\w+").finditer(text, start, end)]


def _windows(groups: list[tuple[int, int]], largest: int) -> Iterator[tuple[int, int]]:
    """Yield the places of all sequences of neighbouring groups, the longest of each beginning first."""
    for first, (start, _) in enumerate(groups):
        for last in range(min(len(groups), first + largest) - 1, first - 1, -1):
            yield start, groups[last][1]


_DIGITS = regex(r"(?<![^\W_])\d(?:[ .\-/]{0,2}\d)*(?![^\W_])")
"""Digits with single or double separators between them."""

_SHORTEST_CARD, _LONGEST_CARD = 13, 19

_BRANDS = regex(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|6(?:011|4[4-9]\d|5\d\d)\d{12}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|35\d{14}|62\d{14,17}|(?:5[0678]|6[0137])\d{14}"
)
"""Visa, Mastercard, American Express, Discover, Diners Club, JCB, UnionPay, Maestro."""


def cards(folded: FoldedText) -> Iterator[Finding]:
    """Yield payment cards: digits in a brand's range and length whose check digit holds, grouped or not."""
    for run in _DIGITS.finditer(folded.text):
        if sum(map(str.isdigit, run.group())) < _SHORTEST_CARD:
            continue
        for start, end in _windows(_groups(folded.text, *run.span()), largest=6):
            digits = re.sub(r"\D", "", folded.text[start:end])
            if _SHORTEST_CARD <= len(digits) <= _LONGEST_CARD and _BRANDS.fullmatch(digits) and luhn.is_valid(digits):
                yield folded.found(start, end, Kind.CARD)


_CARD_LABELLED = regex(r"\b(?:card|visa|mastercard|amex|maestro|kreditkarte|tarjeta|cartão|carta)\b[^.\n]{0,40}$", re.I)


def labelled_cards(folded: FoldedText) -> Iterator[Finding]:
    """Yield 13 to 19 digits that the text itself names as a card's, whether their check digit holds or not."""
    for run in _DIGITS.finditer(folded.text):
        start, end = run.span()
        digits = sum(map(str.isdigit, run.group()))
        labelled = _CARD_LABELLED.search(folded.text, max(0, start - _BEFORE), start)
        if _SHORTEST_CARD <= digits <= _LONGEST_CARD and labelled and not is_reference(folded.text, start):
            yield folded.found(start, end, Kind.CARD)


_IBAN = regex(r"(?<![^\W_])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,32}", re.IGNORECASE)
_IBAN_LABEL = regex(r"\biban\b[^.\n]{0,40}$", re.IGNORECASE)
_BANK_NUMBER = regex(
    r"\b(?:account (?:number|no\.?|nr\.?)|acct\.?(?: no\.?| number)?|sort code|routing (?:number|no\.?)|kontonummer"
    r"|clabe|bank account|account(?= (?!(?:19|20)\d{6}\b)\d{8})|acct(?= \d{8})|routing(?= \d{9})"
    r"|iban(?= \d))\b(?: is| was|:|="
    r"|,)*\s{0,3}(\d[\d -]{3,22}\d)",
    re.IGNORECASE,
)


_BESIDE_SORT_CODE = regex(
    r"\b(?:sort code|routing|bsb|blz|branch code|bank code)\b[^.;\n]{0,40}?\b(?:numbers?|no\.?|account|acct\.?"
    r"|a/c)\W{0,3}(\d[\d -]{4,20}\d)",
    re.IGNORECASE,
)


def ibans(folded: FoldedText) -> Iterator[Finding]:
    """Yield IBANs whose check digits hold, and what the text itself names as an IBAN or a bank account's number."""
    for match in _IBAN.finditer(folded.text):
        start = match.start()
        ends = [end for end in _group_ends(match) if iban.is_valid(folded.text[start:end], check_country=False)]
        if not ends and _IBAN_LABEL.search(folded.text, max(0, start - _BEFORE), start):
            ends = [end for end in _group_ends(match) if folded.text[end - 4 : end].strip().isalnum()][-1:]
        if ends:
            yield folded.found(start, ends[-1], Kind.IBAN)
    for match in (*_BANK_NUMBER.finditer(folded.text), *_BESIDE_SORT_CODE.finditer(folded.text)):
        yield folded.found(*match.span(1), Kind.IBAN)


def _group_ends(match: re.Match[str]) -> list[int]:
    """Return where a written IBAN may end: after a group, where more words may have been taken for groups."""
    text, (start, end) = match.string, match.span()
    while end < len(text) and text[end].isalnum():
        return [at for at in range(start + 15, end) if text[at] in " -" and text[at - 1].isalnum()]
    return [at for at in range(start + 15, end) if text[at] in " -"] + [end]


_IPV4 = regex(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)(/\d{1,2}\b)?")
_IPV6 = regex(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:\.\d{1,3}){0,3}(?![\w:])(/\d{1,3}\b)?")
_VERSION = regex(
    r"(?:\b(?:v|ver|versions?|releases?|builds?|firmware|drivers?|patch|update|upgraded? to|rev|revision|image|tag)"
    r"\W{0,3}(?:(?:is|was|to|from|number|now|of)\W{0,2}){0,2})$",
    re.IGNORECASE,
)


_INSTALLED = regex(
    r" (?:(?:is|was|got|has been) )?installed (?:in|into|to|under|at) [/~.\w]|,? (?:was |is )?(?:already satisfied"
    r"|up to date)\b",
    re.I,
)
"""Said after what looks like an address: it is a version."""


def ip_addresses(folded: FoldedText) -> Iterator[Finding]:
    """Yield IP addresses but for loopback, unspecified, netmasks and whole networks; versions are none."""
    for pattern in (_IPV4, _IPV6):
        for match in pattern.finditer(folded.text):
            if _INSTALLED.match(folded.text, match.end()):
                continue
            end = match.start(1) if match.group(1) else match.end()
            if _is_address(folded.text[match.start() : end], match.group(1) or "") and not _VERSION.search(
                folded.text, max(0, match.start() - _BEFORE), match.start()
            ):
                yield folded.found(match.start(), end, Kind.IP)


_RESOLVERS = frozenset({"1.1.1.1", "1.0.0.1", "8.8.8.8", "8.8.4.4", "9.9.9.9", "149.112.112.112"})
"""Name servers that are everybody's."""


def _is_address(written: str, prefix: str) -> bool:
    if written in _RESOLVERS:
        return False
    try:
        address = ipaddress.ip_address(written)
        if prefix and ipaddress.ip_network(written + prefix, strict=False).network_address == address:
            return int(prefix[1:]) == address.max_prefixlen
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified or written.startswith("255.255."):
        return False
    return address.version == 4 or any(map(str.isdigit, written)) or written.count(":") > 2


_PHONE = regex(r"(?<![\w+])(?:\+ ?\(?|\()?\d(?:[ ().\-/]{0,3}\d){5,17}(?![^\W_])")
_PHONE_LABEL = regex(
    r"(?:\b(?:phone|phones|telephone|tel|mobile|mob|cell|cellphone|handy|fax|call|calls|calling|ring|text|sms|whatsapp"
    r"|whats app|signal|viber|dial|landline|pager|reach|reached|my (?:\w+ )?number|his number|her number|their number"
    r"|mi número|mein(?:e)? nummer|mon numéro|il mio numero|meu número|mijn nummer|contact number|contact"
    r"|emergency|ext|gsm|telefon|telefonnummer|handynummer|mobil|téléphone|portable|móvil"
    r"|teléfono|celular|telemóvel|telefone|cellulare|telefono|numer|komórka|puhelin|telefonszám|τηλέφωνο|κινητό"
    r"|телефон|тел|мобильный|telefonu|rufnummer|anrufen|appelle|llama|llámame|hotline)\b|电话|手机|電話|携帯|전화"
    r"|هاتف|جوال|טלפון|फ़ोन|मोबाइल)"
    r"\.?[^.;\n]{0,30}\W?$",
    re.IGNORECASE,
)
_RUN_BEFORE = regex(r"(?<![\w+])\d[\d./-]*[./-]$")
_RUN_AFTER = regex(r"[./-]\d[\d./-]{0,30}")
_WHOLE = 7
"""Digits from which on what is joined to a number is a number itself: "07700900123/07700900456"."""
_DATE = regex(r"(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./](?:\d{4}|\d\d))(?:[ ].*)?")
_REGIONS = ("GB", "DE", "FR", "IT", "NL", "AU", "CH", "AT", "BE", "SE", "ZA", "JP", "IN", "NZ", "IE", "TR", "PL")
"""Regions whose own way of writing their numbers, with a leading zero, is distinguished from other numbers."""


def phones(folded: FoldedText) -> Iterator[Finding]:
    """Yield phone numbers: international, grouped the way their region does, or with a word for one next to them."""
    for match in _PHONE.finditer(folded.text):
        groups = _groups(folded.text, *match.span())
        for start, end in _windows(groups, largest=8):
            opening = start
            while opening > match.start() and folded.text[opening - 1] in "+( ":
                opening -= 1
            opening += len(folded.text[opening:start]) - len(folded.text[opening:start].lstrip())
            if _is_phone(folded.text, opening, end) and not _is_part(folded.text, opening, end):
                yield folded.found(opening, end, Kind.PHONE)
                break


def _is_part(text: str, start: int, end: int) -> bool:
    """Whether more of the same number stands before or after: "6." before "0.12.20261113", which is a version."""
    before, after = _RUN_BEFORE.search(text, max(0, start - 20), start), _RUN_AFTER.match(text, end)
    return any(run is not None and sum(map(str.isdigit, run.group())) < _WHOLE for run in (before, after))


def _is_phone(text: str, start: int, end: int) -> bool:
    written = text[start:end]
    digits = re.sub(r"\D", "", written)
    if not 7 <= len(digits) <= 15 or _DATE.fullmatch(written):
        return False
    if written.startswith("+"):
        return _international(written, grouped=not written[1:].isdigit())
    sizes = [len(group) for group in re.findall(r"\d+", written)]
    nameable = len(sizes) < 7 and not re.fullmatch(r"\d{1,3}(?:[., ]000)+", written)
    # What is neither, in a table of numbers nearly everything, is seen at once; to look for a label takes 50 µs.
    if not (nameable or digits[0] == "0" or written[0] == "(") or is_reference(text, start):
        return False
    if _PHONE_LABEL.search(text, max(0, start - _BEFORE), start):
        return nameable
    book = len(digits) == 13 and isbn.is_valid(digits)
    return not book and _has_form_of_phone(written, digits, sizes)


def _has_form_of_phone(written: str, digits: str, sizes: list[int]) -> bool:
    if sizes in ([3, 3, 4], [3, 4]):
        return (digits[0] > "1" and digits[3] > "1") if len(sizes) == 3 else digits.startswith("55501")
    if digits.startswith("00"):
        # No country's code begins with a zero.
        return len(sizes) > 1 and digits[2:3] != "0" and _international("+" + written[2:], grouped=True)
    if written.startswith("("):
        return 9 <= len(digits) <= 12
    return digits[0] == "0" and 9 <= len(digits) <= 12 and _national(written, grouped=len(sizes) > 1)


def _international(written: str, *, grouped: bool) -> bool:
    try:
        number = phonenumbers.parse(written)
    except phonenumbers.NumberParseException:
        return False
    return grouped or phonenumbers.is_possible_number(number)


def _national(written: str, *, grouped: bool) -> bool:
    for region in _REGIONS:
        try:
            number = phonenumbers.parse(written, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number) and (
            grouped or phonenumbers.number_type(number) == PhoneNumberType.MOBILE
        ):
            return True
    return False
