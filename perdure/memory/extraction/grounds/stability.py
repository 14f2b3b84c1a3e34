"""What lasts and what came of something: habits, preferences, rules, results. Pure."""

from perdure.memory.extraction.patterns import regex

_RECURS = regex(
    r"\b(?:always|never|(?:don't|do not) ever|every|each|usually|generally|typically|normally|often|mostly|whenever"
    r"|regularly"
    r"|by default|as a rule|in general"
    r"|on (?:\w+days?(?:,? (?:and|or) )?)?(?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays"
    r"|sundays)|on weekdays|(?:at|on) weekends"
    r"|(?:once|twice|three times|\d+ times) (?:a|per|an)|daily|weekly|monthly|yearly|annually|quarterly"
    r"|hourly|nightly|per (?:day|week|month|year)"
    r"|any ?time|from now on|in (?:the )?(?:summers?|winters?|mornings|evenings|afternoons)|at night"
    r"|(?<!one of )these days|nowadays|in future|going forward|permanently|since (?:19|20)\d\d|for (?:\w+ )?years)\b"
)


def recurs(words: str) -> bool:
    """Whether it says that something holds again and again."""
    return bool(_RECURS.search(words))


_STANDS = regex(
    r"\b(?:prefer\w*|favou?rites?|favou?r|i (?:really |also |only |just |don't |do not )?(?:like|love|hate"
    r"|enjoy|drink|eat|use|wear|read|speak|write|work|live|take|avoid|need|want|stick)|can't stand"
    r"|allergic|vegan|vegetarian|must|mustn't"
    r"|have to|has to|required|requires?|may not|not allowed|forbidden|only|my name is|i'm an?|i am an?"
    r"|we use|runs? on|is called|is our|is my|are our|lives? in|works? (?:at|for|as)|speaks?"
    r"|belongs? to|owns?|closes|opens|starts|ends|based in|limit\w*|maximum|minimum|at most|at least"
    r"|no more than|call me|by law|rule|policy|instead of|rather than|is (?:written|built|hosted|stored"
    r"|kept|run) (?:in|with|on|by))\b"
)


def stands(words: str) -> bool:
    """Whether it plainly states something that lasts: a habit, a preference, a rule, what something is."""
    return recurs(words) or bool(_STANDS.search(words))


_RESULT = regex(
    r"\b(?:failed|fails|passed|passes|fixed|fixes|resolved|solved|cured|stopped|worked|works better"
    r"|didn't (?:help|work|fix|change)|did not (?:help|work|fix|change)|helped|reduced|cut|doubled|tripled"
    r"|halved|improved|rose|fell|dropped|saved|got rid|cleared"
    r"|turned out|caused by|root cause|succeeded|rolled back|took|takes|no effect|made|brought"
    r"|collapsed|won|lost|crashed|broke|broken by|sped up|slowed|went (?:from|better|worse|down|up)"
    r"|increased|decreased|grew|shrank|sustained|finished|completed|returned|timed out"
    r"|yielded|led to|resulted|prevented|eliminated|restored|recovered|reproduced|unblocked|avoided"
    r"|down from|up from|did the trick|does the trick|sorted (?:it|that|this|them|out)|paid off|blocked|rejected"
    r"|accepted|refused|denied"
    r"|approved|delivered|parsed|ended|cracked|shortened|kept|backfired|beat|outperformed|deadlocked"
    r"|leaked|exceeded|converted|migrated|raised|lowered|ever since|did nothing|made no difference|had no effect"
    r"|to no avail|in vain)\b"
)
_CAUSE = regex(
    r"\b(?:after|by|because|since|instead of|rather than|from|once|when|with|without|until|due to|to \d"
    r"|on (?:X|node|python|version|v\d)|only|but|while|in \d|than|via|through|made|brought|cut|fixed"
    r"|resolved|solved|cured|stopped|broke|no effect|worked|helped)\b|[;:]"
)


_COMPARED = regex(
    r"\b(?:\w{2,}ed|sang|went|got|came|ran|sold|slept|grew|did|was|were|felt|ate|drank|wrote|read) (?:\w+ ){0,5}?"
    r"(?:more|less|better|worse|twice|half|fewer|faster|slower|cheaper|higher|lower|easier|harder|longer|shorter)\b"
)


def is_outcome(words: str) -> bool:
    """Whether it tells how something turned out, and of what that came."""
    return bool(_COMPARED.search(words)) or (bool(_RESULT.search(words)) and bool(_CAUSE.search(words)))
