"""Blocks of recalled memory in a text, whole or in part, however they are quoted. Pure.

``recall.context`` renders them. They are known by their delimiters, and line by line by the form of their items: by
how often something was seen, and by the date and kind of what was said or happened. Only an item of working memory
has no form of its own: it is known by a delimiter, or by its heading where something else of a block is there.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from perdure.memory.extraction.patterns import regex
from perdure.values.episodes import EpisodeKind

_BEGUN = r"<memory note=[\"'“]recalled notes\b"
_OPEN = regex(rf"{_BEGUN}|(?:recalled )?notes, not instructions\">")
"""Also where the beginning of the line was cut off."""
_CLOSE = "</memory>"
_INSIDE = regex(rf"(?<=\w)[^\w\n]*(?={_BEGUN})|(?<=</memory>)[ \t]*(?=\S)")
"""Where a block begins or ends inside a line that says something else too."""
_QUOTING = regex(r"[ \t]*(?:[>|][ \t]*)*")
_ITEM = regex(r"[-*•+] ")
_HEADING = regex(r"#{1,6} ")
_UNMARKED = regex(r"#{1,6} (?:Working memory|This session|Found in this session|Said in conversations)\s*$")
"""Headings of items that other people's lists may also have: they count only if something else shows a block."""
_SEEN = regex(r"\(seen \d+×")
_KINDS = "|".join(kind.value for kind in EpisodeKind if kind.known)
_DATED = regex(rf"[-*•+] \d{{4}}-\d\d-\d\d (?:\d\d:\d\d )?(?:{_KINDS}): ")
"""What was said or happened, with the word for its kind: people write dated lists of their own."""
_NOTE = regex(r"\((?:constraints left out: \d+:|\d+ more left out\))|Not everything could be read: no answer from ")
_FENCE = regex(r"(?:```|~~~)\w*\s*$")
_WRAPPED = 4
"""Lines that one item may have been wrapped into. A choice."""


def without_rendered(text: str) -> str:
    """Return a text without blocks of recalled memory, and without single lines of such a block.

    A block that is not closed goes to the end of the text, or of its quotation: what was cut off is not a statement of
    the one who pasted it.
    """
    lines = _INSIDE.sub("\n", text).split("\n")
    bare = [line[_quoting(line) :] for line in lines]
    gone = _blocks(lines, bare) | _items(bare)
    if not gone:
        return text
    gone = _framed(bare, gone.union(_headed(bare)))
    # What is left of a quotation are its signs.
    gone |= {place for place, line in enumerate(lines) if line.strip() and not bare[place].strip()}
    return "\n".join(line for place, line in enumerate(lines) if place not in gone)


def _quoting(line: str) -> int:
    found = _QUOTING.match(line)
    return found.end() if found else 0


def _is_quoted(line: str) -> bool:
    return any(sign in line[: _quoting(line)] for sign in ">|")


def _blocks(lines: Sequence[str], bare: Sequence[str]) -> set[int]:
    """Return the places of the lines between two delimiters, or next to one whose other was cut off."""
    gone: set[int] = set()
    opened: int | None = None
    for place, line in enumerate(bare):
        if opened is not None and _is_quoted(lines[opened]) and not _is_quoted(lines[place]):
            opened = None
        if opened is None and _OPEN.search(line):
            opened = place
        if opened is not None:
            gone.add(place)
        if _CLOSE in line and (opened is not None or line.startswith(_CLOSE)):
            gone |= {place, *(_above(bare, place) if opened is None else ())}
            opened = None
    return gone


def _above(bare: Sequence[str], end: int) -> Iterable[int]:
    """Yield the places of the lines before an end that stand as in a block."""
    for place in range(end - 1, -1, -1):
        if not _stands_in_block(bare[place]):
            return
        yield place


def _stands_in_block(line: str) -> bool:
    return any(form.match(line) for form in (_ITEM, _HEADING, _NOTE)) or bool(_SEEN.search(line))


def _items(bare: Sequence[str]) -> set[int]:
    """Return the places of single lines of a block, by their form."""
    gone: set[int] = set()
    for place, line in enumerate(bare):
        if _DATED.match(line) or _NOTE.match(line) or _SEEN.search(line):
            gone.add(place)
        elif _ITEM.match(line):
            gone |= {*_wrapped(bare, place)}
    return gone


def _headed(bare: Sequence[str]) -> Iterable[int]:
    """Yield the places of the items that have no form of their own, by their heading."""
    below = False
    for place, line in enumerate(bare):
        below = bool(_UNMARKED.match(line)) or (below and bool(_ITEM.match(line)))
        if below:
            yield place


def _wrapped(bare: Sequence[str], start: int) -> range:
    """Return the places of an item that was wrapped into several lines; empty: it is none of a block."""
    item = bare[start]
    for place in range(start + 1, min(start + _WRAPPED, len(bare))):
        if not bare[place] or _ITEM.match(bare[place]) or _HEADING.match(bare[place]):
            break
        item = f"{item.rstrip()} {bare[place]}"
        if _SEEN.search(item):
            return range(start, place + 1)
    return range(0)


def _framed(bare: Sequence[str], gone: set[int]) -> set[int]:
    """Return the places of what is gone, with the headings and fences around it."""
    around = {*gone}
    for place in range(len(bare) - 2, -1, -1):
        if place + 1 in around and _HEADING.match(bare[place]):
            around.add(place)
    fences = [place for place, line in enumerate(bare) if _FENCE.match(line)]
    for opened, closed in pairwise(fences):
        inside = [one for one in range(opened + 1, closed) if bare[one].strip()]
        if inside and around.issuperset(inside):
            around |= {opened, closed}
    return around
