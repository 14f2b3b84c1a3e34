"""Where the verb of a clause is, and what follows it, by word lists and word order. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from perdure.memory.extraction.lexicon import (
    ADJECTIVES,
    AUXILIARIES,
    BE,
    DETERMINERS,
    DO,
    FIRST_PERSON,
    HAVE,
    MODALS,
    NEGATIONS,
    PASSING,
    PREPOSITIONS,
    PRONOUNS,
    word_list,
)
from perdure.memory.extraction.phrases import is_identifier
from perdure.memory.extraction.verbs import ASKED, FORMS

_PARTICLES = frozenset({"up", "out", "off", "down", "away", "back", "over", "rid"})


_WITHOUT_OBJECT = word_list(
    "go run come start end close open arrive leave work stop fail pass rise fall grow begin finish happen last expire "
    "return change matter sell ship"
)
"""What may end a clause: in "lunch orders go" it is the verb, unlike the last word of "the camera records sound"."""


def verb_at(words: Sequence[str], *, last: bool = False) -> int | None:
    """Return where the verb of a clause begins, with its auxiliaries; None: it has none that is known."""
    lower = [word.lower() for word in words]
    places: list[int] = []
    for place, word in enumerate(lower):
        if (
            (word in AUXILIARIES and not (place and lower[place - 1] in DETERMINERS))
            or (word in ("used",) and lower[place + 1 : place + 2] == ["to"])
            or (word in FORMS and _is_verb(words, lower, place))
        ):
            places.append(place)
    if not places or places[0] == len(words) - 1:
        # "Warns about unused imports" ends with what may be a verb as well.
        unknown = _unknown_verb(words, lower)
        return places[0] if unknown is None and places else unknown
    return _first_of_chain(lower, places[-1]) if last else places[0]


def _first_of_chain(lower: Sequence[str], place: int) -> int:
    """Return where the auxiliaries of a verb begin: "do not ship" begins with "do"."""
    first = place
    for before in range(place - 1, -1, -1):
        if lower[before] in AUXILIARIES:
            first = before
        elif lower[before] not in NEGATIONS | PASSING:
            break
    return first


def _is_verb(words: Sequence[str], lower: Sequence[str], place: int) -> bool:  # noqa: PLR0911  one for each sign of a verb
    word, before = lower[place], lower[place - 1] if place else ""
    after = lower[place + 1] if place + 1 < len(lower) else ""
    base = FORMS[word]
    if place == 0:
        return _is_imperative(words, lower)
    if before in DETERMINERS or before in PREPOSITIONS or word.endswith("ing") or words[place][:1].isupper():
        return False
    if before in PRONOUNS or before in PASSING or before in NEGATIONS or before == "longer":
        return True
    if after in AUXILIARIES - HAVE - DO:
        return False
    plural = before.endswith("s") and not before.endswith(("ss", "us", "is"))
    if word == base and plural:
        return True
    if after in FORMS and base != "get" and not (len(before) == 1 and words[place - 1].isupper()):
        # Of two verbs in a row the second one is it where it agrees: "lunch orders go", "the build runs".
        noun_is_plural = word.endswith("s")
        if place + 2 == len(lower) and noun_is_plural and after == FORMS[after] and after not in _WITHOUT_OBJECT:
            return True
        if after.endswith("ed") or (after == FORMS[after]) == noun_is_plural:
            return False
    if word == base:
        if words[place - 1].isupper() and any(
            FORMS.get(other, other) != other or other in BE for other in lower[place + 1 :]
        ):
            # "The VAT rate on invoices is …".
            return False
        return "and" in lower[:place] or (any(character.isupper() for character in words[place - 1][:1]) and place > 1)
    return True


def _is_imperative(words: Sequence[str], lower: Sequence[str]) -> bool:
    """Return whether words begin with what is asked for: "Book me a window seat".

    "Invoice A-700 was paid", "feed got pricey" and "service A calls service B" begin with nothing of the kind.
    """
    word, after = lower[0], lower[1] if len(lower) > 1 else ""
    if word != FORMS[word] or not after or after in AUXILIARIES or word in ("back", "last", "right"):
        return False
    if is_identifier(after) or (len(after) == 1 and words[1].isupper() and after != "i"):
        return not any(other in AUXILIARIES or _is_of_third(other) for other in lower[2:4])
    if word in ASKED or after in DETERMINERS | {"me", "us"}:
        return True
    return not any(other in AUXILIARIES or other in FORMS for other in lower[1:5])


def _is_of_third(word: str) -> bool:
    return word.endswith("s") and FORMS.get(word, word) != word


_UNKNOWN_AFTER = PREPOSITIONS | DETERMINERS | {"daily", "weekly", "hourly", "monthly", "nightly", "every", "only"}


def _unknown_verb(words: Sequence[str], lower: Sequence[str]) -> int | None:
    """Return where a verb that no list has may stand: it ends in s, and what follows is no noun."""
    if len(lower) > 2 and lower[0] in FIRST_PERSON | {"they"} and lower[1].isalpha() and lower[1] not in PREPOSITIONS:
        return 1
    for place in range(1, len(lower) - 1):
        word, after = lower[place], lower[place + 1]
        if (
            word.endswith("s")
            and not word.endswith(("ss", "us", "is"))
            and lower[place - 1] not in DETERMINERS | PREPOSITIONS
            and (after in _UNKNOWN_AFTER or after[0].isdigit() or after.endswith("ly") or words[place + 1][0].isupper())
            and not lower[place - 1].endswith("s")
        ):
            return place
    return None


class Predicate(NamedTuple):
    """A verb, and what follows it."""

    verb: str
    """Its base, with its particle: "pick up"; empty where there is none."""
    rest: tuple[str, ...]
    negated: bool
    passive: bool


def predicate_of(words: Sequence[str]) -> Predicate:  # noqa: C901, PLR0912  one branch for each form
    """Return what words say that begin with a verb or its auxiliaries."""
    place, negated, be, verb, passive = 0, False, False, "", False
    ended = helped = False
    while place < len(words):
        word = words[place].lower()
        if word == "used" and place + 1 < len(words) and words[place + 1].lower() == "to":
            ended, place = True, place + 2
        elif word == "no" and place + 1 < len(words) and words[place + 1].lower() in ("longer", "more"):
            negated, place = True, place + 2
        elif word in ("not", "never"):
            negated, place = not negated, place + 1
        elif word in PASSING and not (verb and word in ("very",)):
            place += 1
        elif verb:
            break
        elif word in BE or (be and word == "back"):
            be, place = True, place + 1
        elif word in MODALS or (word in DO and _helps(words[place + 1 :])):
            helped, place = True, place + 1
        elif word in HAVE:
            following = [w.lower() for w in words[place + 1 :] if w.lower() not in PASSING | {"not", "never"}]
            if following and (following[0] in BE or (following[0] in FORMS and _participle(following[0]))):
                place += 1
            elif following and following[0] == "to":
                place += [w.lower() for w in words[place:]].index("to") + 1
            else:
                verb, place = "have", place + 1
        elif word in FORMS or helped or (not be and not place):
            base = FORMS.get(word, word.removesuffix("s"))
            if be and (word in ADJECTIVES or not (_participle(word) or word.endswith("ing"))):
                break
            after = [w.lower() for w in words[place + 1 : place + 2]]
            if be and word == base and not after:
                break
            if be and word == "going" and after == ["to"]:
                place += 2
                continue
            if word in ("get", "gets", "got") and after and after[0] in FORMS and _participle(after[0]):
                be, place = True, place + 1
                continue
            verb, passive, place = base, be and not word.endswith("ing"), place + 1
        else:
            break
    if verb and place < len(words) and words[place].lower() in _PARTICLES:
        verb, place = f"{verb} {words[place].lower()}", place + 1
    rest = [word for word in words[place:] if word.lower() not in PASSING or word.lower() in ("once", "again")]
    return Predicate(verb or ("be" if be else ""), tuple(rest), negated != ended, passive)


def _helps(after: Sequence[str]) -> bool:
    """Return whether a form of "do" before these words only helps another verb."""
    following = [word.lower() for word in after if word.lower() not in PASSING]
    return bool(following) and (following[0] in NEGATIONS or following[0] in FORMS)


def _participle(word: str) -> bool:
    base = FORMS.get(word)
    return (
        base is not None
        and (
            word != base
            or base
            in ("set", "put", "cut", "run", "come", "become", "read", "hit", "let", "quit", "shut", "split", "cost")
        )
        and not word.endswith("s")
    )
