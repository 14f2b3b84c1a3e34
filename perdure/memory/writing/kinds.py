"""Whether two statements say different kinds of things of what both are about: who somebody is, and how. Pure.

``agreement`` compares what two sentences assert, in which no word has its capital any more.
"""

import re

from perdure.memory.extraction.content_words import told
from perdure.memory.extraction.lexicon import LANGUAGES, PREPOSITIONS, word_list
from perdure.memory.extraction.phrases import is_identifier, stemmed
from perdure.memory.extraction.speech import tokens_of
from perdure.values.assertions import Assertion
from perdure.words import stem

_SAYING = frozenset({"be", "name", "change"})
_FAVOURITE = frozenset({"favourite", "favorite"})
"""Of anything: teas have names with and without capitals."""
_OWNER = re.compile(r"^(?:(?:[Mm]y|[Oo]ur) (?P<kin>[a-z-]+)|(?P<name>[A-Z][\w-]+))['’]s? (?=\w)")
"""Whose it is that a sentence speaks of first."""
_BEINGS = word_list(
    "sister brother sibling friend colleague coworker cousin neighbour neighbor client customer child kid son daughter "
    "aunt uncle teammate pet dog cat horse pupil grandchild nephew niece flatmate roommate parent grandparent wife "
    "husband mother father mum mom dad girlfriend boyfriend baby"
)
"""Who is not exchanged for another."""


def differ_in_kind(old: Assertion, its_text: str, new: Assertion, text: str) -> bool:
    """Return whether both can be because they are answers to different questions.

    "My boss is Kim", "my boss is nice now"; "our office is small", "we moved the office to Oslo".

    Args:
        old: What is known to be asserted.
        its_text: The sentence that asserts it.
        new: What a later sentence asserts.
        text: That sentence.
    """
    if old.subject != new.subject and _is_of_another(its_text, text):
        return True
    changed = new.attribute == "change"
    said = new.value.removeprefix("to ").removeprefix("into ") if changed else new.value
    before, after = _object(old.value), _object(said)
    answers = old.attribute in ("be", "name") and new.attribute in _SAYING and not new.former
    if not (answers and before and after):
        return False
    # Nobody's son is changed for another.
    being = changed and old.subject.rsplit(maxsplit=1)[-1] in _BEINGS
    if being or (_is_language(said) and not _is_language(old.value)):
        return True
    is_named, counts = bool(_names(text) & {*after}), [is_identifier(word) for word in after]
    if _names(its_text) & {*before} and not _FAVOURITE & {*old.subject.split()}:
        # What a sentence begins with has a capital, whether or not it is a name.
        return not (is_named or counts[-1] or text.split(maxsplit=1)[0].lower() in said.split())
    if changed:
        return is_named and (old.several or is_identifier(before[0])) and not any(counts)
    return old.several and any(counts)


def _is_of_another(old: str, new: str) -> bool:
    """Return whether the earlier one is of somebody whom the later one does not name: "Bo's car" is not mine."""
    owner = _OWNER.match(old)
    whose = (owner["name"] or owner["kin"]).lower() if owner and (owner["name"] or owner["kin"] in _BEINGS) else ""
    return bool(whose) and not {*stemmed(whose)} & told(new).words


def _is_language(value: str) -> bool:
    return value.rsplit(maxsplit=1)[-1] in LANGUAGES


def _names(text: str) -> frozenset[str]:
    """Return the stems of the words that have a capital although the text does not begin with them."""
    return frozenset(stem(word.lower()) for word in tokens_of(text)[1:] if word[:1].isupper())


def _object(value: str) -> list[str]:
    """Return the words of a value before its first preposition."""
    words = value.split()
    return stemmed(" ".join(words[: next((place for place, word in enumerate(words) if word in PREPOSITIONS), None)]))
