"""Plans and wishes, which are no results. Pure."""

import re

from perdure.memory.extraction.grounds.stability import recurs
from perdure.memory.extraction.patterns import regex

_ACHIEVE = (
    r"(?:learn|try|visit|switch|move|buy|sell|start|build|write|rewrite|go|travel|take up|take|become|open"
    r"|change|replace|upgrade|migrate|refactor|quit|do|make|run|play|test|look|explore|check|paint|repaint"
    r"|leave|join|find|add|fix|finish|redo|renew|book|plant|grow|launch|publish|ship|release|hire|apply"
    r"|retire|study|order|cancel"
    r"|set up|give|stop|drop|move|reorganis?e|reorganize|expand|invest|experiment|see if|see whether|clean"
    r"|redecorate|convert|adopt|introduce|train|improve|reduce|increase|save up|lose|eat more|eat less"
    r"|drink less|exercise|get (?:a|the|into|rid|better|back|fit|married|to|more|new)|call|pay|send|pick"
    r"|ask|talk|update|review|file|meet|read (?:more|the|up)|cook|come|attend)"
)
_NOW_OR_FUTURE = (
    r"(?:tomorrow|soon|later|shortly|next|this (?:week|month|year|summer|spring|autumn|fall|winter|quarter"
    r"|weekend)|in the (?:new year|coming|next)|over the (?:weekend|summer|holidays)|one day|some ?day"
    r"|sometime|eventually|at some point|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|in (?:january"
    r"|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn"
    r"|fall|winter|20\d\d|q[1-4])|by the end of|after the|before the)"
)
_PLANS = (
    regex(r"^(?:(?:the |my |our )?(?:week ?end|holiday|evening)|today's|tomorrow's|tonight's) plans?:"),
    regex(
        r"\b(?:i|we)(?:'ll| will| shall)\b(?! (?:always|never|not|only))|\b(?:x\w*|he|she|they"
        r"|it)'ll\b(?! (?:always|never|only))",
        re.IGNORECASE,
    ),
    regex(
        rf"\b(?:i|we|he|she|they|it|X\w*|the \w+|my \w+|our \w+|\w+) (?:really |would |do |also |still |just "
        rf"|only |eventually |finally )*(?:plans?|intends?|aims?|hopes?|expects?|propose|proposes|means"
        rf"|resolved|decided|promised|agreed|wishes|wish|hope) to (?!be (?:reminded|told|called"
        rf"|addressed)){_ACHIEVE}\b"
    ),
    regex(r"\b(?:hopes?|intends?|plans|is hoping|are hoping) to (?!be\b|the\b|have\b)[a-z]+\b"),
    regex(r"\b(?:i|we) (?:\w+ )?(?:plan|intend|aim|hope|propose|mean|resolve) (?:to|on)\b"),
    regex(
        rf"\b(?:i|we|he|she|they|X\w*|the \w+|my \w+|our \w+)(?:'d| would)? (?:really |do |also |still "
        rf"|just )?(?:want|wants|wanna|wish|like|love)(?: to)? {_ACHIEVE}\b(?<!like {{1}}do)"
    ),
    regex(rf"\b(?:i'd|we'd|i would|we would) (?:really |quite |also )?(?:like|love|prefer) to {_ACHIEVE}\b"),
    regex(
        r"\b(?:i'm|i am|im|we're|we are|he's|she's|they're|(?:is|are|am|was|were))(?: (?:\w+ly|also|still|just"
        r"|now|all|both|not))* (?:going to (?!the\b|a\b|X)|gonna|about to|planning|hoping|intending"
        r"|thinking (?:of|about)|aiming|set to [a-z]+ (?:the|a|an|in|on|at|by|for)\b|looking to|looking forward"
        r"|meaning to|fixing to|off to"
        r"|trying (?:to|out)|moving (?:to|away|from|over)|switching|migrating|considering|scheduled to"
        r"|due to (?!the|a|an|X)\w+)\b"
    ),
    regex(
        r"^(?:(?:also|now|just|still|soon|then|probably|only) )?(?:going to (?!the\b)|gonna |planning (?:to|on"
        r"|a) |thinking (?:of|about) |hoping to "
        r"|looking to |about to |will (?!is\b)\w+|plan:|todo\b|to-do\b|to do:|next steps?\b|next,? i\b"
        r"|next up\b|now i(?:'ll| will)|first,? i(?:'ll| will)|let's|lets|let me|let us|shall we|aiming to "
        r"|trying to |need to |have to |must remember to|note to self|gotta |off to )"
    ),
    regex(
        r"\b(?:my|our|the|his|her) (?:current |next |new )?(?:plan|idea|goal|aim|intention|hope|resolution"
        r"|next step|dream|ambition|thought) (?:is|was|would be) (?:to|that)\b|\blet's\b|\b(?:i"
        r"|we) can't wait to\b|\bone of these days\b|\bon my (?:to-?do|bucket) list\b|\bi(?:'m| am) up for\b"
    ),
    regex(
        r"\b(?:i|we) (?:still |really |also |just )?(?:need|have|ought|must|should|got) ?(?:to)? (?:really "
        r"|remember to |finally )?(?:call|buy|renew|fix|send|book|pick up|finish|ring|email|check|pay|go|see"
        r"|get|ask|talk to|look into|look at|look for|sort|tidy|clean|water|feed|collect|submit|sign up|return"
        r"|cancel|order|write|prepare|pack|leave|catch|run|repair|replace|update|rewrite|refactor|upgrade"
        r"|migrate|try|test|review|move|find)\b(?! (?:every|all|any|each|always)\b)"
    ),
    regex(rf"\b(?:will|is to|are to|is going to|are going to)\b[^.]{{0,80}}\b{_NOW_OR_FUTURE}\b"),
    regex(rf"^(?:\w+ ){{0,4}}{_NOW_OR_FUTURE}[^.]{{0,40}}\b(?:i|we|he|she|they)(?:'ll| will| shall|'m| am|'re| are)\b"),
    regex(rf"\b(?:i|we) should (?:really |probably |definitely |also )?{_ACHIEVE}\b"),
    regex(
        rf"\b(?:i'd|we'd) (?:better|best) {_ACHIEVE}\b|\bwould (?:like|love) to\b[^.]*\b(?:one day|some ?day"
        rf"|sometime|again|eventually)\b"
    ),
)
_MORE_PLANS = regex(
    r"\b(?:been meaning to|meant to|(?:have|has|had|got) (?:big |some |no )?plans? (?:to|for)|next on (?:my|our|the)"
    r"|in (?:a|one|two|three|four|five|six|\d+|a few|a couple of) (?:days?|weeks?|months?"
    r"|years?)(?: time)?,? (?:i|we|he|she|they)\b"
    r"|(?:i|we)(?:'d| would) (?:suggest|recommend|propose)|(?:i|we) (?:suggest|propose) (?:we|trying|that"
    r"|to|a)\b|worth (?:a try|trying)"
    r"|(?:i|we)(?:'ve| have) (?:decided|agreed|resolved|promised) to|on (?:my|our|the) (?:agenda"
    r"|wish ?list|list|roadmap)|is planned|are planned|planned for"
    r"|upcoming|next (?:week|month|year|spring|summer|autumn|fall|winter|quarter|term|season|weekend)|(?:i"
    r"|we)(?: do| really)? hope(?! (?:this|that|it|you))\b|promised to|(?:am|'m|are"
    r"|'re) (?:\w+ly )?(?:tempted|inclined|keen|eager|itching|determined"
    r"|ready) to|(?:i|we) wish\b|(?:keep|kept) meaning to|(?:would|'d) rather like to|(?:some ?day"
    r"|one day)(?=[.!]|\s*$)|next thing to|(?:i|we) could (?:try|also|use|add|look|go|do|run|check)"
    r"|one of these days|at some point|sooner or later|when i (?:get|find) (?:the )?(?:time|around))\b"
)
_SOME_DAY = regex(
    r"\b(?:one day|some ?day|one of these (?:days|weekends|years)|at some (?:point|stage)|before (?:too|very) long"
    r"|in due course"
    r"|sooner or later|when (?:i|we) (?:retire|finally|have the|have time|can afford|win|get (?:a|the|round|around))"
    r"|when things (?:calm"
    r"|settle|quiet)|in the pipeline|on the cards|bucket list|pencilled in|penciled in|(?:get|getting|got) "
    r"(?:a)?round to|got (?:my|our) (?:eye"
    r"|sights|heart) (?:on|set)|sav(?:e|ing) (?:up )?(?:for|to) (?:a|an|buy|get|go)|(?:half )?a mind to|(?:about"
    r"|high) time (?:i|we)"
    r"|(?:vowed|sworn|vow|pledge|pledged|swore) to|(?:am|'m|are|'re) (?:dying|itching|longing|aching|set|bound"
    r"|minded) to"
    r"|(?:looking|gearing|working|building) (?:forward|up|towards?) (?:to )?(?:a|an|the|my|our)? ?\w+ing"
    r"|(?:fancy|fancies|feel like|considering|contemplating|entertaining) \w+ing|make (?:a note|a point|time|sure) to"
    r"|don't let me forget"
    r"|(?:need|must|should|ought|have|got|try)(?: to)? remember to|(?:mustn't|must not|better not|shouldn't|can't) "
    r"forget to"
    r"|(?:the|my|our) (?:plan|idea|goal|aim|hope|dream|ambition|intention)(?:'s| is| for [\w ]{1,20} is| would be)"
    r"|resolution\b"
    r"|(?:is|are|am|'s|'re|'m) (?:due|scheduled|slated|planned|booked|meant|supposed|set(?= to [a-z]+ (?:the|a|an|in"
    r"|on|at|by)\b)|expected|hoping|wanting"
    r"|eager|keen|tempted) to"
    r" (?!be\b)[a-z]+)\b"
)
_LASTING_WISH = (
    r"(?:be|get|receive|keep|avoid|have|see|hear|know|pay|use|stay|work|sit|speak|eat|drink|take|wear|follow|limit|sleep|stick|read"
    r"|live|write|always|never|only|not|talk|communicate|meet)"
)
_ORDERED = regex(
    r"^(?:small thing,? but )?(?:i|we) (?:want|need|would like|'d like) (?:\w+ ){0,3}?\w+s (?:sorted|grouped|ordered"
    r"|formatted|listed|written|sent|delivered|named|labell?ed|rounded|shown|translated|signed|kept|stored|split|numbered)\b"
)
"""How somebody wants something done each time: "I want order lists sorted by supplier"."""
_WISH = regex(
    rf"\b(?:i|we) (?:really |still |also |just |do |would |'d )*(?:want|wanna|wish|long|yearn|hope|need|ought"
    rf"|should)(?: to)? (?!{_LASTING_WISH}\b)"
    rf"(?<=to )[a-z]+ (?:the|my|our|a|an|some|that|this|it|him|her|them|up|out|off|round|down|back|X|x)"
)
_FULFILLED = regex(
    r"\b(?:was|were|had been|had|been|'d been) (?:planning|going|meaning|hoping|about|intending|trying|wanting"
    r"|planned|meant|intended|hoped)"
    r"(?: to)?\b.*?\b(?:and (?:i |we )?(?:did|have|managed|succeeded|now|finally)|so i did|which i did|it worked|and "
    r"it)\b"
)
"""A plan that was carried out is a result."""
_UNFINISHED = regex(
    r"^(?:must|have to|need to|got to|got ta|should) (?!be\b|not\b|have\b|never\b|always\b)[a-z]+ "
    r"|^(?:trying|testing|planning|hoping|thinking|aiming|looking|starting|moving|switching|considering"
    r"|meaning|heading|getting ready|working)\b"
    r"(?!.*\b(?:is|are|was|were|has|had|did|does|made|got|took|helps?|helped|makes?|gave|gives|brought|cut"
    r"|fixed|led|saved|stopped|broke|sped|ran|cost|kept|lost|won|grew|fell|rose|let|went|came|left|meant|\w+ed)\b)"
)
_BEGINNING = regex(r"^(?:starting|beginning|effective|commencing|from|as of)\b[^,]{2,40},\s+")
_UNTIL = regex(
    r"\b(?:until|till) (?:the )?(?:(?:end|start|beginning|middle) of )?next (?:week|month|year|quarter"
    r"|term|season),?\s*"
)
"""How long something holds, which is no plan."""
_CHOICE = regex(
    r"\b(?:between|out of|of) .+(?:\band\b|\bor\b|\btwo\b|\bthree\b|\bboth\b|\ball\b).*\b(?:i|we)(?:'ll| will|'d"
    r"| would) (?:always |rather )?"
    r"(?:take|pick|choose|have|go (?:for|with)|opt for)\b|\b(?:any day|every time|over .+ any ?time)(?=[.!]|\s*$)"
)
"""Which of several somebody takes is a preference, however it is put."""
_FROM_A_DATE = regex(
    r"\b(?:from|starting|as of|effective|beginning|since) (?:now|today|tomorrow|next|the|january|february"
    r"|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday"
    r"|thursday|friday|\d)"
)


def is_plan(words: str) -> bool:
    """Whether it says what somebody is going to do or wishes to, which is no result."""
    words = _UNTIL.sub("", _BEGINNING.sub("", words))
    if _FULFILLED.search(words) or _CHOICE.search(words) or _ORDERED.match(words):
        return False
    if re.search(r"\blet's\b|\bplan(?:ning)? to\b|\b(?:i|we)'ll\b", words) and not re.search(
        r"\b(?:always|never|only)\b", words
    ):
        return True
    if recurs(words) or _FROM_A_DATE.search(words):
        return False
    if _UNFINISHED.match(words):
        return True
    return bool(_SOME_DAY.search(words) or _WISH.search(words) or _MORE_PLANS.search(words)) or any(
        pattern.search(words) for pattern in _PLANS
    )


_OWN_NEXT_STEP = regex(
    r"\b(?:i|we)(?:'ll| will|'d| would| could| should| can| might| shall| need to| have to| am going to"
    r"|'m going to)\b|\bnext (?:step|thing|action)\b|^(?:next|now|then|first|second|finally)\b,? (?:i|we"
    r"|the)\b|^(?:the |my |our )?plan\b"
)


def is_own_next_step(words: str) -> bool:
    """Whether an agent tells what it is going to do, even if it says that it always will."""
    return bool(_OWN_NEXT_STEP.search(words))
