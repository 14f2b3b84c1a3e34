"""Whether a text still states something once private data and secrets were taken out of it. Pure."""

import re

from perdure.memory.extraction.findings.finding import Kind
from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.predicates import verb_at

TAKEN_OUT = regex(r"\[(?:" + "|".join(re.escape(kind) for kind in Kind) + r")\]")
"""A word that stands for a finding."""

_PARTS = regex(
    r"[;\n|]+|[,!?](?=\s|$)|:(?=\s(?!\s*\[)|$)|(?<!\bno)(?<!\bnr)\.(?=\s|$)|\s[-–—]+\s|[()]"
    r"|,?\s+(?:and|but|while|so|or|und|y|et|e|aber|mais|pero)\s+|\s+(?=[\w.-]+\s?=\s?\[)",
    re.IGNORECASE,
)
_WORD = regex(r"[^\W_](?:[\w'’&%€$£+#-]*[\w%€$£+#])?")
_ABOUT = regex(
    r"(?:\b(?:is|are|was|were|be|am|as|ist|es|est|é|är|on|at|to|under|with|from|via|using|call|ring|text"
    r"|dial|email|mail|number|no"
    r"|id|code|key|token|password|pin|phone|mobile|card|iban|ssn)\b|[:=#])\W{0,3}$",
    re.IGNORECASE,
)
_COPULA = regex(
    r"(?:\b(?:is|are|was|were|be|ist|es|est|é|è|это|är|as|lautet|jest)\b(?: (?:now|still|currently))?"
    r"|[:=])\W{0,3}$",
    re.I,
)
_IS_THE_POINT = regex(rf"\[(?:{Kind.PIN}|{Kind.PASSWORD})\]")
"""Whatever stands around a password says where it is to be used."""
_LABELS = frozenset(
    re.findall(
        r"\S+",
        "phone telephone tel mobile cell cellphone number numbers no nr num email e-mail mail address addresses "
        "contact contacts reach reached call calls called ring text sms whatsapp dial fax write message msg pager "
        "home work office private personal card cards visa mastercard amex cardholder expiry expires expiring exp "
        "valid issued until cvv cvc iban bic account bank sort routing swift ip host server address ssn id ids "
        "passport licence license national insurance social security tax nino dni nie nif cpf pesel bsn aadhaar "
        "pan hetu personnummer identity document dob birth born birthday name named surname user users username "
        "login logins log sign account password passwords pass passphrase passcode pw pwd pin pins code codes key "
        "keys token tokens secret secrets api access bearer authorization auth credential credentials creds "
        "session cookie header headers export set-cookie httponly secure curl root admin record customer data "
        "hint database db uid emergencies details info information file here's here asked following below please "
        "thanks thank note keep later save flat apartment apt unit floor bell buzzer doorbell top bottom ground ring "
        "printenv env echo setenv mailer detail details asked thru cid csc jwt copied "
        "pasted devtools clipboard credit union puk sim telegram bot form field home_address "
        "remember need share send sent use used using new old current same just ok okay hi hey hello yes mine "
        "yours ours recovery seed phrase words security maiden connection string url curl x-api-key bearer"
        " client app application "
        "plate plates car vehicle registration registered reg belongs belong owner owned owns keeper patient member "
        "filed geburtsdatum adresse anschrift correo landline mum's mom's dad's mother's father's wife's husband's "
        "sister's "
        "brother's boss's neighbour's pick answer age tenant lives live flat resident kundin kunde patientin geb "
        "applicant client "
        "for reference future sake records emergency case urgent anytime anything time questions question problem "
        "problems personal main primary secondary alternative other handy nummer telefon telefonnummer meine mein "
        "lautet ist mi es número teléfono correo mon ma numéro est meu minha steuer-id henkilötunnus codice "
        "fiscale slack stripe aws github gitlab openai google discord twilio https http www",
    )
)
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\S+",
        "a an the is are was were be been being am i i'm you we they he she it my your our their his her its me "
        "us them him of to in on at for and or with by from as into than then if but so that this these those "
        "there can could will would shall should may might must do does did has have had get gets got when while "
        "who whom whose which what also too not no up out over off about only still now currently",
    )
)
_RECORDED = regex(
    r"\s*(?:the |my )?(?:security|secret) question (?:wants|asks)\b.*|\s*if (?:the |my )?(?:bank|they|anyone|anybody"
    r"|someone|somebody|he|she|it) (?:asks?|wants?|needs?)\b.*|\s*(?:here's the )?(?:bank )?details? (?:you"
    r"|i) wanted\W*$"
    r"|\s*(?:(?:i|we)(?:'ve| have)? )?(?:(?:saved|noted|stored|recorded|logged|added|updated|registered)\b"
    r"|(?:just )?(?:reset|changed|set|created|generated|rotated|issued|made|sent) (?:it|that|them|one|this"
    r"|a new one)\b.*"
    r"|(?:\w+ )?(?:gave|gives|sent|issued|assigned|handed|showed|texted|emailed) (?:me|us|him|her|you|it|them)\b.*)"
    r"|\s*(?:that's|that is|it's|this is) what (?:the|my|our|they) [\w' ]{0,40}"
    r"(?:wants?|asks? for|needs?|requires?|says?)\W*$"
    r"|\s*(?:and |then )?(?:the |my |our )?(?:safe|door|gate|lock|locker|vault|box|it|garage) (?:opens|unlocks"
    r"|is open|pops open)\W*$",
    re.IGNORECASE,
)
_SETTING = regex(
    r"[\w.-]*(?:user|login|name|host|server|port|db|database|url|uri|endpoint|region|account|email|_id|client)[\w.-]*=\S+",
    re.IGNORECASE,
)
"""Where and as whom something connects."""
_SAID_OF_IT = regex(r"\] (?:is|are|was) (?:only|just|always|never|also|the one|for|used)\b")
_SUBJECT = regex(
    r"\s*(?:i|i'm|i've|we|we're|we've|(?:my|our) (?!name\b)\w+ (?:is|are) an?"
    r"|the (?:user|customer|client|patient) (?!(?:is|was|has|does)\b)[a-z]+s)\b",
    re.IGNORECASE,
)
_OF_A_DOCUMENT = regex(
    r"\s*(?:issued|expires|expiring|expiry|exp|valid|dated|registered|ending|holder|name|named|full name"
    r"|cvv|cvc|thru|until"
    r"|keep|save|store|remember|don'?t|do not|use it|use that"
    r"|(?:call|ring|text|dial|reach|write|email|mail|contact)(?= (?:me|us|him|her|them|it|at|on|to)\b|\W*$|:)"
    r"|https?:|curl|export|-[hHuXd])\b",
    re.IGNORECASE,
)


_ANY = TAKEN_OUT.pattern
_ROW = regex(rf"{_ANY}\s*[;,|\t]\s*(?:[\w ]{{1,20}}[:=]\s*)?{_ANY}")
"""Findings in a row: a record of somebody, in which names stand next to them."""
_COMMAND_LINE = regex(r"^[ \t]*\$ [^\n]*$", re.MULTILINE)
_CONNECTION = regex(rf"\s*(?:(?:\w[\w ]*=[^\s;]*|{_ANY});)+(?:\w[\w ]*=[^\s;]*|{_ANY})?\s*")
"""The settings of one connection: nothing but where it leads to and how."""
_SENTENCE = regex(r"(?<=[.!?])\s+(?=[A-Z])|\n+")


def _statements_beside(row: str) -> str:
    """Return what is stated in addition to a record of somebody, and is not a field of it."""
    fields = (field for field in re.split(r"[;|\t]", row) if not TAKEN_OUT.search(field))
    return ". ".join(field for field in fields if len(words := _WORD.findall(field)) > 4 and verb_at(words) is not None)


def says_something(text: str) -> bool:
    """Whether a text still states something apart from what the words in brackets replaced."""
    if _CONNECTION.fullmatch(text):
        return False
    text = _COMMAND_LINE.sub("", text)
    text = " ".join(
        sentence if not _ROW.search(sentence) else _statements_beside(sentence) for sentence in _SENTENCE.split(text)
    )
    return any(part_says_something(part) and not _is_of_names(part) for part in parts(text))


_STATES = frozenset(["is", "are", "was", "were", "has", "have"])
_NAME = regex(r"[A-ZÀ-Ž][\w'’-]*")
_FULL_NAME = regex(r"(?<=\w )[A-ZÀ-Ž][\w'’-]+ (?:[A-Z]\. )?[A-ZÀ-Ž][\w'’-]+")


def parts(text: str) -> list[str]:
    """Return the parts of a text, each of which could be said alone."""
    return [part for part in _PARTS.split(text) if part and part.strip()]


def _is_of_names(part: str) -> bool:
    """Whether a part next to a finding only names the person it belongs to: "Judith Kessler"."""
    words = [match.group() for match in _WORD.finditer(TAKEN_OUT.sub(" ", part))]
    said = [word for word in words if word.casefold() not in _LABELS | _FUNCTION_WORDS]
    if TAKEN_OUT.search(part) is None and len(said) < 4 and len(said) == sum(word.isalnum() for word in said):
        lower = [word.casefold() for word in words]
        if (
            re.match(r"\s*(?:the|a|an|is|my|his|her|their)\b", part, re.I)
            and not _STATES.intersection(lower[1:])
            and verb_at(words) is None
        ):
            return True
    place = verb_at(words)
    if TAKEN_OUT.search(part) is None and place is not None and words[place].casefold() not in _STATES:
        return False
    if re.search(r"\b(?:is|are) (?:what|where|when|how|all|the only)\b", part):
        return False
    return 0 < len(said) <= 4 and all(_NAME.fullmatch(word) for word in said) and not _SUBJECT.match(part)


def part_says_something(part: str) -> bool:
    """Whether one part states something by itself."""
    taken_out = TAKEN_OUT.search(part)
    bare = TAKEN_OUT.sub(" ", part)
    bare = _SETTING.sub(" ", _RECORDED.sub("", bare))
    if taken_out:
        # Whose the finding is says nothing more.
        bare = _FULL_NAME.sub(" ", bare)
    content = [
        word
        for word in (match.group().casefold().removesuffix("'s") for match in _WORD.finditer(bare))
        if word not in _LABELS and word not in _FUNCTION_WORDS and len(word) > 1 and not word.startswith("http")
    ]
    if all(word.isdigit() for word in content):
        return False
    if taken_out is None:
        least = 1 if _SUBJECT.match(part) else 2
        return len(content) >= least and not _OF_A_DOCUMENT.match(part)
    if _IS_THE_POINT.search(part) or _COPULA.search(part[: taken_out.start()]) or part.lstrip().startswith("["):
        return False
    least = 2 if _SAID_OF_IT.search(part) else 3
    return len(content) >= least and not _OF_A_DOCUMENT.match(part)
