"""Questions, with or without a question mark, and requests for something to be done once. Pure."""

import re

from perdure.memory.extraction.grounds.stability import recurs
from perdure.memory.extraction.patterns import regex

_SUBJECT = (
    r"(?:i|you|he|she|it|we|they|the|my|your|our|this|that|these|those|there|any|anyone|anybody|someone"
    r"|somebody|everyone|everything|a|an|his|her|their|all|both|x[\w']*)"
)
_QUESTIONS = (
    regex(
        rf"^(?:is|are|am|was|were|does|did|has|had|could|would|shall|isn't|aren't|wasn't|doesn't|didn't"
        rf"|hasn't|can't|couldn't|wouldn't|won't|shouldn't|don't you|haven't) {_SUBJECT}\b",
        re.IGNORECASE,
    ),
    regex(
        r"^(?:is|are|was|were|does|did|has|could|would) (?!on\b|in\b|at\b|to\b|not\b|born\b|made\b|called\b"
        r"|like\b|prefer\b|been\b|done\b|a\b)\w+ \w+"
        r"|^(?:can|do|will) [a-z]+s (?!are\b|is\b|have\b|has\b|were\b|was\b|must\b|should\b|can\b|will\b|in\b"
        r"|on\b|not\b)[a-z]+",
        re.IGNORECASE,
    ),
    regex(rf"^(?:should|may|might) {_SUBJECT}\b(?![^?]*,)", re.IGNORECASE),
    regex(
        r"^(?:do|can|will|have) (?:i|you|we|they|he|she|it|the|my|our|any|anyone|someone|these|those|your|x\w*)\b",
        re.IGNORECASE,
    ),
    regex(
        r"^(?:and |but |so |or )?(?:what|where|why|how|who|whom|whose|which)(?:'s|'re|s)? (?:\w+ ){0,3}?(?:is"
        r"|are|was|were|do|does|did|can|could|should|would|will|has|have|am|shall|gives?)\b(?![^?]*,)",
        re.IGNORECASE,
    ),
    regex(r"^(?:what|where|who|how|why|when)(?:'s|s|'re)\b", re.IGNORECASE),
    regex(r"^when (?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|am|shall)\b", re.IGNORECASE),
    regex(
        r"^how (?:many|much|long|often|big|far|old|come|about|late|early|large|high|soon|deep|heavy|fast|tall)\b",
        re.IGNORECASE,
    ),
    regex(
        r"^what (?:time|kind|sort|size|colou?r|version|port|day|date|number|type|about|if|else|for|now|next"
        r"|happens|happened)\b",
        re.IGNORECASE,
    ),
    regex(r"^who (?:[a-z]+s|[a-z]+ed|knows|else|all)\b(?!.*,)", re.IGNORECASE),
    regex(r"^which \w+ (?!means|is why)[^,]*$|^(?:why|whose|whom)\b", re.IGNORECASE),
    regex(
        r"^(?:any (?:idea|chance|news|update|updates|luck|thoughts|clue|tips|word)|anyone|anybody|does anyone"
        r"|remind me (?:what|who|when|where|which|how)|quick question|question:)\b",
        re.IGNORECASE,
    ),
    regex(
        r"\b(?:i wonder\b|i was wondering|i'm wondering|just wondering|wondering (?:if|whether|what|how|why"
        r"|who|when|where)|(?:can|could|would|will) you (?:please |just |also |maybe )?(?:tell|explain|show"
        r"|check|help|look|find|give|send|remind|confirm|clarify|let|do|run|make|write|list|say)"
        r"|do you (?:know|remember|think|have|happen)|(?:please |pls )?(?:tell me|explain|show me"
        r"|describe) (?:what|who|whether|if|how|when"
        r"|where|which|why|about)|(?:i'd|i would) like to know|curious (?:if|whether|about|what|how)|(?:i"
        r"|we) (?:need|want) to know (?:if|whether|what|who|when|how|where|which)|what do you (?:think|reckon"
        r"|suggest|recommend)|no idea (?:what|who|how|why|when|where)|not clear to me)\b",
        re.IGNORECASE,
    ),
)
_WOULD_KNOW = regex(
    r"\b(?:curious|interested|keen|love|like|good|helpful|nice|great|useful|glad|dying|want|wanted|need|trying|eager"
    r"|hoping) to (?:know|hear|find out"
    r"|ask|learn|understand|work out|figure out|see) (?:if|whether|what|which|who|whose|how|when|where|why|more about"
    r"|your)\b"
    r"|^(?:which|whose|whom) (?:of|one|ones|is|are|was|were|do|does|did|has|have|would|should|can|could"
    r"|will)\b(?!.*(?:is why|means that))"
    r"|^(?:what|who|where|when|how|why) (?:is|are|was|were|do|does|did|would|should|could|can)\b[^,]*, (?:the|a|an"
    r"|this|my|your|our|it|him|her|x)\b[^,]* or\b"
    r"|\b(?:mind (?:telling|explaining|showing|checking)|point me (?:to|at|towards?)|enlighten me|do tell|i don't "
    r"(?:get|see|understand) (?:why|how|what)"
    r"|can't (?:work|figure) out (?:why|how|what|if|whether|which|who)|wanted to ask|meaning to ask|(?:one (?:more"
    r"|last)|another|quick|small|silly) question|have a question"
    r"|looking for (?:advice|recommendations?|suggestions?|a recommendation|tips|ideas|help)|(?:any|got any|have "
    r"any) (?:recommendations?|suggestions?"
    r"|advice|pointers|ideas?|experience with)|(?:need|want|after|could (?:do with|use)) (?:some |a bit of |your "
    r")?(?:help|advice|a hand|guidance|an opinion"
    r"|a second opinion) (?:with|on|about|choosing|deciding|finding)|(?:remind|tell|show|teach|ask) me (?:what|who"
    r"|when|where|which|how|why|whether|if)"
    r"|thoughts on|your (?:thoughts|opinion|view|take) on|what's (?:the deal|up|wrong|best|better) with|settle (?:a"
    r"|an) (?:bet|argument)"
    r"|(?:is|are) (?:it|there|they|you|we) (?:ok|okay|true|possible|any|allowed|worth)|help me (?:understand|choose"
    r"|decide|pick|find|with|out))\b"
)
_CLEFT = regex(
    r"^(?:what|where|when|how|who) (?:i|we) (?:\w+ly )?(?:can't stand|cannot stand|like|love|hate|prefer|need|want"
    r"|enjoy"
    r"|dislike|care about|look for|avoid|work|live|use)\b.* (?:is|are|was)\b"
)
"""Begins like a question and states: "What I like is"."""
_LEAD_IN = regex(r"^(?:(?:so|and|but|ok|okay|well|hey|hi|sorry|btw|also|or|now|um|right|anyway|hmm)[, ]+)+")
_MARK = regex(r"[?？؟;]?[?？؟][\s!?.)\"'”’»\]]*(?:[^\w\s]+\s*)*$")


def is_marked_as_question(words: str) -> bool:
    """Whether it ends with a question mark, of whatever language."""
    return bool(_MARK.search(words)) or "¿" in words or bool(re.search(r"(?:か|吗|呢|까)[。?？]?$", words.strip()))


_TAG = regex(
    r"(?<=\w\w)(?:[,;.]? (?:ok(?:ay)?|al ?right|deal|understood|got it)"
    r"|, (?:so |and )?(?:can|could|will|would) you (?:please )?(?:(?:keep|bear) (?:that|this|it) in mind"
    r"|(?:remember|note|save|store) (?:that|this|it))\b[^?.]{0,40})"
    r"\s*\?+\s*$"
)
"""What is asked after a statement, and asks nothing of it."""
_EACH_TIME = regex(
    r"^(?:can|could|will|would) you (?:please |pls )?(?:always|only|never) (?:(?:write|answer|reply|use|give|put|show"
    r"|format|address|call|speak|explain|send|add|include|list|sort|sign|spell|round|translate|cite|start|end|begin|avoid|ask"
    r"|tell|cc|copy|remind|quote|mention|summari[sz]e|convert|attach|highlight|label|link|capitali[sz]e|abbreviate|number"
    r"|refer to)\b|(?!see|hear|read|reach|understand|believe|know)\w+ (?:me|us)\b|(?!keep|sell"
    r"|delete)\w+ [^?]*\bfor (?:me|us)\b)"
)
"""Begins like a question, and says how somebody wants it."""


def is_question(words: str) -> bool:
    """Whether it asks, with or without a question mark."""
    words = _TAG.sub("", words)
    plain = _LEAD_IN.sub("", words.strip())
    if _EACH_TIME.match(plain):
        return False
    if _CLEFT.match(plain) and not is_marked_as_question(words):
        return False
    return (
        is_marked_as_question(words)
        or bool(_WOULD_KNOW.search(plain))
        or any(pattern.search(plain) for pattern in _QUESTIONS)
    )


_POLITE = (
    r"(?:(?:please|pls|plz|kindly|now|then|ok|okay|so|just|also|and|next|first|can you|could you|would you"
    r"|will you|i need you to|i want you to|i'd like you to|go ahead and|quickly)[ ,]+)*"
)
_REQUEST = regex(
    rf"^{_POLITE}(?:run|rerun|re-run|open|show|send|fix|summari[sz]e|draft|translate|create|find|search"
    rf"|look (?:up|at|for|into)|check|list|tell|give|generate|remind|book|order|deploy|restart|retry|try"
    rf"|cancel|delete"
    r"|remove|undo|redo|add|move|rename|schedule|email|post|print|download|upload|install|update|upgrade"
    r"|revert|merge|start|make|get|buy|read|compare|calculate|convert|explain|help|write|rewrite|take"
    r"|bring|put|pick|finish|review"
    r"|play|turn|push|commit|build|test|debug|investigate|analy[sz]e|ping|notify|text|tidy|clean|grab"
    r"|fetch|copy|paste|plan|prepare|pull|set up|let|ask|describe|count|sort|extract|reply|respond|forward"
    r"|share|continue|proceed|go)"
    r"(?: (?:me|us|him|her|them|to|through|over|for|with|up|out|off|on|about|into|at))?(?: (?:it|this|that|last|next"
    r"|today's|yesterday's|tomorrow's"
    r"|these|those|the|a|an|my|our|his|her|their|again|some|another|more|one|all|both|two|three|X\w*"
    r"|everything|something|(?:page|line|step|chapter|section|slide|item|file|row|column|version) \w+))\b"
)
_ONCE = regex(
    r"^(?:please |pls |can you |could you )*(?:stop|wait|hold on|hang on|try again|go on|go ahead|continue"
    r"|proceed|carry on|never ?mind|forget it|undo|retry|remember to|don't forget to|do not forget to"
    r"|remind me|make sure to|let me know (?:when|if|once|how|what)|ping me (?:when|once|if))\b"
)
_GENERAL = regex(
    r"\b(?:any|anything|instead|rather|only|not|no|unless|without|with|in (?:X\w*|the \w+ (?:mood|tense"
    r"|style|format)|bullet|short|small|plain|simple|full|lower|upper|one|two|three)|as (?!soon|possible"
    r"|well|usual|discussed|planned|agreed)\w+|at most|format|before|first|when(?:ever)? (?:i|we|you)|if"
    r"|short|brief)\b"
)


_EDIT = regex(
    rf"^{_POLITE}(?:rename|delete|remove|fix|bump|replace|insert|comment out|uncomment|revert|refactor|move|copy|change"
    r"|extract|inline|edit|append|reformat|drop)\b.*(?<![\w*.])[\w/-]+\.(?:py|js|jsx|ts|tsx|md|go|rs|java|c|cc|cpp|h"
    r"|ya?ml|json|toml|txt|html|css|scss|sh|sql|cfg|ini|lock|ipynb|rb|php|kt|swift|vue|xml|csv)\b"
)
"""Asks for a change of one file."""


_ASKED_FOR = regex(
    rf"^{_POLITE}(?:add|put|set|order|buy|get|send|book|call|remind|start|stop|open|close|play|turn"
    rf"|check)\b.*\b(?:pls|plz|please)"
    r"[.!]?$"
)


def is_request(words: str) -> bool:
    """Whether it asks for something to be done once, rather than always in a certain way."""
    if recurs(words):
        return False
    plain = words.strip()
    return bool(_ONCE.match(plain) or _ASKED_FOR.match(plain)) or (
        bool(_REQUEST.match(plain)) and not _GENERAL.search(plain)
    )


def is_edit(sentence: str) -> bool:
    """Whether a sentence, with its names, asks for one change of one file: "rename foo to bar in utils.py"."""
    plain = sentence.strip().lower()
    return bool(_EDIT.match(plain)) and not recurs(plain)


def is_asking(words: str) -> bool:
    """Whether it wants something from the listener: an answer, or something done once."""
    return is_question(words) or is_request(words)
