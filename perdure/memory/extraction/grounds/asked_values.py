"""What a turn asks to be told that is private or secret: a value, and not who has it, where it is or how long. Pure."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from perdure.memory.extraction.findings.finding import Kind
from perdure.memory.extraction.findings.remainder import TAKEN_OUT
from perdure.memory.extraction.grounds.asked_values_abroad import ABROAD, asked_abroad
from perdure.memory.extraction.grounds.questions import is_marked_as_question
from perdure.memory.extraction.patterns import regex


class AskedValue(NamedTuple):
    """A value that somebody asks for."""

    kind: Kind
    is_named: bool = True
    """Whether the question names it: "how do I open the safe?" wants a code, and may be answered by "turn it twice"."""
    any_words: bool = False
    """Whether it may be any words at all, without a digit in them."""


_DETERMINER = r"(?:your|the|my|our|his|her|their|its|this|that|a|an|[\w-]+['’]s?)"
_JOINED = r"(?:(?:and|or|&)[ ]|[,/][ ]?)"
_APART = (
    r"(?:to|of|for|in|on|at|by|with|from|about|around|behind|under|over|after|before|between|without|within|into|onto"
    r"|per|than|as|like|via|using|that|which|who|whose|where|when|how|why|if|is|are|was|were|be|been|being|do|does|did"
    r"|has|have|had|can|could|should|will|would|must|may|not|your|the|my|our|his|her|their|its|this|a|an|and|or|die"
    r"|der|das|la|le|il|el|het|de|o|les|los|las)"
)
_GAP = rf"(?:(?!{_APART}\b)[\w'’-]+[ ,/]+|{_JOINED}(?:{_DETERMINER}[ ])?)"
_PHRASE = rf"(?:{_DETERMINER}[ ](?:{_GAP}){{0,5}}?|(?:{_JOINED})?)"
"""What stands between asking and the name of a value: "your", "the new network", "your user name and"."""
_END = (
    r"(?=\W*$|['’\"”»)\]]*\s*[.,;:?!()/…&=+]|\s+[—–-]+\s|\s+(?:for(?!\W*$)|of|to(?! be\b)|on|at|in|from|with|by|that"
    r"|which|you|we|they|he|she|it|i|again|please|pls|then|now|there|here|today|and|or|but|so|was|would|do|does|did|has"
    r"|have|had|can|could|shall|should|will|must|may|might|as|if|when|since|currently|exactly|once|before|after"
    r"|until|is|are|still"
    r"|be|below|above|first|too|next|instead|not|really|correct|right|changed|expired|protects?|secures?|guards?"
    r"|opens?|unlocks?|works?|fits|goes|svp)\b)"
)
"""Ends the name of a value: a policy, a manager or the length of passwords is none."""

_ANY_WORDS = (
    r"pass ?words?|pw|(?:wi-?fi|wlan|network|router) key|pass ?phrases?|pass ?codes?|pwd|maiden name|(?:security"
    r"|secret) (?:question|answer|word)"
    r"|memorable (?:word|answer)|(?:recovery|seed|secret) (?:phrase|words)"
    r"|credentials(?! (?:do|does|did) (?!i\b|we\b|you\b))|log-?in (?:details|data)"
)
_NAMES = {
    Kind.PASSWORD: _ANY_WORDS,
    Kind.PIN: (
        r"pins?(?:[ -](?:number|code|no\.?|digits))?|(?:pin|tan|otp|totp|mfa|2fa)(?: code)?"
        r"|(?:\w+ )?(?:door|gate|alarm|entry|entrance|access|unlock|locker|safe|vault|garage|verification|security|sms"
        r"|one-?time|log-?in|sign-?in|confirmation|recovery|backup|authenticator|keypad|lock|building|voicemail|disarm"
        r"|\d+-digit|\w+-digit) codes?"
        r"|codes? (?:for|to|of|on|at) (?:the|your|my|our)(?: \w+){0,2} (?:doors?|gate|alarm|safe|house|flat|building"
        r"|garage|locker|vault|lock|phone|tablet|cabin|shed|entrance)"
        r"|code (?:that )?(?:we|i|they) (?:just )?(?:sent|texted|mailed)|code (?:that )?you (?:got|received|have)"
        r"|(?:lock |safe |locker |padlock |vault )?combination(?! (?:of (?!the (?:safe|lock|locker|padlock|vault"
        r"|door)\b)|works?|makes|gives|do|does|did|should|is (?!\W*$))\b)"
    ),
    Kind.KEY: (
        r"(?:api|secret|private|signing|encryption|licen[cs]e|recovery)[ -]keys?|(?:access|api|auth|bearer"
        r"|secret) tokens?|access key|client secret"
    ),
    Kind.EMAIL: r"e-?mail(?: address| id)?",
    Kind.BIRTH: r"(?:date|day|year) of birth|birthday|d\.?o\.?b|birth ?date",
    Kind.PHONE: (
        r"(?:(?:phone|mobile|cell|telephone|contact|landline|whatsapp|home|work)[ -]?)+(?:number|no|id)"
        r"|(?<=your )number|number to (?:call|ring|text|reach)"
    ),
    Kind.CARD: r"card (?:number|no|id|details)|cvv2?|cvc2?",
    Kind.IBAN: r"iban|sort code|bank details|account (?:number|no|id)",
    Kind.PERSONAL_NUMBER: (
        r"(?:passport|licen[cs]e|insurance|policy|tax|social security|security|patient|member\w*|id|identity"
        r"|personnel) (?:number|no|id)|ssn|national insurance(?: number)?"
    ),
    Kind.PLATE: (
        r"(?:number|licen[cs]e) ?plate|plate(?: number)?|registration (?:number|plate|mark)"
        r"|(?:car|vehicle|van|lorry|truck|motorbike)(?:['’]s)? registration"
        r"|registration of (?:the|your|my|our|his|her) (?:car|vehicle|van|lorry|truck|motorbike)"
    ),
    Kind.ADDRESS: (
        r"(?:home|postal|street|delivery|shipping|billing|mailing) address"
        r"|(?<!ip )(?<!mac )(?<!web )(?<!mail )(?<!server )(?<!wallet )(?<!memory )(?<!bus )(?<!base )(?<!network )"
        r"(?<!email )address(?! of (?:the )?(?:\w+ )?(?:server|host|database|service|site|website|broker|endpoint"
        r"|page))"
    ),
}

_GIVE = (
    r"(?:enter|type|key in|punch in|give|tell|provide|confirm|state|say|spell|submit|input|supply|repeat|name|reveal"
    r"|disclose|dictate|remind|let|specify|verify|fill in|paste|answer|choose|pick)"
)
_HAND = r"(?:send|put|write|read|show|share|pass|text|create|set|use|try|tell|get|fetch|insert)"
"""Asks for a value only where it says whose, or who is to have it: "put the password in the vault" asks for none."""
_TO = r"(?: (?:me|us|him|her|it|in|out|down|up|here|again|back|of|with|for|have|know|over|just|now))*"
_NEEDS = (
    r"(?:need|want|require|miss|expect|lack|would like|'d like|want to know|need to know|have to know|must know"
    r"|must have|would need|will need|'ll need|still need|also need|could use)(?:s|ed|es)?"
    r"|(?:ask|wait|prompt)(?:s|ed|ing)?(?: (?:you|us|me|him|her))? for|missing(?: is| are)?:?|requires|what about"
    r"|how about|and now|next(?: is| comes)?:?|mean"
)
_POLITE = r"(?:please |just |quickly |also |still |kindly |maybe )?"
_FRAMES = (
    r"(?:what|which)(?:['’]?s|['’]re| is| are| was| were| day is| would be| will be) (?!(?:a|an|some|any)\b)",
    r"what (?:would|will|should|might|could) (?=(?:your|the|my|our|his|her) .*\bbe\b)",
    rf"(?:^|[,;:.!?—–-] ?|\b(?:please|pls|kindly|just|then|now|first|and|or|(?:if|when|unless|until|once|must"
    rf"|should) you|you (?:can|could|should|must)|you(?:['’](?:d|ll)| would| will| still| just)? (?:need|have) to"
    rf"|(?:can|could|would|will|may|might|shall) (?:you|i|we)|(?:need|want|like|ask) you to|be so kind as to) )"
    rf"{_POLITE}{_GIVE}{_TO} ",
    rf"(?:\b(?:please|pls|kindly|(?:can|could|would|will) you|(?:need|want|like|ask) you to) {_POLITE}{_HAND}{_TO}"
    rf"|(?:^|, ?|\b(?:and|then|now|if you) ){_POLITE}{_HAND}{_TO} (?:me|us)(?: (?:of|the way to))?"
    rf"|(?:^|, ?|\b(?:and|then|now) ){_POLITE}{_HAND}{_TO}(?= (?:your|a|an|the new) )) ",
    r"\b(?:can|could|may|might) (?:i|we) (?:please |also |just )?(?:have|get|see|know|borrow|use|ask (?:you )?for) ",
    rf"^(?!\W*(?:does|do|did|will|would|why|who|where|which|how|when|whose)\b).*?\b(?:(?:{_NEEDS}) "
    rf"(?:also |again |now |still )?(?!an? )|(?:wants|needs|requires|expects|(?:ask|wait|prompt)(?:s|ing) for) )",
    r"^(?:first|then|finally|last(?:ly)?)[,:] (?=(?:your|the) )",
    r"(?:need|want|missing|require|thing|left|remains)\w*\b[^:]{0,40}: ?",
    r"(?:(?:do|don['’]t|would|did|can) (?:you|i|we)|(?:chance|if|whether|hope|guess) (?:you|i|we)) (?:still "
    r"|happen to |even "
    r"|also )?(?:know|remember|recall|have|tell) ",
    r"^\W*(?:you |have you |have we )?(?:got|know|remember|recall) (?=.*\?)",
    rf"\b(?:mind|care|way of|thanks for)(?: to)? (?:{_GIVE}|{_HAND}|telling|giving|sharing|sending|confirming"
    rf"|entering|typing"
    rf"|repeating|saying){_TO} ",
    r"what(?: (?:word|name|number|digits|phrase|value))? (?:did|do|have|has|shall|should|can|must|may|will"
    r"|would) (?:i|you|we"
    r"|they|he|she)(?: \w+)? (?:set|choose|chosen|change|changed|pick|picked|use|used|enter|type|put|take|make|write"
    r"|say|give)"
    r"(?: (?:as|for|in|into|under|to))* (?=(?:your|the|my|our|a|its|his|her) )",
    r"how (?:do|would|did) (?:you|i|we) (?:spell|pronounce) |how is (?=.*\b(?:spelled|spelt|written)\b)",
    r"(?:tell|ask|wonder\w*|know|remind|remember|say|explain|let)\b.{0,20} what (?=.* (?:is|was|are|were)\b(?! for))",
    r"^(?:is|was|isn['’]t|wasn['’]t) (?:this|that|it|\S*\d\S*) (?:still |really |also )?(?=(?:your|the) )",
    r"\bit(?:['’]s| is) (?=your security )",
    r"^(?:is|was|isn['’]t|wasn['’]t) (?=(?:your|the) .*(?:\d|still|correct|right|same))"
    r"(?!.* (?:been|stored|hashed|set|kept|saved|encrypted|changed|reset|known|valid|strong|needed|required|long)\b)",
)
"""How a value is asked for, up to the words before its name."""
_BY_NAME = (
    r"\b(?:what|which) (?:(?!(?:is|are|was|were|do|does|did|has|have|had|about|if|to|in|of|for|kind|type|sort)\b)"
    r"[\w'’-]+ ){0,2}?"
)
"""Asks which one of its kind: "which API key", "what wifi password"."""

_LEAD = (
    r"(?:(?:and|now|next|then|so|ok|okay|well|also|plus|first|finally|last|lastly|thanks|thank you|great|good|fine"
    r"|sorry|hi|hello|hey|right|again|or|just|please|perhaps|one more thing|for the [\w-]+|what about"
    r"|how about)[ ,:;.!—–-]+)*"
)
_VERBS = (
    r"(?:is|are|was|were|has|have|had|does|did|do|will|can|could|should|must|may|expired|expires|works?|opens?|stored"
    r"|changed|reset|failed|went|came|got|belongs?|needs?|rotates?|ends?)"
)
_REST = rf"(?: (?:for|of|to|on|at|in|from|with)(?: (?!{_VERBS}\b)[\w'’.-]+){{1,7}})?"
_TRAIL = (
    r"(?: (?:(?:is|was) (?:still |now )?\S*\d\S*|is|was|would be|will be|again|please|pls|then|now|too|as well"
    r"|first|next|is needed|is missing))*"
)
_VERB_FIRST = (
    r"(?:reset|change|changed|forgot|forgotten|lost|update|rotate|hash|store|save|delete|remove|any|no|which|whose"
    r"|why|same"
    r"|who|where|how|when|pin|wrong|bad|weak|expired|missing|without|with|by|incorrect|invalid|set|use|see|try|no)"
)
_POSSESSED = r"(?:your|[\w-]+['’]s)"
_OF_ELECTRONICS = regex(
    r"\b(?:gpio|leds?|header|board|arduino|connector|chip|wire|sensor|servo|relay|esp\d*|raspberry|bowling|jumper"
    r"|pinout"
    r"|hinge|map)\b",
    re.IGNORECASE,
)
_LOWER_PIN = regex(r"\b(?:what|which) pin (?:is|does|are|was|on|should (?:it|the)|has|goes)\b")

_UNNAMED = {
    Kind.PIN: regex(
        r"\b(?:what|how|which)\b.*\b(?:unlock|disarm|get (?:in|into)|(?:opens?|turns? off|switch(?:es)? off)\b.*"
        r"\b(?:alarm|lock|door|safe|gate|vault|locker)|(?:alarm|lock|door|safe|gate) (?:off|open))\b"
        r"|\b(?:what['’]?s|what is|what was|which is) (?:the|your|that) code\b(?=\W*$| (?:again|then|now)\b)"
        r"|\b(?:what|which) (?:code|digits)\b.*\b(?:receive|received|get|got|open|opens|unlock|unlocks|enter|type)\b",
        re.IGNORECASE,
    ),
    Kind.BIRTH: regex(
        r"\bwhen (?:were you|was (?:he|she|\w+)) born\b"
        r"|\bwhen(?:['’]s| is) (?:your|his|her|their|[\w-]+['’]s) birthday\b(?! \w)",
        re.IGNORECASE,
    ),
    Kind.PHONE: regex(
        r"\b(?:what|which) number\b.*\b(?:call|ring|text|phone|reach|dial)"
        r"|\b(?:where|how|what) (?:can|could|may|shall|should|do|would) (?:i|we|they|the \w+) (?:best "
        r"|quickly )?(?:reach"
        r"|call|ring|phone|text) (?:you|him|her)\b|\bwhat.*\breach you\b",
        re.IGNORECASE,
    ),
    Kind.PLATE: regex(r"\b(?:which|what) (?:car|vehicle)\b(?!.*\b(?:drive|buy|rent|like|prefer)\b)", re.IGNORECASE),
    Kind.ADDRESS: regex(
        r"\bwhere (?:do|does|did) (?:you|he|she) live\b|\bwhere\b.*\b(?:deliver(?:y|ed)?|ship(?:ped)?|courier|parcel"
        r"|pick (?:you|it|them) up)\b|\bwhere are you (?:based|living|located)\b",
        re.IGNORECASE,
    ),
}

SPEAKER = regex(r"^(?:user|agent|tool): ")
"""Who said what came before something, where it begins with that."""

_LONGEST = 600
"""Characters of a sentence that are looked at, at its end: with all of them, time would grow with their square."""
_SENTENCES = regex(r"(?<=[.!?？])\s+|\n+")


@cache
def _ways_to_ask(kind: Kind) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return how a value is asked for by its name: compiled when it is first named, as all take a second."""
    names = _NAMES[kind]
    name = rf"(?<![\w-])(?:{names}){_END}"
    framed = rf"(?:{'|'.join(_FRAMES)}){_PHRASE}{name}|{_BY_NAME}{name}"
    bare = (
        rf"^{_LEAD}(?:{_DETERMINER} (?:{_GAP}){{0,5}}?|(?:(?!{_VERB_FIRST}\b)(?:{_GAP})){{0,2}}?){name}{_REST}{_TRAIL}"
    )
    missing = (
        rf"\b(?:the|your) (?:{_GAP}){{0,3}}?{name} (?:is|are) (?:still |now |also )?(?:missing|needed|required)\W*$"
    )
    framed = rf"{framed}|{missing}|^{_LEAD}your (?:{_GAP}){{0,5}}?{name},? (?:please|pls)\b"
    told = rf"^{_LEAD}{_POSSESSED} (?:{_GAP}){{0,5}}?{name}{_REST}{_TRAIL}\W*$|{bare} ?(?::|=|…|,? ?(?:please|pls))\W*$"
    return (
        regex(framed, re.IGNORECASE),
        regex(rf"{bare}\W*$", re.IGNORECASE),
        regex(rf"{told}|^\W*(?:the )?(?:{names})\W*$", re.IGNORECASE),
    )


_NAMED = {kind: regex(names, re.IGNORECASE) for kind, names in _NAMES.items()}
_MAY_ASK = regex(
    rf"\b(?:{'|'.join(_NAMES.values())}|unlock|disarm|alarm|lock|door|safe|gate|vault|get in|get into|codes?|born"
    rf"|number|reach|call|ring|text|car|vehicle|live|living|based|located|deliver\w*|ship\w*|courier|parcel|pick)\b"
    rf"|{ABROAD}",
    re.IGNORECASE,
)
"""Without any of these words nothing is asked for: most turns are told apart here, in a twentieth of the time
(measured)."""
_OF_ANY_WORDS = regex(rf"\b(?:{_ANY_WORDS})\b", re.IGNORECASE)
_ONLY_NAMED = {kind: regex(rf"(?<![\w-])(?:{_NAMES[kind]}){_END}", re.IGNORECASE) for kind in (Kind.PASSWORD, Kind.PIN)}
_OF_IT = regex(
    r"\b(?:what(?:['’]?s| is| was| would)? (?:it|that|the new one|yours)(?: (?:be|now|again|then))?"
    r"|(?:tell|give|send) (?:me|us)|enter it|type it)\W*$",
    re.IGNORECASE,
)
"""Asks for what was named before: "I forgot the password, what is it?"."""
_FORBIDS = regex(r"\b(?:never|don['’]t|do not|should not|must not|nobody|no need to) (?:ever )?[a-z]+\b", re.IGNORECASE)
_REPORTS = regex(r"^\W*(?:when|if|whenever|once|after|as soon as) (?:i|we|they|he|she)\b[^,?]*[.!]?$", re.IGNORECASE)


def wanted(before: str) -> Iterator[AskedValue]:
    """Yield what a turn asks to be told, in no particular order.

    Args:
        before: What was said, perhaps with who said it: "agent: what is your PIN?".
    """
    if not _MAY_ASK.search(before):
        return
    # "[password]" stands for an answer, and is no prompt.
    said = TAKEN_OUT.sub("", SPEAKER.sub("", before))
    for sentence in _SENTENCES.split(said):
        yield from _wanted(" ".join(sentence.split())[-_LONGEST:])
    if pointed := _OF_IT.search(said[-_LONGEST:]):
        for kind, name in _ONLY_NAMED.items():
            if name.search(said[-_LONGEST:], 0, pointed.start()):
                yield AskedValue(kind, any_words=kind is Kind.PASSWORD)


def _wanted(sentence: str) -> Iterator[AskedValue]:
    for kind, named in _NAMED.items():
        if named.search(sentence) and _is_asked(sentence, kind, *_ways_to_ask(kind)):
            yield AskedValue(kind, any_words=kind is Kind.PASSWORD and bool(_OF_ANY_WORDS.search(sentence)))
    if kind := asked_abroad(sentence):
        yield AskedValue(kind, any_words=kind is Kind.PASSWORD)
    for kind, unnamed in _UNNAMED.items():
        if is_marked_as_question(sentence) and unnamed.search(sentence):
            yield AskedValue(kind, is_named=False)


def _is_asked(sentence: str, kind: Kind, framed: re.Pattern[str], bare: re.Pattern[str], told: re.Pattern[str]) -> bool:
    if kind is Kind.PIN and (_OF_ELECTRONICS.search(sentence) or _LOWER_PIN.search(sentence)):
        return False
    is_question = is_marked_as_question(sentence)
    if not is_question and (_FORBIDS.search(sentence) or _REPORTS.match(sentence)):
        return False
    return bool(framed.search(sentence) or told.match(sentence) or (is_question and bare.match(sentence)))
