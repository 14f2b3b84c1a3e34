"""What changed and holds from now on, as people tell what lasts. Pure."""

import re

from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.preludes import without_since_when

_CHANGE_OF_MIND = regex(
    r"\b(?:changed my mind|(?:come|came) (?:round|around)(?: to|(?=:))|come to (?:see|prefer|like)|gone off|given up"
    r"|gave up|ceased to|scrapped|dropped (?:that|it)|switched|shifted|transferred|promoted|upgraded|succeeded"
    r"|took over|taken over"
    r"|returned to (?:our|\w+ing)|back to \w+ing|keener on|happier with|more pleasant than|nicer than|we've moved"
    r"|(?:went|gone|changed|moved) back(?=:)|(?:has|have|was|were) (?:been )?changed (?:to|from|over)"
    r"|(?:i'm|i am|we're|we are) (?:drinking|taking|using|buying|heating|commuting|cycling|wearing|paying|sleeping)"
    r" (?!lunch|dinner|breakfast|home|some )[^.;]{2,40} (?:with|without|by|from|as) [^.;]{2,40}\b(?:again|once more)\b"
    r"|given the choice|cancelled (?:my|our)|canceled (?:my|our)"
    r"|(?:is|are) (?:gone|out|history|retired)[,;] [^,;]{3,60}\b(?:now|again|instead|is what|is who)\b)",
    re.IGNORECASE,
)
_TURN_BACK = regex(
    r",?\s*\b(?:again|any ?more|once more|by now|(?:until|till) (?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|next "
    r"week))\b"
    r"(?=[.,!;]|\s*$)",
    re.IGNORECASE,
)
_REASON = regex(
    r"[,;]\s*(?:because |since |as )?(?:(?:the|that|this|our|my|their|its) )?[\w.'-]+(?: [\w.'-]+)? "
    r"(?:was|were|got|became|kept) (?:just |far |way |simply |always |getting |so )*(?:too \w+|shocking|boring|tiring"
    r"|exhausting|confusing|annoying|disappointing|appalling|frustrating|alarming|unbearable|awful|terrible|dreadful"
    r"|outrageous|ridiculous|a (?:pain|mess|disaster|nightmare|waste of \w+))[.!]?\s*$"
    r"|[,;]\s*(?:because |since |as )?(?:it|that|they|he|she)(?: was| were| is) "
    r"(?:\w+ing)\b[^,;.]{0,40}[.!]?\s*$",
    re.IGNORECASE,
)
_DECIDED = regex(
    r",\s+(?:the|our|my) [\w' -]{2,30} (?:has|have) (?:decided|ruled|voted|agreed)(?: (?:so|that|it))?[.!]?\s*$",
    re.IGNORECASE,
)
"""Who decided what was said before."""
_PART = regex(r"[,;:]\s+(?:so\s+)?|\s+(?:and|so)\s+(?=(?:now )?(?:my|our|the|it|i|we|that)\b)")


def holds_from_now_on(words: str) -> bool:
    """Return whether words say that something holds from now on: "We switched", "the language has changed to"."""
    return bool(_CHANGE_OF_MIND.search(words))


def without_turning_back(words: str) -> str:
    """Return words without "again", "any more" and "since Monday", said of what lasts and passes: a sign of neither."""
    return _TURN_BACK.sub("", without_since_when(words))


def without_reason(words: str) -> str:
    """Return words without why something else no longer holds: "We lint with ruff, flake8 was too slow"."""
    return _DECIDED.sub("", _REASON.sub("", words))


def parts(sentence: str) -> list[str]:
    """Return the parts of a sentence, of which one may tell what happened and another what holds since."""
    return [part for part in _PART.split(sentence) if re.search(r"\w", part)]
