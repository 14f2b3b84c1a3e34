"""What is named behind its announcement, as the plain statement of it: "New captain of our team: Kim". Pure."""

import re
from collections.abc import Callable

from perdure.memory.extraction.lexicon import MEASURES, SHARED_ROLES, is_exchangeable
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
    r"(?P<what>[\w' -]{2,30}?)(?:: (?P<new>[^,;:]{2,40}?) it is(?= now| these days|[.!]?$)"
    r"|[,:;] (?:(?:i'm|we're) (?:at|with|on)|it's|mine is|ours is) "
    r"(?P<is>(?-i:[A-Z]|number \d)[^,;:]{1,40}?)(?: now| these days| from now on)?$)",
    re.IGNORECASE,
)
"""What was changed, before to what: "I've changed running shoes: Saucony it is", "I changed gyms, I'm at Ox now"."""
_HAS_NEW = regex(
    r"^(?P<who>[\w'’ -]{1,40}?)(?:(?:'ve| has| have)(?: got| hired| found| chosen)?| got| hired"
    r"| found) an? (?:new|different) (?P<role>(?:(?!for |of |in |at |with )[\w'-]+ ){0,2}[\w'-]+)[,:] "
    r"(?:(?:it|he|she)(?:'s| is) |called |named |number )?(?P<value>(?-i:[A-Z0-9])[^,;:]{1,40})$",
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
    r"^(?:i|we)(?:'ve| have)? (?:finally )?(?:(?:swapped|exchanged|traded) (?=.* for )|replaced |changed (?=.* (?:for"
    r"|to) )|upgraded (?=.* to ))"
    r"(?P<owner>my|our|the) (?:old )?(?P<what>[\w' -]{2,30}?) (?:for|with|by|to) (?:an? |the )?"
    r"(?P<new>(?!\w+sel(?:f|ves)\b)[\w' .-]{2,40})$",
    re.IGNORECASE,
)
"""What one thing was replaced with: "We replaced our old tractor with a Valtra"."""
_WENT_UP = regex(
    r"^(?:[\w' ]{2,25}, )?(?P<what>(?:my|our|the) (?:rent|price|fee|fare|rate|cost|membership|salary"
    r"|subscription|premium|tariff|admission|toll)s?(?: (?:of|for|at|to) [\w' -]{2,40}?)?) "
    r"(?:went|has gone|have gone|goes|was put|is going) (?:up|down): (?P<value>[$€£]?\d(?!.*(?:more|less"
    r"|extra|on top|in a row|per ?cent"
    r"|%))[^:;]{0,40})$",
    re.IGNORECASE,
)
"""What went up or down, before to what: "Our rent went up: 1,210 a month"."""
_BACK_TO = regex(
    r"^(?:i'm |we're |it's )?back (?:to|on|with) (?:an? |the )?(?P<value>[\w' .-]{2,40}?) (?:as|for) "
    r"(?P<what>(?:my|our|the) [\w' -]{2,40})$",
    re.IGNORECASE,
)
"""What something is once more: "Back to oolong as my evening tea"."""
_BACK_AS = regex(r"^(?P<who>(?-i:[A-Z])[\w'-]+) is back as (?P<role>(?:my|our|the) [\w' -]{2,40})$", re.IGNORECASE)
"""Who is again what somebody else was: "Signe is back as our secretary"."""
_UNSAID_WHO = regex(
    r"^(?:just |finally )?(?P<did>turned|put|brought|changed|switched|moved|swapped|renamed|raised|lowered"
    r"|bumped|cut|pushed|shifted|extended"
    r"|shortened) (?=(?:my|our|the) [\w' -]{2,40}? (?:to|from) )",
    re.IGNORECASE,
)
"""What the speaker did, who is not named: "Moved our retro to Thursday"."""
_HANDED_OVER = regex(
    r"^(?P<giver>(?-i:[A-Z])[\w'-]+) (?:has |have )?(?:handed|passed) (?:over )?(?P<what>(?:the|my"
    r"|our) [\w' -]{2,40}?) (?:over )?to "
    r"(?P<who>(?-i:[A-Z])[\w'-]+)(?:,? who \w+ (?:it|them)(?: now)?)?(?: (?:now|last \w+|this \w+))?$",
    re.IGNORECASE,
)
"""Who does now what somebody else did: "Bo handed the payroll over to Ann"."""
_ROLE_TO = regex(
    r"^(?-i:[A-Z])[\w'-]+ (?:has |have )?(?:handed|passed) (?:(?:over |on )?the (?:role|job|post"
    r"|office) of (?P<role>[\w' -]{2,40}?) (?:over |on )?to (?P<who>(?-i:[A-Z])[\w'-]+)"
    r"|over to (?P<heir>(?-i:[A-Z])[\w'-]+) as (?:(?:my|our|the) )?(?P<post>[\w' -]{2,40}))$",
    re.IGNORECASE,
)
"""Who has an office that somebody else had: "Bo passed the role of treasurer to Ann"."""
_OWNERSHIP = regex(
    r"^(?:the )?(?:ownership of (?P<of>[\w' -]{2,40}?)|(?P<what>[\w' -]{2,40}?) ownership) (?:has |was |has been )?"
    r"(?:passed|moved|went|gone|transferred|handed)(?: over)? (?:from (?-i:[A-Z])[\w'-]+ )?to"
    r" (?P<who>(?-i:[A-Z])[\w'-]+)"
    r"(?: from (?-i:[A-Z])[\w'-]+)?$",
    re.IGNORECASE,
)
"""Who has something now: "Ownership of the billing service passed from Bo to Ann"."""
_OVER = regex(
    r"^(?P<one>[\w'-]+(?: [\w'-]+)?) over (?P<other>[\w'-]+(?: [\w'-]+)?)(?:,? (?:please|for me|any day"
    r"|every time|now))+$",
    re.IGNORECASE,
)
"""What is preferred, without a verb: "Tabs over spaces, please"."""
_GAVE_WAY = regex(
    r"^(?P<old>[\w' .+&-]{2,40}?) (?:was|were|is|are|has been|have been|got) (?:replaced|succeeded"
    r"|superseded|swapped(?: out)?) (?:by|with|for) "
    r"(?P<new>[\w' .+-]{2,40}?)(?P<role> as [\w' -]{2,40})?$",
    re.IGNORECASE,
)
"""What gave way to what: "Odoo was replaced by Dolibarr"."""
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
    sentence = sentence.rstrip(" .!")
    for pattern, plain in _PLAIN:
        sentence = pattern.sub(plain, sentence)
    return sentence


def _as_measured(match: re.Match[str]) -> str:
    return f"{match['what']} is {match['many']} {MEASURES[match['how'].lower()]}"


_ONE_OF_MANY = SHARED_ROLES | {"developer", "intern", "product", "branch", "puppy", "tester", "trainee", "sponsor"}


def _is_one_of_many(role: str) -> bool:
    """Return whether there may be several in a role: a new friend takes nobody's place."""
    last = role.rsplit(maxsplit=1)[-1].lower()
    return last in _ONE_OF_MANY or last.endswith("s")


def _as_holder(match: re.Match[str]) -> str:
    if not is_exchangeable(match["role"]):
        return match[0]
    return f"the {match['role']} of {match['what']} changed to {match['who']}"


def _as_post(match: re.Match[str]) -> str:
    return f"the {match['role'] or match['post']} changed to {match['who'] or match['heir']}"


def _as_returned(match: re.Match[str]) -> str:
    noun = match["role"].rsplit(maxsplit=1)[-1]
    return f"{match['role']} changed to {match['who']}" if is_exchangeable(noun) else match[0]


def _as_change(match: re.Match[str]) -> str:
    last = match["role"].rsplit(maxsplit=1)[-1]
    if not is_exchangeable(last) or _is_one_of_many(match["role"]):
        return match[0]
    return f"{_owner(match['who'])} {match['role']} changed to {match['value']}"


def _as_own_change(match: re.Match[str]) -> str:
    return f"{_owner(match['who'])} {_one(match['what'])} changed to {match['new'] or match['is']}"


def _owner(who: str) -> str:
    return {"i": "my", "we": "our"}.get(who.lower(), f"{who}'s")


def _one(things: str) -> str:
    """Return what is one of things: "gyms", of which one was changed for another."""
    return things[:-1] if re.search(r"[^su]s$", things) else things


def _as_task(match: re.Match[str]) -> str:
    return f"Now {match['who']} handles the {match['of'] or match['what']}"


_PLAIN: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_MEASURED, _as_measured),
    (_BACK_AS, _as_returned),
    (_BACK_TO, r"\g<what> changed to \g<value>"),
    (_UNSAID_WHO, r"We've \g<did> "),
    (_ROLE_TO, _as_post),
    (_OVER, r"I prefer \g<one> over \g<other>"),
    (_HANDED_OVER, r"Now \g<who> handles \g<what>, not \g<giver>"),
    (_GAVE_WAY, r"\g<new> has replaced \g<old>\g<role>"),
    (_OWNERSHIP, _as_task),
    (_ENDED, r"I've cancelled \g<what>"),
    (_THAT_IS, r"\g<what> is \g<value>"),
    (_REPLACED, r"\g<owner> \g<what> changed to \g<new>"),
    (_WENT_UP, r"\g<what> changed to \g<value>"),
    (_NEW_IN_OFFICE, _as_holder),
    (_CHANGED_TO, _as_own_change),
    (_HAS_NEW, _as_change),
    (_NEW_OF, r"\g<what> changed to \g<value>"),
)
"""Each announcement, and the plain statement of it; the later ones find what the earlier ones have made."""
