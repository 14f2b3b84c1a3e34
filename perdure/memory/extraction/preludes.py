"""A sentence without what leads up to its statement: what was asked first, what has ended, since when. Pure."""

import re

from perdure.memory.extraction.patterns import regex

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
    r"^(?:please,?\s+)?(?P<new>(?:\d+|an?|two|three|four|five|six|seven|eight|nine|ten|twelve|as|in|on|at|with|by"
    r"|from|for|to|via|before|after|under)\s[^,;.]{2,40}?)[,;:]?\s+(?:-\s+)?(?:that's|that\s+is)\s+"
    r"(?:how(?:\s+(?:long|much|many|often))?|where|when|what|who)\s+(?P<does>(?:i|we|my|our|the)\s[^,;.]{4,60})[.!]?$",
    re.IGNORECASE,
)
_SINCE = regex(
    r"^(?i:since|from|as of|after) (?i:the|our|my|last|this) [\w' -]{3,30}?,? "
    r"(?=(?:(?:mr|mrs|ms|dr) )?(?:[A-Z][\w'-]+ ){1,3}(?:is|are|has|runs|leads|does|teaches|handles)\b)",
)
"""Since when somebody does something: "Since the summer break Yusuf Demir is our head coach"."""
_NEW_OF = regex(
    r"^(?:the |our |my )?(?:new|updated|revised) (?:time|start time|date|day|slot|place|location|venue|room) "
    r"(?:for|of) (?P<what>[^:=]{2,60}?)\s*(?:[:=]| is)\s*(?:at |in "
    r"|on )?(?P<value>[^:;,]{1,40}(?::\d\d[^:;,]{0,20})?)$",
    re.IGNORECASE,
)
"""What is new of something: "New time for our standup: 10:15"."""


_TURNED_OUT = regex(
    r"^(?:turns out |it turned out |well, )?(?:that|it|this) (?:was|did|has|had|proved) ?(?:(?:not|n't) )?"
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


def without_prelude(sentence: str) -> tuple[str, bool]:
    """Return a sentence that begins with its statement, and whether what stood before says that it is new.

    >>> without_prelude("Since the summer break Yusuf Demir is our head coach.")
    ('Yusuf Demir is our head coach.', True)
    """
    sentence = _THAT_IS_HOW.sub(r"\g<does> \g<new>", _THAT_IS_WHERE.sub(r"\g<does> on \g<new>", sentence))
    sentence = _PRELUDE_AND.sub("", sentence)
    sentence = _OVER_AND.sub("", _ASKED_FIRST.sub(r"\g<said>\g<topic>", sentence))
    sentence = _SCRAPPED.sub(r"\g<mine> \g<what>", sentence)
    sentence = _CAREFUL_WITH.sub(r"\g<said>\g<topic>", sentence)
    began = any(pattern.match(sentence) for pattern in (_SINCE, _TURNED_OUT, _WITH_NEW))
    sentence = _WITH_NEW.sub("", _TURNED_OUT.sub("", sentence))
    return _NEW_OF.sub(r"\g<what> changed to \g<value>", _SINCE.sub("", sentence)), began
