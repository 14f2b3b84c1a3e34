"""Precision of recall: how much of what comes back a question asked for. On the cases in DATA; see their README."""

import json
import os
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from pydantic import Field, JsonValue
from rich.console import Console

from bench.measured_worker import Serving, remembered, serving
from perdure.documents import validated
from perdure.errors import InvalidInput
from perdure.memory.recall.query import FoundBy, Query
from perdure.model import Model
from perdure.settings import Addresses
from perdure.values.strategies import Strategy

CASES = Path(__file__).with_suffix("")
_OWN = ("label", "user", "supersedes")
"""The fields of a belief that are not an item's."""


class Question(Model):
    """A question of a file."""

    text: str
    expected: tuple[str, ...]
    user: str = ""
    scopes: tuple[str, ...] = ()
    kind: str = ""


class Cases(Model):
    """One file: a memory and the questions to it."""

    about: str = ""
    beliefs: tuple[dict[str, JsonValue], ...]
    questions: tuple[Question, ...] = Field(min_length=1)

    def of(self, belief: Mapping[str, JsonValue], field: str) -> str:
        """Return what a belief says in a field of its own; empty: nothing."""
        return str(belief.get(field) or "")

    def in_order(self) -> Iterator[list[dict[str, JsonValue]]]:
        """Yield the beliefs in groups, each after those that it replaces.

        Raises:
            InvalidInput: A belief replaces one that is not in the file.
        """
        left, written = list(self.beliefs), set[str]()
        while left:
            ready = [one for one in left if self.of(one, "supersedes") in {"", *written}]
            if not ready:
                known = ", ".join(self.of(one, "supersedes") for one in left)
                raise InvalidInput("supersedes", f"{known}: no such belief before", fix="name the label of another one")
            left = [one for one in left if one not in ready]
            written |= {self.of(one, "label") for one in ready}
            yield ready


class Scored(NamedTuple):
    """How right one answer was."""

    kind: str
    precision: float
    recall: float


async def run(addresses: Addresses) -> dict[str, float]:
    """Write every file's beliefs and ask its questions, with ``precise`` and with ``balanced``."""
    files = read(Path(os.environ.get("DATA") or CASES))
    asked: dict[Strategy, list[Scored]] = {Strategy.PRECISE: [], Strategy.BALANCED: []}
    async with serving(addresses) as here:
        for name, cases in files.items():
            tenants: dict[str, str] = defaultdict(lambda: f"t_{uuid4().hex}")
            labels = await written(here, cases, tenants)
            for strategy in asked:
                found = [await asked_of(here, one, tenants[one.user], labels, strategy) for one in cases.questions]
                asked[strategy] += found
                for question, one in zip(cases.questions, found, strict=True):
                    if strategy is Strategy.PRECISE and min(one.precision, one.recall) < 1.0:
                        Console(stderr=True).print(f"{name}: {question.text!r} {one.precision:.2f} / {one.recall:.2f}")
            for tenant in tenants.values():
                await here.services.longterm.drop_tenant(tenant)
    for strategy, scored in asked.items():
        kinds = sorted({one.kind for one in scored})
        told = (f"{kind or 'other'} {_told([one for one in scored if one.kind == kind])}" for kind in kinds)
        Console(stderr=True).print(f"{strategy}: {_told(scored)} ({', '.join(told)})")
    precise, balanced = (means(asked[one]) for one in (Strategy.PRECISE, Strategy.BALANCED))
    return {
        "precision.precision": precise[0],
        "precision.recall": precise[1],
        "precision.balanced_precision": balanced[0],
        "precision.balanced_recall": balanced[1],
        "precision.questions": float(len(asked[Strategy.PRECISE])),
    }


def read(folder: Path) -> dict[str, Cases]:
    """Read the files of a folder, by name.

    Raises:
        InvalidInput: There are none, or one is not of the form that the README there says.
    """
    files = {path.stem: _cases(path) for path in sorted(folder.glob("*.json"))}
    if not files:
        raise InvalidInput("DATA", f"no *.json in {folder}", fix="make bench-precision DATA=folder of cases")
    return files


def score(returned: Mapping[str, bool], question: Question) -> Scored:
    """Return how right an answer is.

    Args:
        returned: The labels that came back, and whether only because they are pinned.
        question: What was asked.
    """
    expected = set(question.expected)
    counted = {label for label, only_pinned in returned.items() if label in expected or not only_pinned}
    right = len(counted & expected)
    if not expected:
        return Scored(question.kind, float(not counted), 1.0)
    return Scored(question.kind, right / len(counted) if counted else 0.0, right / len(expected))


def _cases(path: Path) -> Cases:
    try:
        cases = validated(Cases, json.loads(path.read_text(encoding="utf-8")), path.name)
    except ValueError as error:
        raise InvalidInput(path.name, f"is not JSON: {error}") from error
    labels = [cases.of(belief, "label") for belief in cases.beliefs]
    unknown = {label for one in cases.questions for label in one.expected} - set(labels)
    if unknown or "" in labels or len(set(labels)) < len(labels):
        problem = f"expects {', '.join(sorted(unknown))}" if unknown else "has a belief without a label of its own"
        raise InvalidInput(path.name, problem, fix="give each belief its label, and expect those")
    return cases


async def written(here: Serving, cases: Cases, tenants: Mapping[str, str]) -> dict[str, str]:
    """Write the beliefs and return their labels by the ids of what they became."""
    labels: dict[str, str] = {}
    for group in cases.in_order():
        ids = {label: identifier for identifier, label in labels.items()}
        for user in sorted({cases.of(one, "user") for one in group}):
            of_user = [one for one in group if cases.of(one, "user") == user]
            items = [_item(cases, one, ids) for one in of_user]
            receipts = await remembered(here, tenants[user], items)
            labels |= {receipt.id: cases.of(one, "label") for receipt, one in zip(receipts, of_user, strict=True)}
    return labels


def _item(cases: Cases, belief: Mapping[str, JsonValue], ids: Mapping[str, str]) -> dict[str, JsonValue]:
    described = {name: value for name, value in belief.items() if name not in _OWN}
    replaced = cases.of(belief, "supersedes")
    return {
        "kind": "memory",
        "occurrence": f"precision/{cases.of(belief, 'label')}",
        "occurred_at": datetime.now(UTC).isoformat(),
        **described,
        **({"supersedes": ids[replaced]} if replaced else {}),
    }


async def asked_of(
    here: Serving, question: Question, tenant: str, labels: Mapping[str, str], strategy: Strategy
) -> Scored:
    """Ask a question, and return how right its answer is."""
    query = Query(
        tenant=tenant,
        session="bench",
        text=question.text,
        scopes=question.scopes,
        strategy=strategy,
        now=datetime.now(UTC),
    )
    result = await here.services.recall.recall(query)
    if result.degraded:
        raise RuntimeError(f"degraded: {result.degraded}")
    # What came from nowhere in the file has an id for a label, and is wrong.
    returned = {labels.get(item.id, item.id): item.found_by is FoundBy.PINNED for item in result.items}
    return score(returned, question)


def means(scored: Sequence[Scored]) -> tuple[float, float]:
    """Return the mean precision and recall."""
    return statistics.fmean(one.precision for one in scored), statistics.fmean(one.recall for one in scored)


def _told(scored: Sequence[Scored]) -> str:
    precision, recall = means(scored)
    return f"{precision:.3f} / {recall:.3f}"
