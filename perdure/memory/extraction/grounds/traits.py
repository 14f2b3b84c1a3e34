"""Guesses at a person's identity, health, beliefs or means. Pure."""

import re

from perdure.memory.extraction.patterns import regex

_TRAIT = regex(
    r"\b(?:pregnan\w+|expecting a (?:baby|child)|diabet\w+|cancer|tumou?r|chemo\w*|heart (?:condition"
    r"|problem|disease|trouble|failure)|medical (?:condition|history|issue)"
    r"|(?:health|mental|psychiatric|psychological|medical) (?:problem|condition|issue|disorder|illness"
    r"|trouble|state|crisis)s?|mental health|poor health|ill health|disease|illness|disorder|syndrome"
    r"|depress\w+|anxiety|anxious|insomni\w*"
    r"|bipolar|schizo\w+|autis\w+|adhd|dyslex\w+|asperger\w*|epilep\w+|dementia|alzheimer\w*|parkinson\w*"
    r"|hiv|aids|std|infertil\w+|fertility|ivf|miscarr\w+|abortion"
    r"|menopaus\w+|therap(?:y|ist)|counsell?ing|antidepress\w+|medicat\w+|insulin|addict\w*|alcoholi\w+"
    r"|alcohol problem|drinking problem|drug (?:use|abuse|problem)\w*|sober|rehab|disab\w+"
    r"|wheelchair|deaf\w*|hearing loss|visually impaired|obes\w+|overweight|eating disorder|anorex\w+"
    r"|bulimi\w+|suicid\w+|self-harm|grie(?:f|ving)|bereave\w*|burn(?:ed|t)?[ -]?out|chronic\w*"
    r"|terminal(?:ly)? ill"
    r"|sickle cell|thalass\w+|h(?:a)?emophil\w+|lupus|crohn\w*|colitis|ibs|multiple sclerosis|stroke|seizures?"
    r"|transplant|dialysis|prosthe\w+|genetic\w*"
    r"|hereditary|carrier|diagnos\w+|symptom\w*|thyroid|hypertension|blood (?:pressure|group|type|sugar)|cholesterol"
    r"|endometriosis|ocd|dyspraxi\w*"
    r"|tourette\w*|herpes|hepatitis|tuberculosis|vaccin\w+|hormon\w+|surgery|contracepti\w+|virgin|polyamor\w+|pansexual|asexual|caste|tribal|tribe"
    r"|indigenous|aboriginal|gypsy|traveller community|zionis\w+|monarchist|feminis\w+|nationalist|pacifist|veteran"
    r"|orphan\w*|illiterate|homeless\w*"
    r"|evict\w+|repossess\w+|food bank|welfare|benefits?|redundan\w+|pawn\w*|loan shark|inherit\w+|trust fund"
    r"|widow\w*|adopted|estranged|childless"
    r"|migraines?|asthma\w*|arthritis|allerg\w+|celiac|coeliac|in remission|seriously ill|unwell"
    r"|menstru\w+|neurodiver\w+|ptsd|trauma\w*"
    r"|muslim|islam\w*|jewish|judaism|jew|christian\w*|catholic\w*|protestant|evangelical|mormon|hindu\w*"
    r"|buddhis\w+|sikh\w*|atheis\w+|agnostic|religio\w+|faith|devout|pious|mosque|church\w*|synagogue"
    r"|ramadan|kosher|halal|spiritual\w*|jehovah\w*"
    r"|politic\w*|votes?\b(?: for)?|voter|voting|democrat\w*|republican|conservative|liberal|socialis\w+"
    r"|communis\w+|left[- ]wing|right[- ]wing|far[- ]right|far[- ]left|tory|labour (?:party|supporter"
    r"|voter)|the greens|afd|trump|brexit|party member\w*|activis\w+|libertarian|anarch\w+|leftist"
    r"|progressive"
    r"|trade union\w*|labou?r union|union (?:member|rep)\w*"
    r"|gay|lesbian|bisexual|homosexual\w*|heterosexual|queer|lgbt\w*|trans(?:gender|sexual| woman| man)"
    r"|transition(?:ing| care)|non-?binary|sexual\w*|sexuality|gender identity|closeted|same-sex"
    r"|orientation"
    r"|ethnic\w*|racial\w*|race|descent|ancestry|heritage|immigra\w+|undocumented|nationality|asylum"
    r"|refugee|citizenship|foreign(?:er| origin)|roma|kurdish|latin[oa]|hispanic|black (?:man|woman"
    r"|person)|of \w+ (?:origin|descent|background)|migrant|native speaker"
    r"|(?:african|asian|arab|turkish|indian|chinese|polish|russian|nigerian|jewish"
    r"|hispanic)(?:-american)? (?:origin|descent|background|family|roots)"
    r"|impair\w*|demographic\w*|bankrupt\w*|in debt|(?:over-?)?indebted|pay ?day lend\w+|debts?|(?:is|are"
    r"|be|seems?|looks?|probably|likely) (?:broke|poor|rich|wealthy)|poverty|well[- ]off|affluent|rich"
    r"|low[- ]income"
    r"|high[- ]income|income|salary|earns?|net worth|financ\w+ (?:trouble|difficult\w*|situation|problems?"
    r"|strain|stress|hardship)|money (?:trouble|problems?|worries)|struggl\w+ (?:financially|to pay)"
    r"|afford|arrears|unemploy\w+|jobless|insolven\w+|payday loan\w*|gambl\w+|credit (?:score|rating)"
    r"|living paycheck|overdraft|benefits claimant"
    r"|divorc\w+|marital|marriage (?:trouble|problems?|is)|affair|cheating|separated from|single (?:mother"
    r"|father|parent)|custody|criminal\w*|convict\w*|prison|arrest\w*|ex-con\w*|domestic (?:abuse"
    r"|violence)|victim of)\b",
    re.IGNORECASE,
)
_PERSON = regex(
    r"\b(?:users?|user's|customers?|clients?|patients?|person|they|their|them|he|she|his|her|him"
    r"|employee\w*|tenant|applicant|caller|sender|author|member|account holder|owner|you|your|family|wife"
    r"|husband|partner|spouse|household|somebody|someone)\b|\b(?:mr|mrs|ms|dr)\.? [A-Z]",
    re.IGNORECASE,
)
_GUESS = regex(
    r"\b(?:suggest\w*|indicat\w+|impl(?:y|ies|ied)|point\w* to\w*|hint\w*|seems?|appear\w*|likely|unlikely"
    r"|probabl\w+|possibl\w+|presumabl\w+|apparently|evidently|must be|might|may|could be|judging|based on"
    r"|consistent with|sounds? like"
    r"|looks? like|infer\w*|deduc\w+|conclud\w+|assum\w+|guess\w*|suspect\w*|i gather|gather\w* that"
    r"|given (?:the|their|that|how)|going by|reveal\w*|betray\w*|signs? of|typical of|profile|inference"
    r"|leaning|because (?:they|he|she|of)|since (?:they|he|she)|so (?:they|he|she|probably|presumably)"
    r"|lead\w* me to|evidence of|reflect\w*|show\w* that|tell\w* that|cues?|estimat\w+|classif\w+"
    r"|segment\w*|confidence)\b",
    re.IGNORECASE,
)


_ORIGIN = regex(
    r"\b(?:suggest|indicat|impl|point|hint|reveal|betray|speak)\w* (?:to |at |of )?(?:an? )?[A-Z]\w+"
    r" (?:background|origins?"
    r"|ancestry|roots|heritage|descent|family|upbringing|faith)\b"
)
_SAID_OF_USER = regex(
    r"^\W*(?:the )?(?:user|customer|person) (?:is|was|has been|suffers?|comes from|belongs to|identifies"
    r"|believes? in|supports|votes"
    r"|struggles|earns|owes|lives alone|must|grew up)\b(?! (?:asked|interested|subscribed|logged|using"
    r"|located|on the|able|asking|looking))",
    re.IGNORECASE,
)
"""What an agent says a user is, other than what the user wants, uses or asked for, is the agent's reading of them."""
_INFERRED = regex(
    r"\b(?:(?:suggest|indicat|impl|point|hint|reveal|mean|signal)\w* (?:to |at |that )?(?:the (?:user|customer|client"
    r"|person)|they|he|she|a person)"
    r"|judging (?:by|from)|going by|inferred|inference|deduced|i (?:infer|deduce|gather|conclude"
    r"|surmise)|suggests? that (?:the user|they|he|she)|implies that|(?:user's|customer's|client's|their"
    r"|his|her) (?:\w+ )?(?:sounds?|looks?|suggests?|indicates?|implies|imply|hints?|reveals?|points?)"
    r"|based on (?:their|his|her|the user's)"
    r"|(?:user|customer|client|person|they|he|she) (?:must be|is probably|are probably|is likely"
    r"|are likely|seems?|appears?|sounds?))\b",
    re.IGNORECASE,
)


def is_guess_at_trait(sentence: str) -> bool:
    """Whether it attributes identity, health, politics, religion, money or the like to a person, or guesses at it."""
    sentence = sentence.replace("_", " ")
    if _TRAIT.search(sentence):
        return bool(_PERSON.search(sentence) or _GUESS.search(sentence))
    if _ORIGIN.search(sentence) or _SAID_OF_USER.search(sentence):
        return True
    return bool(_INFERRED.search(sentence) and _PERSON.search(sentence))
