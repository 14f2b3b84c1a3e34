"""What keeps a conversation going, and what points at something that it does not name. Pure."""

import re

from perdure.memory.extraction.grounds.stability import stands
from perdure.memory.extraction.patterns import regex

_CHATTER = frozenset(
    re.findall(
        r"\S+",
        "lol lmao rofl haha hahaha hehe heh hah ha wow whoa woah oh ooh ah aah ahh aha hmm hm mhm uh um er erm "
        "huh ugh argh yay woohoo hooray phew oops whoops yikes meh nah nope yep yup yeah yes no ok okay okey k kk "
        "cool nice great good awesome perfect excellent amazing brilliant fantastic wonderful lovely super sweet "
        "neat fine alright right sure indeed exactly absolutely definitely totally true agreed thanks thank thx "
        "ty cheers ta please pls welcome sorry pardon apologies congrats congratulations hello hi hey hiya yo "
        "howdy greetings morning afternoon evening night bye goodbye cya ciao later see you u soon tomorrow again "
        "worries problem mate buddy pal friend dude man folks guys all everyone team lot lots much so very really "
        "a an the of to for at on in it it's its that that's this these those one is was are were be been and or "
        "but well then now just me my i i'm we us your you're you've done job work quick fast fun funny fair "
        "enough point happy glad pleased help here there go got get lifesaver legend star hero best genius rock "
        "life such day weekend friday monday week have has had nice love loved like loving appreciate appreciated "
        "impressive interesting crazy wild insane ridiculous hilarious bless luck fingers crossed whatever anyway "
        "never mind nevermind bad sounds makes sense gotcha noted roger understood works wait what how are doing "
        "going too also anything else let know if need hope hopefully talk catch up take care enjoy merry "
        "christmas new year birthday holidays danke bitte hallo tschüss super toll merci bonjour salut hola "
        "gracias vale adiós ciao grazie prego obrigado obrigada olá tack hej hei kiitos moi dank je wel dzięki "
        "cześć ok okej spasibo привет спасибо пока 谢谢 你好 ありがとう こんにちは "
        "question idea thing stuff "
        "test testing ping pong hear long time no lifesavers way exciting sigh yawn yum tasty cute sad damn "
        "dammit mm mmm mmmm hmmm aye och cheerio obliged that'll that'd it'll there's you'd you'll fab brill ace top "
        "class "
        "spot-on smashing grand splendid superb stellar marvellous magnificent magic legendary kudos props bravo "
        "hurrah touché goodness gracious "
        "blimey crikey cor heavens word deal ditto likewise same quite rather who'd who've knew told nicely put said "
        "played beautifully "
        "learn learned tell say figures course harm history story worse catch later safe travels trip journey flight "
        "sleep tight dreams "
        "cheering onwards upwards ready when whenever suits fab ages heavens wonders miracles surprise surprised "
        "shock bonkers mental "
        "mad nuts unreal insanely honestly literally seriously proper bloody flipping blooming rough tough shame "
        "pity bummer gutted typical "
        "g'day moin servus ahoy heya sup mornin evenin yoohoo aloha namaste salaam shalom hullo oi howdy-do "
        "heck gosh god geez jeez man omg omfg wtf smh tbh imo btw fyi np nvm idk tho though",
    )
)
_EXCLAMATION = regex(
    r"^(?:what an? |how (?:nice|lovely|cool|sweet|funny|annoying|exciting|kind|sad|cute|weird|strange)\b"
    r"|such is|so (?:much for|it goes)|good (?:luck|morning|evening|afternoon|night|job|one|point|question"
    r"|call)|well done|happy (?:birthday|friday|monday|new|to help|holidays|anniversary|to)|have a (?:good"
    r"|nice|great|lovely|safe)|enjoy (?:your|the)|congrat|thank(?:s|ing)?(?! to (?!you))|thx|cheers|see (?:you|ya)"
    r"|talk (?:to you )?(?:soon|later)|nice (?:one|work|job|to|try|meeting|talking)"
    r"|great (?:work|job|question|stuff|to|point)|love (?:it|that|this)|loving|that (?:was"
    r"|is) (?:\w+ )?(?:quick|fast|great|nice|fun|funny|helpful|perfect|amazing|awesome|brilliant|hilarious"
    r"|cool|weird|odd|brutal|close|easy|it|all)|that's (?:\w+ )?(?:great|nice|fun|funny|helpful|perfect"
    r"|amazing|awesome|brilliant|hilarious|cool|weird|odd|it|all|ok|okay|fine|better|right|what i)"
    r"|you(?:'re| are) (?!not to|to |not allowed|allowed|only|never|always)(?:an? |the |so |too |very |my "
    r"|most |really )?\w+|you rock"
    r"|you (?:really )?(?:saved|made|nailed|did)|i (?:love|appreciate) (?:it|this|that|you|your)"
    r"|i appreciate|hope (?:you|that|this|it|all|the|everyone|everybody|everything|they|he|she)"
    r"|fingers crossed|never ?mind|no (?:worries|problem|biggie|rush|thanks|need to)|my bad|oh (?:well|no"
    r"|dear|my|wow|yes|yeah|man|boy|god)|sure thing|sounds (?:good|great|like a plan|fair|perfect)"
    r"|makes sense|fair enough|i'm (?:so |really |very |just )?(?:glad|happy|sorry|pleased|afraid|here to"
    r"|back(?! to (?!square|work|normal|bed|the|my|our|an?|\w+ing)\b| on (?!mon|tues|wednes|thurs|fri|satur|sun"
    r"|my|the|track|top|duty|shift|line|earth|it)\w+))|merry\b|happy new year|good to (?:know|hear"
    r"|see)|glad (?:to|you|it|that)|sorry (?:for"
    r"|about|to|that)|my pleasure|you're welcome|here you go|let me know if|anything else|feel free|i hope"
    r"|i'd be happy|i can help|of course|certainly|long (?:day|time|week)|it's been a|mondays|ugh|wow|lol"
    r"|haha|hmm+|omg|yay|welcome|hello|hi there|how are you|how's it)\b"
)


def is_chatter(words: str) -> bool:
    """Whether it keeps a conversation going and states nothing."""
    plain = words.strip(" \t\"'([-*•!.,")
    spoken = re.findall(r"[^\W_][\w'-]*", plain)
    content = [word for word in spoken if word.strip("'-").casefold() not in _CHATTER]
    if not content:
        return True
    if _SAYING.match(plain) and len(content) < 5 and not re.search(r"\d|\bX", plain):
        return True
    if (
        stands(plain)
        and len(content) > 1
        and not plain.startswith(("you never", "you always", "you're", "you are", "thank", "happy to", "i hope"))
    ):
        return False
    if _EVALUATION.match(plain) and len(content) < 4:
        return True
    if words.rstrip().endswith("!") and not stands(plain) and not re.search(r"\d", plain):
        return True
    return bool(_EXCLAMATION.match(plain)) and len(content) <= (
        6 if plain.startswith(("thank", "happy", "sorry", "hope", "glad")) else 4
    )


_SAYING = regex(
    r"^(?:(?:(?:right then|anyway|now|so),? )?where were we|an? (?:very )?(?:good|happy|merry|lovely"
    r"|warm) (?:morning|evening|afternoon|day|welcome)"
    r"|(?:mm-hm|uh-huh|mhm|aha|go on),? |good things come|i could murder|(?:rome|easy come|never a dull moment"
    r"|music to my|and there was much)\b.*"
    r"|you crack me|good to be back"
    r"|lead the way|you(?:'ve| have) outdone|couldn't have (?:said|put|done)|hope your|(?:it's |it was )?no trouble"
    r"|beautifully (?:done|put)|nicely (?:done|put)|well (?:said|put|played|i never|well\b)|(?:ta|cheers|right|ok"
    r"|okay|later|bye),? (?:speak|talk|see you|chat|catch you)|(?:speak|talk|chat) (?:later|soon|then)|(?:oops"
    r"|whoops|sorry|ah|oh),? wrong (?:window|chat|person|tab|thread)|(?:phew|wow|ugh|man|oh|god|boy),? what an? "
    r"|look (?:who"
    r"|what the cat|at (?:you|that|us))|can't argue with|you learn "
    r"something|tell me about it"
    r"|say no more|no harm done|all's well|who knew|there you have it|so it goes|right you are|fair (?:dos|play|point"
    r"|comment|do's|cop)"
    r"|go figure|story of my life|here's (?:hoping|to)|touch wood|knock on wood|good grief|(?:that|it) figures|speak "
    r"of the devil"
    r"|better late|it is what it is|practice makes|onwards|famous last|not to worry|you never know|time will tell"
    r"|all in a day's"
    r"|catch you|sleep well|safe (?:travels|journey|trip|flight)|get well|bon (?:voyage|appetit|appétit)|take it easy"
    r"|keep (?:it up|up the|going)"
    r"|over and out|that(?:'ll| will|'d| would) (?:do|be|work|suit|explain)|(?:suits|works|fine|okay|good|ok) (?:me"
    r"|by me|for me|with me)"
    r"|your call|you bet|same to you|you too|back at you|right back|don't mention|no (?:bother|sweat|stress|hurry"
    r"|rush|pressure|comment)"
    r"|much (?:appreciated|obliged)|made my day|hats off|good (?:man|lad|lass|heavens|lord|god|grief|call|shout|spot"
    r"|catch|thinking)"
    r"|how time|rest is history|long story|you (?:don't say|reckon|legend|star|beauty|had me)|i (?:see|hear you|get "
    r"it|know right|feel you|rest my"
    r"|stand corrected|can imagine|bet|couldn't agree|could hug|owe you)|we (?:did it|got there|made it)|(?:lucky"
    r"|poor|silly|good for) (?:you|me|us|thing|old)"
    r"|(?:aw+,? )?bless(?=,| you| him| her| them|$)"
    r"|that made me (?:giggle|laugh|smile|chuckle)|my (?:goodness"
    r"|word|hero|thoughts exactly|treat)|fancy that|imagine that|small "
    r"world|spot on|bang on|nail on"
    r"|job done|job's a|sorted|consider it|message received|copy that|ten four|will do|on it|aye|och|mmm+|hear,? hear"
    r"|amen|preach)\b"
)
_OWN = regex(r"\W*(?:i'm|i|my|we|we're|never|always|no|only)\b")
_EVALUATION = regex(
    r"^(?:all good|not (?:bad|great|good|too bad|ideal)|brilliant|perfect|great|excellent|awesome|amazing"
    r"|fantastic|wonderful|lovely|understood|noted|got it|agreed"
    r"|exactly|indeed|absolutely|definitely|totally|interesting|impressive|good (?:stuff|to go|for you)"
    r"|no problem|can't complain|time flies|here we go|there (?:we|you) go"
    r"|that(?:'s| is| was| made| sounds| looks| feels| explains| helps| worked| did)|this (?:is"
    r"|was) (?:\w+ )?(?:great|nice|fun|good|bad|awful|weird|annoying|crazy)|done|almost there|okay|ok"
    r"|back to (?:work|it|the)|same here|speak soon|here (?:goes|comes)|see below|nothing (?:much|new))\b"
)
_SERVICE = regex(
    r"^(?:here(?:'s| is| are)|attached|please find|below (?:is|are)|see (?:the )?(?:attached|below)"
    r"|the (?:file|report|summary|document|list|draft|result|results) (?:is|are) (?:attached|below|ready"
    r"|here)"
    r"|i (?:understand|see|apologi[sz]e|hope|appreciate|can|could|would|am|have (?:attached|prepared"
    r"|updated|added|written|created|drafted))|i'm|i've (?:attached|prepared|updated|added|written|created"
    r"|drafted)|i'd|i have \w+(?:ed|en|nt|un)|i've \w+(?:ed|en|nt|un)|thank|thanks|sure|certainly"
    r"|absolutely|of course|great|good|happy|glad|sorry|welcome"
    r"|hello|hi|done|no problem|understood|got it|let me know|feel free|is there|would you|anything else"
    r"|as an ai|as requested|one moment|just a moment)\b"
)


def is_service(words: str) -> bool:
    """Whether an agent only serves: it answers, hands over, offers or apologises."""
    return bool(_SERVICE.match(words.strip(" \t\"'([-*•!.,")))


_DEICTIC = regex(
    r"^(?:(?:and|but|so|well|no|yes),? )?(?:that|this|it|these|those|he|she|they|that one|this one"
    r"|the other one|the (?:first|second|last|latter|former)(?: one)?)(?:'s|'re| is| was| are| were"
    r"| works?| worked| looks?| did| does| do| has| had| goes| went| should| can| needs?)?\b"
)
_EXPLETIVE = regex(
    r"^it(?:'s| is| was| takes| took| turned| turns| costs?| happens| helps| rains| matters| would"
    r"| has been) .*\b(?:to|that|for|from|until|because|when|since|was|is)\b"
)


def is_unclear(words: str) -> bool:
    """Whether nobody can tell what it states: it points at something that it does not name, or has no words."""
    spoken = re.findall(r"[^\W\d_][\w'-]*", words)
    if words.rstrip().endswith(("...", "…")):
        return True
    if re.match(r"[\w ./-]{2,40}?\s?(?:[:=]|->)\s?[\w\"'\[{-]", words) and len(re.findall(r"\w+", words)) > 1:
        return False
    if len(spoken) < 2 or (len(spoken) < 3 and not stands(words) and not _OWN.match(words)):
        return True
    plain = words.strip()
    pointed = _DEICTIC.match(plain)
    if pointed is None or _EXPLETIVE.match(plain):
        return False
    rest = [word for word in re.findall(r"[^\W\d_][\w'-]*", plain[pointed.end() :]) if word.casefold() not in _CHATTER]
    return len(rest) < 2
