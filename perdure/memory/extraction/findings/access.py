"""Finds what opens a door, a lock or a network, and where somebody can be found, next to its name. Pure."""

import re
from collections.abc import Iterator

from perdure.memory.extraction.findings.finding import Finding, FoldedText, Kind
from perdure.memory.extraction.findings.numbers import is_reference
from perdure.memory.extraction.patterns import regex

_OPENED = (
    r"(?:alarm|keypad|key ?box|lock ?box|(?:bike |combination )?(?:pad)?lock|safe|gate|door|lift|garage|locker"
    r"|barrier|shed|entry ?phone"
    r"|intercom|digicode|(?:zugangs|tür|tor|alarm|tresor)code|c[óo]digo(?: de (?:acceso|la puerta|la alarma))?"
    r"|codice(?: di accesso)?"
    r"|toegangscode|deurcode|portkod|ovikoodi|kod do (?:bramy|drzwi)|(?:access|entry|door|gate|lift|alarm|unlock"
    r"|pass)[ -]?code"
    r"|codes? (?:for|to|of) (?:the |my |our |his |her )?[\w ]{2,20}?)"
)
_TOLD = r"(?:'s|\s+(?:is|est|es|ist|are|now|set to|opens? with|unlocks? with|takes|code|on))*[\s:=,-]{1,3}"
_CODE = (
    r"(?P<value>[*#]?(?:\d{3,8}|\d(?:[- ]\d){2,7}|\d{1,2}(?:-\d{1,2}){2,4}|[A-Z]\d{3,6}"
    r"|\d{1,4}[A-Z]\d{0,4})[*#]?)(?![^\W_]|[.,:]\d| ?(?:mm|cm|m|kg|euros?|%|days?|years?|hours?|minutes?|times|people"
    r"|steps|lines?)\b)"
)
_NUMBERED_ONE = (
    r"(?:locker|gate|door|garage|shed|lift) (?:\d{1,4}[a-z]?|[a-z]\d{1,3}) (?:has(?! been)|holds|contains|belongs)\b"
    r"(?![^.;\n]*(?:\d|\b(?:code|pin|combination|combo|number)\b))"
)
"""One of several, by its number: "Locker 121 has the sledges in it"."""
NUMBERED = (
    (regex(rf"(?<![^\W_])(?!{_NUMBERED_ONE}){_OPENED}{_TOLD}{_CODE}", re.IGNORECASE), Kind.PIN),
    (
        regex(
            r"(?P<value>\b(?:left|right|clockwise|l|r) (?:to )?\d{1,2}(?:,? (?:then |and )?(?:left|right"
            r"|anticlockwise|l|r) (?:to )?\d{1,2}){1,4})",
            re.IGNORECASE,
        ),
        Kind.PIN,
    ),
    (
        regex(
            r"\b(?:wi-?fi|wlan|hotspot|guest network|network|router|ssid)\b(?:'s)?(?: [\w-]{1,20}){0,4}?[\s:=]{1,3}"
            r"[\"']?(?P<value>(?=[\w!#$%&*-]*\d)(?=[\w!#$%&*-]*(?-i:[a-z]))[A-Za-z][\w!#$%&*-]{6,40})",
            re.IGNORECASE,
        ),
        Kind.PASSWORD,
    ),
    (
        regex(
            r"\b(?:my|our|his|her|their|home|house|live|lives|i'm at|find "
            r"me)\b[^.;\n]{0,40}?(?P<value>-?\d{1,2}\.\d{3,10}°?,? ?[NS]?,? ?-?\d{1,3}\.\d{3,10}°?)",
            re.IGNORECASE,
        ),
        Kind.ADDRESS,
    ),
    (
        regex(
            r"\b(?:my|our|his|her|their|home|patient'?s?) (?:home )?(?:post ?code|zip(?: ?code)?|plz|eircode)(?: is"
            r"|'s|:|=)?\s{1,3}"
            r"(?P<value>[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|\d{4,6}(?:-\d{3,4})?|[A-Z]\d[\dW] ?[A-Z0-9]{3,4})",
            re.IGNORECASE,
        ),
        Kind.ADDRESS,
    ),
    (
        regex(
            r"\b(?:krankenkasse|(?:versicherten|versicherungs|mitglieds|patienten|matrikel|personal|kunden|konto|ausweis|schüler|fahrer)-?(?:nummer|nr\.?)"
            r"|num[ée]ro (?:de )?(?:client|patient|dossier|adh[ée]rent|assur[ée]|compte|permis)|n[úu]mero de "
            r"(?:cliente|paciente|socio|seguro|afiliado|cuenta|permiso)"
            r"|codice (?:cliente|paziente)|klantnummer|lidnummer|rekeningnummer|asiakasnumero|medlemsnummer|kontonr\.?"
            r"|(?:my|his|her|their|our) (?:[\w-]+ ){0,2}(?:permit|licen[cs]e|visa|badge|certificate|membership|policy"
            r"|pension|pass|card))\b"
            r"(?:\s+(?:is|ist|est|es|no|number"
            r"|nr))*[\s:#.=]{1,3}(?P<value>(?=[A-Z\d -]{0,20}\d)[A-Z\d][A-Z\d]*(?:[ -][A-Z\d]{1,8}){0,5})(?![^\W_])",
            re.IGNORECASE,
        ),
        Kind.PERSONAL_NUMBER,
    ),
)
"""What holds a digit."""
_ACCESS = (
    (
        regex(
            r"\b(?:pass|pw|pwd|phrase|passphrase|password|secret)\s+[\"'“‘](?P<value>[^\"'”’\n]{3,80})[\"'”’]"
            r"(?! (?:to|as|if|when|in|instead)\b)",
            re.IGNORECASE,
        ),
        Kind.PASSWORD,
    ),
    (
        regex(r"\b(?:pass|pw|pwd)\s+(?P<value>(?=\S*[A-Za-z])(?=\S*[\d#!$%&*])[^\s,;]{5,60})", re.IGNORECASE),
        Kind.PASSWORD,
    ),
    (
        regex(
            r"\bpass(?:word|phrase|code)? is (?P<value>[^.;\n]{3,60}? (?:plus|followed by|then|backwards|and then"
            r"|with an?|in reverse)\b[^.;\n]{0,40})",
            re.IGNORECASE,
        ),
        Kind.PASSWORD,
    ),
    (
        regex(
            r"(?:contraseña|clave|mot de passe|senha|wachtwoord|passwort|kennwort|hasło)\s+(?:del?|della|du|des|voor"
            r"|vom|für|do|da|al) [\w ]{2,25}?"
            r"(?:\s+(?:es|est|is|ist|é|to)\s+|\s*[:=]\s*)(?P<value>\S{4,60})",
            re.IGNORECASE,
        ),
        Kind.PASSWORD,
    ),
    (
        regex(
            r"\bpass(?:word|phrase|code)?s? (?:is|was|being) (?:just |simply |still |always )?(?:the (?:words?"
            r"|phrase|name|string)"
            r"|my \w+'s name) (?P<value>[^\s,.;]{4,60}(?: [^\s,.;]{3,20}){0,3}?)(?=[,.;]|\s*$| in (?:lower|upper"
            r"|small|capital|all|block)| with\b| plus\b| spelt| spelled| backwards| and\b)",
            re.IGNORECASE,
        ),
        Kind.PASSWORD,
    ),
    (regex(r"\bcommunity(?: string)?\s*(?:is|:|=)\s*(?P<value>\S{4,60})", re.IGNORECASE), Kind.PASSWORD),
    (regex(r"(?P<value>https?://[^\s\"'<>]{3,100}/(?:web)?hooks?/[^\s\"'<>]{8,200})", re.IGNORECASE), Kind.KEY),
    (
        regex(r"(?<!\w)(?P<value>bc1[a-z0-9]{20,60}|0x[0-9a-fA-F]{40}|(?:xprv|xpub)[A-Za-z0-9]{50,120})(?!\w)"),
        Kind.KEY,
    ),
    (
        regex(
            r"(?<![\w:-])(?P<value>[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5})(?![\w:-])"
        ),
        Kind.PERSONAL_NUMBER,
    ),
    (
        regex(
            r"\b(?:swift|bic)(?:[ /-]?(?:bic|code))?\b(?: is|:|=)?\s{1,3}(?P<value>[A-Z]{6}[A-Z0-9]{2,5})(?!\w)",
            re.IGNORECASE,
        ),
        Kind.IBAN,
    ),
    (
        regex(
            r"(?:what3words|w3w)\W{0,4}(?:is |are )?/{0,3}(?P<value>[a-z]{2,20}\.[a-z]{2,20}\.[a-z]{2,20})"
            r"|(?<!\S)///(?P<words>[a-z]+\.[a-z]+\.[a-z]+)",
            re.IGNORECASE,
        ),
        Kind.ADDRESS,
    ),
)
"""What need not."""
HANDLES = (
    (
        regex(
            r"\b(?:instagram|insta|ig|telegram|twitter|tiktok|snapchat|snap|skype|discord|mastodon|bluesky|threads"
            r"|wechat|line id|icq|xing|linkedin"
            r"|handle|username|user name|screen name|dm me|find me|follow me|add "
            r"me)\b[^.;\n@]{0,20}?(?P<value>@[A-Za-z0-9_][\w.-]{1,40}\w)(?![\w@])",
            re.IGNORECASE,
        ),
        Kind.ACCOUNT,
    ),
)
"""What begins with an at sign."""
_SPOKEN_DIGIT = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
_MORE_ACCESS = (
    (
        regex(
            r"\b(?:pin|code|combination|passcode|cvv|cvc)\b(?:'s)?(?: [\w']{1,15}){0,4}?[ :=,-]{1,3}"
            rf"(?P<value>{_SPOKEN_DIGIT}(?:[ ,-]{{1,2}}{_SPOKEN_DIGIT}){{2,7}})\b",
            re.IGNORECASE,
        ),
        Kind.PIN,
    ),
    (
        regex(
            r"\b(?:backup|recovery|seed|mnemonic|wallet|secret) (?:phrase|words)[\s:=,-]{1,3}"
            r"(?P<value>(?!(?:\w+ ){0,2}(?:is|are|the|in|to|and|of|was|kept|on|with|must|for)\b)[a-z]{3,9}(?: "
            r"[a-z]{3,9}){3,23})\b",
            re.IGNORECASE,
        ),
        Kind.PASSWORD,
    ),
    (
        regex(r"\b(?:wi-?fi|wlan|hotspot|ssid)\b[^\n/|]{0,40}?\S\s?[/|]\s?(?P<value>[^\s/|]{4,60})", re.IGNORECASE),
        Kind.PASSWORD,
    ),
)
_LEAST = 5


def access(folded: FoldedText) -> Iterator[Finding]:
    """Yield codes, passphrases, wallets, places and account names that the text names as somebody's."""
    numbered = NUMBERED if folded.has_digits else ()
    handles = HANDLES if "@" in folded.text else ()
    for pattern, kind in (*numbered, *_ACCESS, *handles, *_MORE_ACCESS):
        for match in pattern.finditer(folded.text):
            name = "value" if match["value"] else "words"
            if kind is Kind.PERSONAL_NUMBER and sum(map(str.isalnum, match[name])) < _LEAST:
                continue
            if kind is Kind.PERSONAL_NUMBER and sum(map(str.isdigit, match[name])) < _LEAST - 1:
                continue
            if kind is Kind.PIN and is_reference(folded.text, match.start(name)):
                continue
            yield folded.found(*match.span(name), kind)
