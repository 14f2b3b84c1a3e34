"""What is named behind its announcement, as the plain statement of it: "New captain of our team: Kim". Pure."""

import re

from perdure.memory.extraction.lexicon import MEASURES, SHARED_ROLES
from perdure.memory.extraction.patterns import regex

_NEW_OF = regex(
    r"^(?:the |our |my )?(?:new|updated|revised) (?:time|start time|date|day|slot|place|location|venue|room) "
    r"(?:for|of) (?P<what>[^:=]{2,60}?)\s*(?:[:=]| is)\s*(?:at |in "
    r"|on )?(?P<value>[^:;,]{1,40}(?::\d\d[^:;,]{0,20})?)$",
    re.IGNORECASE,
)
"""What is new of something: "New time for our standup: 10:15"."""
_NEW_IN_OFFICE = regex(
    r"^(?:the |our |my )?new (?P<role>[\w-]+) (?:of|for|at|in) (?P<what>(?:our|my|the) [\w' -]{2,40}?)"
    r"(?: (?:after|since|as of|from|following) [^:]{2,40})?: (?P<who>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+){0,2})$",
    re.IGNORECASE,
)
"""Who is new in an office: "New captain of our team: Kim"."""
_CHANGED_TO = regex(
    r"^(?:[\w' -]{2,40},? )?(?P<who>i|we)(?:'ve| have)? (?:changed|switched|swapped) (?:(?:my|our) )?"
    r"(?P<what>[\w' -]{2,30}?): (?P<new>[^,;:]{2,40}?) it is(?= now| these days|[.!]?$)",
    re.IGNORECASE,
)
"""What was changed, before to what: "I've changed running shoes: Saucony it is"."""
_HAS_NEW = regex(
    r"^(?P<who>[\w'’ -]{1,40}?)(?:'ve| has| have)(?: got| hired| found| chosen)? an? new (?P<role>[\w' -]{2,30}?)[,:] "
    r"(?:(?:it|he|she)(?:'s| is) |called |named )?(?P<value>(?-i:[A-Z0-9])[^,;:]{1,40})$",
    re.IGNORECASE,
)
"""Who or what is new, named behind: "My daughter has a new teacher, Mr Delacroix"."""
_MEASURED = regex(
    r"^(?:the )?(?P<how>depth|height|width|length) of (?P<what>[\w' -]{2,40}?)(?::| is| are) "
    r"(?P<many>\d[\d.,]* [a-z]+)$",
    re.IGNORECASE,
)
"""How much something measures, before of what: "Depth of the well: 40 metres"."""
_REPLACED = regex(
    r"^(?:i|we)(?:'ve| have)? (?:finally )?(?:(?:swapped|exchanged|traded) (?=.* for )|(?:replaced|upgraded|changed) )"
    r"(?P<owner>my|our|the) (?:old )?(?P<what>[\w' -]{2,30}?) (?:for|with|by|to) (?:an? |the )?"
    r"(?P<new>[\w' .-]{2,40})$",
    re.IGNORECASE,
)
"""What one thing was replaced with: "We replaced our old tractor with a Valtra"."""
_WENT_UP = regex(
    r"^(?:[\w' ]{2,25}, )?(?P<what>(?:my|our|the) (?:rent|price|fee|fare|rate|cost|membership|salary"
    r"|subscription|premium|tariff|admission|toll)s?(?: (?:of|for|at|to) [\w' -]{2,40}?)?) "
    r"(?:went|has gone|have gone|goes|was put|is going) (?:up|down): (?P<value>[$€£]?\d(?!.*(?:more|less|per ?cent"
    r"|%))[^:;]{0,40})$",
    re.IGNORECASE,
)
"""What went up or down, before to what: "Our rent went up: 1,210 a month"."""
_ENDED = regex(r"^(?:cancelled|canceled|stopped|dropped|ended): (?P<what>(?:my|our|the) [\w' -]{2,60})$", re.IGNORECASE)
"""What is no more, behind what became of it: "Cancelled: my subscription to the Courier"."""
_THAT_IS = regex(
    r"^(?P<value>(?=[^,]*\d)[^,;:]{2,40}), that(?:'s| is) (?P<what>(?:my|our) [\w' -]{2,40})$", re.IGNORECASE
)
"""A value, before of what it is: "900 euros, that's my budget"."""


def announced(sentence: str) -> str:
    """Return a sentence whose subject is what it is about, and whose verb says that it changed, or what it is.

    >>> announced("New captain of our team: Kim.")
    'the captain of our team changed to Kim'
    """
    sentence = _MEASURED.sub(_as_measured, sentence.rstrip(" .!"))
    sentence = _THAT_IS.sub(r"\g<what> is \g<value>", _ENDED.sub(r"I've cancelled \g<what>", sentence))
    sentence = _REPLACED.sub(r"\g<owner> \g<what> changed to \g<new>", sentence)
    sentence = _WENT_UP.sub(r"\g<what> changed to \g<value>", sentence)
    sentence = _NEW_IN_OFFICE.sub(_as_holder, sentence)
    sentence = _HAS_NEW.sub(_as_change, _CHANGED_TO.sub(_as_own_change, sentence))
    return _NEW_OF.sub(r"\g<what> changed to \g<value>", sentence)


def _as_measured(match: re.Match[str]) -> str:
    return f"{match['what']} is {match['many']} {MEASURES[match['how'].lower()]}"


_ONE_OF_MANY = SHARED_ROLES | {"developer", "intern", "product", "branch", "puppy", "tester", "trainee", "sponsor"}


def _is_one_of_many(role: str) -> bool:
    """Return whether there may be several in a role: a new friend takes nobody's place."""
    last = role.rsplit(maxsplit=1)[-1].lower()
    return last in _ONE_OF_MANY or last.endswith("s")


def _as_holder(match: re.Match[str]) -> str:
    if _is_one_of_many(match["role"]):
        return match[0]
    return f"the {match['role']} of {match['what']} changed to {match['who']}"


def _as_change(match: re.Match[str]) -> str:
    if _is_one_of_many(match["role"]):
        return match[0]
    who = match["who"]
    owner = {"i": "my", "we": "our"}.get(who.lower(), f"{who}'s")
    return f"{owner} {match['role']} changed to {match['value']}"


def _as_own_change(match: re.Match[str]) -> str:
    return f"{'my' if match['who'].lower() == 'i' else 'our'} {match['what']} changed to {match['new']}"
