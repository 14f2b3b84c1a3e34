"""Whether two sentences state the same, or a change of it, in words that are arranged differently. Pure.

``agreement`` compares what two sentences assert part by part: what one says in the active and the other in the passive,
or one with a verb and the other with its noun, is apart for it. Where a statement itself says that something is not
what it was, this is reason enough to look at the words that both share, and at what is left of either.
"""

import re
from collections.abc import Sequence
from enum import Enum, auto

from perdure.memory.extraction.content_words import Telling, told
from perdure.memory.extraction.lexicon import FREQUENCIES, MONTHS, WEEKDAYS, is_exchangeable, word_list
from perdure.memory.extraction.substance import substance
from perdure.words import stem

_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|been|being|be|gets?|got) (?:\w+ly )?\w+(?:ed|en|wn|pt|ut|id|lt|nt|ung|un)\b", re.I
)
_NUMBERED = re.compile(r"^\W*(?:(?:the|our|my|in|on|at) )?[a-z]+ (#?[a-z]*-?\d\S*)", re.IGNORECASE)
_PERMITTING = frozenset(map(stem, word_list("allow permit let ban forbid outlaw prohibit rule withdraw revoke may")))
"""What says that something may be done, or may not: beside one of these, the same words say the contrary."""
_ENDING = frozenset(map(stem, word_list("abolish discontinue scrap axe drop end cancel ditch")))
"""Verbs that say of something that it is no more."""
_HALVES = frozenset({"am", "pm"})
_TURNED = re.compile(r"\b(?:turned|reversed|flipped|inverted|swapped|other way (?:a?round))\b", re.IGNORECASE)
_HEADLINE = re.compile(r"[\w ]*change:", re.IGNORECASE)
_OF_TWO = re.compile(r",|\b(?:and|but|while|whereas)\b", re.IGNORECASE)
"""Joins what is said of one thing and of another."""
_USED = re.compile(
    r"^(?:all )?(?:(?:our|the) )?[\w-]+s (?:run|live|are (?:hosted|handled|built|managed)) "
    r"(?:in|on|with|via|by|through) "
    r"(?:the |an? )?(?P<on>[^,;]+?)\W*$"
    r"|^(?:the|our|my) (?:(?!favou?rite|best|first|old|former|last)[\w-]+ ){0,2}?(?P<thing>[\w-]+) (?:we use |i use )?"
    r"(?:is|are) (?!in |on |at |with |by |about |for |from |to |of )(?:the |an? )?(?P<is>[^,;]+?)\W*$"
    r"|^(?:we|i)(?:'re| are|'m| am)? (?:use|using|on|running|run|host|deploy|build|bank|track|manage|handle|do|order"
    r"|ship)\b(?: [\w -]+? (?:in|on|with|via|through))? (?:the |an? )?(?P<used>[^,;]+?)\W*$",
    re.IGNORECASE,
)
"""What the speaker has of a thing, or uses for it."""
_KEPT = re.compile(r"\b(?:not|never|nobody|no one|none)\b|n't\b", re.IGNORECASE)
_BY_OTHERS = re.compile(
    r"^(?!(?:we|i)\b)(?:[\w']+ ){1,4}?(?:has |have )?(?<!been )(?<!was )(?<!were )(?<!is )(?<!are )(?<!got )"
    r"(?:moved|switched|migrated|changed|swapped|traded|ditched|dropped)\b",
    re.IGNORECASE,
)
"""It is somebody else who gives something up."""
_OWNED = re.compile(r"\w['’]s? ([a-z][\w-]+)", re.IGNORECASE)
_PEOPLE = re.compile(r"^(?:we|i|they|people|you)\b", re.IGNORECASE)
LEAST_SHARED = 2
"""Words that a change shares with what it changes, at the least. A choice."""


def changes(new: Telling, old: Telling) -> bool:
    """Return whether a statement about a change says that an earlier one no longer holds."""
    if new.adds:
        return False
    if len(old.words & new.words) < LEAST_SHARED:
        # "Our ERP is Odoo", "Odoo was replaced by Dolibarr".
        return new.changed and any(_gives_up(new, words, old) for words in new.former)
    if _is_swapped(old, new):
        return True
    if not new.revised:
        return False
    if _names_former(new, old) or _names_former(old, new) or _is_revalued(old, new):
        return True
    return new.changed and any(_says_otherwise(old, part, new) for part in new.parts)


def _is_swapped(old: Telling, new: Telling) -> bool:
    """Return whether one says of each of two things what the other says of the other one, in the same words.

    "Ann is skipper and Bo is crew", "Bo is skipper and Ann is crew"; "tabs, not spaces", "spaces, not tabs".
    """
    # Where nothing says that it changed, both may hold: on some Mondays Tom cooks, and on others Mia does.
    if not (new.revised or _HEADLINE.match(new.text)) or not old.words <= new.words:
        return False
    if any(former <= new.stated for former in old.former) and any(former <= old.stated for former in new.former):
        return True
    of_two = _OF_TWO.search(old.text) and _OF_TWO.search(new.text)
    same_voice = bool(_PASSIVE.search(old.text)) is bool(_PASSIVE.search(new.text))
    if not (of_two and same_voice and old.ended == new.ended):
        return False
    here, there = old.order, tuple(word for word in new.order if word in old.words)
    # What is said first may be said last: "on our boat".
    last = here[0] == there[-1] and _have_changed_places(here[1:], there[:-1])
    first = here[-1] == there[0] and _have_changed_places(here[:-1], there[1:])
    return last or first or _have_changed_places(here, there)


def _have_changed_places(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether just two words have changed places, each of which stands beside another one that has not."""
    moved = [place for place, words in enumerate(zip(before, after, strict=True)) if words[0] != words[1]]
    if len(moved) != 2 or before[moved[0]] != after[moved[1]] or before[moved[1]] != after[moved[0]]:
        return False
    first, second = moved
    return second > first + 1 and (first > 0 or second + 1 < len(before))


def restates(new: Telling, old: Telling) -> bool:
    """Return whether two statements say the same with the same words, arranged differently.

    A phrase may be fronted, and an action may be stated in the passive; in any other order the same words may say the
    contrary.
    """
    before, after = substance(old.text), substance(new.text)
    if len(old.order) <= LEAST_SHARED or set(before) != set(after):
        return False
    if bool(_PASSIVE.search(old.text)) is bool(_PASSIVE.search(new.text)):
        turned = not old.ended and any(before[place:] + before[:place] == after for place in range(len(before)))
        return old.ended == new.ended and (before == after or turned)
    if old.ended or new.ended:
        return False
    return _is_done(new, old) if _PASSIVE.search(new.text) else _is_done(old, new)


def _is_done(passive: Telling, active: Telling) -> bool:
    """Return whether what one states in the passive is what the other says that somebody does."""
    _, by, agent = passive.text.rpartition(" by ")
    if not by:
        return _PEOPLE.match(active.text) is not None
    named = told(agent).order
    return bool(named) and active.order[: len(named)] == named


def _names_former(one: Telling, other: Telling) -> bool:
    """Return whether one says of what the other says that it was so before, and both are about little else."""
    for words in one.former:
        left, own = other.words - words - one.words, one.words - words - other.words
        # "The library moved from building 3 to 5" is not about the canteen in building 3.
        is_about = bool(one.words & other.words - words) or len(own) <= 1
        if words <= other.stated and (not left or (len(left) == 1 and is_about)):
            return True
    return False


def _gives_up(new: Telling, former: frozenset[str], old: Telling) -> bool:
    """Return whether a statement names what gave way to what, and nothing else, and an earlier one what it was.

    Who names what gave way does not say as what: only where what the speaker has of a thing can be exchanged, a tool
    or somebody in an office, is it likely the same. A brother, an allergy or a birthplace is not.
    """
    if not former or len(new.words - former) > 1 or _KEPT.search(new.text) or _BY_OTHERS.match(new.text):
        return False
    said = _USED.match(old.text)
    if said is None or (said["thing"] and not is_exchangeable(said["thing"])):
        return False
    return told(said["is"] or said["used"] or said["on"]).words == former


def _is_revalued(old: Telling, new: Telling) -> bool:
    """Return whether both state one amount in the same unit, and all else that the earlier one says is in the later.

    "Membership of the club is 40 euros", "the club has put its membership up to 52 euros".
    """
    before, after = _amounts(old), _amounts(new)
    if len(before) != 1 or len(after) != 1 or _is_numbered_otherwise(old, new):
        return False
    [(number, unit)], [(other, its_unit)] = before, after
    of = old.words - (old.verbs - new.words) - {number, unit}
    same = unit == its_unit and number != other and len(of) >= LEAST_SHARED and of <= new.words
    return same and not _is_of_another_kind(of, old, new)


def _is_of_another_kind(of: frozenset[str], old: Telling, new: Telling) -> bool:
    """Return whether the later one speaks of a part or a kind of what the earlier one does: "junior membership"."""
    # "My daughter's horse" is not my daughter.
    owned = any(not told(thing).words <= old.words for thing in _OWNED.findall(new.text))
    added = (new.names - old.names - frozenset(WEEKDAYS)) | (new.qualified - old.words)
    before = dict(zip(new.order[1:], new.order, strict=False))
    kind = any(before.get(word, word) not in {*old.words, *new.verbs, word} for word in of)
    return owned or bool(added) or kind


def _amounts(of: Telling) -> list[tuple[str, str]]:
    """Return the numbers of a statement, each with its unit: what follows it, or what kind of time it is."""
    found: list[tuple[str, str]] = []
    for word, after in zip(of.order, (*of.order[1:], ""), strict=True):
        if word.startswith("@"):
            found.append((word, "clock"))
        elif word in WEEKDAYS:
            found.append((word, "weekday"))
        elif word[:1].isdigit():
            found.append((word, after))
    return found


def _says_otherwise(old: Telling, part: Telling, new: Telling) -> bool:
    shared, left, added = old.words & part.words, old.words - part.words, part.words - old.words
    if len(shared) < LEAST_SHARED:
        return False
    if old.ended != part.ended:
        # Who no longer likes hiking alone may like hiking; of what is no more, there is none at four either.
        counts = any(map(_counts, part.words)) or _NUMBERED.match(old.text)
        if part.ended and not counts:
            left = frozenset(word for word in left if not _counts(word) and word not in _HALVES)
        return not left - _PERMITTING and not added - _PERMITTING - _ENDING
    if not left:
        here, there = ([word for word in one.order if word in shared] for one in (old, part))
        told_in_order = old.ordered and part.ordered
        return here != there and (told_in_order or _is_turned_round(old, part, new)) and len(added) < LEAST_SHARED
    return bool(added) and _is_another_value(old, part, left, added)


def _is_turned_round(old: Telling, part: Telling, new: Telling) -> bool:
    """Return whether one says that A does something to B, and the other that it was turned round: B does it to A."""
    if not _TURNED.search(new.text) or _PASSIVE.search(old.text) or _PASSIVE.search(part.text):
        return False
    for verb in old.verbs & part.verbs:
        (does, to), (other, by) = (_around(one.order, verb) for one in (old, part))
        if {*does} & {*by} and {*to} & {*other}:
            return True
    return False


def _around(order: tuple[str, ...], word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what stands before a word, and what stands behind it."""
    at = order.index(word)
    return order[:at], order[at + 1 :]


def _is_another_value(old: Telling, part: Telling, left: frozenset[str], added: frozenset[str]) -> bool:
    """Return whether what differs is of one kind, and is what is said rather than of what."""
    kind, shared = _kind(left, old), len(old.words & part.words)
    if kind is not _kind(added, part) or _is_of_another(old, part, left, added):
        return False
    match kind:
        case _Kind.COUNT:
            # "Field 13 is sown with lupins" is of another field, while "at 9" is another time.
            return len(added) == 1 and len(left) <= shared and not _is_numbered_otherwise(old, part)
        case _Kind.NAME:
            return len(left) <= shared + 1
        case _Kind.WORD:
            # The kind of two words cannot be determined.
            return len(left) < shared


def _is_numbered_otherwise(old: Telling, part: Telling) -> bool:
    """Return whether both begin with a number of something, and these differ: "bus 12" and "bus 14"."""
    here, there = _NUMBERED.match(old.text), _NUMBERED.match(part.text)
    return bool(here and there and here[1] != there[1])


def _is_of_another(old: Telling, part: Telling, left: frozenset[str], added: frozenset[str]) -> bool:
    """Return whether what differs is whom or what it is said of, what is done, or what for."""
    first = part.order[0]
    subject = old.order[0] in left or (first in added and not _counts(first))
    done = bool((left & old.verbs) or (added & part.verbs)) and _kind(left, old) is not _Kind.COUNT
    return subject or done or bool(left & old.qualified and added & part.qualified)


class _Kind(Enum):
    COUNT = auto()
    NAME = auto()
    WORD = auto()


def _kind(words: frozenset[str], of: Telling) -> _Kind:
    if any(_counts(word) for word in words):
        return _Kind.COUNT
    return _Kind.NAME if words & of.names else _Kind.WORD


def _counts(word: str) -> bool:
    named = word in WEEKDAYS or word in MONTHS or word in FREQUENCIES or word == "twice"
    return named or any(character.isdigit() for character in word)
