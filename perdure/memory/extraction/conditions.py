"""What a sentence says of when it holds, apart from what then holds: "if it rains, we meet indoors". Pure."""

import re
from functools import lru_cache
from typing import NamedTuple

from perdure.memory.extraction.content_words import says_it_was_otherwise
from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.substance import words

_FIRST = regex(
    r"^\W*(?:but |and |so |also,? )?(?P<when>(?:if|unless|when|whenever|once(?! (?:again|more))|while|until|in case"
    r"|as soon as|as long as|provided(?: that)?|given that)\b[^,:;]{2,200}), (?:then )?(?P<what>\S.+)$",
    re.IGNORECASE | re.DOTALL,
)
_LAST = regex(
    r"^(?P<what>\S.{4,}?)(?<! even)(?<! as)(?<! see)[, ] ?"
    r"(?P<when>(?:only )?(?:if|unless|whenever|in case|as soon as|as long as|provided(?: that)?"
    r"|(?<!is )(?<!are )(?<!was )(?<!were )(?<!'s )when) .{2,})$",
    re.IGNORECASE | re.DOTALL,
)


class Conditional(NamedTuple):
    """A sentence in two parts."""

    what: str
    when: str = ""
    """The clause with the condition; empty: it holds as it is."""


# A batch is compared with up to a thousand memories, item by item.
@lru_cache(maxsize=2_000)
def conditional(text: str) -> Conditional:
    """Return a sentence without the clause that says when it holds, and that clause."""
    match = _FIRST.match(text) or _LAST.match(text)
    if match is None or (match["when"].lower().startswith("when") and says_it_was_otherwise(match["what"])):
        # "We stopped when it closed" tells an event.
        return Conditional(text)
    return Conditional(match["what"], match["when"])


def may_concern(new: str, old: str) -> bool:
    """Return whether a statement can hold where an earlier one does: under its condition, or where it ends that."""
    here, there = conditional(new), conditional(old)
    if not here.when and says_it_was_otherwise(here.what):
        return True
    return here.when == there.when or set(words(here.when)) == set(words(there.when))
