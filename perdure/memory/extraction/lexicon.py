"""English words that rules read sentences by: prepositions, numbers, openings, cues. Data only."""

import re

from perdure.memory.extraction.patterns import regex


def word_list(text: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(text.split())


ARTICLES = word_list("a an the")
OWNERS = word_list("my our your his her its their")
DETERMINERS = ARTICLES | OWNERS | word_list("this that these those each every all any some both another no")
FIRST_PERSON = word_list("i we")
PRONOUNS = word_list("i we you he she it they this that these those everyone everybody someone somebody one there")
"""What can be the subject of a sentence by itself."""

PREPOSITIONS = word_list(
    "in on at to from by with for of into onto over under above below after before during between behind near inside "
    "outside through via per without within against about around until till past toward towards as since"
)

BE = word_list("be am is are was were been being")
HAVE = word_list("have has had having")
DO = word_list("do does did")
MODALS = word_list("can could will would shall should must may might cannot")
AUXILIARIES = BE | HAVE | DO | MODALS
NEGATIONS = word_list("not never no neither nor nobody nothing cannot without")

CONTRACTIONS = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "ain't": "is not",
    "let's": "let us", "dont": "do not", "doesnt": "does not", "didnt": "did not", "cant": "can not",
    "wont": "will not", "isnt": "is not", "arent": "are not", "wasnt": "was not", "im": "i am", "ive": "i have",
    "thats": "that is", "gonna": "going to", "it's": "it is", "that's": "that is", "there's": "there is",
    "here's": "here is", "he's": "he is", "she's": "she is", "what's": "what is", "who's": "who is",
}  # fmt: skip
"""Written together. Those with a regular ending ("n't", "'re") are taken apart by it."""

ENDINGS = {"n't": "not", "'re": "are", "'ve": "have", "'ll": "will", "'m": "am", "'d": "would"}

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
SHORT_DAYS = {
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "weds": "wednesday", "thu": "thursday",
    "thur": "thursday", "thurs": "thursday", "fri": "friday", "sat": "saturday",
}  # fmt: skip
SHORT_MONTHS = {month[:3]: month for month in MONTHS} | {"sept": "september"}
DAY_PARTS = word_list(
    "morning afternoon evening night weekend weekends weekday weekdays lunchtime mornings evenings nights afternoons"
)
SEASONS = word_list("spring summer autumn fall winter christmas easter")
FREQUENCIES = word_list(
    "hourly daily nightly weekly fortnightly biweekly monthly quarterly yearly annually always sometimes rarely "
    "constantly continuously"
)
UNITS = word_list("second minute hour day week fortnight month quarter year")
_COUNTED = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty
"""
NUMBERS = {word: str(number) for number, word in enumerate(_COUNTED.split())} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "ninety": "90",
    "hundred": "100",
    "dozen": "12",
}

MEASURES = {"depth": "deep", "height": "high", "width": "wide", "length": "long"}
"""What is measured, to the word that says it of what is."""
CURRENCIES = word_list("eur euro euros usd dollar dollars gbp pound pounds chf franc francs kronor yen cent cents")
COLOURS = word_list(
    "red blue green yellow black white grey gray brown orange purple pink silver gold beige navy teal maroon turquoise "
    "burgundy crimson scarlet cream ivory lilac violet indigo khaki amber magenta cyan charcoal mustard peach "
    "coral mint lavender bronze copper"
)

OPPOSITES = {
    one: other
    for left, right in (
        ("open", "closed"), ("on", "off"), ("enabled", "disabled"), ("allowed", "forbidden"), ("free", "paid"),
        ("public", "private"), ("up", "down"), ("full", "empty"), ("mandatory", "optional"), ("required", "optional"),
        ("single", "married"), ("vegan", "vegetarian"), ("hot", "cold"), ("early", "late"), ("remote", "onsite"),
        ("weekly", "monthly"), ("left", "right"), ("old", "new"), ("big", "small"), ("large", "small"),
        ("dark", "light"),
        ("active", "inactive"), ("available", "unavailable"), ("manual", "automatic"), ("indoors", "outdoors"),
        ("upstairs", "downstairs"), ("online", "offline"), ("alive", "dead"), ("employed", "unemployed"),
    )
    for one, other in ((left, right), (right, left))
}  # fmt: skip


def _any_of(*phrases: str) -> str:
    """Return a pattern for any of these phrases; each is one itself, in which a space stands for any white space."""
    return "(?:" + "|".join(" ".join(phrases).replace(" | ", "|").split("|")).replace(" ", r"\s+") + ")"


_AFTERWARDS = r"\b[\s,:;.!–—-]*(?:that\s+)?"
"""A comma, colon or dash after an opening goes with it."""

OPENINGS = regex(
    "^"
    + _any_of(
        r"it (?:seems|appears) | apparently | truth be told | to be (?:honest|fair|clear|precise|exact) | tbh",
        r"| honestly | frankly | in fact | as a matter of fact | (?:as )?it turns out | turns out | as you know",
        r"| you know | by the way | btw | fyi | for the record | mind you | just so you know | for your information",
        r"| heads up | quick (?:note|update|heads up|correction|one) | fwiw | imho",
        r"| (?:small|slight|minor|one) (?:correction|update|change|more thing) | please note | please remember",
        r"| please | remember | note | nb | ps | just | reminder | again",
        r"| (?:as|like) i (?:(?:have )?(?:said|mentioned)|told you)(?: before| already)?",
        r"| (?:would|can) you believe it",
        r"| as mentioned | confirmed | confirming | i (?:already )?(?:said|told you|mentioned) | once more | yes",
        r"| yeah | yep | yup | ok | okay | well | so | oh | ah | hey | hi | hello | also | and | but | then | right",
        r"| um | hm | hmm | oops | sure | of course | that | to confirm | still",
        r"| (?:as|like) (?:always|ever|usual|before) | in case (?:you|it) \w+ | don't forget | do not forget",
        r"| for (?:me|us|my part) | personally | in (?:general|short|summary) | generally | basically",
        r"| (?:good|bad) news | sadly | unfortunately | luckily | it is true that | i can confirm",
        r"| just to (?:confirm|repeat|remind you|say|add|clarify) | to (?:repeat|clarify|add) | new info | info",
        r"| worth (?:noting|knowing) | keep in mind | bear in mind | after all | in the end | it is official",
        r"| i (?:have )?(?:decided|realised|realized|noticed|found|confirm|repeat|mean|must say|should say|guess)",
        r"| official | officially | you guessed it | guess what | surprise,? surprise | (?:big|small) news",
    )
    + _AFTERWARDS,
    re.IGNORECASE,
)
"""What people say before what they say."""

_ABOUT = r"(?: (?:about|on) [\w '-]{1,40}?(?=[,;:.—–-]))?"
CORRECTIONS = regex(
    "^"
    + _any_of(
        r"actually | scratch that | correction | strike that | no,? wait | wait | sorry | my (?:mistake|bad)",
        r"| i was wrong(?: about (?:that|it|this|[\w '-]{1,40}))? | i misspoke | i take (?:that|it) back",
        r"| change of plans? | on second thoughts? | on reflection | update | news | change",
        r"| (?:forget|scrap|drop|disregard) (?:that|it",
        r"|what i said(?: [\w '-]{1,40})?) | ignore (?:that"
        r"|what i said(?: [\w '-]{1,40})?)",
        r"| never ?mind(?: (?:that|what i said))? | not any ?more | no longer |",
        "now | nowadays | these days | (?:i )?(?:have )?changed my mind" + _ABOUT + " | things (?:have )?changed |",
        r"that (?:has )?changed | we (?:have )?changed (?:that|it|our minds) | come to think of it",
        r"| thinking about it | let me correct (?:that|myself) | i stand corrected | not (?:true|so) any ?more",
        r"| after the [\w -]{1,30}, | since the [\w -]{1,30}, | instead | rather | lately | recently",
        r"| as of (?:now|today) | from (?:now|here) on(?:wards?| out)? | (?:going|moving) forward "
        r"| in (?:the )?future | henceforth | by now",
        r"| currently | at present | at the moment | meanwhile | back to normal | starting (?:now|today)",
        r"| effective (?:now|today|immediately) | (?:it|that|all) (?:is |has been )?done | (?:it|that)'s done",
        r"| (?:the )?(?:migration|rollback|rollout|switch|switchover|cutover|changeover|move|upgrade|swap|handover"
        r"|conversion|plan change) (?:is |has been )?(?:done|completed?|confirmed|finished|through|over)",
        r"| (?:new [\w-]+,? )?new (?:rules?|protocol|policy|arrangement|regime|procedure)(?=[,:;.–—-])",
        r"| new (?:[\w-]+ )?[\w-]+(?=: (?:i|we|my|our|the|there)\b)",
        r"| (?:i|we)(?:'ve| have)? (?:changed|switched|swapped) [\w -]{2,25}(?=:)",
        r"| i (?:mixed|muddled) (?:that|it|this|them|things) up | i got (?:that|it|this) wrong | i was mistaken",
        r"| there(?:'s| is) a new (?:rule|protocol|policy|arrangement|regime|procedure)(?=[,:;.–—-])",
        r"| we(?:'ve| have)? (?:turned|swapped|flipped) (?:that|this|it|them|(?:that|the) [\w -]{1,25})"
        r" (?:a?round|over)",
    )
    + _AFTERWARDS,
    re.IGNORECASE,
)
"""What people say before what replaces something that they said."""

_SINCE = (
    r"since (?:the|my|our|last|then|yesterday|i|we|he|she|they|"
    + "|".join((*MONTHS, *WEEKDAYS))
    + r")\b[^,;.]* | since"
)
TURNING_POINTS = (
    "rebrand(?:ing)?|rewrite|reorg(?:ani[sz]ation)?|refactor(?:ing)?|renovations?|relocation|restructuring|redesign|relaunch|reform"
    "|move|merger|split|migration|upgrade|switch|switchover|changeover|acquisition|takeover|overhaul|flood|fire"
    "|incident|outage|audit|election|vote|handover|cutover|launch"
)
"""What changes things: "after the rebrand". A pattern."""
AFTER_TURNING = regex(
    rf"\b(?:after|following|since) (?:the|our|my|last) (?:[\w-]+ )?(?:{TURNING_POINTS})\b", re.IGNORECASE
)
REVISIONS = regex(
    r"[\s,;–—-]*\b"
    + _any_of(
        r"any ?more | any longer | these days | nowadays | now instead | by now | now | from (?:now"
        r"|here) on(?:wards?| out)? | instead",
        r"| again | after all | (?:like|as) before | (?:as|like) (?:it|they) used to(?: be)? | as of (?:now"
        r"|today|this \w+) |",
        _SINCE,
        "| (?:going|moving) forward | in future | for good | at last | lately | recently "
        "| effective immediately | this time",
        "| for a change | as it happens | actually | currently | at present | at the moment",
        "| starting (?:now|today) | today | already | once more | rather",
        rf"| (?:after|following) (?:the|our|my) (?:[\w-]+ )?(?:{TURNING_POINTS})",
    )
    + r"[\s.!]*$",
    re.IGNORECASE,
)
"""What people say after what has changed."""

CLOSINGS = regex(
    r"[\s,;–—-]+"
    + _any_of(
        r"too | as well | it seems | apparently | this (?:year|season|term|time) | please | thanks | thank you",
        r"| (?:the )?same as (?:ever|always|before) | by the way | btw | (?:as|like) (?:i )?(?:said|mentioned)(?: "
        r"before)? | you know | as you know",
        r"| as (?:always|ever|usual|before) | of course | still | for sure | indeed | really | to be honest | tbh",
        r"| fyi | ok | okay | remember | (?<!the\s)right | obviously | definitely | honestly | by default | in general",
        r"| generally | personally | for the record | just so you know | in case (?:you|it) \w+ | so you know",
        r"| at all | though | if possible | where possible | whenever possible | period | full stop | ever",
        r"| myself | (?:please )?(?:keep|bear) (?:that|this|it) in mind",
    )
    + r"[\s.!]*$",
    re.IGNORECASE,
)
"""What people say after what they say, which adds nothing to it."""

CUES = regex(
    r"\b"
    + _any_of(
        r"now | no longer | not \w+ any ?more | any ?more | any longer | these days | nowadays | instead | actually",
        r"| switched | changed | moved | as of | from (?:now|here) on | (?:going|moving) forward | again "
        r"| replaced | replaces",
        r"| has become | have become | became | used to | turned out | new | since | lately | stopped | quit | gave "
        r"up | given up",
        r"| rewritten | (?:went|gone|has gone) (?:up|down) to | (?:rose|risen|fell|fallen|dropped|climbed) to",
        r"| went back | gone back | back (?:to|on|in|at|with) | finally | recently | took over | takes over | taken "
        r"over",
        r"| scratch that | correction | update | changed my mind | truth be told | rather | renamed | rescheduled",
        r"| shifted | pushed | migrated | upgraded | downgraded | bumped | raised | lowered | reduced | increased",
        r"| extended | shortened | postponed | was wrong | no more | after all | rejoined | resumed | reinstated",
    )
    + r"\b",
    re.IGNORECASE,
)
"""What shows that something has changed."""

PASSING = word_list(
    "now again still already currently just also always usually actually really generally normally typically simply "
    "mostly definitely certainly anymore nowadays then finally recently lately only even ever instead either too "
    "officially permanently kindly rather once both presently henceforth strictly very much quite so"
)
"""Adverbs between subject, verb and object that neither make nor change what is said."""

ADJECTIVES = word_list(
    "able active afraid alive alone ancient angry available awake aware bad beautiful better big bitter blind "
    "bored brave brief bright broken busy calm careful cheap clean clear clever close closed cold comfortable "
    "common complete confident cool correct crowded curious cute dangerous dark dead deaf deep different difficult "
    "dirty dry due dull dusty early easy electric empty excellent excited expensive faint fair familiar famous "
    "fast fat fine fit flaky flat fragile free frequent fresh friendly full fun funny furious gentle glad gone "
    "good great happy hard healthy heavy helpful high honest hot huge hungry ill important impossible interesting "
    "intermittent inactive kind large late lazy lean lively local long loud low lucky mandatory mean messy mild "
    "missing modern narrow near neat necessary nervous new nice noisy normal obsolete odd off old on online "
    "offline open optional ok okay out outdated pale perfect pleasant polite poor popular possible pregnant "
    "private proud public quick quiet rare ready reliable required rich right robust rough rude rusty sad safe "
    "salty sceptical secure sensitive serious shallow sharp short shy sick silent simple slow small smart smooth "
    "sober soft sore sour special spicy stable stale steady steep sticky strange strict strong stupid sunny sure "
    "sweet tall tame tasty tense thick thin thirsty tidy tight tiny tired tough toxic tricky ugly unavailable "
    "unhappy unique unsafe unstable unused up upset urgent useful useless vague valid vegan vegetarian warm weak "
    "weird well wet wide wild windy wise wonderful worried wrong young allergic married single retired divorced "
    "engaged pescatarian lactose-intolerant diabetic deprecated enabled disabled allowed forbidden paid waterproof "
    "left-handed right-handed colour-blind"
)
"""What says how a thing is: it can be many ways at once."""
_ADJECTIVAL = (
    "ful",
    "ous",
    "able",
    "ible",
    "less",
    "ish",
    "ive",
    "-proof",
    "-free",
    "-friendly",
    "-handed",
    "ated",
    "ant",
    "ent",
)

SHARED_ROLES = word_list(
    "sister brother sibling friend colleague coworker cousin neighbour neighbor client customer child kid son "
    "daughter aunt uncle teammate pet dog cat horse hobby language skill interest allergy supplier student pupil "
    "patient tenant goal concern grandchild nephew niece flatmate roommate parent grandparent member contact "
    "partner"
)
"""What somebody may have several of."""

_EXCHANGEABLE = word_list(
    # Tools and what they run on.
    "tool system platform service software app application database db store storage cache queue broker registry repo "
    "repository wiki tracker editor browser framework library linter formatter compiler bundler runtime scheduler "
    "server proxy cluster cloud host hosting router firewall gateway printer scanner laptop computer phone tablet "
    "camera locker desk number monitor keyboard mouse car van bike tractor machine boiler oven dishwasher "
    "fridge calendar mail email chat search engine language shell terminal font theme template format protocol "
    "stack pipeline ledger payroll "
    # Whom one is a customer of.
    "provider vendor supplier carrier courier bank insurer lender operator agency gym garage caterer distributor "
    # Who is in an office.
    "captain coach trainer teacher tutor treasurer secretary chair chairman chairwoman president chairperson director "
    "manager boss lead leader head principal mayor minister keeper goalkeeper goalie referee conductor organist "
    "drummer bassist guitarist pianist accountant auditor lawyer solicitor notary architect contractor plumber "
    "electrician gardener cleaner nanny babysitter childminder caretaker janitor receptionist assistant dentist doctor "
    "optician physio physiotherapist therapist vet landlord landlady supervisor mentor advisor adviser sponsor agent "
    "editor publisher driver pilot chef cook baker butcher barber hairdresser maintainer owner moderator reviewer"
)


def is_exchangeable(noun: str) -> bool:
    """Return whether what a noun names is had for what it does, so that another takes its place: an office, a tool."""
    return noun.lower() in _EXCHANGEABLE or (noun.isupper() and len(noun) > 1)


LANGUAGES = word_list(
    "english french german spanish italian portuguese dutch danish swedish norwegian finnish polish czech russian "
    "ukrainian greek turkish arabic hebrew hindi bengali tamil urdu persian mandarin cantonese chinese japanese "
    "korean vietnamese thai indonesian swahili hungarian romanian bulgarian serbian croatian slovak slovene "
    "estonian latvian lithuanian icelandic irish welsh catalan basque python rust java kotlin go haskell ruby "
    "scala elixir typescript javascript swift dart php perl lua zig erlang clojure fortran cobol"
)


def is_quality(word: str) -> bool:
    """Return whether a word in lower case says how a thing is."""
    return word in ADJECTIVES or word in COLOURS or word.endswith(_ADJECTIVAL)
