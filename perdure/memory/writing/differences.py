"""How two statements about the same stand to each other where they differ in what they say of it. Pure."""

from collections import Counter
from collections.abc import Sequence

from perdure.memory.extraction.lexicon import COLOURS, OPPOSITES, PREPOSITIONS, word_list
from perdure.memory.extraction.phrases import Facets, is_identifier, stemmed
from perdure.memory.writing.sides import COMPARING, HAVING, NAMED, RUNNING, TYPED, Agreement, Side, is_turned
from perdure.values.assertions import Assertion
from perdure.words import stem

_WHEN_AND_WHERE = frozenset({"clock", "day", "date", "frequency", "place"})
_SINGLE = frozenset({"place", "by", "who"})
"""Kinds of phrases of which a thing has one at a time."""
_QUALIFYING = frozenset({"for", "as", "about", "during", "when", "without", "against", "per", *COMPARING})
"""Kinds of phrases that say of what, rather than what: another one is another thing."""
_NARROWING = frozenset({"for", "during", "when"})
"""Kinds of phrases that say of something general when it is otherwise: "the volume is at 7 for this song"."""
_SENSITIVE = frozenset(map(stem, word_list("allergic intolerant sensitive addicted")))
"""What somebody is to one thing, and to another."""
_CONTRARY = {"before": "after", "after": "before", "with": "without", "without": "with"}
"""Kinds of phrases that say the contrary of the same."""
_REMOTE = frozenset(map(stem, word_list("online remote virtual")))
"""What is held so has no place."""
_HELD = frozenset(
    stem(word)
    for word in word_list(
        "class course lesson meeting standup retro session training workshop seminar lecture rehearsal practice "
        "interview exam appointment therapy conference talk club tutorial consultation choir call demo"
    )
)
"""What people come together for."""
_CHOSEN = frozenset({"prefer", "want", "consume", "use", "order", "book"})
"""What people say of themselves of which, for one purpose, there is one at a time."""
_DONE_TO = frozenset({"change", "end"})
"""What people do to one thing, and to another."""
_ONE_OBJECT = frozenset({"cost", "target", "last", "weigh", "drive", "study", "default", "change", "end"})
_HOURS = 24
_MOVED = ("place", "object", "to", "by", "with")
"""Kinds of phrases that "moved to" may tell a new value of, likeliest first."""
_ADDED = word_list("have sell support include offer serve accept speak know contain exist depend stop visit call fit")
"""What has one of these, has others as well."""
_CIRCUMSTANCES = {
    stem(word): kind
    for kind, words in {
        "department": "sales marketing finance engineering support operations procurement legal hr accounting research",
        "stage": "production staging beta alpha review development maintenance preview draft progress trial",
        "order": "parallel sequence",
        "trade": "liquidation insolvency stock transit demand fashion",
        "health": "diet antibiotics medication treatment pain hospital therapy",
        "absence": "holiday vacation leave sabbatical retirement strike",
        "duty": "call duty charge board",
        "condition": "touch loan probation warranty construction",
        "time": "morning afternoon evening night",
        "season": "spring summer autumn winter",
        "years": "nineties eighties seventies sixties",
        "dwelling": "flat house apartment tower basement",
    }.items()
    for word in word_list(words)
}
"""What a thing can be in, at or on in addition to any place where it is, and to anything of another kind."""
_TITLES = frozenset(map(stem, word_list("dr mr mrs ms prof nurse judge miss sir madam notary coach aunt uncle")))
_OPPOSITES = {stem(one): stem(other) for one, other in OPPOSITES.items()}
_COLOURS = frozenset(map(stem, COLOURS))


def differing(old: Assertion, one: Side, new: Assertion, other: Side) -> Agreement:
    """Judge two statements that both deny, or both do not.

    Args:
        old: The earlier one.
        one: The same in its parts.
        new: The later one.
        other: The same in its parts.
    """
    former, known = set(stemmed(new.former)), {*one.words, *one.actor}
    if former and former - PREPOSITIONS <= known and not new.negated:
        return Agreement.CONTRADICTION
    facets, others = _aligned(one, other)
    # What is said to have been something else than what is known is another thing.
    if old.negated or (former and former.isdisjoint(known)) or _are_of_two(one, facets, other, others):
        return Agreement.APART
    shared = facets.keys() & others.keys()
    unequal = [kind for kind in shared if not _equal(kind, facets[kind], others[kind])]
    more, less = others.keys() - shared, facets.keys() - shared
    if not unequal:
        if more and less:
            return Agreement.LIKELY if _is_said_otherwise(one, facets, other, others) else Agreement.APART
        return Agreement.APART if more or less else Agreement.SAME
    if len(unequal) > 1:
        changed = new.revises and {*unequal} <= _WHEN_AND_WHERE
        return Agreement.CONTRADICTION if changed else Agreement.APART
    [kind] = unequal
    if kind == "object":
        found = _of_objects(old, one, new, other, qualified=bool(shared - {"object"}))
    else:
        found = _of_phrases(kind, old, one._replace(facets=facets), new, other._replace(facets=others))
    if found is Agreement.CONTRADICTION and (more | less):
        found = Agreement.LIKELY
    return Agreement.APART if more & _NARROWING else found


def _are_of_two(one: Side, facets: Facets, other: Side, others: Facets) -> bool:
    """Return whether both can be, whatever they say: of milk and of nuts, for kids and for adults."""
    if one.verb != other.verb:
        return False
    if one.verb == "cost":
        return _priced(facets) != _priced(others)
    return one.verb == "be" and bool(_SENSITIVE & {*one.actor, *one.words})


def _priced(facets: Facets) -> Facets:
    """Return for whom, when and where something has a price."""
    return {kind: words for kind, words in facets.items() if kind not in ("money", "object")}


def _is_said_otherwise(one: Side, facets: Facets, other: Side, others: Facets) -> bool:
    """Return whether what either says besides what both say may be another value of one thing."""
    more, less = others.keys() - facets.keys(), facets.keys() - others.keys()
    contrary = any(facets.get(kind) == others.get(_CONTRARY[kind]) for kind in less & _CONTRARY.keys())
    remote = {*more, *less} == {"object", "place"} and _REMOTE & {*one.words, *other.words} and _HELD & {*one.actor}
    priced = one.verb == "cost" and all("money" in side.facets or "free" in side.words for side in (one, other))
    return (
        contrary or bool(remote) or (one.verb == other.verb and ("object" in facets.keys() & others.keys() or priced))
    )


def _of_phrases(kind: str, old: Assertion, one: Side, new: Assertion, other: Side) -> Agreement:
    """Judge two statements that differ in one phrase: in when, where, for whom or with what."""
    facets, others = one.facets, other.facets
    has_object = "object" in facets.keys() & others.keys()
    if kind in _QUALIFYING and has_object:
        # "I earn my living as a beekeeper now"; what is used has many uses.
        living = kind == "as" and new.revises and one.of_speaker and one.verb not in RUNNING
        return Agreement.LIKELY if living else Agreement.APART
    # What people do on Mondays they may do on Fridays.
    habit = kind == "day" and one.of_speaker and not new.revises and one.verb not in _CHOSEN
    if kind in TYPED and not habit:
        return Agreement.CONTRADICTION
    # "Allergic to nuts" and "allergic to wasps" can both be.
    adjective = one.verb == "be" and has_object
    said_of_many = one.of_speaker and one.verb not in _CHOSEN - {"consume"}
    several = (old.several or new.several) and (adjective or said_of_many)
    # "On the fourth floor" and "in Ghent" can both be, too.
    elsewhere = kind == "place" and (
        facets[kind][0] != others[kind][0]
        or one.verb in _ADDED
        or _CIRCUMSTANCES.get(facets[kind][-1]) != _CIRCUMSTANCES.get(others[kind][-1])
    )
    # "Works with Slack" and "with Jira", "in Rome" and "in room 4": both can be, unless it says that it changed.
    numbered = [any(map(is_identifier, words[kind])) for words in (facets, others)]
    unlike = not new.revises and (kind not in _SINGLE or numbered[0] != numbered[1])
    doubtful = habit or is_turned(one, other) or several or elsewhere or unlike
    return Agreement.LIKELY if doubtful else Agreement.CONTRADICTION


def _aligned(one: Side, other: Side) -> tuple[Facets, Facets]:
    """Return what both state by kind, where "moved to" states a new value of whatever was stated before."""
    facets, others = dict(one.facets), dict(other.facets)
    for these, those, verb in ((facets, others, one.verb), (others, facets, other.verb)):
        if verb == "change":
            these.pop("from", None)
            target = these.pop("to", None) or these.pop("into", None)
            if target:
                # A call with Bo that is moved to Teams is with Bo still, and what is by Ann remains by her.
                kept = {"by" if "be" in (one.verb, other.verb) else "", "with" if _HELD & {*one.actor} else ""}
                kind = next((kind for kind in _MOVED if kind in those and kind not in kept), "to")
                these[kind] = (those[kind][0], *target) if kind == "place" else target
        if "clock" in those and "clock" not in these and _is_hour(these.get("object", ())):
            these["clock"] = (f"@{these.pop('object')[0]}:00",)
    return facets, others


def _is_hour(words: tuple[str, ...]) -> bool:
    """Return whether a number alone may be an hour: "bedtime is 8", where it was 7:30."""
    return len(words) == 1 and words[0].isdecimal() and int(words[0]) <= _HOURS


def _equal(kind: str, one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if kind == "clock":
        return [_on_the_dial(clock) for clock in one] == [_on_the_dial(clock) for clock in other]
    if kind == "place":
        one, other = one[1:], other[1:]
    plain, others = set(one) - _TITLES, set(other) - _TITLES
    # Who says "a Skoda" after "a grey Skoda" says nothing else.
    return Counter(one) == Counter(other) or (bool(plain) and plain == others) or (kind == "object" and others < plain)


def _are_counts_of_two(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether both state numbers of different things, or one a number and the other something else."""
    counted = [any(is_identifier(word) for word in words) for words in (before, after)]
    if not (before and after and any(counted)):
        return False
    return counted[0] != counted[1] or (before[-1] != after[-1] and not is_identifier(before[-1]))


def _is_measured(words: Sequence[str]) -> bool:
    """Return whether words say how much: "10 years old", unlike "iPhone 12"."""
    return len(words) > 1 and is_identifier(words[0]) and not is_identifier(words[-1])


def _on_the_dial(clock: str) -> tuple[int, str]:
    hour, _, minutes = clock.removeprefix("@").partition(":")
    return int(hour), minutes


def _of_names(old: Assertion, one: Side, new: Assertion, other: Side) -> Agreement | None:
    """Judge two things that something is by what they are; None: they may be of one kind."""
    before, after = one.facets.get("object", ()), other.facets.get("object", ())
    opposed = any(_OPPOSITES.get(word) in after for word in before)
    if opposed or (_COLOURS & {*before} and _COLOURS & {*after}):
        return Agreement.CONTRADICTION
    # Who somebody is, and how, or how old: "is Kim", "is nice now".
    unlike = old.several != new.several or _is_measured(before) != _is_measured(after)
    return Agreement.APART if other.verb in NAMED and unlike else None


def _of_objects(old: Assertion, one: Side, new: Assertion, other: Side, *, qualified: bool) -> Agreement:
    """Judge what is said in the same way of two things: "is a Skoda" and "is a Volvo"."""
    before, after = one.facets.get("object", ()), other.facets.get("object", ())
    if {one.verb, other.verb} == NAMED or (not new.revises and _are_counts_of_two(before, after)):
        return Agreement.LIKELY
    alike = bool(before and after) and before[-1] == after[-1]
    if one.verb in NAMED and not one.of_speaker:
        found = _of_names(old, one, new, other)
        if found is not None:
            return found
        contradicts = not (old.several or new.several)
    elif one.of_speaker:
        chosen = one.verb in _CHOSEN and (one.verb == other.verb or {one.verb, other.verb} <= HAVING)
        # Tea and cake are both preferred to coffee.
        chosen = chosen and not (one.verb == "prefer" and "over" in one.facets and not new.revises)
        contradicts = (chosen and (qualified or (alike and one.verb != "consume"))) or (alike and new.revises)
        if (one.verb == "like" or one.verb != other.verb) and not contradicts:
            return Agreement.APART
    else:
        numbers = all(any(is_identifier(word) for word in words) for words in (before, after))
        contradicts = alike or numbers or other.verb == "change"
        # "Supports Python 3.11" and "3.12"; but who has 2 cats has not 3.
        named = numbers and any(is_identifier(words[-1]) for words in (before, after))
        if one.verb in _ADDED and (named or not contradicts):
            return Agreement.APART
    done = one.verb in _DONE_TO and one.of_speaker
    return Agreement.CONTRADICTION if contradicts or (one.verb in _ONE_OBJECT and not done) else Agreement.LIKELY
