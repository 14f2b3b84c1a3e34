"""A statement without what people say before it: a greeting, "remember that", "call me old-fashioned, but". Pure."""

import re

from perdure.memory.extraction.patterns import regex

_PREFIX = regex(
    r"^[\s\"'*•>-]*(?:(?:please |pls |(?:can|could|would|will) you (?:please |just |kindly )?(?=remember|note|keep"
    r"|bear)|do |also |and |so |ok(?:ay)? |hey |hi |hello |yes |yeah |well |oh "
    r"|btw |by the way |one more thing |just |quick note |important |reminder |info |fun fact |honestly "
    r"|actually )[,:!.-]?\s*)*"
    r"(?:(?:remember|note|keep in mind|bear in mind|don't forget|be aware|know|be advised"
    r"|for your information|for the record|for future reference|for reference|fyi|f\.y\.i\."
    r"|just so you know|heads[- ]up|note to self|save this|nb|n\.b\.|ps|p\.s\.|memo|remember this"
    r"|to be clear|as a reminder|friendly reminder|reminder|please note)"
    r"(?:\s+(?:that|this)\b|\s*[:,!-]|\s+please\b)*\s+)",
    re.IGNORECASE,
)
_GREETING = regex(
    r"^(?:(?:hi|hey|hello|sorry|yes|yeah|yep|yup|no|nope|ok|okay|sure|right|well|oh|ah|lol|haha|thanks|thank you"
    r"|cheers|btw|by the way|anyway|so|wow|hmm+|good (?:morning|afternoon|evening)|honestly|actually|and"
    r"|also|oh and|(?:it|that)(?:'s| is) done|all done|you guessed it|guess what|surprise"
    r"|guess (?:who|what|where)(?:'s| is| has)?(?: \w+){0,3}(?=[?:])"
    r"|i (?:mixed|muddled) (?:that|it|this|them|things) up|i got (?:that|it|this) wrong|i was (?:wrong|mistaken)"
    r"|i misspoke|my (?:mistake|bad)|(?:would|can) you believe it"
    r"|(?:big|good|bad) news)(?: (?:there|all|team|everyone|so much|a lot))?\s*[,!?:.…-]+\s*)+",
    re.IGNORECASE,
)


_DISCLAIMER = regex(
    r"^(?:i (?:might|may|could|must) be (?:the only one|alone|old[- ]fashioned|in (?:the|a) minority|weird|fussy|odd"
    r"|picky|boring|strange|biased)"
    r"(?: (?:in|on|about|with|here) \w+)*|call me (?:old[- ]fashioned|crazy|fussy|picky|boring)|(?:maybe|perhaps) "
    r"it's just me"
    r"|(?:this|it|that) (?:might|may|will|could) (?:sound|seem|be) (?:\w+ )?(?:odd|silly|weird|strange|funny|petty"
    r"|fussy)"
    r"|you (?:might|may|could|will) (?:laugh|think (?:me|i'm) \w+)|i know (?:it's|it is|this is|that's) (?:odd|silly"
    r"|weird|petty|fussy)"
    r"|believe it or not|not everyone agrees|others may differ|(?:i )?never thought i(?:'d| would) say (?:it|this"
    r"|that)|who would have thought),? (?:but )?(?=(?:i|i'm|we|my|our)\b)",
    re.IGNORECASE,
)
"""What people say of themselves before what they want, which takes nothing back."""


def trimmed(sentence: str) -> str:
    """Return a statement without "Remember that", "FYI" and the like before it."""
    bare = _DISCLAIMER.sub("", _GREETING.sub("", sentence.strip()))
    match = _PREFIX.match(bare)
    if match and re.search(r"\w", bare[match.end() :]):
        # "Could you keep in mind that …?" asks nothing.
        bare = bare[match.end() :].rstrip("?") if " you " in match.group().lower() else bare[match.end() :]
    elif not re.search(r"\w", bare):
        bare = sentence.strip()
    bare = bare.strip(" \"'“”*•-" if bare.count('"') % 2 else " *•-")
    return bare[:1].upper() + bare[1:] if bare != sentence.strip() else bare
