"""Memory that is quoted back in sentences. Pure."""

import re

from perdure.memory.extraction.patterns import regex

_RECALLED = regex(
    r"^\W*(?:(?:yes|yep|yeah|sure|no|right|well|ok|okay|of course|certainly|indeed|absolutely|correct)\b\W*)?(?:"
    r"(?:just )?(?:as|like|what) you(?:'ve| have|'d| had)? (?:\w+ )?(?:told|said|mentioned|asked|shared"
    r"|noted|stated|requested|wanted|put it)"
    r"|(?:earlier|previously|before|last \w+|in \w+|once|a while (?:ago|back)|on [\w ]{1,20}),? you(?:'ve"
    r"| have|'d| had)? (?:\w+ )?(?:told|said|mentioned|asked|shared|noted|stated|wrote|wanted|set)"
    r"|you(?:'ve| have|'d| had)? (?:\w+ )?(?:told|mentioned|said|asked|shared|noted|stated|informed"
    r"|indicated|wrote|let me know|gave me|set|once)\b"
    r"|(?:i|we) (?:do |still |also |clearly |distinctly )?(?:remember|recall|memori[sz]ed)"
    r"|(?:i|we)(?: do)?(?:'ve| have)?(?: got)? (?:it |this |that |you |your \w+ |a note |one |an entry "
    r"|a record |an? \w+ )?(?:saved|stored|noted|recorded|remembered|on record|on file|down"
    r"|in (?:my )?memory|in my notes|from (?:you|before))"
    r"|(?:i|we)(?:'ve| have) (?:already )?(?:an? )?(?:note|entry|record|memory)\b"
    r"|(?:according to|based on|per|from|going by|judging from|checking|looking (?:back )?(?:at|in|through"
    r"|into)|in|as per|drawing on|consulting) (?:my|your|our|the|what|past|previous|earlier|stored"
    r"|saved) ?[\w' ]{0,30}?(?:notes?|memor(?:y|ies)|records?|profile|history|conversations?|sessions?"
    r"|chats?|entries|files?|preferences|you(?:'ve| have)? (?:told|said|mentioned|shared)|last time)"
    r"|from memory|in memory|on (?:file|record)\b"
    r"|(?:my|your|our|the) (?:(?:stored|saved|past|previous|earlier|long-term) )?(?:records?|notes?"
    r"|memor(?:y|ies)|logs?|entry|entries|history|profile|saved preferences?"
    r"|stored preferences?)(?: \w+){0,4}? (?:shows?|says?|indicates?|tells?|states?|lists?|is|are|has|have"
    r"|contains?|reads?)\b"
    r"|(?:retrieved|recalled|loaded|fetched|found|pulled|surfaced|returning|matched) (?:\d+|one|two|three|a|an|the"
    r"|these|some|from)?\s?"
    r"(?:\w+ )?(?:memor(?:y|ies)|entr(?:y|ies)|facts?|notes?)\b"
    r"|(?:recalled|retrieved|remembered|stored|saved|known)(?: (?:memory|memories|facts?|preferences?"
    r"|notes?|entry|on|from|earlier|before|context|about)\b|\s*:)"
    r"|(?:memory|memories|recall)(?: \w+){0,3}\s*(?::|-|\()"
    r"|(?:(?:here|this|that)(?:'s| is| are) )?(?:what|everything|all|the things?) (?:i|we) (?:(?:do|still"
    r"|already|currently) )?(?:know|have|remember|recall|stored|noted|saved)"
    r"|(?:i|we) (?:already |do )?know (?:that |from |about )"
    r"|(?:as|like) (?:noted|stored|recorded|mentioned|discussed|agreed|saved|remembered|we discussed"
    r"|i noted|i recall|before)\b"
    r"|the last time (?:you|we)|last time (?:you|we)|when we (?:last |first )?(?:spoke|talked|chatted)"
    r"|we (?:discussed|talked|spoke|agreed|established|noted|covered)"
    r"|(?:this|that|it) (?:is|was) (?:\w+ )?(?:stored|saved|noted|recorded|in (?:my )?memory)"
    r"|there (?:is|are|'s) [\w ]{1,30}(?:in (?:my )?(?:memory|notes|records)|on file|stored|saved)"
    r"|i(?:'ve| have) you (?:down|as|listed|noted)|i (?:see|found|find) (?:\w+ ){0,4}(?:in|from) (?:my"
    r"|your|our) (?:memory|notes|records|history|profile|past)"
    r")",
    re.IGNORECASE,
)
_ASKS_WHAT_IS_KNOWN = regex(
    r"(?:\b(?:do|did|can|could|don't|have|would|will) (?:you|we) (?:\w+ )?(?:know|remember|recall|save[d]?"
    r"|store[d]?|note[d]?|have|got|memori[sz]e[d]?|forget|forgotten)\b"
    r"|\bwhat (?:do|did|have|can|else)\b.*\b(?:you|we)\b.*\b(?:know|remember|recall|have|stor|sav|not|learn)"
    r"|\bremind me (?:what|who|when|where|which|how|of|about)|\bremember (?:what|who|when|where|which|how"
    r"|my|our|me)\b|\bhave i (?:told|said|mentioned)"
    r"|\bdid i (?:ever )?(?:tell|say|mention)|\b(?:list|show|tell me|give me"
    r"|summari[sz]e) (?:\w+ )?(?:what|everything|all|anything) you\b|\banything (?:on|about)\b"
    r"|\byour (?:memory|notes|records)\b"
    r"|\b(?:what|which|where|when|who|whose|how|why|is|are|do|does|am|was|were|did)(?:'s|'re)?\b.*\b(?:i"
    r"|my|me|we|our|us|you)\b)",
    re.IGNORECASE,
)
_DONE = regex(
    r"\b(?:i|we)(?:'ve| have)? (?:just )?(?:ran|run|tested|checked|tried|fixed|deployed|rebuilt|verified"
    r"|measured|installed|changed|updated|found)\b|^(?:checked|tested|ran|verified|measured)\b",
    re.IGNORECASE,
)


_OF_MEMORY = regex(
    r"\b(?:on file|on record|(?:in|from|to) (?:my|our) (?:notes|memory|memories|records)"
    r"|my (?:own )?(?:notes|records|memory"
    r"|memories)|what (?:i|we)(?:'ve| have)? (?:saved|stored|noted|recorded|remembered|remember|recall|know about you"
    r"|have on you|kept)|(?:you|your \w+)(?:'ve| have)? (?:already |once )?(?:told|mentioned to|said to|asked) me"
    r"|(?:already )?know(?:ing)? from (?:last time|before|earlier|you)|(?:last"
    r"|previous|past|earlier) "
    r"(?:chats?|conversations?|sessions?|talks?)|memory entry|saved memor(?:y|ies)|stored (?:preferences?"
    r"|facts?|memor(?:y|ies)))\b",
    re.IGNORECASE,
)


def is_recalled(sentence: str, before: str, *, outcome: bool) -> bool:
    """Whether an agent quotes from memory: it says so, or it answers a question about what it knows of the user."""
    if _RECALLED.search(sentence) or _OF_MEMORY.search(sentence):
        return True
    if outcome or _DONE.search(sentence):
        return False
    return bool(re.match(r"\W*(?:you|your|you're|yours)\b", sentence, re.IGNORECASE)) or bool(
        _ASKS_WHAT_IS_KNOWN.search(before)
    )


_SEARCHED = regex(
    r"\bmemor(?:y|ies)[ _-]?(?:search|lookup|query|hits?|results?|recall|store|get)\b.*(?:\bhits?\b|\bscore|\bmatch"
    r"|\bfound\b|[\"“:→=>])"
    r"|^\W*(?:recall(?:ed)?|remembered|retrieved|memor(?:y|ies))\b[^:=]{0,30}[:=]",
    re.IGNORECASE,
)


def is_search_result(sentence: str) -> bool:
    """Whether a tool returns what a search of memory found."""
    return bool(_SEARCHED.search(sentence))


_QUOTES_MEMORY = regex(
    r"\b(?:according to|going by|in) your (?:notes|memory|memories|records)|\byour (?:memory|notes"
    r"|records) (?:says?|shows?|has|have)"
    r"|^\W*you (?:said|told me|mentioned|noted|remembered|wrote)(?: \w+){0,2} (?:that )?(?:i|my|we|our)\b",
    re.IGNORECASE,
)


def quotes_memory(sentence: str) -> bool:
    """Whether a user quotes what the memory told them."""
    return bool(_QUOTES_MEMORY.search(sentence))
