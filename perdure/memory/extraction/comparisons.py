"""What somebody prefers to what, however it is put, as "I prefer tea over coffee". Pure: text to text."""

import re

from perdure.memory.extraction.patterns import regex

_SEGMENT = regex(
    r"[.;:!?]\s+|\s+[-–—]+\s+|,\s+(?:so|and|but)?\s*|\s+(?:so|and)\s+(?=(?:i|i'm|i'd|we|we'd|we're|when|for|my|our)\b)",
    re.IGNORECASE,
)
_WE = r"(?:i|we|(?:our|my) (?:team|family|household|group|office|band|department|company|board|firm|crew|club|choir))"
_ANYBODY = rf"(?:{_WE}|(?:our|my|the) [\w-]+|he|she|they)"
"""The subjects whose tastes are stated; what others than the speakers have or take states none."""
_ADVERBS = (
    r"(?:'ve)?(?: (?:(?:have |has )?(?:come|grown|learn(?:ed|t)) to|"
    r"now|still|really|much|always|usually|generally|just|would|do|also|actually|far|by far|tend to))*"
)
_THING = r"[\w'+#./-]+(?: [\w'+#./-]+){0,4}?"
_CONTEXT = r"(?:at|in|for|on|when|while|during|to|with|as|after|any|every|of an?|by)\b.*"
_PREFERRED = tuple(
    regex(
        rf"\b(?P<who>{who})(?:'d)?{_ADVERBS} {verbs} (?P<one>{_THING}) {comparing} (?P<other>{_THING})"
        rf"(?P<rest>(?: {_CONTEXT})?)$",
        re.IGNORECASE,
    )
    for who, verbs, comparing in (
        (
            _ANYBODY,
            r"(?:prefer|favou?r|prefers|favou?rs)",
            r"(?:to|over|above|before|ahead of|rather than|instead of|more than|and not)",
        ),
        (_ANYBODY, "(?:rather|sooner)", "than"),
        (
            _WE,
            r"(?:choose|pick|take|want|have|chooses|picks|takes|wants|go for|opt for|reach for)",
            r"(?:over|before|above|ahead of|rather than|sooner than)",
        ),
        (
            _WE,
            r"(?:value|values|put|puts|place|places|rate|rates|rank|ranks)",
            r"(?:over|before|above|ahead of|higher than|more than|more highly than|below)",
        ),
        (
            _ANYBODY,
            r"(?:like|likes|love|loves|enjoy|enjoys|trust|trusts)",
            r"(?:more than|better than|over|above|before)",
        ),
        (
            _WE,
            r"(?:am|are|is|feel|feels) (?:happier|better off|more (?:comfortable|at home|at ease))(?: with| in| on| "
            r"at| using)?",
            r"than(?: with| in| on| at| using)?",
        ),
    )
)
_MORE = regex(
    rf"\b(?:i|we) (?:find|consider|think|rate|call|believe)(?: that)? (?P<one>{_THING})(?: (?:is|are|to be))? "
    rf"(?P<how>(?:more|less) [\w-]+|[\w-]+er|better|worse) than (?P<rest>.+)$",
    re.IGNORECASE,
)
_COMPARED = regex(
    r"\b(?:is|are|tastes?|feels?|looks?|works?|suits? me|sounds?) (?:much |far |way )?(?:(?:more|less) [\w-]+"
    r"|[\w-]+er|better|worse) than\b",
    re.IGNORECASE,
)
_ADDED = regex(
    r"\s+(?:any time|any day|every time|these days|now|again|instead|today|nowadays|by far)[\s.!]*$", re.IGNORECASE
)
_CIRCUMSTANCE = regex(r"^(?:when|while|for|in|on|at|during|after|before|with)\b", re.IGNORECASE)
_SELF = regex(r"^(?:for|to) (?:me|us|my taste|my mind),? ", re.IGNORECASE)


def compared(text: str) -> str | None:
    """Return the clause of a text that compares two things, in plain words; None: it compares none.

    Where the comparison holds ("when proofreading", "for the newsletter") stays with it: another circumstance is
    another preference.
    """
    segments = [part.strip(" .!?") for part in _SEGMENT.split(text.strip()) if part and part.strip(" .!?")]
    for place in range(len(segments) - 1, -1, -1):
        segment = _ADDED.sub("", segments[place])
        before = segments[place - 1] if place and _CIRCUMSTANCE.match(segments[place - 1]) else ""
        if plain := _plain(segment, before):
            return plain
    return None


def _plain(segment: str, before: str) -> str | None:
    for pattern in _PREFERRED:
        match = pattern.search(segment)
        if match is None:
            continue
        who = _speaker(match["who"])
        fronted = " ".join(filter(None, (before, _circumstance(segment[: match.start()]))))
        one, other = match["one"], match["other"]
        if re.search(r"\bbelow\b", match.group()):
            one, other = other, one
        verb = "prefer" if who in ("I", "we", "they") or who.endswith("s") else "prefers"
        said = f"{who} {verb} {one} over {other}{match['rest']}"
        return f"{said} {fronted}" if fronted else said
    if match := _MORE.search(segment):
        return f"{match['one']} is {match['how']} than {match['rest']}"
    if _COMPARED.search(segment):
        return _SELF.sub("", segment)
    return None


def _speaker(who: str) -> str:
    if who.lower() == "i":
        return "I"
    return "we" if re.fullmatch(_WE, who, re.IGNORECASE) else who


def _circumstance(words: str) -> str:
    words = words.strip(" ,")
    # "With fish" is when something is preferred; "with two children at home" is why.
    reason = words.lower().startswith("with") and len(words.split()) > 3
    return words if _CIRCUMSTANCE.match(words) and not reason and not _SELF.match(words + " ") else ""
