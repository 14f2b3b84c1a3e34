"""What happened once, unless it changed something for good. Pure."""

import re

from perdure.memory.extraction.patterns import regex

_PERFECT = regex(
    r"\b(?:i|we|he|she|it|they|my [\w ]{2,20}?|our [\w ]{2,20}?|the [\w ]{2,20}?|\w+)(?:'ve| have| has"
    r"|'s) (?:just |already |now |finally |also |all |not |still )*(?:been (?!since|for|in|an?|the"
    r"|with)\w+ed|(?!need|indeed|red\b|used|shed|bed\b|feed|seed|weed|speed|breed|creed|sled|med\b|thread)\w{2,}ed"
    r"|lost|left|gone|got(?! (?:an?|two|three|four|five|six|seven|eight|nine|ten|\d+|several|many|lots of|plenty of"
    r"|no) (?!\w* ?(?:\w+ )?(?:minutes?|mins?|hours?|seconds?|moment|call|meeting|visitors?)\b))|gotten|run|broken"
    r"|fallen|come"
    r"|spilt|forgotten|frozen|begun|hung|woken|risen|stuck|reached|hit|made it|had (?:a|an|no|lunch|dinner"
    r"|breakfast|enough))\b"
)
_GROUP = (
    r"(?:club|team|band|choir|group|company|firm|union|committee|board|council|society|association|league|crew|army|navy"
    r"|police|co-?op(?:erative)?|orchestra|ensemble|troupe|guild|network|scheme|partnership|class|course)"
)
"""What people belong to; where they only are, they leave for an hour."""
_LASTING_CHANGE = regex(
    r"\b(?:moved|migrated|switched|replaced|renamed|adopted|chosen|agreed|stopped|banned|outlawed|hired"
    r"|configured|installed|bought|signed|appointed|certified|registered|licen[sc]ed|retired|married"
    r"|closed|opened|merged|deprecated|removed|lived|worked|played|used|owned|standardi[sz]ed|enabled"
    r"|disabled|limited|based|allowed|trained|studied|attended|founded|graduated|qualified|learned|learnt"
    r"|grown|written|built|inherited|known"
    r"|raised|lowered|increased|reduced|decreased|extended|shortened|upgraded|downgraded|bumped|converted|doubled"
    r"|halved|suspended|resumed|reinstated|discontinued|introduced|abolished|swapped|elected|promoted|transferred"
    r"|reverted|enrolled|leased|quit|rejoined|renewed"
    r"|resigned|got(?:ten)? rid of|(?:un)?subscribed|signed up|taken up|become (?:an?|the|my|our)"
    rf"|(?:joined|left) (?:the |my |our |an? )?(?:[\w' -]{{1,20}} )??{_GROUP}(?=[.,;!]|\s*$"
    r"| (?:for good|after|because|since|in|last|at|as|this)\b)"
    r"|(?:passed|handed)(?: over| on)? to|(?:pushed|put|moved) (?:back |forward )?to|(?:postponed|rebooked|rescheduled"
    r"|brought forward) (?:to|for|until)|dropped (?:support|[\w.+-]+ \d)|sold (?:my|our)"
    r"|left \w+(?: \w+)? and joined"
    r"|(?:gone|went|set|changed|moved) back|changed (?:[\w' -]+ )?(?:to|from))\b"
    r"|\bfor good\b|\bsince\b|\bfor (?:\w+ )?(?:years|decades|ages|months"
    r"|generations)\b|\b(?:19|20)\d\d\b|\b(?:twice|(?:three|four|five|six|seven|eight|nine|ten|several|many"
    r"|\d+) times)\b"
    r"|\blast (?:season|year|quarter|summer|winter|spring|autumn|harvest|term|financial year)\b"
)
_EVENT = regex(
    r"^(?:and |but |so |then |oh,? )?(?:i|we|he|she|they|it|that|someone|somebody) (?!turned out)(?:\w+ly |just |also "
    r"|then |really |totally |even |finally |almost |nearly )?(?:had|ate|saw|met|woke|went|made|found|lost"
    r"|broke|spilled|spilt|dropped|forgot|missed|watched|slept|spoke|heard|called|rang|texted|laughed"
    r"|cried|fell|got|came|left|ran|walked|drove|arrived|finished|started|burned|burnt|cut|hit|tripped"
    r"|bumped|cooked|baked|thought|felt|looked|sat|stood|waited|tried|showed|told|asked|gave|sent|took|put"
    r"|read|wrote|bought|visited|enjoyed|loved|hated|liked|knew|promised|ran out|drank|rode|sold|won|wore"
    r"|paid|sang|swam|flew|slipped|(?!need|feed|breed|exceed|proceed|speed|seed|succeed)\w+ed)\b"
)


def is_event(words: str) -> bool:
    """Whether it tells what happened once."""
    if re.search(r"\b(?:prefer|hate|love|like|enjoy|always|never|pick|choose)d?\b", words):
        return False
    if _LASTING_CHANGE.search(words):
        return False
    return bool(_PERFECT.search(words) or _EVENT.match(words) or _BECAME.match(words))


_BECAME = regex(r"^(?:it|that|they|we|i|(?:the|my|our) \w+) (?:got|became|turned|grew) \w+[.!]?$")
_PAST = regex(
    r"^(?:just |finally )?(?:sold|lost|got|took|bought|found|swapped|checked|talked|moved|changed|went|had|made) "
    r"|^(?:it|that|this|they|the \w+|[a-z]+) (?:was|were) |^(?:the )?\w+ (?:are|is) gone$|^too (?:much|many) \w+$"
)


def is_of_the_past(words: str) -> bool:
    """Whether it tells what somebody did, or how something was: "Sold the last one yesterday", "That was blinding"."""
    return bool(_PAST.search(words.strip(" .,;:!")))
