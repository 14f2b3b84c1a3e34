"""English verbs: their forms, and which of them say the same of a thing. Data only."""

_REGULAR = """
accept access add adjust affect aim allow alternate answer appear apply approve archive arrange arrive ask assign
assist attend avoid back bake bank base beat believe belong bill block board book borrow bounce break brew brush build
bump buy calibrate call cancel care carry catch celebrate change charge chase check choose clean clear climb close
coach collect come commute compile complete conduct configure connect consist consume contain continue contribute
control convert cook coordinate cost count cover create cross cut cycle dance deal decide default delegate deliver
depart depend deploy design direct dislike display dispatch do double draw dread dress drink drive drop earn eat edit
email employ enable encrypt end enforce enjoy enter escalate exceed exclude exercise expect expire export extend face
fail fall farm fast favour favor fear feature feed feel fetch fill find finish fit fix flag fly focus follow forbid
force forward freeze fund garden gather generate get give go govern graze greet grind grow guard guide handle hang
happen hate have head hear heat help hike hire hit hold host house ignore import include index inspect install
instruct invest involve invoice irrigate issue join jog keep kick know label land last laugh launch lay lead learn
lease leave lend let lie license lift light like limit list listen live load loathe locate lock log look lose love
lower maintain make manage map mark match mean measure meet mentor merge migrate milk mind mirror miss monitor mount
mow move name need notify number object observe occur offer open operate order organise organize oversee own owe pack
paint park pass paste patch pause pay permit persist pick place plan plant play point poll position post postpone pour
practise practice prefer prepare prescribe present preserve prevent print prioritise process produce program prohibit
promote protect provide prune publish pull purchase push put quit quote raise range rate reach react read receive
recommend record recycle redirect reduce refer refresh refuse register reject relate release relocate rely remain
remind rename rent repeat replace reply report represent reschedule rehearse require reserve reside resign resolve
respond rest restart restore restrict retain retire retry return review ride ring rise roll rotate round route run
sail save say scale scan schedule score search see sell send separate serve service set settle shift ship shop shoot
show shut shower sign sing sit skip sleep slow smell smoke snack sort sound source sow speak specify spend split
sponsor spray stand start stay stick stock stop store stream stretch study submit subscribe suffer suit supervise
supply support surf suspect swap swim switch sync synchronise take talk target taste tend teach tell terminate test
text think throttle tick time tip tolerate total touch tour track trade train transfer travel treat trigger trim trust
try tune turn type update upgrade upload use value vary verify visit volunteer vote wait wake walk want warm wash
watch water weigh wear welcome win wire wish work worry wrap write yield zip downgrade shorten increase decrease bring
cap clock relaunch reopen adopt revert tutor babysit crave detest despise adore appreciate pertain abhor fancy bother
dock embed emit render truncate scrape ingest lint validate rerun matter queue rank code knit sew bike skate ski row
paddle page alert ping proxy cache replicate shard compress bind sample rebuild renew lapse
"""

_IRREGULAR = """
be=is,am,are,was,were,been,being have=has,had,having do=does,did,done,doing go=goes,went,gone,going
come=comes,came,come,coming take=takes,took,taken,taking get=gets,got,gotten,getting make=makes,made,making
give=gives,gave,given,giving run=runs,ran,running hold=holds,held,holding keep=keeps,kept,keeping
leave=leaves,left,leaving meet=meets,met,meeting pay=pays,paid,paying put=puts,putting read=reads,reading
say=says,said,saying see=sees,saw,seen,seeing sell=sells,sold,selling send=sends,sent,sending set=sets,setting
show=shows,showed,shown,showing shut=shuts,shutting sit=sits,sat,sitting sleep=sleeps,slept,sleeping
speak=speaks,spoke,spoken,speaking spend=spends,spent,spending stand=stands,stood,standing
swim=swims,swam,swum,swimming teach=teaches,taught,teaching tell=tells,told,telling think=thinks,thought,thinking
wake=wakes,woke,woken,waking wear=wears,wore,worn,wearing win=wins,won,winning write=writes,wrote,written,writing
drink=drinks,drank,drunk,drinking drive=drives,drove,driven,driving eat=eats,ate,eaten,eating
fall=falls,fell,fallen,falling feed=feeds,fed,feeding feel=feels,felt,feeling find=finds,found,finding
fly=flies,flew,flown,flying forbid=forbids,forbade,forbidden,forbidding freeze=freezes,froze,frozen,freezing
grow=grows,grew,grown,growing hang=hangs,hung,hanging hear=hears,heard,hearing hit=hits,hitting
know=knows,knew,known,knowing lead=leads,led,leading lend=lends,lent,lending let=lets,letting lie=lies,lay,lain,lying
lose=loses,lost,losing mean=means,meant,meaning quit=quits,quitting ride=rides,rode,ridden,riding
ring=rings,rang,rung,ringing rise=rises,rose,risen,rising sing=sings,sang,sung,singing split=splits,splitting
stick=sticks,stuck,sticking cut=cuts,cutting cost=costs,costing choose=chooses,chose,chosen,choosing
catch=catches,caught,catching buy=buys,bought,buying build=builds,built,building bring=brings,brought,bringing
break=breaks,broke,broken,breaking begin=begins,began,begun,beginning become=becomes,became,becoming
belong=belongs,belonged,belonging draw=draws,drew,drawn,drawing grind=grinds,ground,grinding light=lights,lit,lighting
oversee=oversees,oversaw,overseen,overseeing shoot=shoots,shot,shooting lay=lays,laid,laying
stop=stops,stopped,stopping plan=plans,planned,planning prefer=prefers,preferred,preferring log=logs,logged,logging
swap=swaps,swapped,swapping ship=ships,shipped,shipping drop=drops,dropped,dropping skip=skips,skipped,skipping
shop=shops,shopped,shopping trim=trims,trimmed,trimming jog=jogs,jogged,jogging map=maps,mapped,mapping
tip=tips,tipped,tipping refer=refers,referred,referring transfer=transfers,transferred,transferring
permit=permits,permitted,permitting submit=submits,submitted,submitting wrap=wraps,wrapped,wrapping
pack=packs,packed,packing cap=caps,capped,capping occur=occurs,occurred,occurring
program=programs,programmed,programming forget=forgets,forgot,forgotten,forgetting
travel=travels,travelled,traveled,travelling,traveling cancel=cancels,cancelled,canceled,cancelling,canceling
label=labels,labelled,labeled,labelling,labeling sync=syncs,synced,syncing rerun=reruns,reran,rerunning
rebuild=rebuilds,rebuilt,rebuilding understand=understands,understood,understanding hurt=hurts,hurting
hide=hides,hid,hidden,hiding shake=shakes,shook,shaken,shaking steal=steals,stole,stolen
throw=throws,threw,thrown,throwing
"""


def _inflected(base: str) -> set[str]:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        third = base + "es"
    elif base.endswith("y") and base[-2] not in "aeiou":
        third = base[:-1] + "ies"
    else:
        third = base + "s"
    if base.endswith("e"):
        return {third, base + "d", base[:-1] + "ing"}
    if base.endswith("y") and base[-2] not in "aeiou":
        return {third, base[:-1] + "ied", base + "ing"}
    return {third, base + "ed", base + "ing"}


def _forms() -> dict[str, str]:
    forms: dict[str, str] = {}
    irregular: dict[str, str] = {}
    for entry in _IRREGULAR.split():
        base, _, inflected = entry.partition("=")
        irregular[base] = inflected
    for base in dict.fromkeys(_REGULAR.split()):
        if base not in irregular:
            forms |= dict.fromkeys(_inflected(base), base)
    for base, inflected in irregular.items():
        forms |= dict.fromkeys(inflected.split(","), base)
    # Last, so that the base of one verb wins over a form of another: "found", "lay".
    return forms | {base: base for base in (*_REGULAR.split(), *irregular)}


FORMS = _forms()
"""Each form of each verb, to its base."""

_CLASSES = {
    "be": """
        be stay remain become sit stand live hold happen occur start begin take-place meet schedule locate base
        house host place situate run operate rest lie total sound
    """,
    "end": "end finish close shut expire lapse terminate",
    "use": "use run-on rely-on deploy-on build-on adopt employ",
    "like": "like love enjoy adore appreciate fancy crave",
    "prefer": "prefer favour favor choose",
    "want": "want need wish require expect request",
    "dislike": "dislike hate detest loathe despise abhor avoid dread",
    "consume": "eat drink consume take touch smoke have",
    "live": "live reside stay-in",
    "who": """
        lead own handle train manage run maintain coach teach review approve organise organize oversee supervise
        coordinate look-after take-care-of direct chair host head do cover mind drive cook cut clean walk treat
        mentor tutor babysit guide moderate
    """,
    "cost": "cost charge",
    "go": "go send report ship route forward deliver post escalate direct redirect",
    "change": """
        change move shift push reschedule switch migrate relocate transfer upgrade downgrade bump raise lower reduce
        increase decrease extend shorten postpone swap rename bring revert convert go-back update cut set drop turn
        transition replace cap adjust
    """,
}

CLASS = {
    verb: name for name, verbs in reversed(_CLASSES.items()) for verb in verbs.split() if name not in ("who", "consume")
}
"""Verbs that say the same of a thing, to the name of what they say."""

CONSUMING = frozenset(_CLASSES["consume"].split())
"""Verbs that say the same of what a person has of food, drink and the like."""

RESPONSIBLE = frozenset(_CLASSES["who"].split())
"""Verbs whose subject is the value: "Paavo leads the team" says who leads it."""

PERSONAL = frozenset(
    [
        "handle",
        "own",
        "lead",
        "manage",
        "coach",
        "teach",
        "oversee",
        "supervise",
        "coordinate",
        "organise",
        "organize",
        "approve",
    ]
)
"""Those of them of which a name is the subject even where what it is about has no article: "Kim handles payroll"."""

CHANGING = frozenset(_CLASSES["change"].split())
LIKING = frozenset((_CLASSES["like"] + " " + _CLASSES["prefer"] + " " + _CLASSES["want"]).split())
DISLIKING = frozenset(_CLASSES["dislike"].split())

SINGLE = frozenset(
    [
        "be",
        "live",
        "cost",
        "use",
        "target",
        "take",
        "last",
        "weigh",
        "show",
        "end",
        "start",
        "close",
        "open",
        "finish",
        "begin",
        "sync",
        "default",
        "expire",
        "run",
        "charge",
        "go",
        "report",
        "display",
        "listen",
        "point",
        "keep",
        "allow",
        "require",
        "drive",
        "wear",
        "host",
        "commute",
        "earn",
        "study",
        "rent",
        "belong",
        "bank",
        "retry",
        "wake",
        "sleep",
        "time-out",
        "follow",
        "return",
        "serve",
        "bind",
        "stand",
        "deploy",
        "rotate",
    ]
)
"""Verbs of which a thing normally has one value at a time."""
