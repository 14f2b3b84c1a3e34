"""Where somebody is and what goes on around them just then: weather, bodies, screens, queues, errands. Pure."""

from perdure.memory.extraction.patterns import regex

_CONDITIONAL = r"(?! (?:without|unless|if|until|when|before|after|on|because|over|with|for more)\b)"
_BODY = (
    r"(?:arms?|legs?|foot|feet|ankles?|wrists?|hands?|fingers?|thumbs?|toes?|knees?|back|neck|head|eyes?|ears?|nose"
    r"|throat"
    r"|stomach|tummy|belly|shoulders?|hips?|ribs?|chest|tooth|teeth|gums?|lips?|tongue|skin|scalp|heart|voice|jaw"
    r"|elbows?)"
)
_WEATHER = (
    r"(?:fog|mist|wind|rain|sun|snow|sleet|ice|sky|clouds?|tide|storm|hail|thunder|lightning|frost|heat|breeze|drizzle"
    r"|humidity|pollen|visibility|moon|weather|sea|waves?|swell)"
)
_AILMENT = (
    r"(?:blister|cold|cramps?|stitch|headache|splinter|rash|bruise|flat|flat tyre|flat tire|puncture|cut|fever"
    r"|migraine|cough"
    r"|hiccups|nosebleed|sunburn|jet ?lag|stomach ache|sore throat|toothache|burn|bump|lump|sting|bite|stiff neck"
    r"|hangover|text"
    r"|call|phone call|e?-?mail|message|parcel|letter|parking ticket|delivery|visitors?|guests? (?:here|round|over)"
    r"|lift|seat"
    r"|window seat|table|minute|moment|second|bit of time|lot on|deadline|meeting|appointment|interview|exam|train "
    r"to catch"
    r"|flight|mouth ?full|hands full|crumbs|paint on|mud on|sand in)"
)
_HAPPENED = (
    r"(?:lost|spilled|spilt|missed|forgot|left|burnt|burned|broke|dropped|stubbed|woke|slept|had|ate|cut|hit"
    r"|sprained|twisted"
    r"|caught|came|saw|met|walked|drove|finished|started|found|locked|tripped|fell|ran|snapped|cracked|jammed|bumped"
    r"|sat|stood"
    r"|nodded|dozed|arrived|landed|overslept|skipped|heard|dreamt|dreamed|tore|soaked|knocked)"
)
_FINITE = (
    r"(?:is|are|was|were|has|had|did|does|helps?|makes?|made|took|takes|got|gets|keeps|kept|cut|cuts|led|leads|won"
    r"|wins|lost|loses|earns?|bought|buys|works?|gives?|gave"
    r"|covers?|includes?|serves?|supplies|handles?|grows?|blooms?|ripens?|starts?|ends?|opens?|closes?|begins?"
    r"|lasts?|runs?|happens|stands?|contains?|depends?|stays?|brings?|brought|\w{3,}ed|suits?|feels?|beats|means"
    r"|costs?|saves?|needs?|requires?|comes|goes|must|can|should|may|will)"
)
_HABITUAL_ING = (
    r"(?:using|living|working|running|standing|allergic|missing|everything|anything|nothing|something|morning"
    r"|evening|king|string|thing"
    r"|spring|building|ring|wing|during|according|excluding|including|regarding|concerning|following|billing|parking"
    r"|shipping"
    r"|training|spelling|printing|meeting|warning|heating|lighting|seating|pricing|staging|wedding|housing|boarding"
    r"|planning"
    r"|hosting|logging|monitoring|testing|outgoing|incoming|existing|voting|opening|closing|banking|accounting"
    r"|marketing)"
)
_SITUATIONS = (
    # "Boss is in the room", "two people ahead of me".
    regex(
        r"^(?!(?:nobody|no one|everyone|everybody|never|always|only) ).*\b(?:in the (?:room|next room|same room"
        r"|hallway|waiting area)|(?:ahead of|in front of|behind|next to|beside"
        r"|opposite"
        r"|above|below|near|around) (?:me|us)|outside (?:my|our|the) (?:window|door|room)|on my (?:lap|screen|desk "
        r"right|shoulder"
        r"|way)|in my (?:hand|hands|ear|eye|eyes|mouth|other (?:hand|tab|ear))|at the other end|over my shoulder|out "
        r"the window"
        r"|from (?:where i (?:am|sit|stand)|up here|down here|over here))\b(?!.*\b(?:always|usually|prefer|like"
        r"|lives?)\b)"
    ),
    # "Neither will load", "the lid won't come off".
    regex(
        r"\b(?:won't|will not|wouldn't|refuses? to|refusing to|neither (?:\w+ )?will|none (?:of \w+ )?will|can't get "
        r"\w+ to|cannot get \w+ to"
        r"|doesn't want to|isn't going to|keeps? refusing to) (?:load|open|start|boot|connect|charge|stop|budge|respond"
        r"|turn (?:on|off|over)|sync|save|scroll|close|shut|move|come (?:off|out|on|down|loose)|go away|go in|light"
        r"|switch on|settle"
        r"|sleep|wake|play|print|pair|work|refresh|render|finish|send|download|upload|calm down|dry|flush|drain|ring"
        r"|pick up)\b" + _CONDITIONAL
    ),
    # "I have two tabs open", "got the oven on".
    regex(
        r"^(?:i|we)(?:'ve| have| 've got| have got|'ve got)? (?:got )?[\w' -]{1,40}? (?:open|running|boiling"
        r"|simmering|going|on"
        r"|left|waiting|to go|loading|in the (?:oven|wash|dryer|microwave)|on the (?:stove|hob|boil|go|line|phone))"
        r"(?=[.,;!]|\s*$| and (?:neither|none|both|it|they|all|one))"
    ),
    # "Fog's too thick to see the far hedge".
    regex(
        rf"^(?:the |there's |some |so much )?{_WEATHER}(?:'s| is| has| are| have| keeps?| just| looks?| came| rolled"
        rf"| picked)\b"
    ),
    regex(
        r"(?:'s| is|'re| are|'m| am|was|were) (?:far |way |much )?too (?!spicy|sweet|salty|rich|strong)\w+ (?:out "
        r"|in here )?to [a-z]+"
    ),
    # "My left ear hasn't popped", "my knee keeps clicking".
    regex(
        rf"\b(?:my|his|her|our|their) (?:left |right |lower |upper |poor |big |little |front |whole )*{_BODY} "
        rf"(?:has(?:n't)?|have(?:n't)?"
        r"|keeps?|won't|feels?|felt|hurts?|aches?|itch(?:es)?|throbs?|tingles?|stings?|burns?|bleeds?|twitche?s?"
        r"|seized|gave|went|started"
        r"|stopped|cramped|clicks|is (?:still )?\w+ing|are (?:still )?\w+ing|is (?:sore|stiff|numb|swollen|blocked"
        r"|itchy|tender|raw)"
        r"|are (?:sore|stiff|numb|swollen|blocked|itchy|tender|raw))\b(?! (?:always|been (?:weak|bad) since))"
    ),
    # What has not happened has not happened yet.
    regex(
        r"\b(?:has|have)(?:n't| not)(?: even| quite| really| yet)? (?:\w{3,}ed|come|gone|left|been (?:fed|paid|told"
        r"|answered|served"
        r"|seen|delivered|out|to bed|home)|eaten|slept|had (?:lunch|breakfast|dinner|coffee|a|any|my)|got|found|begun"
        r"|heard|seen|woken"
        r"|shown|rung|sent|had time|made it)\b(?!.*\b(?:since (?:19|20|the|i was|my)|for (?:\w+ )?(?:years|decades"
        r"|months)|in (?:\w+ )?"
        r"(?:years|decades)|ever|anything (?:with|from))\b)"
    ),
    # A machine's state with how long it has lasted.
    regex(
        r"\b(?:active|running|up|idle|connected|waiting|queued|pending|stuck|paused|stalled|blocked|locked|degraded"
        r"|offline|online)\b"
        r"\W{0,3}(?:\(\w+\) ?)?(?:(?:for|since) )?(?:about )?\d+ ?(?:ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?"
        r"|hours?|d|days?)(?![a-z])"
        r"|\bactive \(\w+\)|\b\d+ ?(?:of|/) ?\d+ (?:running|ready|healthy|up|online|nodes?|pods?|replicas?|workers?)\b"
    ),
    # "Wearing odd socks": no subject, and no other verb of the clause.
    regex(
        rf"^(?:still |just |now |currently |only |here |sat here |stood here )?(?!{_HABITUAL_ING}\b)[a-z]{{2,}}ing "
        rf"(?![^,;]*\b{_FINITE}\b)"
    ),
    # "Got a blister from the walk", "missed the bus".
    regex(
        rf"^(?:i |we )?(?:(?:have|'ve) )?(?:got|have|had|caught|picked up) (?:a |an |the |another |some |my |both "
        rf")?(?:\w+ )?{_AILMENT}\b"
    ),
    regex(
        rf"^(?:just |nearly |almost |finally |accidentally )?{_HAPPENED} (?:a|an|the|my|our|some|it|up|out|off|two"
        rf"|three|half|right|again|in|on|over)\b"
    ),
    regex(
        r"^(?:need|dying for|gasping for|craving|could (?:do with|use|murder)|ready for|desperate for) (?:a|an|some"
        r"|more|my|sleep|coffee|tea)\b"
    ),
    regex(
        r"\b(?:in (?:an|half an|a quarter of an|one|two|three) hours?(?=[.,!]|\s*$)|an hour ago|half an hour ago"
        r"|moments? ago"
        r"|since (?:this|lunch|breakfast|dinner|noon|midday|midnight|landing|waking|takeoff|dawn|sunrise|last night"
        r"|yesterday|monday"
        r"|tuesday|wednesday|thursday|friday|saturday|sunday|i (?:got|woke|landed|arrived|sat|left))|the other day"
        r"|(?<!year )(?<!best )so far(?=[.,!]|\s*$)"
        r"|for \w+ (?:minutes?|hours?) now(?=[.,!]|\s*$)|days? (?:one|two|three|four|five|\d+) of|next stop|\d+ to go"
        r"|(?:two|three|four|five|\d+) (?:more )?(?:to go|left to)|again already|at this rate|as it stands|at the mo"
        r"|atm|rn|tonite"
        r"|2day|2nite|2moro|tmrw|this arvo|this aft)\b"
    ),
    regex(
        r"(?:'s| is|'re| are) (?:still |now |already |all )?(?:in the (?:oven|wash|washing machine|dryer|pan|pot"
        r"|microwave|bath|sink|shower)"
        r"|on the (?:boil|hob|stove|go|blink|line|phone|turn|way)|off the hook|round the corner|at the door|through "
        r"to|between (?:calls"
        r"|meetings|classes|trains)|halfway (?:through|up|down|to)|down to (?:the )?(?:last|\d)|up to (?:page|chapter"
        r"|level|mile))\b"
    ),
    regex(
        r"^(?:only |just |down to |about )?(?:one|two|three|a few|no|\d+) (?:bars?|percent|per cent|%|minutes?|pages?"
        r"|slices?|stops?"
        r"|people|cars?|litres?|drops?|bites?) (?:of (?:signal|battery|milk|fuel|charge|coverage)|left|remaining|to "
        r"go|ahead|in)\b"
    ),
)
_ANY_TIME = regex(
    r"\b(?:now|today|tonight|tomorrow|this (?:week|year|month|morning|evening))\W+(?:or|and|as|like|same as) (?:any"
    r"|every|always|ever"
    r"|on any)\b(?: other)?"
)
"""Not just then: "tonight or any night"."""


def without_any_time(words: str) -> str:
    """Return words where what holds now as at any time is said to hold always."""
    return _ANY_TIME.sub("always", words)


def is_situation(words: str) -> bool:
    """Whether it tells what goes on where the speaker is, which is over soon."""
    return any(pattern.search(words) for pattern in _SITUATIONS)
