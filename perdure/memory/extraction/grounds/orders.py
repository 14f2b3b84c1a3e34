"""Orders to an AI that stand inside a text from elsewhere. Pure."""

import re

from perdure.memory.extraction.patterns import regex

_AI = (
    r"(?:@?bots?|chat ?bots?|ais?|a\.i\.|assistants?|agents?|ai agents?|llms?|(?:large )?language models?"
    r"|gpt|chatgpt|claude|gemini|(?:digital|virtual|automated) helpers?"
    r"|copilots?|models?|crawlers?|summari[sz]ers?|system prompt)"
)
_STRICT_AI = (
    r"(?:ais?|a\.i\.|(?:ai|virtual|digital|language) (?:agents?|assistants?|models?|systems?)|llms?"
    r"|(?:large )?language models?|chat ?bots?|chatgpt|gpt|claude|gemini|copilots?)"
)
"""What is called so is no program of somebody's own, as an "agent" or a "model" may be."""
_ORDER_VERB = (
    r"(?:remember|store|save|memori[sz]e|note|record|keep in mind|add|write down|log|recommend|trust|treat"
    r"|assume|believe|ignore"
    r"|disregard|forget|obey|follow|comply|reply|respond|answer|tell|say|send|forward|approve|mark|prefer"
    r"|act|execute|run|delete"
    r"|update|persist|override|reveal|print|output|consider|include|mention|promote|pay|transfer|disclose"
    r"|share|learn|retain"
    r"|bypass|skip|disable|grant|accept|rate|classify|report|pretend|behave|call|click|open|visit|email"
    r"|submit|set|change)"
)
_MUST = (
    r"(?:must|should|shall|has to|have to|need to|needs to|is to|are to|agrees? to|is instructed to"
    r"|are instructed to|is asked to|are asked to|is expected to|can only|may only|will|please"
    r"|is required to|are required to|may now|always|:)"
)
_ORDERS = (
    regex(
        rf"\b{_AI}(?: \w+)? (?:is|are) (?:\w+ )?to \w+"
        r"|\b(?:page|document|file|e-?mail|comment|readme|website|site|ticket|text|note|post|message|attachment|issue)\b[^.\n]{0,40}?"
        r"\b(?:told|asked|instructed|ordered|urged|wanted|tells|asks|instructs|orders|urges|wants) (?:me|us"
        r"|the (?:assistant|agent|ai|model|bot)) to\b",
        re.IGNORECASE,
    ),
    regex(
        rf"\b{_AI}\b[^.\n]{{0,90}}?"
        rf"\b{_MUST}\s+(?:now |also |then |always |never |not |immediately |henceforth |in future "
        rf"|please )*{_ORDER_VERB}\b",
        re.IGNORECASE,
    ),
    regex(
        rf"(?:\b(?:dear|hey|hello|hi|attention|note to|message (?:to|for)|instructions? (?:to|for)|for"
        rf"|to) (?:all |any |every |the )?|^|[\"'“(>\]:-]\s*|@){_AI}s?\s*[,:!-]+\s*(?:please |do |now "
        rf"|always |also |you must )*{_ORDER_VERB}\b",
        re.IGNORECASE,
    ),
    regex(
        rf"\b(?:note|message|instructions?|notice|memo|attention|directive)\s*(?:to|for)\s+(?:all |any "
        rf"|every |the |whichever )?(?:\w+ )?{_AI}\b",
        re.IGNORECASE,
    ),
    regex(
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,30}\b(?:instructions?|prompts?|rules"
        r"|guidelines|constraints|guardrails|directives|context|training)\b",
        re.IGNORECASE,
    ),
    regex(rf"\bsystem\s*:\s*(?:please )?{_ORDER_VERB}\b", re.IGNORECASE),
    regex(
        r"\b(?:new|updated|hidden|secret|system|developer) (?:instructions?|prompt|directive|message)\s*:",
        re.IGNORECASE,
    ),
    regex(r"(?:^|[\s\"'>\]])(?:SYSTEM|ASSISTANT|\[INST\]|<\|?(?:system|im_start|assistant)[^>]*>)\s*:?", re.MULTILINE),
    regex(
        r"\b(?:save|store|add|write|commit|put|record|persist|keep|append|copy)\b[^.\n]{0,60}\b(?:your|its"
        r"|long-term|the user's|user) (?:long-term )?(?:memory|memories|profile|notes|knowledge"
        r"|knowledge base)\b|\b(?:save|store|add|write|commit|record) (?:this |that |it |the following )?(?:to"
        r"|in|into) (?:long-term |the |persistent )?memory\b",
        re.IGNORECASE,
    ),
    regex(
        r"\b(?:ais?|assistants?|agents?|llms?|language models?|chat ?bots?|gpt|chatgpt|claude"
        r"|copilots?)\b[^.\n]{0,90}\b(?:remember|memori[sz]e|store|save|record|forget|ignore|disregard"
        r"|recommend|obey)\b(?! (?:its|their|the state|state|button|file))",
        re.IGNORECASE,
    ),
    regex(
        rf"\b{_STRICT_AI}\b[^.\n]{{0,60}}?\b(?:must|should|shall|have to|has to|need to|needs to|are to|is to"
        rf"|always|never|may not)\b",
        re.IGNORECASE,
    ),
    regex(
        rf"\b{_STRICT_AI}\b\W{{0,3}}(?:instructions?|directives?|notice|note|prompt|command|rule|policy|memo|only)\b"
        rf"|\b(?:dear|attention|hello|hey|hi)\W{{1,3}}(?:\w+ )?{_AI}\b|\bnote[_ -]?(?:to|for)[_ -](?:the[_ -])?{_AI}\b"
        r"|\b(?:ignore|disregard|forget) (?:the|everything|all|anything|what(?:'s| is)?)(?: \w+)? ?(?:above"
        r"|before|previous|preceding|earlier|prior)\b|\"?role\"?\s*:\s*\"?system\b"
        r"|(?:^|[:.!>\"]\s*)(?:save|store|keep|memori[sz]e|record|retain) (?:this|that|the following|it)\b"
        r"|\b(?:all|any|every) future (?:conversations?|sessions?|chats?|answers?|replies|responses)\b"
        r"|\byour (?:new |next |only |real |actual |updated )?(?:tasks?|job|role|goal|objective|instructions?"
        r"|mission) (?:is|are)\b"
        r"|\b(?:previous|prior|earlier|above|old|existing|original) (?:rules|instructions?|prompts?|guidelines"
        r"|constraints"
        r"|directives?)\b[^.\n]{0,30}\b(?:no longer|void|cancelled|superseded|obsolete|replaced|revoked"
        r"|outdated|invalid)\b",
        re.IGNORECASE,
    ),
    regex(
        r"\byou (?:are now|must now|must|should now|shall|will now|have been|are required|are authori[sz]ed|should)\b",
        re.IGNORECASE,
    ),
    regex(
        r"\b(?:when(?:ever)?|if|before|after|while) (?:you|summari[sz]ing|reading|processing|answering"
        r"|replying)\b[^.\n]{0,80}?[, ](?:please |also |always |then )*(?:remember|store|save|memori[sz]e|note"
        r"|record|recommend|mention|include|tell|say|ignore|treat|add)\b",
        re.IGNORECASE,
    ),
    regex(
        r"(?:^|[:!.>\]\"“]\s*|\b(?:please|also|and|important|urgent|now)[!:,]?\s+)(?:remember|memori[sz]e"
        r"|persist|remember this|store the following|save the following|record the following|do not tell"
        r"|don't tell|never tell|from now on|henceforth|keep in mind)\b",
        re.IGNORECASE,
    ),
    regex(
        r"\b(?:the user has (?:agreed|consented|authori[sz]ed|approved|confirmed)|(?:tell|inform|recommend to"
        r"|convince|remind) the user)\b",
        re.IGNORECASE,
    ),
)
_QUOTES = regex(
    r"\b(?:says?|said|reads?|states?|contains?|has|quoting|quote|quoted|there's this|at the (?:bottom|top"
    r"|end)|in the (?:e-?mail|pdf|document|page"
    r"|footer|readme|ticket|comment|letter|contract)|written|(?:e-?mail|pdf|document|page|footer|readme"
    r"|ticket|comment|website|attachment"
    r"|letter|terms|post|message|file|invoice|banner|contract|mail|flyer|leaflet|review|article|site|form"
    r"|sms|text)\b[^:\n]{0,30}:"
    r"|(?:got|received|found|came|wrote|ends with|begins with|hidden)\b)",
    re.IGNORECASE,
)
_QUOTATION = regex("[\"“«'‘>](.+)", re.DOTALL)


def is_order_to_ai(text: str, *, quoted_only: bool) -> bool:
    """Whether a text orders an AI to do, remember or ignore something.

    Args:
        text: The whole text, as it was written.
        quoted_only: Whether the speaker may give orders, so that only what is quoted from elsewhere counts.
    """
    if not quoted_only:
        return any(pattern.search(text) for pattern in _ORDERS)
    quotes = _QUOTES.search(text)
    quotation = _QUOTATION.search(text, quotes.start()) if quotes else None
    if quotation is None:
        return False
    return any(pattern.search(quotation.group(1)) or pattern.search(quotation.group()) for pattern in _ORDERS)
