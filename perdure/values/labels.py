"""What people call things: which labels are the same, and which of them a text names. Pure.

Case, spaces and punctuation do not count: "Node.js", "node js" and "NodeJS" are one label. A text names what it says in
whole words, never by a mere part of one; a word of five letters or more may be misspelt in one letter.
"""

import functools
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import OSA

from perdure.words import STOP_WORDS, UNSPACED, separated

LEAST_MISSPELT = 5
"""Letters of a word in which one may be wrong: too many shorter words become another word with one letter changed."""

_LONGEST = 8
"""Words of a label that is looked for in a text. A choice."""

_LONGEST_MISSPELT = 3
"""Words of a label that may be misspelt. A choice: it bounds how many spellings a question asks for."""

_WORDS_READ = 100
"""How many words from the beginning and from the end of a text are looked through. A choice: a question is shorter, and
what is pasted into one would ask for thousands of labels."""

_POSSESSIVE = re.compile(r"(?<=\w)['’]s(?!\w)", re.IGNORECASE)
_DOT_FIRST = re.compile(r"(?<!\S)\.(?=[^\W\d_])")
""".NET and .env, which are no other words than "net" and "env" without their dot."""
_PIECE = re.compile(r"[^+#\s]+[+#]*")
"""C++, C# and F# are not C and F."""


class Word(NamedTuple):
    """A word of a text or a label."""

    folded: str
    written: str


class _Span(NamedTuple):
    start: int
    end: int
    exact: bool
    label: str


def words_of(text: str) -> list[Word]:
    """Return the words that labels are compared by, in their order."""
    plain = unicodedata.normalize("NFKC", text)
    plain = _DOT_FIRST.sub("dot", _POSSESSIVE.sub(" ", plain))
    found: list[Word] = []
    for piece in _PIECE.findall(separated(plain, keep="+#")):
        for part in filter(None, UNSPACED.split(piece)):
            # Text that is written without spaces has no word boundaries: each of its characters counts as a word.
            found += [Word(one.casefold(), one) for one in (part if UNSPACED.match(part) else [part])]
    return found


@functools.lru_cache(maxsize=20_000)
def _words_of_label(name: str) -> tuple[Word, ...]:
    return tuple(words_of(name))


def label(name: str) -> str:
    """Return the part of a name that is compared; empty for one without letters and digits."""
    return "".join(word.folded for word in _words_of_label(name))


def without_determiner(name: str) -> str:
    """Return a label without the articles and pronouns that it begins with: of "my team lead", "team lead"."""
    words = [word.folded for word in words_of(name)]
    while words and words[0] in STOP_WORDS:
        words.pop(0)
    return " ".join(words)


def halves(name: str) -> set[str]:
    """Return the two halves of a label that may be misspelt, each with the length of the whole.

    One wrong letter leaves one of them as it is, so those of a question find every label that it may mean.
    """
    words = _words_of_label(name)
    if len(words) > _LONGEST_MISSPELT or not any(len(word.folded) >= LEAST_MISSPELT for word in words):
        return set()
    return set(_halves("".join(word.folded for word in words)))


def asked_labels(text: str) -> tuple[list[str], list[str]]:
    """Return every label that a text may name, and the halves of every label that it may misspell."""
    labels: dict[str, None] = {}
    wanted: dict[str, None] = {}
    for span in _spans(_read(text)):
        whole = "".join(word.folded for word in span)
        labels[whole] = None
        ends = {span[0].folded, span[-1].folded} & STOP_WORDS
        if len(span) <= _LONGEST_MISSPELT and not ends and any(len(word.folded) >= LEAST_MISSPELT - 1 for word in span):
            wanted |= dict.fromkeys(_halves_near(whole))
    return list(labels), list(wanted)


def named(text: str, names: Iterable[str]) -> dict[str, bool]:
    """Return which names a text names, and whether it spells them right.

    Of two names, one inside the other, the text names the longer one. An exact name is not the misspelling of another
    one. A name that is a stop word ("IT", "May") counts only as it is written.

    Args:
        text: The text.
        names: All known names; the more there are, the better the one that is meant can be distinguished.
    """
    words = _read(text)
    spelled: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        spelled.setdefault(label(name), []).append(name)
    spans = [span for known in spelled.values() for name in known for span in _found(words, name)]
    spans.sort(key=lambda span: (span.start - span.end, not span.exact, span.start, span.label))
    kept: list[_Span] = []
    for span in spans:
        if not any(_covers(longer, span) for longer in kept):
            kept.append(span)
    found: dict[str, bool] = {}
    for span in kept:
        for name in spelled[span.label]:
            found[name] = found.get(name, False) or span.exact
    return found


def misspelt(word: str, typed: str) -> bool:
    """Return whether a word was meant that has one letter more, less, changed, or in its neighbour's place.

    A word that only goes on where the other one ends is another word, but for a plural and a doubled letter. So is one
    that begins otherwise: people hardly ever mistake the first letter (1.4 % of misspellings, Yannakoudakis and
    Fawthrop 1983), and "other" is not "mother". Numbers are not misspelt: what differs in a digit is another thing.

    >>> misspelt("kubernetes", "kubenretes"), misspelt("martin", "martina"), misspelt("phase1", "phase2")
    (True, False, False)
    """
    if len(word) < LEAST_MISSPELT or typed in STOP_WORDS or OSA.distance(word, typed, score_cutoff=1) != 1:
        return False
    if [one for one in word if not one.isalpha()] != [one for one in typed if not one.isalpha()]:
        return False
    if word[0] != typed[0] and word[:2] != typed[1::-1]:
        return False
    shorter, longer = sorted((word, typed), key=len)
    if not longer.startswith(shorter):
        return True
    return len(shorter) >= LEAST_MISSPELT and longer[-1] in {"s", shorter[-1]}


def _found(words: Sequence[Word], name: str) -> Iterator[_Span]:
    own = _words_of_label(name)
    whole = "".join(word.folded for word in own)
    if not whole:
        return
    for start in range(len(words)):
        said = ""
        for end in range(start + 1, min(len(words), start + _LONGEST) + 1):
            said += words[end - 1].folded
            if len(said) > len(whole):
                break
            if said == whole and _means(words, start, end, own):
                yield _Span(start, end, True, whole)
        span = words[start : start + len(own)]
        if len(span) == len(own) and len(own) <= _LONGEST_MISSPELT and _is_misspelt(own, span):
            yield _Span(start, start + len(own), False, whole)


def _means(words: Sequence[Word], start: int, end: int, own: Sequence[Word]) -> bool:
    """Return whether words that spell a name are meant as it."""
    if all(word.folded in STOP_WORDS for word in own):
        first = start == 0 and not words[0].written.isupper()
        return not first and [word.written for word in words[start:end]] == [word.written for word in own]
    # "as Ana" is not "Asana".
    return end - start == len(own) or not any(word.folded in STOP_WORDS for word in words[start:end])


def _is_misspelt(own: Sequence[Word], span: Sequence[Word]) -> bool:
    differing = [(one.folded, other.folded) for one, other in zip(own, span, strict=True) if one.folded != other.folded]
    return len(differing) == 1 and misspelt(*differing[0])


def _covers(longer: _Span, span: _Span) -> bool:
    """Return whether a span says nothing besides a longer one, or one that is spelled right."""
    if longer.label == span.label:
        return False
    if not span.exact and longer.exact:
        return span.start < longer.end and longer.start < span.end
    inside = longer.start <= span.start and span.end <= longer.end
    return inside and (longer.start, longer.end) != (span.start, span.end)


def _read(text: str) -> list[Word]:
    words = words_of(text)
    return words if len(words) <= 2 * _WORDS_READ else words[:_WORDS_READ] + words[-_WORDS_READ:]


def _spans(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + _LONGEST) + 1):
            yield words[start:end]


def _halves(whole: str) -> tuple[str, str]:
    middle = len(whole) // 2
    return f"{len(whole)}<{whole[:middle]}", f"{len(whole)}>{whole[middle:]}"


def _halves_near(typed: str) -> Iterator[str]:
    """Yield the halves of labels that are one letter longer, shorter, or as long."""
    for length in range(len(typed) - 1, len(typed) + 2):
        middle = length // 2
        yield f"{length}<{typed[:middle]}"
        yield f"{length}>{typed[len(typed) - (length - middle) :]}"
    middle = len(typed) // 2
    # Two letters that changed places across the middle touch both halves.
    yield f"{len(typed)}<{typed[: middle - 1]}{typed[middle : middle + 1]}"


def labels_of(names: Collection[str]) -> list[str]:
    """Return the labels of names, each once, without those that have none."""
    return [*dict.fromkeys(filter(None, map(label, names)))]
