"""Real sentences, one decision each: which are believed, which are refused, and from which something is taken out.

A case is a JSON object a line: ``text``, ``said_by``, ``before``, ``expect`` (store, refuse, redact), ``reason``,
``must_mention`` and ``must_not_mention`` (compared without case).
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from perdure.memory.extraction.rules import extraction_of
from perdure.values.statements import Said, Voice

FILE = Path(__file__).parent / "sentences.jsonl"
PARTS = 6
"""Each takes 15 s beside four others: all of them at once took two minutes."""


def stored(case: dict[str, Any]) -> str:
    said = Said(
        text=case["text"],
        by=Voice(case["said_by"]),
        before=case.get("before", ""),
        at=datetime(2026, 5, 1, tzinfo=UTC),
        occurrence=case["id"],
    )
    return "\n".join(candidate.content for candidate in extraction_of(said).candidates)


def is_right(case: dict[str, Any], stored: str) -> bool:
    mentions = all(part.casefold() in stored.casefold() for part in case["must_mention"])
    match case["expect"]:
        case "store":
            return bool(stored) and mentions
        case "redact":
            return bool(stored) and mentions and not is_false(case, stored)
        case _:
            return not stored


def is_false(case: dict[str, Any], stored: str) -> bool:
    if case["expect"] == "refuse":
        return bool(stored)
    return any(part.casefold() in stored.casefold() for part in case["must_not_mention"])


@pytest.mark.parametrize("part", range(PARTS))
def test_the_rules_decide_as_people_do(part: int) -> None:
    cases = [json.loads(line) for line in FILE.read_text().splitlines()[part::PARTS]]
    decided = [(case, stored(case)) for case in cases]
    wrong = [
        f"{case['id']} {case['expect']} {case['reason']}: {case['text']!r} -> {kept!r}"
        for case, kept in decided
        if not is_right(case, kept)
    ]
    forbidden = [case for case, kept in decided if case["expect"] != "store" and is_false(case, kept)]
    private = [case for case in forbidden if case["reason"] in ("pii", "secret")]
    refusable = sum(case["expect"] != "store" for case in cases)
    shown = "\n".join(wrong)
    print(f"{FILE.name}: {len(wrong)} of {len(cases)} wrong\n{shown}")
    assert len(wrong) <= 0.05 * len(cases), shown
    assert len(forbidden) <= 0.03 * refusable, shown
    assert not private, shown
