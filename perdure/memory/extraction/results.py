"""What a tool's result states, as far as it may be believed: some sentences, and never the result. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from pydantic import JsonValue

from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.rules import extraction_of
from perdure.memory.extraction.screening import screen
from perdure.memory.write_policies import WritePolicy
from perdure.values.entries import MARKER
from perdure.values.items import statement
from perdure.values.statements import Said, Voice

READ = 2_000
"""Characters of a result that are read, in 50 to 100 ms on one core (measured); what comes behind them is data rather
than an insight. A choice."""

MOST = 5
"""Statements of one result that are offered, half of what a session may have by default. A choice."""

_LONGEST = 500
"""Characters of a statement: an episode holds no more, and what is cut off may say the opposite."""

_LOOKED_AT = 2_000
"""Values of a result that are looked at: a long list of numbers has no end of them. A choice."""

_WORDS = 4
"""Words from which on a text may be a statement: fewer are a value, as a name or a status. A choice."""

_WORD = regex(r"[^\W\d_]{2,}")
_END = regex(r"[.!?](?=\s)|\n")


def statements_of(output: JsonValue, arguments: str, *, at: datetime, policy: WritePolicy) -> list[str]:
    """Return what may be believed of a tool's result, in its words.

    What the tool was given is left out where it comes back: it may be what was recalled. So are recalled items.

    Args:
        output: What the tool returned.
        arguments: What it was given, as JSON; of arguments that were shortened, nothing is believed.
        at: When.
        policy: What may be believed at all.
    """
    try:
        given = statement(" ".join(text for _, text in _leaves(json.loads(arguments or "{}"))))
    except ValueError:
        # They were shortened, so it is not known what comes back.
        return []
    found = dict[str, None]()
    for label, text in _texts(output):
        said = Said(text=text, by=Voice.TOOL, at=at, occurrence="result")
        stated = [one.content for one in extraction_of(said, policy.allow, policy.believe).candidates]
        stated = [one for one in stated if len(one) <= _LONGEST and _is_sentence(one) and statement(one) not in given]
        if stated and not _is_given_away(label, text):
            found |= dict.fromkeys(stated)
        if len(found) >= MOST:
            break
    return list(found)[:MOST]


def _texts(output: JsonValue) -> Iterator[tuple[str, str]]:
    """Yield the sentences in a result that are read, text by text with its name, each up to its last whole sentence."""
    left = READ
    for label, text in _leaves(output):
        part = text[:left]
        if len(part) < len(text):
            ends = [match.end() for match in _END.finditer(part)]
            part = part[: ends[-1]] if ends else ""
        left -= min(left, len(text))
        clean = "".join(one if one >= " " or one in "\t\n" else " " for one in part).encode(errors="ignore").decode()
        if MARKER not in clean and _is_sentence(clean):
            yield label, clean
        if left == 0:
            return


def _leaves(output: JsonValue) -> Iterator[tuple[str, str]]:
    """Yield the texts of a value in their order, each with its name, without what a recall found."""
    waiting: list[tuple[str, Any]] = [("", output)]
    for _ in range(_LOOKED_AT):
        if not waiting:
            return
        label, value = waiting.pop()
        if isinstance(value, str):
            yield label, value
        elif isinstance(value, Mapping):
            fields = cast("Mapping[str, Any]", value)
            if not {"found_by", "score"} <= fields.keys():
                waiting += reversed([*fields.items()][:_LOOKED_AT])
        elif isinstance(value, Sequence):
            waiting += ((label, one) for one in reversed(cast("Sequence[Any]", value)[:_LOOKED_AT]))


def _is_given_away(label: str, text: str) -> bool:
    """Return whether only its name shows that a text is private or secret: what stands under "password"."""
    return bool(label) and screen(f"{label}: {text}").kinds != screen(text).kinds


def _is_sentence(text: str) -> bool:
    return len(_WORD.findall(text[:READ])) >= _WORDS
