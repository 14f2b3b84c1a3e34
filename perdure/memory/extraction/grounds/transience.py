"""What is true only now: it says so, or tells of a state that passes. Pure."""

import re

from perdure.memory.extraction.grounds import events
from perdure.memory.extraction.grounds.situations import is_situation, without_any_time
from perdure.memory.extraction.grounds.stability import recurs
from perdure.memory.extraction.patterns import regex

_NOW = regex(
    r"\b(?:right now|just now|at the moment|at this (?:very )?(?:moment|minute|second|point)|at present"
    r"|presently|currently|for now|for the moment|for the time being|for the day|temporarily|as we speak"
    r"|as of (?:now|this (?:minute|moment|morning)|right now)"
    r"|(?<!from )(?<!as of )(?<!starting )(?<!since )today(?!'s (?:standard|world))(?! (?:known|called))"
    r"|tonight|this (?:morning|afternoon|evening|instant|minute|second|very|hour|week|weekend)"
    r"|(?<!since )yesterday|(?<!since )(?<!after )last night|earlier today"
    r"|(?:by |until |till |since |see you |for |from )?tomorrow|in a (?:sec|second|minute|bit|moment|mo"
    r"|while|tick|few|couple)|in (?:\w+|\d+) (?:minutes?|mins?|seconds?|secs?)(?=[.,!]?\s*$)"
    r"|for the next (?:(?:\w+ )?(?:hours?|minutes?|mins?|while|bit|few|couple|week)"
    r"|(?:few |couple of |two |three )?days?)|(?:until|till|til) (?:later|tonight|tomorrow|further notice|i'm back"
    r"|monday|tuesday|wednesday|thursday"
    r"|friday|saturday|sunday|next week)"
    r"|later today|so far today|momentarily|any (?:minute|second|moment) now|at this hour|just a moment"
    r"|a (?:minute|moment|second|few minutes|couple of minutes) ago|\d+ (?:minutes|mins|seconds|hours) ago"
    r"|(?:an|one|two|three) hours? ago|all (?:day|morning|night)(?=[.,!]?\s*$)|any more today"
    r"|(?:until|till) (?:half past|(?:a )?quarter (?:past|to))(?=[.,!]?\s*$)|queued,? \d+ \w+ (?:ahead|before)"
    r"|still (?:waiting|loading|compiling|stuck|running|trying|working|looking|asleep|down|here|not back"
    r"|no answer)|as i (?:type|write)|on hold|for once)\b"
)
_MOMENT = regex(
    r"\b(?:brb|afk|bbl|bbs|gtg|g2g|omw|ttyl|back in (?:a (?:sec|second|minute|min|bit|moment|mo|while|tick|few"
    r"|couple)|\d+|five|ten)"
    r"|back soon|be right (?:back|with)"
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
    r"(?:being|using|living|teaching|managing|leading|responsible|learning|studying|paying|allergic|missing"
    r"|lacking|owing|sharing|running (?:a|an|our|on|under|version|X|two|three|the (?:business|shop|farm"
    r"|team|choir|club|company))|working (?:at|for|as|in|from|with|under|part|full|remotely|nights|four"
    r"|three|\w+days)|interesting|boring|annoying|charging|outstanding|willing|everything|anything|nothing"
    r"|something|morning|evening|king|wing|string|thing|spring|building|ring|aging|ageing|serving|hosting"
    r"|renting|owning|farming|caring for|breeding|raising|training as|doing (?:a|my) (?:phd|degree|masters"
    r"|apprenticeship|residency))"
)
_STATES = (
    regex(
        rf"\b(?:i'm|i am|im|we're|we are)(?: (?:just|still|already|now|stuck|sitting|standing|back))* (?:on"
        rf"|in|at|inside|outside|by|near|behind) (?:(?:the|a|an|my|our|another|back-to-back) )?{_PLACES}\b"
    ),
    regex(
        r"\b(?:i'm|i am|im|we're|we are|i feel|feeling|i've been)(?: (?:so|really|a bit|very|just|still"
        r"|already|too|quite|pretty|super|absolutely|rather|totally|all|back))* (?:stuck|late|tired|hungry"
        r"|thirsty|cold|hot|freezing|exhausted|sick|ill|busy|swamped|bored|sleepy|hungover|starving|away|afk"
        r"|back(?! (?:to (?!work\b|bed\b|normal\b|the office\b)|on|with)\b)|ready|done|almost|nearly|out|off (?:sick"
        r"|to|for)|on (?:vacation|holiday|leave|hold|break|call)"
        r"|asleep|awake|home|in bed|stressed|nervous|excited|sad|grumpy|under the weather|knackered|wiped"
        r"|drained|dizzy|sore)\b(?! (?:of|with (?:peanuts|nuts)))"
    ),
    regex(
        rf"(?:^|[^\w])(?:i'm|i am|im|we're|we are)(?: (?:just|still|already|now|currently|only|all|both"
        rf"|not))* (?!{_STABLE_ING}\b)[a-z]{{2,}}ing\b"
    ),
    regex(
        rf"^(?:currently |still |just |now )?(?!{_STABLE_ING}\b)(?:queue?ing|waiting|standing|sitting|driving"
        rf"|walking|cooking|typing|wearing|eating|watching|debugging|downloading|uploading|loading|compiling"
        rf"|building|installing|processing|running|retrying|connecting|fetching|syncing|heading|commuting"
        rf"|packing|stuck) (?!.*\b(?:\w+ed|took|made|brought|gave|got|kept|cut|led|is|was|are|were|has|had"
        rf"|did|does|helps?|makes?)\b)(?:(?:in|at|for|on|to|through|with|the|my|a|some|home|step)\b|\d|X|x)"
    ),
    regex(
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
    regex(
        r"\b(?:cpu|disk|memory|ram|load|battery|phone|laptop|tablet|upload|download|progress|build|deploy|job"
        r"|import|export|backup|sync|queue|usage|install|copy|transfer|migration|scan|render"
        r"|training run)\b[^.]{0,30}?\b(?:at|on|is)\b (?:about |around |only |just |roughly )?\d+ ?(?:%"
        r"|percent|per cent)"
    ),
    regex(
        r"\b(?:status|state|progress)\s*[:=]\s*(?:\w+ )?(?:running|pending|queued|in progress|loading|waiting"
        r"|building|degraded|starting|stopping|active|busy|idle)\b|\bstep \d+ (?:of|/) \d+"
        r"|\b\d+ ?/ ?\d+ (?:done|complete|completed|files|tasks)\b|\b\d+ ?(?:%|percent) (?:done|complete"
        r"|completed|through|uploaded|downloaded|finished|left)|\beta \d|\b(?:build|job|deploy|deployment"
        r"|pipeline|migration|import) (?:is )?(?:still )?(?:running|queued|pending|in progress)\b"
    ),
    regex(
        r"\bmy (?:head|back|stomach|tummy|tooth|teeth|throat|leg|knee|feet|foot|eyes?|neck|shoulder|nose"
        r"|arm) (?:hurts?|aches?|is|are|is killing|really hurts?|'s)\b|\b(?:i've got|i have|got) (?:a |the "
        r"|my )(?:headache|cold|fever|hangover|flu|call|meeting|visitor|visitors|sore|stomach|(?:oven|kettle"
        r"|washing|dinner|stove|baby)\b)"
    ),
    regex(
        r"\b(?:it's|it is|its) (?:so |really |too |a bit |still |very )?(?:raining|snowing|cold|hot|sunny"
        r"|windy|pouring|freezing|dark|loud|noisy|late|stuffy|humid|chilly|quiet)(?: (?:here|outside|out"
        r"|in here|today))?(?=[.,!]|\s*$| so| and)|\b(?:traffic|weather|wifi|signal|connection|reception|line"
        r"|network|vpn|internet)\b[^.]{0,25} (?:is|was|keeps) (?:\w+ )?(?:awful|terrible|bad|horrible|dropping"
        r"|crawling|slow|down|out|spotty|lovely|nice|great|gorgeous|patchy|acting)"
    ),
    regex(
        r"\b(?:i|we)(?:'ve| have)? just (?:\w+ed|got|came|left|ate|had|saw|met|woke|went|made|sent|found|lost"
        r"|broke|spoke|read|heard|took|gotten|been|began|put|bought|hung|sat|stood|missed|spilled|spilt)\b"
    ),
    regex(
        rf"(?<!there )\b(?:is|are|was|were|isn't|aren't|wasn't|weren't|(?<=he)'s|(?<=she)'s|(?<=it)'s|(?<=that)'s"
        rf"|(?<=there)'s|(?<=what)'s|(?<=who)'s|(?<=one)'s|'re) (?:(?:\w+ly|still|already|now"
        rf"|just|not|all|both|also"
        rf"|currently) )*(?!{_STABLE_ING}\b)[a-z]{{2,}}ing\b(?! [a-z]+ (?:is|are|was|were|has|have|meets?"
        rf"|[a-z]{{3,}}s)\b)"
    ),
    # "My daughter's sleeping", and not "my daughter's fencing club".
    regex(
        rf"'s (?:(?:\w+ly|still|already|now|just|not|all|currently) )*(?!{_STABLE_ING}\b)[a-z]{{2,}}ing\b"
        rf"(?! (?:[a-z]+ )?(?:is|are|was|were|has|have|meets?|[a-z]{{3,}}s)\b)"
    ),
    regex(
        r"\b(?:there's|there is|there are) (?:\w+ ){0,5}(?:going on|happening|outside|coming|ahead|at the door"
        r"|on the line|here now)\b|\b(?:someone|somebody|nobody|no one|the \w+) (?:is|'s|are) (?:at|on"
        r"|in) (?:the )?(?:door|phone|line|shower|front desk|bathroom|gate)\b"
    ),
    regex(
        r"\bjust (?:went|came|got|left|started|stopped|finished|crashed|rang|called|arrived|landed|broke|died"
        r"|dropped|fell|fired|ended|began|\w+ed)\b|\bas of \d|\bdepth \d+\b|\bpods? ready\b|^(?:loading"
        r"|deploying|downloading|connecting|waiting|starting|uploading|building|installing|processing"
        r"|syncing)\b[^.]{0,20}\.\.|^(?:warn\w*|info|debug|error)\b.*\b(?:at|usage) \d+ ?%|\b(?:usage|load"
        r"|latency|temperature|queue length|backlog) (?:is |at |of |= ?|: ?)+\d"
    ),
    regex(
        r"^(?:\w+ ){0,3}just (?:arrived|landed|started|finished|got|left|crashed|rang|called|walked|came"
        r"|restarted|broke|died|dropped)\b"
    ),
)


_LIVING = (
    r"(?:wasp|bee|fly|mouse|rat|cat|dog|spider|bird|man|woman|guy|someone|somebody|queue|line|jam|storm"
    r"|fire|smell|noise|leak|delay|problem|issue|outage|bug|glitch|draught|draft|power cut|strike|accident"
    r"|parcel|package|visitor|people|kids|film crew|party)"
)
_WHERE_IT_STANDS = regex(
    rf"\b(?:there's|there is|there are) (?:an? |no |some |another |this )?(?:\w+ )?{_LIVING}s?\b"
    r"|^(?:i |we )?(?:can't|cannot|can not|couldn't) (?:find|hear|see|open|access|connect|log|reach|get"
    r"|believe|sleep|wait|breathe|concentrate|remember where)\b"
    r"|^(?:i'm|i am|we're|we are|im) (?:\w+ly )?(?:parked|locked|lost|stranded|seated|outside|inside"
    r"|downstairs|upstairs|here|nearby|logged|soaked|set|double-parked|five minutes|ten minutes"
    r"|\d+ minutes|halfway|around the corner|at home|at work|indoors|outdoors|online|offline|next in line"
    r"|at \w+'s)\b"
    r"|\b(?:in|over|during|within) the (?:last|past) (?:\w+ )?(?:minutes?|hours?|seconds?|day)\b"
    r"|\d%? (?:\w+ )?(?:at|as of|@) \d{1,2}:\d\d(?=[.,;)]|\s*$)|\b\d+ (?:\w+ )?(?:waiting|queued|pending"
    r"|running(?! [a-zX])|in flight|in progress|in the queue|left|remaining|to go)\b|\b\d+ (?:of|out of"
    r"|/) \d+ (?:files|tests|tasks|pods|items|rows|steps|pages|done|records|jobs|chunks|MB|GB)\b"
    r"|\bload average\b|\buptime\b(?! matters)|^(?:on|in|at) (?:mobile|a call|a meeting|transit|the bus"
    r"|the train"
    r"|my phone)\b|\b(?:i've|i have) (?:\w+ ){0,2}(?:to go|a (?:call|meeting) (?:now|in)|no (?:signal"
    r"|reception|battery|voice|time))\b|\bout of (?:breath|signal|range|cash|battery|town|the country)\b"
    r"|\buntil i (?:get|am|have)\b"
)


_AT_THIS_MOMENT = regex(
    r"\b(?:right now|at (?:the|this) moment|currently|as we speak|as of now|in the (?:last|past) (?:minute"
    r"|hour|second|few minutes)|for a few (?:days|hours|minutes))\b"
    r"|^(?:(?:tonight|today|tomorrow|this (?:morning|afternoon|evening))'s|the \w+ (?:tonight|today"
    r"|tomorrow)) .*\b(?:pushed|moved|put"
    r"|brought) (?:back|forward)\b|^(?:tonight|today|tomorrow|this (?:morning|afternoon|evening))'s .*\b(?:moved"
    r"|postponed|delayed"
    r"|rescheduled|cancell?ed|called off)\b"
    r"|\b(?:in recess|in session|unavailable|tied up|out|away|busy|on (?:a )?break|adjourned|in surgery) (?:until"
    r"|till|til) "
    r"(?:half )?(?:\d|noon|midnight|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|after)\b"
)


_BARE_STATE = regex(
    r"(?:\b(?:is|are|was|were|'m|am|seems?|looks?|feels?|got|gone)|'s|'re) (?:(?:\w+ly|so|too|very|all"
    r"|still|now|just|only|half|almost|a bit|a little|quite|pretty|not|again|already|back) )*"
    r"(?:full|flat|low|dead|charged|empty|blocked|closed|open|locked|shut|dirty|busy|tired|awake|asleep"
    r"|away|nearby|blank|slow"
    r"|sluggish|sold out|gone|missing|loose|warm|cold|hot|dizzy|sick|ill|sore|nervous|flooded|overloaded"
    r"|postponed|stranded|soaked|jammed|out|off|on|(?<!gone )up|over|behind|noisy|crowded|long|short-staffed"
    r"|understaffed|attached|wrong|right|mad|angry|upset|happy|sad|glad|excited|worried"
    r"|confused)(?: (?:again|now|already|here|outside|too"
    r"|at last|finally))?(?=[.!,;]|\s*$)"
    r"|(?:'s| is| are) (?:on|in|at) (?:the (?:table|oven|stove|door|phone|way|line|floor|ground(?! floor)|move|run"
    r"|shower|bath|post)|(?:\w+ )?(?:leave|holiday|vacation|sick leave|strike|hold|surgery|hospital"
    r"|transit|parental leave|maternity leave))\b"
    r"|\b(?:road|street|motorway|bridge|tunnel|lane|lift|elevator|escalator|printer|server|site|website"
    r"|page|app|system|line|network|heating|power|water|internet|wifi|vpn|pipeline|build) (?:\w+ )?(?:is"
    r"|has been) (?:blocked|closed|down|shut|flooded|not (?:responding|working|loading|reachable"
    r"|available))\b"
    r"|\bnot (?:responding|working|loading|answering|starting|reachable|available)\b"
    r"|\bservice unavailable\b|\bhttp \d{3}\b.*\bretry\b|\bnow \d|\bsmells? (?:of|like)\b|\b(?:two|three"
    r"|four|five|ten|\d+) (?:stops|minutes|mins|blocks|streets|hours) (?:away|late|behind|left|to go)\b"
    r"|\b(?:is|are|'s|'re|am|'m) (?:off (?:school|work|sick)|stuck (?:between|in|on|at|behind|under|outside))\b"
    r"|\bfor a few (?:days|hours|minutes)\b|\b(?:this|that) (?:time|once)\b|\bhere until\b|\bagain(?=[.!]"
    r"|\s*$)|^(?:\w+ing) (?:on|in|at|from|through) [^,.]* here(?=[.!]|\s*$)|\buntil (?:january|february"
    r"|march|april|june|july|august|september|october|november|december)\b|\bstarted \d+ (?:minutes|hours"
    r"|seconds) ago\b"
)


_LASTING_TRAIT = (
    r"(?:vegan|vegetarian|pescatarian|allergic|intolerant|\w+-intolerant|diabetic|asthmatic|coeliac|celiac"
    r"|left-handed|right-handed|ambidextrous|colou?r-?blind|blind|deaf|dyslexic|autistic|epileptic"
    r"|pregnant|married|single|divorced|widowed|engaged|retired|self-employed|freelance"
    r"|employed|fluent|bilingual|trilingual|native|teetotal|sober|religious|atheist|introverted"
    r"|extroverted|shy|picky|fussy|punctual|old-fashioned|tall|short|bald|insured|certified|licen[sc]ed"
    r"|qualified|trained|registered|responsible|happiest|used to|fond|keen on|good|bad|better|best|great"
    r"|terrible|hopeless|passionate|serious"
    r"|strict|particular|careful|sensitive|subscribed|based|located|born|originally|from|of|for|against"
    r"|into|more|one|called|known|named|required|allowed|not|never|always|only|usually|mostly|generally"
    r"|no longer|obliged|entitled|authori[sz]ed|bound|open|closed|part|member|head|chair|treasurer|secretary"
    r"|fine with|okay with|ok with|happy (?:with|to)|available (?:on|from|between)"
    r"|back (?:to|on|with)"
    r"|a|an|the|my|your|our|his|her|their|this|that|\d+|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|x[\w']*|sick of|tired of|bored of|interested|able|unable|scared of|afraid of|claustrophobic"
    r"|in (?:charge|my|her|his|their|sales|accounts|accounting|marketing|finance|support|engineering|hr|it"
    r"|the (?:\w+ )?(?:choir|band|team|union|club|business|committee|board|orchestra|habit|x\w*))"
    r"|on (?:the )?(?:day|night|early|late|morning|evening) shift"
    r"|on (?!page|chapter|line|step|level|section|episode|floor|track|lap|mile|km)\w+ v?\d+(?:\.\d+)+"
    r"|on (?:blood|medication|insulin|antidepressants|the (?:board|committee|council|team|pill|parents)"
    r"|a (?:\w+ )?(?:diet|plan|contract|tariff|visa))|with (?:a|the|x\w*)|between|under (?:contract"
    r"|warranty)|" + _STABLE_ING + r")"
)
_OF_PERSONS = regex(
    rf"^(?:and |but |so )?(?:i'm|i am|im|we're|we are) (?:(?:\w+ly|quite|very|rather|still|also|just|all"
    rf"|both|so|too|pretty|wide|fast) )*+(?!{_LASTING_TRAIT}\b)[a-z]",
    re.IGNORECASE,
)
_WHEREABOUTS = regex(
    r"^(?:he|she|they|he's|she's|they're|everyone|everybody|someone|somebody|nobody)(?:'s| is|'re"
    r"| are)? (?:at|on|in|with|behind|out|off|away|upstairs|downstairs|here|back) (?!charge|my"
    r"|the (?:board|team|committee|choir|band))"
)
_PASSING_WORDS = regex(
    r"\b(?:half|fast|wide) (?:asleep|awake)\b|\b(?:already|yet|by now|any more|anymore)(?=[.!,]|\s*$)|\b(?:is|are|'s"
    r"|'re|am|'m|ran|run"
    r"|running) out of (?!scope|bounds|print|warranty|date|reach)[a-z]|\b(?:can|could) (?:barely|hardly"
    r"|scarcely|just about|still) (?:hear|see|read|move|walk|keep|stand)\b|\bi can (?:hear|smell|feel)\b"
    r"|\bmy (?:arm|leg|foot|ankle|wrist|hand|hands|finger|knee|back|neck|head|eye|eyes|ears?|nose|throat"
    r"|hair|stomach|shoulder|phone|battery|laptop|screen|train|bus|flight|taxi|lunch|dinner|coffee|tea"
    r"|food|internet|connection|mic|camera)(?:'s| is| are|'re) (?:\w+ly |so |too |all |still "
    r"|already )*(?!called|named|a\b|an\b|the\b|x)(?:in|on|at|off|down|dead|gone|broken|stuck|late|cold"
    r"|ready|full|wet|dirty|sore|numb|swollen|frozen|delayed|cancelled|here|empty|bleeding|killing)\b"
    r"|\bbeen (?:up|awake|waiting|sitting|standing|here|out|offline|stuck|ill|sick|busy)\b"
    r"|\bstatus: \w+ing\b|^[\w ./-]{0,30}\b(?:lag|latency|load|usage|depth|backlog|uptime|temperature"
    r"|memory|cpu|delay|throughput|connections|sessions)\b\W{0,3}(?:is |at )?\d[\d.,]* ?(?:s|ms|%|mb|gb|°c"
    r"|req/s|k|m)?\s*$|\bin (?:five|ten|fifteen|twenty|thirty|a few|\d+) minutes\b|\b\d+ (?:users?|people"
    r"|guests|players|clients) (?:online|here|connected|logged in|waiting)\b|\b(?:till|until) next (?:week|month|monday"
    r"|tuesday|wednesday|thursday|friday)\b|\bhere (?:already|today|now|at the moment)\b"
)


def is_momentary(words: str) -> bool:
    """Whether it says itself that it speaks of this moment, so that not even a result in it lasts."""
    return bool(_AT_THIS_MOMENT.search(words))


def is_of_now(words: str) -> bool:
    """Whether it says itself when it is true: now, tonight, in a minute."""
    return bool(_NOW.search(words) or _MOMENT.search(words))


_EACH_DAY = r"(?:i'm|i am|we're|we are) (?:in bed|asleep|up)"
_LASTS = regex(
    rf"{_EACH_DAY} by (?:half|quarter|noon|midnight|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d)"
    rf"|^by (?:half |quarter )?[\w: ]{{1,20}}?,? {_EACH_DAY}[.!]?\s*$"
    r"|^(?!.*\b(?:next|today's|this)\b).*\b(?:course|class|classes|lessons?|meetings?|therapy|appointments?|group|workshops?|sessions?|training|degree"
    r"|program(?:me)?|tuition|choir|club) (?:is|are) online\b"
)
"""What looks like a state that passes, and tells when or how something always is."""


def is_transient(words: str) -> bool:
    """Whether it is true only now: it says so, or tells of a state that passes."""
    words = without_any_time(words)
    if is_of_now(words):
        return True
    if recurs(words) or _LASTS.search(words):
        return False
    return (
        bool(
            _WHERE_IT_STANDS.search(words)
            or _BARE_STATE.search(words)
            or _PASSING_WORDS.search(words)
            or _OF_PERSONS.match(words)
            or _WHEREABOUTS.match(words)
        )
        or events.is_event(words)
        or is_situation(words)
        or any(p.search(words) for p in _STATES)
    )
