"""What is said about somebody else, at second hand. Pure."""

import re

from perdure.memory.extraction.patterns import regex

_RUMOUR = regex(
    r"\b(?:rumou?rs?(?! (?:check\w*|page|column|detect\w+|filter|module|service|feature|board|app)\b)|rumou?red"
    r"|gossip\w*|grapevine|hearsay|according to (?:an?|some|one) (?:\w+ )?(?:post|thread|comment|tweet|blog|forum"
    r"|user|review|article|stranger|website)\w*|anonymous (?:comment|source|tip|post|letter|caller|user|review"
    r"|e?-?mail|note)\w*"
    r"|they (?:do |all )?say(?! (?:no|yes|so|hello|hi|to|thanks?|please|goodbye)\b)"
    r"|word (?:a?round|about|from|at|on) (?:the |our |my )?\w+ (?:is|has it)|alleg(?:es?"
    r"|ing)|scuttlebutt|(?:at|only|all|just) second[- ]hand"
    r"|second[- ]hand (?:info|news|account)|word (?:is|has it"
    r"|on the street|in the \w+)|the talk (?:of|is|in|at|around)"
    r"|(?:they|people|folks|some|many|most|others|everyone|everybody|half the \w+|neighbou?rs|colleagues"
    r"|locals|parents|staff|the whole \w+)(?: (?:in|at|on|from|around) (?:the |our |my )?\w+)? (?:say|says"
    r"|said|claim|claims|claimed|whisper|whispers|reckon|reckons|swear|swears|are saying|is saying"
    r"|keep saying|think|thinks|believe|believes|tell me|knows?|seem to think|suspect"
    r"|suspects)(?= (?:that |the |our |my |his |her |he|she|they|it|X|about))"
    r"|i(?:'ve| have)? (?:heard|overheard|been told|been hearing|read somewhere|picked up)|i (?:hear"
    r"|overhear)(?= (?:that |the |he|she|they|our |X))|heard (?:that|from|through|via)"
    r"|from what i(?:'ve)? (?:hear|heard|gather|understand|was told)|(?:so )?i(?:'m| am| was"
    r"|'ve been) told|what i (?:heard|hear)"
    r"|(?:someone|somebody|(?:a|some|one of \w+|another) (?:\w+ )?(?:friend|colleague|guy|neighbou?r"
    r"|cousin|woman|man|bloke|lady|coworker|co-worker|source|customer|client|mate|relative|acquaintance"
    r"|contact|bird|driver|parent|stranger))(?: [^,.;]{1,40}?)?? (?:told|tells|said|says|mentioned"
    r"|mentions|claims|claimed|swears|reckons|thinks|hinted|let slip|let on|insists|saw)"
    r"|apparently|supposedly|allegedly|alleged|reportedly|purportedly|is said to|are said to"
    r"|is believed to|are believed to|is thought to|is supposed to have|unconfirmed|reckons?|it's said"
    r"|it is said|sources say|there's talk|there is talk|legend has it|as the story goes|the story goes"
    r"|or so (?:they|people|he|she|i))\b",
)
_PEOPLE = (
    r"(?:guys?|m[ae]n|wom[ae]n|boss|ceo|cfo|cto|neighbou?rs?|tenants?|landlord|landlady|teachers?|vet|mayor|sons?"
    r"|daughters?|wife|husband|colleagues?|managers?|director|owner|coach|goalkeeper|judge|nurse|driver"
    r"|interns?"
    r"|assistant|chef|doctor|accountant|lawyer|partner|brother|sister|cousins?|uncle|aunt|ex|nephew|niece"
    r"|in-laws?|candidate|clerk"
    r"|cashier|priest|minister|couple|kids?|children|pair|family|people|folks|friends?|mate|hairdresser"
    r"|barber|baker|plumber"
    r"|postman|waiter|waitress|bartender|caretaker|janitor|parents?|mothers?|fathers?|mum|mom|dad|girl|boy"
    r"|lady|bloke|lads|players?|students?|pupils?|staff|team|employees?|co-?workers?|customers?|clients?"
    r"|recruiter|head teacher|headmaster|principal|\w+ lead)"
)
_SAYS = (
    r"(?:told (?:me|us|everyone|everybody|my \w+)|tells (?:me|us)|say|says|said|claims?|claimed|swears?"
    r"|mentions?|mentioned|whispers?|whispered|insists?|insisted|thinks?|believes?|hints?|hinted|let slip"
    r"|confided|gossips?|suspects?|reckons?|heard)"
)
_TOLD = regex(
    rf"(?:^(?:and |but |so |well |oh )?(?:\w+ ){{1,2}}|\b(?:X[\w'x]*|(?:my|the|our|his|her|their|your"
    rf"|this|that|these|those) (?:[\w'-]+ ){{0,5}}?{_PEOPLE}(?: (?:at|in|from|of|next"
    rf"|on) (?:[\w']+ ){{0,3}}?[\w']+)?|(?:X[\w'x]*|\w+)'s [\w'-]+|he|she|they) )(?:has |have |once |just |also "
    rf"|always )?{_SAYS}\b(?! (?:court|department|handler|adjuster|team|desk|form|process|manager)s?\b)(?P<what>.*)",
)
_ACCORDING = regex(
    rf"(?:\bper (?:a |an |some |my |the |our )|(?:^|[,;] |\bas )per ){_PEOPLE}\b"
    rf"|\b(?:according to|if you (?:believe|ask)|says) (?:a |an |some |my |the |our "
    rf"|one of \w+ |his |her )?(?:\w+ )?(?:{_PEOPLE}|X[\w'x]*)\b"
)
_ANYONE = regex(
    rf"^\W*+(?:(?:to me|me|us)\W++)?(?:that )?(?:(?:the )?X\w*|he|she|they|mr|mrs|ms|miss|dr|(?:the|our"
    rf"|his|her|their|my"
    rf"|some|both|all) (?:\w+ ){{0,2}}?{_PEOPLE})\b"
)
_SAY = (
    r"(?:say|says|said|claim|claims|think|thinks|thought|believe|believes|reckon|reckons|swear|swears|insist|insists"
    r"|maintain|maintains|whisper|tell me|are saying|were saying)"
)
_GOING_ROUND = regex(
    r"\b(?:(?:you|one|we|i) (?:do |keep |often |sometimes |always )?hear(?:ing)? (?:stories|things|tales|talk"
    r"|whispers|it said|rumblings|about|of)"
    r"|(?:there are|there's|heard|many|some|funny|odd|bad|wild) (?:stories|tales|whispers|talk|murmurs|mutterings)"
    r"|stories about"
    r"|going (?:a)?round (?:that|the|about|town)|doing the rounds|(?:a )?little bird|don't repeat|between (?:you and "
    r"me|ourselves|us)|keep (?:it|this)"
    r" to yourself|don't tell (?:anyone|anybody|him|her|them)|hear it from me|on the quiet|on the qt|strictly off "
    r"the record|off the record"
    r"|by all accounts|to hear (?:him|her|them|people) tell|if (?:the )?(?:talk|stories|gossip|papers|rumours?) (?:is"
    r"|are)|(?:it )?(?:is|was|'s) (?:an )?open secret"
    rf"|(?:the other|some of the|one of the|a few|several|most|many|other|all the|both the|half the) (?:[\w-]+ "
    rf"){{0,2}}?[\w-]+ {_SAY}(?! (?:to|no|yes|so|thank|hello)\b)"
    rf"|(?:the|our|my|his|her|their) (?:other |whole |entire |next-door |old )?(?:mums|moms|dads|wives|husbands|girls"
    rf"|boys|neighbours?|neighbors?|regulars|lads|ladies"
    rf"|locals|villagers|parents|staff|crew|cleaners?|porters?|guards?|gardeners?|drivers?|bakers?|barman|barmaid|landlords?|tabloids?|papers?|press|internet|forums?|town|village"
    rf"|street|office|school gate|grapevine) (?:\w+ )?{_SAY} (?!to\b|no\b|yes\b|that we\b|we\b|i\b|my\b|our\b))\b"
)
_GOSSIP = regex(
    r"\b(?:divorc\w+|having an affair|(?:an|the) affair|got fired|was fired|been fired|sacked"
    r"|getting fired|arrested|prison|jail|kickbacks?|brib\w+|drunk|drinks (?:at|on|too|a lot|heavily)"
    r"|drinking|debts?|gambl\w+|steal\w*|stole|cheat\w*|fak(?:es|ed|ing)|embezzl\w+|addict\w*|rehab"
    r"|pregnant|sleep\w* with"
    r"|did time|drug\w*|fraud\w*|lied|lies about|lying|crook\w*|corrupt\w*|blackmail\w*|owes? money"
    r"|criminal|affair with|on the take|fiddl\w+|plagiari\w+|job[- ]hunting|looking for (?:a new"
    r"|another) job)\b"
)
_OF_A_PERSON = regex(
    r"^\W*(?:X\w*(?:'s \w+)?(?: (?:in|from|at|of) (?:the )?\w+)?|he|she|they|(?:the|our|my) (?:new |old "
    r"|former )?(?:neighbou?rs?|boss|ceo|manager|colleague|tenant|landlord|guy|teacher|coach|intern"
    r"|mayor)) "
)


_IT_IS_SAID = regex(
    r"\b(?:it's|it is|it was) (?:\w+ )?(?:said|believed|thought|claimed|reported|rumou?red|alleged|whispered)\b"
)


def is_hearsay(words: str) -> bool:
    """Whether it passes on what somebody says, thinks or does who was not asked.

    What a named person, an office or a document states about a thing is no hearsay, nor what is said about the speaker.

    Args:
        words: The words of the sentence, see ``reading.words_of``.
    """
    if _RUMOUR.search(words) or _GOING_ROUND.search(words) or _IT_IS_SAID.search(words):
        return True
    according = _ACCORDING.search(words)
    if according and not re.search(r"\b(?:i|my|we|our)\b", words[according.end() :]):
        return True
    gossip = bool(_GOSSIP.search(words))
    told = _TOLD.search(words)
    if told is None:
        return (
            gossip
            and bool(_OF_A_PERSON.search(words))
            and not re.search(r"\b(?:i|we|my|our|detection|team|policy)\b", words)
        )
    what = told.group("what")
    if re.search(
        r"\b(?:claims?|claimed|swears?|whispers?|whispered|hints?|hinted|gossips?)$", words[: told.start("what")]
    ):
        return True
    if re.match(r"\W*(?:that )?(?:to |not to |i\b|i'm|we\b|my\b|our\b)", what) or re.search(r"\b(?:i|me|my)\b", what):
        return False
    return gossip or bool(_ANYONE.search(what))
