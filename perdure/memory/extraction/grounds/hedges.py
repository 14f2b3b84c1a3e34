"""What the speaker does not vouch for. Pure."""

import re

from perdure.memory.extraction.patterns import regex

_HEDGES = (
    regex(
        r"^could be that\b|\b(?:i'd|i would|we'd) have to (?:look|check|ask|find out)\b"
        r"|\bnobody (?:has |could )?(?:told|tell|tells|knows?|said)\b[^.;]{0,20}\bwhich\b"
        r"|\b(?:maybe|perhaps|possibly|probably|presumably|conceivably|(?:is|are|was|'s|be|quite|entirely|always"
        r"|well) (?:\w+ )?(?:possible|conceivable|plausible)(?= that\b)|(?:most |more than |quite "
        r"|very )?likely(?! to be asked)|potentially|tentative(?:ly)?|hopefully|arguably|might|mightn't"
        r"|could(?:n't)? (?:be|have been|go|end|change|possibly|well|turn|become|mean|just be|also be|still)"
        r"|may or may not|(?:i"
        r"|we) (?:really |honestly |sort of |kind of |just |do |would |still |also )?(?:think|guess|suppose"
        r"|assume|reckon|imagine|suspect|doubt|gather|fancy|figure)(?! (?:in|about|of|best|better|aloud|out loud|fast"
        r"|visually|ahead|highly|so highly|before))|(?:i|we) (?:really |do )?(?:believe|feel like"
        r"|feel that)(?! in\b)|i don't think|(?:i'd|i would) (?:say|guess|bet|imagine|assume|think)|i bet"
        r"|i wouldn't (?:swear|bet)"
        r"|if i had to (?:bet|guess|choose)|if memory serves|if i (?:recall|remember)|if i'm not mistaken|iirc"
        r"|afaik|afaict|afair|as far as i (?:know|can tell|remember|can see)|to my knowledge|for all i know"
        r"|not (?:entirely |quite |really |totally |completely |absolutely |so |too |exactly |100% "
        r"|a hundred percent |at all )?(?:sure|certain|positive|convinced)|unsure|uncertain|undecided|no idea"
        r"|no clue|can't (?:say|decide|confirm|tell|remember|recall|make up)|cannot (?:say|confirm|decide|tell"
        r"|remember)|could not confirm|hard to (?:say|tell|know)"
        r"|(?:don't|do not) (?:really |actually |honestly |quite )?(?:know|remember|recall)(?! how)|(?:don't"
        r"|do not) quote me|(?:don't|do not) hold me|dunno|who knows|god knows"
        r"|kinda|sorta|seems?|seemed|seemingly|appears? (?:to|that|as)|torn between|on the fence"
        r"|lean(?:ing|s)? (?:towards?|to)|either way|(?:nothing|not|hasn't been|haven't|isn't"
        r"|still)(?: \w+)? (?:decided|settled|fixed|finali[sz]ed|confirmed|agreed|set in stone|final|made up)"
        r"|yet to (?:decide|be)|to be (?:decided|confirmed|determined|seen|announced)|tbd|tbc|up in the air"
        r"|we'll see|remains to be seen|wondering|debating|toying with|mulling|weighing (?:up )?|contemplating"
        r"|considering|wavering|something like that|or something|or whatever|i forget|at a guess"
        r"|my (?:best )?guess|best guess|a (?:wild |rough )?guess|just guessing|guessing|hunch|gut feeling"
        r"|vaguely|still deciding|unclear|ambiguous|in two minds|of two minds|depends (?:on (?:my|the) mood"
        r"|whether|who you|how)|it depends|probable|questionable"
        r"|would have to check|'d have to check|have to double-check|need to double-check|need to check"
        r"|not confirmed|unconfirmed|unverified|could go (?:either|any)|half-(?:sure|remember\w*)"
        r"|more or less decided|if i'm honest i don't|take (?:it|this|that) with a (?:grain"
        r"|pinch)|might've|ish\b|suspiciously|looks as if|looks as though|sounds as if|as it were"
        r"|changes? my mind|change my mind|subject to change|could change|not final|provisional(?:ly)?"
        r"|supposed to be|so i (?:think|believe)|hazy|fuzzy on|fairly sure|pretty sure"
        r"|quite sure|almost certain|almost sure|(?:half|nearly) certain|reasonably (?:sure|confident)"
        r"|i want to say)\b"
    ),
    regex(
        r"^(?:it |that |this |things? |there )?(?:looks?|sounds?|feels?) (?:like|as)\b|\b(?:it|this"
        r"|that) (?:looks|sounds|feels) like\b"
    ),
)
_PERMISSION = regex(
    r"\b(?:only|at most|no more|not|without|never|up to|unless|until|nobody|no one|none|nothing|neither"
    r"|no [a-z]+|any time|anyone|anybody|everyone|everybody|each|all|any|more than|fewer than|at least"
    r"|when|if|after|before)\b"
)
_PERMITTED = regex(
    r"\b(?:guests?|users?|visitors?|members?|employees|students|pupils|tenants|contractors?|staff"
    r"|customers|clients|dogs|pets|kids|children|residents|teams?|developers?|admins?|interns?|juniors"
    r"|seniors|players|drivers|passengers|parents|patients|people|cars|vehicles|bikes|it|callers|readers"
    r"|editors?|moderators?|owners?|reviewers?|you) may (?!be\b|have\b|need\b|want\b|also be\b|well\b)"
)
_MAY = regex(r"\bmay\b")


_OPEN = regex(
    r"^(?:it's |it is |its )?either\b.*\bor\b|\bhalf[- ](?:sure|remember\w*|certain|decided)\b"
    r"|\bnot (?:yet )?(?:clear|known|agreed|settled)\b|\b(?:is|are|remains?"
    r"|was) (?:still )?(?:an )?open(?: question)?(?=[.!]|\s*$)|^whether\b"
    r"|\b(?:need|have|got|would have) to (?:look (?:it|that|this) up|check|ask|confirm|verify"
    r"|double-check)\b|\bgive or take\b|\bmore like\b.*\bor\b|\bor (?:maybe|perhaps|so|thereabouts"
    r"|something)\b|\b(?:don't|can't|cannot) recall\b|\bwho can say\b|\bit (?:all )?depends\b"
    r"|\b(?:i|we) (?:keep |go )?(?:changing (?:my|our) mind|back and forth)\b|\bsome(?:how|where) around\b"
    r"|\bmy (?:impression|hunch|feeling|sense|bet)\b|\b(?:pretty|fairly|almost|reasonably) (?:sure|certain"
    r"|confident)\b|\bwild guess\b|\bas i understand\b|\bcorrect me if\b|\bif (?:i'm|i am) (?:right"
    r"|correct|not wrong)\b"
)
_COULD = regex(
    r"(?<!so )(?<!one )(?<!nobody )(?<!that )(?<!if )(?<!who )(?<!we )(?<!i )\bcould (?!not\b|never\b|only\b"
    r"|no longer\b"
    r"|finally\b"
    r"|then\b|again\b)[a-z]"
    r"|\b(?:a|the) (?:feeling|chance|possibility|suspicion)\b|\bin theory\b|\bsomething like \d"
    r"|\bno (?:final|firm|clear|definite)\b|\bjury's\b|\bif all goes\b"
    r"|\bor not(?=[.!]|\s*$)|\bfingers crossed\b|\bgod willing\b"
    r"|\bwith (?:a bit of |any )?luck\b|\blet's say\b|\bwe don't know\b|\b(?:no one|nobody) knows\b"
    r"|\bguess(?:ed|es)?\b|\bconfidence:? (?:is |of |= ?)?(?:0?\.\d|\d\d? ?%|low)|\bapproximately right\b"
)
_ODDS = regex(
    r"\b(?:chances are|odds are|(?:leads?|led) (?:me|us) to (?:believe|think|suspect|assume)|makes? me (?:think"
    r"|believe|suspect)|i infer"
    r"|suggests? (?:that )?(?:he|she|they|the user)\b|reading between the lines"
    r"|not (?:\w+ly )?(?:out of the question|beyond the realms|ruled out|off the table)"
    r"|(?:can't|cannot|couldn't|wouldn't|won't|not) rule (?:\w+ )?out|the odds|in all (?:likelihood|probability)"
    r"|(?:half|part|most|some|one part|a part"
    r"|one half) of me"
    r"|(?:my|our|a|the) (?:\w+ )?(?:(?<!the )estimate(?! (?:sheet|form|template|tool))|guesstimate|ballpark"
    r"|approximation|reckoning)|guesstimat\w+|ballpark"
    r"|something tells me"
    r"|(?:i|we) (?:have|had|get|'ve got) (?:a|the|this) (?:\w+ )?(?:feeling|hunch|suspicion|impression|sense|inkling"
    r"|notion|idea) (?:that|it|the"
    r"|this|he|she|they|we|i)|seem to (?:recall|remember|think)|as best (?:i|we) can|to the best of (?:my|our)|from "
    r"memory|off the top of"
    r"|could (?:have )?sw(?:ear|orn)|would(?:n't)? (?:put money|bet|swear|stake|bank)|(?:not|isn't|wasn't) (?:a "
    r")?(?:100|\d\d|hundred|one hundred)"
    r" ?(?:%|per ?cent)|(?:\d\d|ninety|eighty|seventy|sixty|fifty|ninety-nine) ?(?:%|per ?cent)? (?:sure|certain"
    r"|confident|positive)"
    r"|fifty[- ]fifty|50[/-]50|toss[- ]?up|touch and go|(?:could|may|might) be (?:wrong|mistaken|misremembering"
    r"|mixing)|unless i'm (?:wrong"
    r"|mistaken|misremembering|confus\w+)|stand to be corrected|misremember\w*|don't take my word|no (?:promises"
    r"|guarantees?)"
    r"|(?:or|and) (?:is|was|are|were) (?:it|that|they)(?=[.!]|\s*$)|depending on (?:how|who|when|whether|my mood|the "
    r"day|which way)"
    r"|i would have thought|you'd think|one would think|to my mind it could|inclined to (?:think|say|believe|agree)"
    r"|not (?:wholly|fully|yet)"
    r" (?:sure|certain|convinced|decided|persuaded)|half (?:expect|suspect|think|wonder|convinced)|can't (?:swear"
    r"|vouch|promise|guarantee)"
    r"|cannot (?:swear|vouch|promise|guarantee)|second[- ]guess\w*|(?:no|not) (?:real |firm |hard )?(?:proof|evidence"
    r"|certainty)"
    r"|(?:yet|still) to be (?:proven|verified|checked|settled)|jury (?:is|'s) (?:still )?out|(?:some|one) days? i "
    r".{1,40}(?:other|some|the next)"
    r"|on (?:some|certain|good) days|(?:blow|blowing|run|running) hot and cold|(?:of|in) two minds|if (?:memory"
    r"|recollection)"
    r"|as far as i (?:\w+ )?(?:recall|understand|know|see)|rings a bell|vague(?:ly)? (?:memory|recollection|idea"
    r"|notion)|(?:a|some) doubts?"
    r"|doubtful|dubious|iffy|not for certain|not for sure|for now i (?:think|lean)|prob|probs|prolly|poss|idk|dunno"
    r"|mebbe|mayb|perhps|p sure"
    r"|deffo not sure|not 100|imho?(?= (?:prob|it|the|this|that))|afaicr|ianal|ymmv|iirc|wild stab|stab in the dark"
    r"|educated guess"
    r"|finger in the air|take a punt|at a push i'd say|if pushed i'd|(?:i'd|i would) hazard|hazard a guess|surely)\b"
    r"|(?:^|[ ,])\(\?\)|\?\?|\bsome(?:where|thing) (?:between|in the region|like|around|near)\b"
)
_KIND_OF = regex(r"(?:^|\b(?P<before>[a-z']+) )(?:sort|kind) of\b")
_DETERMINERS = frozenset(
    re.findall(
        r"\w+",
        "what a the this that any some each every one only same other which another certain right new first my no",
    )
)


_NO_MATTER = regex(r", [\w' -]{2,25} or not(?=[.!]|\s*$)")
"""What changes nothing: "school night or not"."""
_POLITELY = regex(r"^(?:could|would) you (?:please |pls )?(?=(?:always|only|never)\b)")
_MAY_BE_DONE = regex(
    r"\bmay be (?=(?:renewed|used|returned|booked|reserved|exchanged|borrowed|claimed|transferred)\b[^.;]*\d)"
)


def is_hedged(words: str) -> bool:
    """Whether the speaker does not vouch for it: "maybe", "I think", "not sure". "May" can also permit."""
    words = _POLITELY.sub("", _MAY_BE_DONE.sub("is ", _NO_MATTER.sub("", words)))
    if (
        _ODDS.search(words)
        or _OPEN.search(words)
        or _COULD.search(words)
        or any(pattern.search(words) for pattern in _HEDGES)
    ):
        return True
    if any(match.group("before") not in _DETERMINERS for match in _KIND_OF.finditer(words)):
        return True
    may = _MAY.search(words)
    if (
        may is None
        or re.search(r"\b(?:in|of|since|until|by|from|mid|late|early|last|this|each|every|\d+) may\b", words)
        or re.search(r"\bmay \d|^may (?:is|was|and|has|brings|to|through)\b", words)
    ):
        return False
    if re.search(
        r"\b(?:i|we|he|she|they) may not (?:eat|drink|drive|lift|smoke|take|use|work|fly|touch|share|enter"
        r"|sign|leave|have)\b",
        words,
    ):
        return False
    if re.search(r"\b(?:i|we|he|she|it|they|there|this|that) may\b", words):
        return True
    return not (_PERMISSION.search(words) or _PERMITTED.search(words))
