"""Finds passwords and keys that a text names as such. Pure."""

import re
from collections.abc import Iterator

from perdure.memory.extraction.findings.finding import Finding, FoldedText, Kind
from perdure.memory.extraction.patterns import regex

_PASSWORD = (
    r"(?:pass ?words?|passwd|pas+ ?w(?:or|ro|o|r)ds?|pass[ -]?(?:phrase|code)s?|pass(?=\s*[:=])"  # noqa: S105  words
    r"|pwd|pw|wpa[23]?(?:[ -](?:psk|key))?|psk"
    r"|(?:wi-?fi|wlan|network) key|passwort|kennwort|losung"
    r"|contraseñas?|clave|mot de passe"
    r"|mdp|senha|palavra-passe|wachtwoord|hasło|haslo|пароль|lösenord|passord|adgangskode|kodeord|salasana|heslo|jelszó"
    r"|lozinka|parola|şifre|parool|κωδικός|סיסמה|密码|密碼|パスワード|비밀번호|كلمة المرور|पासवर्ड|mật khẩu)"
)
_KEY = (
    r"(?:(?:[\w-]{0,30}[_-])?(?:api|access|secret|private|signing|encryption|license|licence|account"
    r"|master|auth|app|consumer)"
    r"[ _-]?(?:access[ _-]?)?(?:keys?|tokens?|secrets?)|(?:[\w-]{0,30}[_-])?(?:tokens?|secrets?"
    r"|credentials?|creds|bearer"
    r"|session(?:[_-]?id)?|cookie|psk)|(?:[\w-]{0,30}[_-])?apikey|x-api-key|key)"
)
IS = (
    r"(?:'s\s+(?:now |still )?|\s+(?:is|was|are|will be|being|ist|es|est|é|è|är|er|on|to|lautet|jest|это"
    r"|be|has been|remains|stays|became)\s+(?:now |still |currently |just |simply )?"
    r"|\s+(?:is |was )?(?:changed|set|reset|updated|switched) to\s+"
    r"|\s*(?:[:=]|=>|->|→|:=|は|是)\s*|\s+-\s+)"
)
"""Between the name of a secret and its value."""
OF = (
    r"(?:(?:\s+(?:for|of|on|to|at|in|into|used|für|de|du|para|von|van|do|till|w)\b|'s)[^.,;:=\n\[]{1,60}?"
    r"|\s+now|\s*\([^)\n]{0,40}\))?"
)
"""What the secret is for, after its name."""

_PASSWORD_IS = regex(rf"(?<![^\W_]){_PASSWORD}{OF}[\"']?{IS}(?P<value>[^\n]{{1,160}})", re.IGNORECASE)
_PASSWORD_THERE_IS = regex(
    rf"(?<![^\W_]){_PASSWORD}(?: [\w-]+){{1,4}}?{IS}[\"']?(?P<value>[^\s\[]{{4,100}})", re.IGNORECASE
)
_PASSWORD_NEXT = regex(rf"(?<![^\W_]){_PASSWORD}[\s:=]{{1,2}}[\"'(]?(?P<value>[^\s\[]{{4,100}})", re.IGNORECASE)
_IS_PASSWORD = regex(
    rf"(?<!\S)(?P<value>[^\s\[]{{4,100}})\s+(?:is|as|for|being|was|=)\s+(?:the |my |our |your |a |their "
    rf"|his |her |its )?(?:[\w-]+ ){{0,2}}?"
    rf"(?:{_PASSWORD}|pin|(?:api |access |secret |private )?(?:key|token|secret))(?![^\W_])",
    re.IGNORECASE,
)
_LOGIN = regex(
    r"\b(?:log ?in|logins?|sign ?in|signin|credentials?|creds|user(?:name)?|account|wi-?fi|wlan|ssid"
    r"|network|zugangsdaten|usuario|zugang|acc[eè]s)\b"
    r"[^\n/|]{0,60}?[\s:=]([^\s:/|,]{2,60})(?:\s?[/|]\s?|:)(?P<value>[^\s\[]{4,100})",
    re.IGNORECASE,
)
_USED_TO_LOG_IN = regex(
    r"(?<!\S)(?:use|using|enter|try|type)\s+(?P<value>[^\s\[]{4,100})\s+(?:to|when|for) (?:log|sign|get"
    r"|logging|signing|unlock)",
    re.IGNORECASE,
)
_LOGS_IN_WITH = regex(
    r"(?<!\S)(?:log|sign|get) ?in(?:to \S+)? (?:with|using|by|via)\s+(?:the |my )?(?P<value>[^\s\[]{4,100})",
    re.IGNORECASE,
)
_LOGS_IN_AS = regex(
    r"\b(?:log ?in|sign ?in|login)\s+(?:with|as|is|using)\s+\S{2,60}\s+(?:and|with|,|password"
    r"|pw)\s+(?P<value>[^\s\[]{4,100})",
    re.IGNORECASE,
)
_IS_TAKEN_AS = regex(
    r"\b(?:get|log|sign) ?(?:in|on)\b[^.,;\n]{0,30}?\b(?:with|using)\s+(?P<value>(?-i:[a-z])[^\s\[]{3,60}(?<!s))"
    rf" as (?:the|its|my|our|your) {_PASSWORD}"
    r"(?=[.,:;!?)]|\s*$|\s(?:for|on|to|and|all)\b)",
    re.IGNORECASE,
)
_ACCOUNT = regex(
    r"(?<![\w/.@-])(?:admin|root|administrator|guest|sa|user)\s?[/:]\s?(?P<value>[^\s\[/]{4,100})", re.IGNORECASE
)
_KEY_IS = regex(rf"(?<![^\W_]){_KEY}{OF}[\"']?{IS}[\"']?(?P<value>[^\s\[\"',;]{{4,400}})", re.IGNORECASE)
_KEY_NEXT = regex(rf"(?<![^\W_]){_KEY}[\"']?\s+[\"'(]?(?P<value>[^\s\[\"',;]{{8,400}})", re.IGNORECASE)
_HEADER = regex(r"\b(?:bearer|basic|apikey|token)\s+(?P<value>[\w.~+/=-]{10,2000})", re.IGNORECASE)
_OPTION = regex(
    r"(?<!\S)--?(?:password|pass|pwd|token|secret|api-?key)[ =](?P<value>[^\s\[-][^\s]{2,200})", re.IGNORECASE
)

_ASSIGNED = regex(
    r"(?<!\w)[\w.-]{0,30}?(?:pass(?!\w)|password|passwd|pwd|secret|token|credential|auth|signature|[_.-]sid|sessid"
    r"|sessionid"
    r"|csrf|xsrf|cookie|(?:access|account|shared|signing|master|license)[_-]?key"
    r"|apikey)\w{0,20}\s?=\s?[\"']?(?P<value>[^\s\[\"';&]{4,200})",
    re.IGNORECASE,
)

_CODES = regex(
    r"\b(?:(?:backup|recovery|rescue|restore|scratch|emergency|one[- ]time|2fa|mfa|otp|totp|authenticator|activation"
    r"|licen[cs]e"
    r"|product|redemption|redeem|setup|reset|unlock|bitlocker|filevault|verification|security|login|access|entry"
    r"|door|gate"
    r"|wiederherstellungs|pairing)[ -]?(?:codes?|keys?|seeds?|secrets?)|(?:authenticator|totp|otp|2fa) (?:setup "
    r")?(?:seed|secret|key))"
    rf"\b{OF}(?:{IS}|\s+|\s*,\s*)[\"']?(?P<value>[A-Za-z\d]+(?:[-_#*][A-Za-z\d]+)*[#*]?)",
    re.IGNORECASE,
)
_WORDS_NEXT = regex(
    rf"(?<![^\W_]){_PASSWORD}[\s:=,]{{1,2}}[\"'(]?(?P<value>[A-Za-z\d]+(?:[-_][A-Za-z\d]+){{2,}})(?![^\W_])",
    re.IGNORECASE,
)
"""Three words or more in one: "the passphrase violet-anchor-sleet"."""
_SEED_IN_GROUPS = regex(
    r"\b(?i:2fa|mfa|otp|totp|authenticator|seed|secret|setup key)\b[^\n]{0,60}?"
    r"(?<![^\W_])(?P<value>(?:[A-Z2-7]{4}[ -]){2,15}[A-Z2-7]{2,8})(?![^\W_])"
)
"""The seed of one-time codes as it is shown to be typed: base 32, in groups of four."""
_MAIDEN = regex(
    r"\b(?:mother's maiden name|maiden name|(?:security|secret|memorable) (?:answer|word|question(?: answer)?)"
    r"|secret answer)\b"
    rf"{OF}(?:{IS}|,? which (?:is|was) )[\"']?(?P<value>[^\s\[\"',;.]{{2,60}})",
    re.IGNORECASE,
)
_SEED = regex(
    r"\b(?:seed|mnemonic|passphrase|(?:recovery|seed|backup|secret|wallet)[ -](?:phrase|words?))\b"
    rf"{OF}{IS}(?P<value>(?:[a-z]{{3,8}},?\s+){{11,23}}[a-z]{{3,8}})\b",
    re.IGNORECASE,
)
"""Twelve to 24 words, whichever they are."""
_PHRASE = regex(
    r"\b(?:(?:recovery|seed|backup|mnemonic|secret|wallet)[ -](?:phrase|words?|codes?|keys?)|mnemonic)\b"
    rf"{OF}{IS}(?P<value>[^\n\[]{{8,400}})",
    re.IGNORECASE,
)


MADE_UP = (
    ("", _PASSWORD_THERE_IS),
    ("", _PASSWORD_NEXT),
    ("", _IS_PASSWORD),
    ("", _LOGIN),
    ("-", _OPTION),
    ("=", _ASSIGNED),
    ("", _LOGS_IN_AS),
    ("", _ACCOUNT),
    ("", _USED_TO_LOG_IN),
    ("", _LOGS_IN_WITH),
)
"""Patterns whose values are passwords only if they look made up, each with a sign that is in all that it matches."""


def passwords(folded: FoldedText) -> Iterator[Finding]:
    """Yield the values of what the text names a password or a recovery phrase."""
    for match in (
        match for pattern in (_SEED, _SEED_IN_GROUPS, _WORDS_NEXT) for match in pattern.finditer(folded.text)
    ):
        yield folded.found(*match.span("value"), Kind.PASSWORD)
    for pattern, words in ((_PASSWORD_IS, 8), (_PHRASE, 30)):
        for match in pattern.finditer(folded.text):
            start, end = _stated(folded.text, *match.span("value"), words=words)
            if start < end:
                yield folded.found(start, end, Kind.PASSWORD)
    for match in _CODES.finditer(folded.text):
        start, end = match.span("value")
        if _is_code(folded.text[start:end]):
            yield folded.found(start, _end_of_made_up(folded.text, end, len(folded.text)), Kind.PASSWORD)
    for pattern in (_MAIDEN, _IS_TAKEN_AS):
        for match in pattern.finditer(folded.text):
            if match["value"].casefold() not in _FUNCTION_WORDS | _STATES:
                yield folded.found(*match.span("value"), Kind.PASSWORD)
    for sign, pattern in MADE_UP:
        for match in pattern.finditer(folded.text) if sign in folded.text else ():
            start, end = _token(folded.text, *match.span("value"))
            if looks_made_up(folded.text[start:end]):
                yield folded.found(start, end, Kind.PASSWORD)


def keys(folded: FoldedText) -> Iterator[Finding]:
    """Yield the values of what the text names a key, token or secret, and which machines make up."""
    for pattern in (_KEY_IS, _KEY_NEXT, _HEADER):
        for match in pattern.finditer(folded.text):
            start, end = _token(folded.text, *match.span("value"))
            other = _OTHER_KEY.search(folded.text, max(0, match.start() - 30), match.start() + 12)
            if _looks_like_key(folded.text[start:end]) and not other:
                yield folded.found(start, end, Kind.KEY)


_OTHER_KEY = regex(
    r"\b(?:primary|foreign|partition|sort|cache|hot|composite|natural|routing|idempotency|object|issue"
    r"|project|translation"
    r"|shortcut|public|lookup|dictionary|map|row|index|unique|shard|session) keys?\b[^.\n]{0,12}$",
    re.IGNORECASE,
)
_PLACEHOLDER = regex(
    r"\$[{(].*|\$[A-Z_]+|<.*|\{.*|\[.*|%\w+%|\*{3,}.*|x{3,}|\.{2,}|https?://.*|/.*|\./.*|~.*|vault:.*"
    r"|env:.*|op://.*|secrets?\.\w+|os\.environ.*|process\.env.*"
    r"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|\d{1,2}:\d\d|\d{4}-\d\d-\d\d|v?\d+(?:\.\d+)+"
)
_TECHNICAL = regex(
    r"(?:1password|keepass\w*|oauth2?|2fa|mfa|base64|utf-?8|sha-?\d+|md5|bcrypt|argon2\w*|pbkdf2|aes-?\d*"
    r"|rsa-?\d*|ed25519|hs256"
    r"|rs256|jwt|x509|pkcs\d*|s3|ec2|ipv[46]|http/?\d?|\d+-?(?:bit|bits|day|days|char|chars|characters"
    r"|digit|digits|minutes?|hours?"
    r"|months?|weeks?|years?|times?|min|sec|s|h|d|ms|kb|mb))(?:[-_/].*)?",
    re.IGNORECASE,
)

_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\S+",
        "a an the is are was were be been being am of to in on at for and or with by from as into than then if "
        "but not no never always only also it its this that these those there here every each any all some both "
        "either neither who which what when where how why will would can could should must may might shall do "
        "does did has have had you your we our they their he she so too very just still already again once until "
        "unless before after under over behind inside below above per via within without about against during "
        "since because while see ask check use look same one not nicht kein immer nie und oder im der die das den "
        "dem en el la los las un una y le les des dans",
    )
)
_STATES = frozenset(
    re.findall(
        r"\S+",
        "stored kept saved written managed set reset changed required needed valid invalid wrong correct "
        "incorrect expired shared hidden safe strong weak secure unsafe encrypted hashed missing empty blank "
        "optional mandatory secret private public unknown known different long short new old temporary permanent "
        "random unique generated good bad fine ok okay right lost forgotten gone compromised leaked visible "
        "available allowed forbidden case-sensitive called named mine yours important due ready next first last "
        "more less enough between least most nothing something anything everything personal common default stale "
        "live dead broken strict loose rotated renewed revoked stolen sensitive readable simple complex trivial "
        "protected restricted pending unchanged",
    )
)


def _token(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the place of a value without the quotes, brackets and punctuation around it."""
    while start < end and text[start] in "\"'`(<“‘„«":
        start += 1
    while end > start and text[end - 1] in "\"'`.,;:)>”’»?":
        end -= 1
    return start, end


def _stated(text: str, start: int, end: int, words: int) -> tuple[int, int]:
    """Return the place of a stated password: one made-up token, a quotation, or plain words up to the end of a clause.

    Plain words are one only where none of them says something about passwords ("is required", "is in the safe").
    """
    while start < end and text[start] == " ":
        start += 1
    if start < end and text[start] in "\"'`“„«":
        closing = regex("[\"'`”“»]").search(text, start + 1, end)
        if closing:
            return (start + 1, closing.start()) if closing.start() > start + 1 else (start, start)
    first = regex(r"\S+").match(text, start, end)
    if not first:
        return start, start
    place = _token(text, *first.span())
    value = text[slice(*place)]
    if _PLACEHOLDER.fullmatch(value) or _PLACEHOLDER.fullmatch(first.group()) or not value:
        return start, start
    if looks_made_up(value) or re.fullmatch(r"[\d#*-]{4,}", value):
        return place[0], _end_of_made_up(text, place[1], end)
    clause = regex(r"[^.,;:!?()\n\[\]]+").match(text, start, end)
    stated = clause.group().split() if clause else []
    if not 0 < len(stated) <= words or _is_about_passwords([word.casefold() for word in stated]):
        return start, start
    return start, start + len(clause.group().rstrip()) if clause else start


def _end_of_made_up(text: str, at: int, end: int) -> int:
    """Return where the made-up tokens end that follow one another from a place on: recovery codes come in tens."""
    while (following := regex(r"[,\s]+(\S+)").match(text, at, end)) and looks_made_up(following.group(1)):
        at = _token(text, *following.span(1))[1]
    return at


def _is_about_passwords(words: list[str]) -> bool:
    if any(word.strip("\"'") in _FUNCTION_WORDS for word in words):
        return True
    states = any(word in _STATES or word.endswith(("ed", "ible", "able", "ically")) for word in words)
    return states and len(words) < 4


def looks_made_up(value: str) -> bool:
    """Whether a token is no word: digits and letters, a sign inside, or capitals inside."""
    if len(value) < 4 or _PLACEHOLDER.fullmatch(value) or _TECHNICAL.fullmatch(value):
        return False
    letters = any(map(str.isalpha, value))
    digits = any(map(str.isdigit, value))
    signs = re.search(r"[^\w\s'’.,/-]", value[1:] if value[0] in "#@" else value) is not None or "_" in value
    inner_capital = re.search(r"[a-z][A-Z]", value) is not None and len(value) >= 8
    return letters and (digits or signs or inner_capital)


def _is_code(value: str) -> bool:
    """Whether a token after the name of a code is one: digits and letters, groups of digits, or long in capitals."""
    digits = sum(map(str.isdigit, value))
    grouped = digits >= 4 and len(value) >= 6
    return (
        not _PLACEHOLDER.fullmatch(value)
        and not _TECHNICAL.fullmatch(value)
        and (grouped or (len(value) >= 10 and value.isupper() and value.isalnum()))
    )


def _looks_like_key(value: str) -> bool:
    """Whether a token is what machines make up: 8 characters or more with digits and letters mixed."""
    if len(value) < 8 or _PLACEHOLDER.fullmatch(value) or _TECHNICAL.fullmatch(value):
        return False
    digits = sum(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    if re.fullmatch(r"[a-z]+(?:[-_][a-z]+)*[-_]?v?\d{1,2}", value):
        return False
    mixed = digits >= 1 and len(value) >= 16 and not value.islower()
    return (digits >= 2 or mixed) and letters >= 2 and not re.fullmatch(r"\w+\(.*\)", value)
