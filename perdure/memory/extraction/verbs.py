"""English verbs: their forms, and which of them say the same of a thing. Data only."""

from perdure.memory.extraction.lexicon import word_list

_REGULAR = """
abhor accept access accompany add adjourn adjust admit adopt adore advise affect agree aim alert allow alternate
announce annoy answer apologise apologize appear apply appreciate approve archive argue arrange arrive ask assign
assist attend authorise authorize avoid babysit back bake bank bark base beat believe belong bike bill bind bleed
block board boil book borrow bother bounce break breed brew brief bring broadcast brush build bump burn buy cache
calculate calibrate call cancel cap care carry catch cater celebrate certify chair change charge chase check chew
choose christen circulate clean clear climb clock close coach code coincide collect combine come commute compare
compete compile complain complete compose compress concern conclude conduct configure confine confirm confuse connect
consider consist consume contain continue contribute control convert convince cook coordinate correspond cost count
cover crash crave create cross cry cultivate cut cycle dance deal debug decide declare decline decorate decrease
dedicate deduct default delay delegate deliver demand demolish deny depart depend deploy deputise deserve design
despise detect detest develop diagnose die dilute direct disable disagree discharge disclose discover discuss dislike
dismiss dispatch display distribute dive divide do dock dominate donate double downgrade download drain draw dread
dream dress drink drive drop earn eat edit elect eliminate email embed emigrate emit employ enable encourage encrypt
end enforce enjoy enrol enroll enter escalate escape estimate evolve examine exceed exclude exercise exist expand
expect expire explain explore export extend face fail fall fancy farm fast favor favour fear feature feed feel fetch
fill find finish fit fix flag fluctuate fly focus fold follow forbid force forgive forward freeze fulfil fund gain
garden gather generate get give go govern graduate graze greet grind grow guard guess guide handle hang happen harvest
hate have head hear heat help hesitate hike hire hit hold host house hurry identify ignore illustrate imagine
immigrate import impose improve include increase index inform ingest inhabit inherit injure insist inspect install
instruct insure intend interrupt intervene introduce invent invest investigate invite invoice involve irrigate issue
jog join jump justify keep kick kneel knit knock know label lack land lapse last laugh launch lay lead learn lease
leave lecture lend let license lie lift light like limit lint list listen live load loathe locate lock log look lose
love lower magnify maintain make manage map mark marry match matter mean measure mediate meet melt mend mentor merge
migrate milk mind mirror miss mix mock moderate monitor mount move mow multiply name narrate need negotiate nominate
notify number obey object observe obtain occupy occur offer omit open operate order organise organize originate
outsource oversee owe own pack paddle page paint park participate pass paste patch pause pay peel perform permit
persist persuade pertain pick ping place plan plant play plead plough point poll portray position possess post
postpone pour practice practise praise pray precede prefer prepare prescribe present preserve presume pretend prevent
print prioritise proceed process proclaim procure produce program prohibit promise promote propose prosecute protect
provide provision provoke proxy prune publish pull punish purchase push put queue quit quote raise range rank rate
reach react read realise realize rebase rebuild recall receive recommend record recover recruit recycle redirect
reduce refer refresh refuse register regret regulate rehearse reinforce reject rejoin relate relaunch relax release
relieve relocate rely remain remedy remind remove rename render renew rent reopen repay repeat replace replicate reply
report represent require rerun rebook reschedule
rescue reserve reside resign resist resolve respond rest restart restore
restrict resume retain retire retrieve retry return reveal reverse revert review revise reward ride ring rise roll
rollback rotate round route row rub run rush sacrifice sail sample satisfy save say scale scan scare scatter schedule
score scrape scratch search see seek select sell send separate serve service set settle sew shard shave shift ship
shoot shop shorten shout show shower shrink shut sign simplify sing sit skate ski skip sleep slow smell smoke smooth
snack sneeze snore soak solve sort sound source sow speak specify speculate spell spend spill split spoil sponsor
spray squeeze stabilise stand start stay steer stick stimulate stir stock stop store stream strengthen stretch study
submit subscribe substitute succeed sue suffer suggest suit summarise summarize supervise supply support surf surprise
surrender survive suspect suspend sustain swap swim switch sync synchronise tackle tailor take talk target taste teach
tease tell tend terminate test testify text thank thaw think throttle tick time tip tolerate total touch tour track
trade train transfer translate travel treat tremble trigger trim truncate trust try tune turn tutor type undergo
undertake unify unlock unpack update upgrade upload urge use utilise utilize vacate vaccinate validate value vanish
vary venture verify violate visit volunteer vote wait wake walk wander want warm warn wash waste watch water wear
weigh welcome whisper win wipe wire wish withdraw withhold work worry wrap write yawn yell yield zip abandon ditch
scrap abolish axe discontinue conduct captain curate code implement share sterilise sterilize cure air tune feed brew
roast bottle label knit spin weave throw fire glaze bind stitch paint sand varnish carve forge weld solder wire
sprout prune graft plough sow mow rake harvest water shear tax bill file invoice audit partition shuffle cost top
exceed unlock double triple halve spell address swap score floor flour mend patch tow berth dock anchor trawl sail
referee umpire outrank outweigh overtake ban oust outlaw revoke
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
rewrite=rewrites,rewrote,rewritten,rewriting
drink=drinks,drank,drunk,drinking drive=drives,drove,driven,driving eat=eats,ate,eaten,eating
fall=falls,fell,fallen,falling feed=feeds,fed,feeding feel=feels,felt,feeling find=finds,found,finding
fly=flies,flew,flown,flying forbid=forbids,forbade,forbidden,forbidding
ban=bans,banned,banning freeze=freezes,froze,frozen,freezing
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
    "leave": "leave depart",
    "order": "order procure",
    "accept": "accept take-in",
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
        mentor tutor babysit guide moderate conduct captain curate edit
    """,
    "write": "write code program implement rewrite",
    "cost": "cost charge",
    "go": "go send report ship route forward deliver post escalate direct redirect",
    "change": """
        change move shift push reschedule switch migrate relocate transfer upgrade downgrade bump raise lower reduce
        increase decrease extend shorten postpone swap rename bring revert convert go-back update cut set drop turn
        transition replace cap adjust rebook
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

PERSONAL = word_list("handle own lead manage coach teach oversee supervise coordinate organise organize approve")
"""Those of them of which a name is the subject even where what it is about has no article: "Kim handles payroll"."""

CHANGING = frozenset(_CLASSES["change"].split())
LIKING = frozenset((_CLASSES["like"] + " " + _CLASSES["prefer"] + " " + _CLASSES["want"]).split())
DISLIKING = frozenset(_CLASSES["dislike"].split())

KEEPING = word_list("keep store host park file archive save sterilise sterilize dry")
"""What people do with a thing in one place, as is said of the thing: "the ledger is kept in the safe"."""

QUITTING = frozenset(
    [
        "give up",
        "quit",
        "do away",
        "get rid",
        "pack in",
        "abandon",
        "ditch",
        "scrap",
        "abolish",
        "axe",
        "discontinue",
        "go off",
    ]
)
"""Verbs of which the object is had, done or used no more."""

ASKED = word_list(
    "send use write reply answer give keep put make take bring add forward email tell ask call do avoid "
    "include show speak sign pay deliver remind pick leave meet let set return prefer always never get go come "
    "stop start say read"
)
"""Verbs that begin a sentence as what is asked for, and never as a noun."""

SINGLE = word_list(
    "be live cost use target take last weigh show end start close open finish begin sync default expire run "
    "charge go report display listen point keep allow require drive wear host commute earn study rent belong "
    "bank retry wake sleep time-out follow return serve bind stand deploy rotate name"
)
"""Verbs of which a thing normally has one value at a time."""
