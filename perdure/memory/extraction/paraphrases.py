"""Ways of saying something, as the plain one. Pure: text to text."""

import re

from perdure.memory.extraction.lexicon import MONTHS, WEEKDAYS
from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.verbs import FORMS

_WHO = r"\b(?P<who>i|we|he|she|they|[\w\s'-]{2,40}?)\s+"
_BACK_TO = regex(
    _WHO + r"(?:am|are|is|have|has)?\s*(?:(?:(?:gone|went|go|going|switched|got|come|came)\s+)?back"
    r"|returned)\s+(?:to|on|at|in)\s+"
    r"(?P<verb>\w+ing)\b",
    re.IGNORECASE,
)
_STOPPED = regex(
    r"\b(?P<who>i|we|he|she|they|[\w\s'-]{2,40}?)\s+(?:(?:have|has|had)\s+)?(?P<stop>stop(?:ped|s)?|quit|quits"
    r"|retire(?:d|s)?\s+from|suspend(?:ed|s)?|cease(?:d|s)?|halt(?:ed|s)?|g[ai]ves?\s+up"
    r"|given\s+up)\s+(?P<verb>\w+ing)\b",
    re.IGNORECASE,
)
_STARTED = regex(
    r"\b(?P<who>i|we|he|she|they|[\w\s'-]{2,40}?)\s+(?:(?:have|has|had)\s+)?(?:start(?:ed|s)?|took\s+up|taken\s+up"
    r"|beg[au]n"
    r"|resumed?)\s+(?P<verb>\w+ing)\b",
    re.IGNORECASE,
)
_RATHER = regex(
    r"\b(?P<who>i|we)\s+would\s+(?:(?:much|far)\s+)?(?:rather|sooner)\s+(?:not\s+)?(?:have\s+)?", re.IGNORECASE
)
_GO_DOING = regex(
    r"\bgo\s+(?P<verb>swimming|hiking|cycling|climbing|fishing|skiing|jogging|dancing|riding|sailing|shopping|bowling"
    r"|camping|surfing|skating)\b",
    re.IGNORECASE,
)
_GONE = frozenset({"run"})
"""What people go doing that means something else without it: services run."""
_PHRASES = tuple(
    (regex(rf"\b(?:{pattern})\b".replace(" ", r"\s+"), re.IGNORECASE), plain)
    for pattern, plain in (
        (
            r"(?:(?:has|have|had|is|are) )?(?:went|gone|go|goes|rose|risen|rises|fell|fallen|falls|dropped"
            r"|climbed|jumped"
            r"|crept|shrank|shrunk|grew|grown) (?:(?:up|down|back) )?to (?=[$€£]?\d)",
            "changed to ",
        ),
        (r"(?:is|are) (?:now )?(?:in charge of|responsible for)", "handles"),
        (r"(?:takes?|took|taking) care of|looks? after|looked after", "handles"),
        (r"(?:i|we) (?:want|would like|need|like|wish) you to|you (?:should|must|can|may)", ""),
        (r"(?:can not|can't|cannot|could not|couldn't) (?:stand|bear|abide|tolerate)", "hate"),
        (r"(?:am|'m|are) (?:sick|tired|weary) of|(?:am|'m) (?:over|done with|fed up with)", "hate"),
        (r"(?:have|'ve|has) gone off|went off|(?:have|has) turned against|turned against", "hate"),
        (r"(?:have|has|'ve)? ?(?:an? )?(?P<what>[\w-]+) allergy", r"am allergic to \g<what>"),
        (
            r"(?:am|'m) (?:an? )?(?:lefty|left-hander|southpaw)|(?:write|writes) with (?:my|the) left hand",
            "am left-handed",
        ),
        (r"(?:am|'m) (?:an? )?right-hander|(?:write|writes) with (?:my|the) right hand", "am right-handed"),
        (r"(?:am|'m) not (?:into|(?:a )?(?:big |huge |great )?fan of|keen on|fond of)", "hate"),
        (r"(?:am|'m) (?:really |very |so )?(?:into|(?:a )?(?:big |huge |great )?fan of|keen on|fond of)", "like"),
        (
            r"^(?:the|my|our) (?P<noun>[\w'-]+(?: [\w'-]+)?) (?:that |which )?(?P<who>i|we) (?:use|employ"
            r"|work with|rely on|go with)"
            r" (?P<be>is|are)",
            r"our \g<noun> \g<be>",
        ),
        (
            r"^(?P<det>the|my|our) (?P<noun>[\w'-]+) (?:that |which )?(?:i|we) (?P<does>[a-z]+)"
            r"(?: (?P<prep>to|in|at|on|with|from))? (?P<be>is|are)",
            r"\g<det> \g<noun>-\g<does>-\g<prep> \g<be>",
        ),
        (r"(?:is|are|was|were) (?:called|titled)|goes by the name(?: of)?", "is named"),
        (
            r"(?:all (?:of )?|most of )?(?P<what>(?:our|my) (?:[\w'-]+ ){0,2}(?:builds?|deploys?|deployments"
            r"|releases|orders|payments"
            r"|tickets|requests|invoices|logs|alerts|payroll|bookings|expenses)) (?:all )?(?:goes|go|runs?)"
            r" through (?=(?-i:[A-Z]))(?P<tool>[\w.+#-]+)",
            r"\g<what> is \g<tool>",
        ),
        (
            r"(?P<how>put|turned|set|moved|brought|switched|changed|shifted) (?P<what>(?:the|my|our) [\w' -]{2,40}?) "
            r"back to(?= )(?! \w+ing\b)",
            r"changed \g<what> to",
        ),
        (
            r"(?:am|'m|are|'re) back to(?= )(?! (?:\w+ing|the|my|our|an?|square|work|normal|bed)\b)",
            "switched to",
        ),
        (
            rf"(?:am|'m|are|'re) back on (?!(?:{'|'.join((*WEEKDAYS, *MONTHS))})\b)(?=(?-i:[A-Z]))",
            "switched to ",
        ),
        (r"(?P<be>am|is|are|'m|'s|'re) back (?=(?:at|in|on|with) )", r"\g<be> "),
        (r"(?:am|'m|are|'re|is) (?:down|up) to (?=\d|one\b|two\b|three\b|four\b|five\b|six\b)", "have "),
        (r"(?:have |has )?(?:finally )?(?:got|gotten) rid of", "quit"),
        (
            r"^(?P<who>i|we)(?: have|'ve)? (?:sold|donated|given away|gave away) (?P<what>my|our)",
            r"\g<who> quit \g<what>",
        ),
        (
            r"(?:have |has )?left (?=(?:the |our |my )?(?:[\w'-]+ ){0,3}(?:club|team|band|choir|group|union"
            r"|committee|board|council"
            r"|society|association|league|orchestra|network|scheme)$)",
            "quit ",
        ),
        (r"(?P<who>i|we|he|she|they) gets? to (?=(?:work|school|town|uni|college|the office)\b)", r"\g<who> go to "),
        (r"(?:have|has|had) (?:come|grown|learned|learnt|started|begun|got used) to(?= \w+)", ""),
        (r"(?:ended|ends|wound|winds|finished) up (?=(?:on|in|at|with|as|under|being)\b)", "is "),
        (
            r"(?:have |has )?(?:put|turned|brought|dialled|dialed) (?P<what>(?:the|my"
            r"|our) [\w' -]{2,40}?) (?:up|down) to(?= \d)",
            r"raised \g<what> to",
        ),
        (
            r"^(?:i|we)(?: have|'ve)? (?:put|placed|moved|hung|brought) (?P<what>(?:the|my|our) [\w' -]{2,40}?) back "
            r"(?P<where>on|in|at|under|behind|beside)(?= )(?! \d)",
            r"\g<what> is \g<where>",
        ),
        (
            r"^(?P<who>i|we)(?: am|'m| are|'re)? (?P<how>cycl|bik|walk|driv|jogg?)(?:e"
            r"|ing)? to (?P<where>work|school|uni|the office)",
            r"\g<who> commute to \g<where> with \g<how>",
        ),
        (
            r"^(?P<who>i|we)(?: am|'m| are|'re)? (?:take|taking|ride|riding|catch|catching|use|using) (?:the"
            r"|my|our|an?) "
            r"(?P<how>\w+(?: \w+){0,2}?) to (?P<where>work|school|uni|the office)",
            r"\g<who> commute to \g<where> with \g<how>",
        ),
        (r"^(?P<who>i|we) bank (?:at|with) (?=(?-i:[A-Z]))", "my bank is "),
        (r"^(?:i|we)(?: am|'m| are|'re) insured (?:with|by|at) (?=(?-i:[A-Z]))", "my insurer is "),
        (
            r"(?:is|am|'m|are|'re) back from (?=(?:\w+ )?(?:leave|holiday|vacation|sabbatical)\b)",
            "is no longer on ",
        ),
        (r"^call me (?=(?-i:[A-Z])[\w'-]+(?: from now on| now|, please| please)?[.!]*$)", "my nickname is "),
        (r"(?P<how>moved|switched|gone|went|changed|shifted|transferred) (?:over|across) to", r"\g<how> to"),
        (r"ahead of", "above"),
        (
            r"^(?P<one>[\w'-]+(?: [\w'-]+)?) (?:beats?|trumps?|tops?) (?P<other>[\w'-]+(?: [\w'-]+)?) for (?:me|us)",
            r"I prefer \g<one> over \g<other>",
        ),
        (r"had to (?=(?:move|change|switch|raise|lower|increase|reduce|cut|push|shift|swap|replace|extend) )", ""),
        (
            r"(?:(?:has|have|had|was|were|is|are) )?(?:been )?(?:gone|went|set|moved|switched|changed|put|reset"
            r"|reverted"
            r"|returned|brought|rolled|turned) back (?:to|at)(?= )(?! \w+ing\b)",
            "changed to",
        ),
        (r"(?:am|is|are) (?:an? )?(?:\w+ )?members? of", "join"),
        (r"(?:have |has )?(?:left|resigned from|dropped out of) (?P<what>.+) for good", r"quit \g<what>"),
        (r"(?:have |has )?(?:cancell?ed|ended) (?:my|our|the) membership (?:of|in|at|with)", "quit"),
        (r"(?:have |has )?(?:renewed|resumed) (?:my|our|the) membership (?:of|in|at|with)", "join"),
        (r"(?:have|has|hold|holds|got|took out) (?:an?|the) (?:\w+ )?membership (?:of|in|at|with)", "join"),
        (r"(?:have |has )?(?:renewed|resumed) (?:my|our|the) subscription (?:to|for|with)", "subscribe to"),
        (r"(?:have |has )?cancell?ed (?:my|our|the) subscription (?:to|for|with)", "do not subscribe to"),
        (r"(?:have|has) (?:an?|the) subscription (?:to|for|with)", "subscribe to"),
        (r"(?:my|our) home is in", "I live in"),
        (r"(?P<have>have|has)(?P<not> not)? got(?! (?:used|to|rid))", r"\g<have>\g<not>"),
        (r"(?:like|love|enjoy) (?P<what>[\w' -]{2,40}?) (?:best|the (?:best|most)|most)", r"prefer \g<what>"),
        (
            r"(?:is|are|was|were|(?:has|have) been) (?:now )?(?:switched on|turned on|enabled|re-enabled|activated)"
            r"(?= again| now| on | in | at | for |$)",
            "is on",
        ),
        (
            r"(?:is|are|was|were|(?:has|have) been) (?:now )?(?:switched off|turned off|disabled|deactivated)"
            r"(?= again| now| on | in | at | for |$)",
            "is off",
        ),
        (r"as well as", "and"),
    )
)
"""Ways of saying what a plainer word says."""
_PLACE = regex(r"(\b)(?:take(s)?|took|taking|taken)\s+place\b", re.IGNORECASE)


_AND_NEVER = regex(
    r",?\s+and\s+(?:i\s+|we\s+)?(?:never|do\s+not|no\s+longer|will\s+not|can\s+not)\s+\w+\s+(?:it|them|any"
    r"|that)(?:\s+any\s?more)?$",
    re.IGNORECASE,
)
"""What is said once more at the end: "I went off shellfish and never eat it"."""
_NOT_NOW = regex(
    r",?\s+but\s+(?:i\s+|we\s+|they\s+|he\s+|she\s+|it\s+)?(?:do|does|did|is|are|am|have|has)?\s*(?:not|no\s+longer"
    r"|stopped)"
    r"(?:\s+do\s+(?:so|it|that))?(?:\s+any\s?(?:more|longer)|\s+now)?$",
    re.IGNORECASE,
)


_BUT_NOW = regex(r",?\s+but\s+(?:these\s+days|now|nowadays|lately|since\s+then)\b.*$", re.IGNORECASE)
"""What holds instead of what somebody used to do."""
_ENDED_UP = regex(r"\b(?:ended|ends|wound|winds)\s+up\s+(?P<verb>\w+ing)\b", re.IGNORECASE)


def reworded(text: str) -> tuple[str, bool]:
    """Return a clause in plain words, and whether these state what the clause denies: "I stopped smoking"."""
    text = _AND_NEVER.sub("", text)
    if re.search(r"\bused\s+to\b", text, re.IGNORECASE):
        text = _BUT_NOW.sub("", _NOT_NOW.sub("", text))
    text = _GO_DOING.sub(lambda match: FORMS.get(match["verb"].lower(), match[0]), text)
    text = _ENDED_UP.sub(lambda match: FORMS.get(match["verb"].lower(), match[0]), text)
    for pattern, plain in _PHRASES:
        text = pattern.sub(plain, text)
    text = _PLACE.sub(lambda match: match[1] + "happen" + (match[2] or ""), text)
    if match := _RATHER.search(text):
        return f"{text[: match.start()]}{match['who']} prefer {text[match.end() :]}", False
    for pattern in (_BACK_TO, _STARTED, _STOPPED):
        if (match := pattern.search(text)) and (base := FORMS.get(match["verb"].lower())):
            does = f"go {match['verb']}" if base in _GONE else f"do {base}"
            return f"{text[: match.start()]}{match['who']} {does}{text[match.end() :]}", pattern is _STOPPED
    return text, False


_INSTEAD = regex(
    r"(?:\s+(?:instead\s+of|rather\s+than|in\s+place\s+of|and\s+not|and\s+no\s+longer|replacing)|,\s*(?:not"
    r"|no\s+longer))\s+(?P<former>[^,;]+?)[\s.!]*$",
    re.IGNORECASE,
)
_NOT_BUT = regex(
    r"^(?P<who>\S+(?: \S+){0,9}?) (?P<be>is|are) (?:no longer|not) (?P<done>(?:\S+ ){0,4}?)"
    r"(?P<how>in|at|on|with|by|to|from|through|via|for) (?P<old>[^,;]{2,40}?),? but (?:now )?"
    r"(?:in|at|on|with|by|to|from|through|via|for) (?P<new>[^,;]{2,40})$",
    re.IGNORECASE,
)
"""What is so no longer, and what is instead: "They are no longer filed in Concur but in Spendesk"."""
_CHOOSES = regex(r"\brather\s+have\b|\bprefer|\bchoose|\bpick|\bfavou?r")


def without_former(text: str) -> tuple[str, str]:
    """Return a clause without what it says that it replaces, and that; empty: it says nothing of the kind.

    >>> without_former("Reports are no longer filed in Concur but in Spendesk")
    ('Reports are filed in Spendesk', 'Concur')
    """
    # Where spaces are single, its parts cannot share them out in more ways than one.
    if match := _NOT_BUT.match(" ".join(text.split()).rstrip(".! ")):
        return f"{match['who']} {match['be']} {match['done']}{match['how']} {match['new']}", match["old"]
    if (match := _INSTEAD.search(text)) and not _CHOOSES.search(text):
        return text[: match.start()], match["former"]
    return text, ""
