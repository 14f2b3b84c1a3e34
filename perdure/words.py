"""A text as the words that it is searched by: folded, split, without stop words, stemmed. Pure.

Text and question go the same way, so that they meet in the same forms.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, cast

ENGLISH = "english"

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the is are was were be been being am of to in on at for and or with did does do doing done what "
        "when where who whom whose how which why has have had having her his their its it he she they them him "
        "you your yours i me my mine we us our that this these those from by as would could should can will "
        "shall may might not no so if but about into than then there here just any some s t d ll m re ve",
    )
)

UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003134f]+)"
)
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese, which put no spaces between words."""


@functools.cache
def languages() -> frozenset[str]:
    """Return the languages whose words can be stemmed: Snowball's."""
    return frozenset(cast("list[str]", _snowball().algorithms()))


def _snowball() -> Any:
    # The stemmers of thirty languages take 60 ms to load (measured), which what reads no text need not wait for.
    import snowballstemmer  # noqa: PLC0415

    return snowballstemmer


class _Separators(dict[int, int | str]):
    """Maps what is neither letter, digit nor a mark on one to a space, and remembers it."""

    def __init__(self, keep: str) -> None:
        super().__init__((ord(one), one) for one in keep)

    def __missing__(self, code: int) -> int | str:
        self[code] = code if unicodedata.category(chr(code))[0] in "LMN" else " "
        return self[code]


@functools.cache
def _separators_but(keep: str) -> _Separators:
    return _Separators(keep)


def separated(text: str, keep: str = "") -> str:
    """Return a text with a space for everything but letters, digits, marks on them, and the characters to keep."""
    return text.translate(_separators_but(keep))


def stems(text: str, language: str = ENGLISH) -> list[str]:
    """Return the stems of a text in their order, with repetitions.

    Text is compared in NFKC and without case. What is written without spaces counts by each two characters that follow
    one another. Words of other languages than the one given stay as they are but for their endings.

    Args:
        text: Any text.
        language: Whose endings are taken off, one of ``languages``. In English, stop words are left out; those of
            other languages stay, and weigh little, since most texts have them.
    """
    folded = separated(unicodedata.normalize("NFKC", text).casefold())
    left_out = STOP_WORDS if language == ENGLISH else frozenset[str]()
    return [stem(word, language) for word in _words(folded) if word not in left_out]


def _words(folded: str) -> Iterator[str]:
    for spaced in folded.split():
        if spaced.isascii():
            yield spaced
            continue
        for part in filter(None, UNSPACED.split(spaced)):
            if UNSPACED.match(part) and len(part) > 1:
                yield from (part[at : at + 2] for at in range(len(part) - 1))
            else:
                yield part


# Stemming takes 23 µs a word, and few words make up most of a text.
@functools.lru_cache(maxsize=50_000)
def stem(word: str, language: str = ENGLISH) -> str:
    """Return the stem of one folded word."""
    return cast("str", _snowball().stemmer(language).stemWord(word))
