"""What is true only now: it says so, or tells of a state that passes. Pure."""

import re

from perdure.memory.extraction.grounds.standing import recurs

_NOW = re.compile(
    r"\b(?:right now|just now|at the moment|at this (?:very )?(?:moment|minute|second|point)|at present"
    r"|presently|currently|for now|for the moment|for the time being|for the day|temporarily|as we speak"
    r"|as of (?:now|this (?:minute|moment|morning)|right now)"
    r"|(?<!from )(?<!as of )(?<!starting )(?<!since )today(?!'s (?:standard|world))(?! (?:known|called))"
    r"|tonight|this (?:morning|afternoon|evening|instant|minute|second|very|hour|week|weekend)|yesterday"
    r"|last night|earlier today"
    r"|(?:by |until |till |since |see you |for |from )?tomorrow|in a (?:sec|second|minute|bit|moment|mo"
    r"|while|tick|few|couple)|in (?:\w+|\d+) (?:minutes?|mins?|seconds?|secs?)(?=[.,!]?\s*$)"
    r"|for the next (?:\w+ )?(?:hours?|minutes?|mins?|days?|while|bit|few|couple|week)|(?:until|till"
    r"|til) (?:later|tonight|tomorrow|then|further notice|i'm back|monday|tuesday|wednesday|thursday"
    r"|friday|saturday|sunday|next week)"
    r"|later today|so far today|momentarily|any (?:minute|second|moment) now|at this hour|just a moment"
    r"|a (?:minute|moment|second|few minutes|couple of minutes) ago|\d+ (?:minutes|mins|seconds|hours) ago"
    r"|(?:an|one|two|three) hours? ago|all (?:day|morning|night)(?=[.,!]?\s*$)|any more today"
    r"|still (?:waiting|loading|compiling|stuck|running|trying|working|looking|asleep|down|here|not back"
    r"|no answer)|as i (?:type|write)|on hold|for once)\b"
)
_MOMENT = re.compile(
    r"\b(?:brb|afk|bbl|bbs|gtg|g2g|omw|ttyl|back in (?:a|\d+|five|ten)|back soon|be right (?:back|with)"
    r"|be right there|one (?:sec|second|moment|minute)|hang on|hold on|hold the line|give me (?:a|one|two"
    r"|five|ten|\d+) (?:sec|second|minute|min|moment|mo)s?|gimme a|bear with me|wait a (?:sec|second"
    r"|minute|moment)|just a (?:sec|second|minute|moment)|can't talk"
    r"|on (?:my|our|the) way|running late|gotta (?:go|run)|have to run|need a (?:break|coffee|nap)"
    r"|out of the office|in transit)\b"
)
_PLACES = (
    r"(?:train|bus|plane|tram|metro|subway|tube|car|cab|taxi|ferry|airport|station|platform|gate|meeting"
    r"|call|phone|queue|line|shower|bath|dentist'?s?|doctor'?s?|hairdresser'?s?|gym|store|shop|supermarket"
    r"|kitchen|waiting room|traffic|\w+ aisle|lobby|lift|elevator|bed|garage|park|beach|bar|pub|restaurant"
    r"|caf[eé]|hospital|bank|post office|library|hotel|desk|stairs|motorway|highway|road|middle of"
    r"|other line|loo|bathroom|break|zoom|standup|stand-up|workshop|conference|lunch|dinner|breakfast)"
)
_STABLE_ING = (
    r"(?:using|living|teaching|managing|leading|responsible|learning|studying|paying|allergic|missing"
    r"|lacking|owing|sharing|running (?:a|an|our|on|under|version|X|two|three|the (?:business|shop|farm"
    r"|team|choir|club|company))|working (?:at|for|as|in|from|with|under|part|full|remotely|nights|four"
    r"|three|\w+days)|interesting|boring|annoying|charging|outstanding|willing|everything|anything|nothing"
    r"|something|morning|evening|king|wing|string|thing|spring|building|ring|aging|ageing|serving|hosting"
    r"|renting|owning|farming|caring for|breeding|raising|training as|doing (?:a|my) (?:phd|degree|masters"
    r"|apprenticeship|residency))"
)
_STATES = (
    re.compile(
        rf"\b(?:i'm|i am|im|we're|we are)(?: (?:just|still|already|now|stuck|sitting|standing|back))* (?:on"
        rf"|in|at|inside|outside|by|near|behind) (?:(?:the|a|an|my|our|another|back-to-back) )?{_PLACES}\b"
    ),
    re.compile(
        r"\b(?:i'm|i am|im|we're|we are|i feel|feeling|i've been)(?: (?:so|really|a bit|very|just|still"
        r"|already|too|quite|pretty|super|absolutely|rather|totally|all|back))* (?:stuck|late|tired|hungry"
        r"|thirsty|cold|hot|freezing|exhausted|sick|ill|busy|swamped|bored|sleepy|hungover|starving|away|afk"
        r"|back|ready|done|almost|nearly|out|off (?:sick|to|for)|on (?:vacation|holiday|leave|hold|break|call)"
        r"|asleep|awake|home|in bed|stressed|nervous|excited|sad|grumpy|under the weather|knackered|wiped"
        r"|drained|dizzy|sore)\b(?! (?:of|with (?:peanuts|nuts)))"
    ),
    re.compile(
        rf"(?:^|[^\w])(?:i'm|i am|im|we're|we are)(?: (?:just|still|already|now|currently|only|all|both"
        rf"|not))* (?!{_STABLE_ING}\b)[a-z]{{2,}}ing\b"
    ),
    re.compile(
        rf"^(?:currently |still |just |now )?(?!{_STABLE_ING}\b)(?:queue?ing|waiting|standing|sitting|driving"
        rf"|walking|cooking|typing|wearing|eating|watching|debugging|downloading|uploading|loading|compiling"
        rf"|building|installing|processing|running|retrying|connecting|fetching|syncing|heading|commuting"
        rf"|packing|stuck) (?!.*\b(?:\w+ed|took|made|brought|gave|got|kept|cut|led|is|was|are|were|has|had"
        rf"|did|does|helps?|makes?)\b)(?:(?:in|at|for|on|to|through|with|the|my|a|some|home|step)\b|\d|X|x)"
    ),
    re.compile(
        r"(?:\b(?:is|are|was|were|seems|went|gone|still|isn't|has gone|keeps going)|\w's|\w're) (?:(?:still"
        r"|all|already|completely|totally|not|very|so|a bit|really|pretty|back|now|just|again|super) )*(?:down"
        r"|offline|online|out of (?:paper|order|ink|toner|milk|battery|coffee)|on fire|crawling|lagging|lag+y"
        r"|acting up|playing up|stuck|asleep|raining|snowing|freezing|pouring|hailing|foggy|late|delayed"
        r"|running (?:late|behind|slow|\w+)|on hold"
        r"|queued|in progress|pending|loading|compiling|rebooting|restarting|redeploying|unreachable"
        r"|unavailable|jammed|flickering|taken|occupied|awake|upstairs|downstairs|sleeping|crying|ringing"
        r"|boiling|burning|buffering|working again|awful|packed|crowded|wet|here|ready|done|cancell?ed|frozen"
        r"|dead|dying|charging|red|broken|warming up|cooling|up again|up and running|fine again|about done"
        r"|almost done|nearly done)(?=[.,!;:)]|\s*$| (?:and|so|but|again|because|already|in here|outside|here"
        r"|behind|for|on me|yet|with|minutes|at the|to|\w+ minutes|\d))"
    ),
    re.compile(
        r"\b(?:cpu|disk|memory|ram|load|battery|phone|laptop|tablet|upload|download|progress|build|deploy|job"
        r"|import|export|backup|sync|queue|usage|install|copy|transfer|migration|scan|render"
        r"|training run)\b[^.]{0,30}?\b(?:at|on|is)\b (?:about |around |only |just |roughly )?\d+ ?(?:%"
        r"|percent|per cent)"
    ),
    re.compile(
        r"\b(?:status|state|progress)\s*[:=]\s*(?:\w+ )?(?:running|pending|queued|in progress|loading|waiting"
        r"|building|degraded|starting|stopping|active|busy|idle)\b|\bstep \d+ (?:of|/) \d+"
        r"|\b\d+ ?/ ?\d+ (?:done|complete|completed|files|tasks)\b|\b\d+ ?(?:%|percent) (?:done|complete"
        r"|completed|through|uploaded|downloaded|finished|left)|\beta \d|\b(?:build|job|deploy|deployment"
        r"|pipeline|migration|import) (?:is )?(?:still )?(?:running|queued|pending|in progress)\b"
    ),
    re.compile(
        r"\bmy (?:head|back|stomach|tummy|tooth|teeth|throat|leg|knee|feet|foot|eyes?|neck|shoulder|nose"
        r"|arm) (?:hurts?|aches?|is|are|is killing|really hurts?|'s)\b|\b(?:i've got|i have|got) (?:a |the "
        r"|my )(?:headache|cold|fever|hangover|flu|call|meeting|visitor|visitors|sore|stomach|(?:oven|kettle"
        r"|washing|dinner|stove|baby)\b)"
    ),
    re.compile(
        r"\b(?:it's|it is|its) (?:so |really |too |a bit |still |very )?(?:raining|snowing|cold|hot|sunny"
        r"|windy|pouring|freezing|dark|loud|noisy|late|stuffy|humid|chilly|quiet)(?: (?:here|outside|out"
        r"|in here|today))?(?=[.,!]|\s*$| so| and)|\b(?:traffic|weather|wifi|signal|connection|reception|line"
        r"|network|vpn|internet)\b[^.]{0,25} (?:is|was|keeps) (?:\w+ )?(?:awful|terrible|bad|horrible|dropping"
        r"|crawling|slow|down|out|spotty|lovely|nice|great|gorgeous|patchy|acting)"
    ),
    re.compile(
        r"\b(?:i|we)(?:'ve| have)? just (?:\w+ed|got|came|left|ate|had|saw|met|woke|went|made|sent|found|lost"
        r"|broke|spoke|read|heard|took|gotten|been|began|put|bought|hung|sat|stood|missed|spilled|spilt)\b"
    ),
    re.compile(
        rf"\b(?:is|are|was|were|'s|'re) (?:(?:\w+ly|still|already|now|just|not|all|both|also"
        rf"|currently) )*(?!{_STABLE_ING}\b)[a-z]{{2,}}ing\b"
    ),
    re.compile(
        r"\b(?:there's|there is|there are) (?:\w+ ){0,5}(?:going on|happening|outside|coming|ahead|at the door"
        r"|on the line|here now)\b|\b(?:someone|somebody|nobody|no one|the \w+) (?:is|'s|are) (?:at|on"
        r"|in) (?:the )?(?:door|phone|line|shower|front desk|bathroom|gate)\b"
    ),
    re.compile(
        r"\bjust (?:went|came|got|left|started|stopped|finished|crashed|rang|called|arrived|landed|broke|died"
        r"|dropped|fell|fired|ended|began|\w+ed)\b|\bas of \d|\bdepth \d+\b|\bpods? ready\b|^(?:loading"
        r"|deploying|downloading|connecting|waiting|starting|uploading|building|installing|processing"
        r"|syncing)\b[^.]{0,20}\.\.|^(?:warn\w*|info|debug|error)\b.*\b(?:at|usage) \d+ ?%|\b(?:usage|load"
        r"|latency|temperature|queue length|backlog) (?:is |at |of |= ?|: ?)+\d"
    ),
    re.compile(
        r"^(?:\w+ ){0,3}just (?:arrived|landed|started|finished|got|left|crashed|rang|called|walked|came"
        r"|restarted|broke|died|dropped)\b"
    ),
)


def is_transient(words: str) -> bool:
    """Whether it is true only now: it says so, or tells of a state that passes."""
    if _NOW.search(words) or _MOMENT.search(words):
        return True
    return not recurs(words) and any(pattern.search(words) for pattern in _STATES)
