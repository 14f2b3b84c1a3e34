"""A sentence without what leads up to its statement: what was asked first, what has ended, since when. Pure."""

import re

from perdure.memory.extraction.announcements import announced
from perdure.memory.extraction.lexicon import MONTHS, TURNING_POINTS, WEEKDAYS
from perdure.memory.extraction.patterns import regex

_DAYS, _MONTHS = "|".join(WEEKDAYS), "|".join(MONTHS)

_ASKED_FIRST = regex(
    r"^(?P<topic>[\w'’ -]{2,40})\?\s+(?P<said>.+?\b)(?:it|them|that stuff|the stuff|the things?|those|that)(?=[\s.!,]"
    r"|$)",
    re.IGNORECASE,
)
"""What is asked back first: "Coriander? I loathe the stuff"."""
_CAREFUL_WITH = regex(
    r"^(?:please |do )?(?:be )?(?:careful|cautious|mindful|wary) (?:with|of|about|around) (?P<topic>[\w'’ -]{2,40}),\s+"
    r"(?P<said>.+?\b)(?:it|them|those|that)(?=[\s.!,]|$)",
    re.IGNORECASE,
)
"""What somebody is warned of, before why: "Careful with cashews, I'm allergic to them"."""
_WITH_NEW = regex(r"^with (?:the|my|our|a) new [\w'’ -]{2,25}?,? (?=(?:i|we|my|our|the)(?:'[a-z]+)?\s)", re.IGNORECASE)
"""What is new, before what holds since: "With the new job I'd rather order in than cook"."""
_OVER_AND = regex(
    r"^(?:the|my|our|his|her|their)\s[\w' -]{2,40}?\s(?:is|are|was|were|has|have)\s(?:over|done|finished|complete"
    r"|fine|back|better|well|gone|broken"
    r"|changed|ended|closed|through|fixed|sorted|settled|ready|passed|moved|improved)(?:\s(?:again|now))?\s+(?:and"
    r"|so)\s+(?=\S+\s+\S+\s+\S+)",
    re.IGNORECASE,
)
"""What has ended, before what holds since: "the works are over and the market is on the square"."""
_WAS_AND = regex(
    r"^(?:the|my|our) [\w' -]{2,30}? (?:was|were|got|has been|have been) \w+,? (?:and|so) "
    r"(?=(?:my|our|the) (?:[\w'-]+ ){1,3}(?:is|are) )",
    re.IGNORECASE,
)
"""What was done to a thing, before what holds since: "The flat was sold and my landlord is Ms Duarte"."""
_PRELUDE_AND = regex(
    r"^(?:they|he|she|someone|somebody|we|i)\s(?:have\s|has\s)?\w+ed\s[\w' -]{2,40}?\s(?:and|so)\s+"
    r"(?=(?:my|our"
    r"|the)\s\S+\s\S+\s\S+)",
    re.IGNORECASE,
)
"""What somebody did before what holds since: "they shuffled the schedule and my show is on Sunday"."""
_THAT_IS_WHERE = regex(
    r"^(?:i|we)(?:'ve|\s+have)?\s+(?:\w+\s+)?(?:switched|moved|changed|went"
    r"|gone)\s+(?:over\s+)?to\s+(?P<new>[^,;.]{2,40}?)[,;]"
    r"\s+(?:and\s+)?(?:that's|that\s+is|it's|which\s+is)\s+(?:now\s+)?where\s+(?P<does>[^,;.]{4,60})",
    re.IGNORECASE,
)
_THAT_IS_HOW = regex(
    r"^(?:please,?\s+)?(?P<new>(?:\d+|once|twice|every|an?|two|three|four|five|six|seven|eight|nine|ten|twelve|as|in|on|at|with|by"
    r"|from|for|to|via|before|after|under)\s[^,;.]{2,40}?)[,;:]?\s+(?:-\s+)?(?:that's|that\s+is)\s+"
    r"(?:how(?:\s+(?:long|much|many|often))?|where|when|what|who)\s+(?P<does>(?:i|we|my|our|the)\s[^,;.]{4,60})[.!]?$",
    re.IGNORECASE,
)
_SINCE = regex(
    r"^(?i:since|from|as of|after) (?i:the|our|my|last|this) [\w' -]{3,30}?,? "
    r"(?=(?:(?:mr|mrs|ms|dr) )?(?:[A-Z][\w'-]+ ){1,3}(?:is|are|has|runs|leads|does|teaches|handles)\b)",
)
"""Since when somebody does something: "Since the summer break Yusuf Demir is our head coach"."""
_AFTER_CHANGE = regex(
    rf"^(?:since|after|following|with) (?:the|our|my|last|this) (?:[\w-]+ )?(?:{TURNING_POINTS}),? "
    r"(?=(?:the|my|our) \S+ \S+ \S+)",
    re.IGNORECASE,
)
"""The change since which something holds: "After the rebrand our logo is amber"."""
_SINCE_WHEN = regex(
    r"(?:^|(?<=[:;,] ))since (?:yesterday|(?:last|this) (?:night|week|month|year|term|season|spring|summer|autumn"
    rf"|winter|{_DAYS})|{_DAYS}|{_MONTHS})(?! (?:is|are|was|were)\b),? (?!it\b)(?=\S+ \S+)",
    re.IGNORECASE,
)
"""The same with a day or a month: "Since Monday our bus leaves at 7:40"."""
_TURNED_OUT = regex(
    r"^(?:(?:that|this|the) (?:change|decision|move|switch|swap|rule|plan) (?:was|has been|got|is) (?:undone|reversed"
    r"|reverted|rolled back|dropped|withdrawn|overturned|scrapped)[,:;.] )"
    r"|^(?:turns out |it turned out |well, )?(?:that|it|this) (?:was|did|has|had|proved) ?(?:(?:not|n't) )?"
    r"(?:short-lived|last|lasted|temporary|brief|work(?:ed)? out|a mistake|wrong|over quickly)[^:,.]{0,20}[:,.]\s+",
    re.IGNORECASE,
)
"""What became of something before: "That didn't last. I've gone back to Vim"."""
_SCRAPPED = regex(
    r"^(?:scrap|forget|ignore|disregard) what i said (?:about|on) (?P<what>[\w' -]{2,30}?)[,:;.]\s+"
    r"(?P<mine>(?:my|our) favou?rite)(?= (?:is|are)\b)",
    re.IGNORECASE,
)
"""What something was said about, and is said of it instead: "Scrap what I said about tea, my favourite is mate"."""


_BECAUSE = regex(
    r"^(?:because of|due to|owing to|thanks to) (?:(?:the|our|my|some) )?[\w'-]+(?: [\w'-]+)?,? "
    r"(?=(?:the|my|our|i|we)\s\S+\s\S+)",
    re.IGNORECASE,
)
"""Why something holds, before what: "Because of the roadworks the bus stops at the mill"."""
_DID_AND = regex(
    r"^(?:took|did|got|found|bought|sold|lost|had|made|went|learned|learnt|moved|changed)\s[\w' -]{2,40}?,?\s(?:and"
    r"|so)\s"
    r"(?:now )?(?=(?:i|we|my|our|the)\s\S+\s\S+)",
    re.IGNORECASE,
)
"""What the speaker did, before what holds since: "Took lessons all spring and now I can swim"."""
_IS_BACK_AND = regex(r"^(?P<who>[\w' -]{2,30}) (?:is|are) back,? and (?:is |are )?(?=[a-z]+ing\b)", re.IGNORECASE)
"""Who is back, before what they do again: "Yusuf is back and taking the minutes again"."""
_MOVED_AND = regex(
    r"^(?P<who>(?:the|my|our) [\w' -]{2,40}?) (?:has |have )?(?:moved|relocated|changed|switched)"
    r"(?: home| premises)?,? and (?:now )?(?=[a-z]+ (?:in|at|on|with|to)\b)",
    re.IGNORECASE,
)
"""That somebody moved, before to where: "The club has moved and meets in the café"."""
_WAS_DONE = regex(
    r"^(?:i|we|they|he|she)(?:'ve|'s| have| has) been \w+(?:ed|wn|en)(?:,| and| so) (?=(?:the|my|our|i|we)\b)",
    re.IGNORECASE,
)
"""What was done to somebody, before what holds since: "I've been reassigned, my project is Magpie"."""


_SPEAKS = regex(r"(?:i|we)\b", re.IGNORECASE)
"""What people do because of something, or since some day, may be one thing of many that they do."""


def without_prelude(sentence: str) -> tuple[str, bool]:
    """Return a sentence that begins with its statement, and whether what stood before says that it is new.

    >>> without_prelude("Since the summer break Yusuf Demir is our head coach.")
    ('Yusuf Demir is our head coach', True)
    """
    sentence = _THAT_IS_HOW.sub(r"\g<does> \g<new>", _THAT_IS_WHERE.sub(r"\g<does> on \g<new>", sentence))
    moved = any(pattern.match(sentence) for pattern in (_MOVED_AND, _WAS_DONE, _IS_BACK_AND)) or any(
        (led := pattern.match(sentence)) and not _SPEAKS.match(sentence, led.end()) for pattern in (_BECAUSE, _DID_AND)
    )
    sentence = _IS_BACK_AND.sub(r"\g<who> is ", _DID_AND.sub("", _BECAUSE.sub("", sentence)))
    sentence = _WAS_AND.sub("", sentence)
    sentence = _PRELUDE_AND.sub("", _MOVED_AND.sub(r"\g<who> ", _WAS_DONE.sub("", sentence)))
    sentence = _OVER_AND.sub("", _ASKED_FIRST.sub(r"\g<said>\g<topic>", sentence))
    sentence = _SCRAPPED.sub(r"\g<mine> \g<what>", sentence)
    sentence = _CAREFUL_WITH.sub(r"\g<said>\g<topic>", sentence)
    began = moved or any(pattern.match(sentence) for pattern in (_SINCE, _AFTER_CHANGE, _TURNED_OUT, _WITH_NEW))
    sentence = _WITH_NEW.sub("", _TURNED_OUT.sub("", sentence))
    plain = without_since_when(sentence)
    began |= plain != sentence and not _SPEAKS.match(plain)
    return announced(_AFTER_CHANGE.sub("", _SINCE.sub("", plain))), began


def without_since_when(sentence: str) -> str:
    """Return a sentence without the day or the month since which it holds, where that comes first."""
    return _SINCE_WHEN.sub("", sentence)
