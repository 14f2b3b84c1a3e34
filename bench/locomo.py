"""Recall of conversation turns, on LoCoMo at dialog level: of a question's right turns, how many are among the first k.

The measure is that of the paper (Maharana et al., ACL 2024, table 3). One item is one turn, one recall a question, and
no language model is asked. The data is not part of the project: DATA names a folder of its files
(https://github.com/snap-research/locomo; CC BY-NC 4.0).
"""

import asyncio
import json
import os
import re
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from rich.console import Console

from bench import precision
from bench.measured_worker import Serving, serving
from perdure.errors import InvalidInput
from perdure.memory.recall.query import Query, RecalledItem
from perdure.settings import Addresses
from perdure.values.changes import Actor, ActorKind
from perdure.values.jobs import Fate
from perdure.values.requests import ObserveRequest
from perdure.values.statements import Said
from perdure.values.strategies import Strategy
from worker.gateway import Gateway
from worker.wiring.services import Services

BATCH = 100
LIMIT = 50
AT = (5, 10, 25, 50)
_JOBS_AT_ONCE = 8
_BY = Actor(kind=ActorKind.SYSTEM, id="bench")
_TURN = re.compile(r"D\d+:\d+")


class _Conversation(NamedTuple):
    name: str
    sessions: dict[str, list[Said]]
    """The turns of each session, in their order."""
    questions: list[tuple[str, frozenset[str]]]
    """Each with the ids of its right turns."""


async def run(addresses: Addresses) -> dict[str, float]:
    """Remember the conversations, one user each and then all by one user, and ask every question."""
    conversations = _read(Path(os.environ.get("DATA") or "."))
    async with serving(addresses) as here, Gateway(here.settings, addresses) as gateway:
        services = here.services
        run = uuid4().hex[:8]
        users = [f"{one.name}-{run}" for one in conversations]
        everybody = f"all-{run}"
        tenants = [services.tenant_key.tenant_of(user) for user in users]
        together = services.tenant_key.tenant_of(everybody)
        began = time.perf_counter()
        for one, user in zip(conversations, users, strict=True):
            await _remember(gateway, user, one.sessions)
        seconds = time.perf_counter() - began
        for one in conversations:
            await _remember(gateway, everybody, one.sessions)
        found: list[tuple[float, ...]] = []
        taken: list[float] = []
        for one, tenant in zip(conversations, tenants, strict=True):
            shares = [await _asked(services, tenant, one.name, question, taken) for question in one.questions]
            Console(stderr=True).print(f"{one.name}: {_told(shares)}")
            found += shares
        cut = [
            await _asked(services, tenant, one.name, question, [], Strategy.BALANCED)
            for one, tenant in zip(conversations, tenants, strict=True)
            for question in one.questions
        ]
        Console(stderr=True).print(f"balanced: {_told(cut)}")
        mixed = [
            await _asked(services, together, one.name, question, [])
            for one in conversations
            for question in one.questions
        ]
        Console(stderr=True).print(f"all by one user: {_told(mixed)}")
        # Last, as the memories stay.
        memories = await _beside(here, tenants)
        mixing = {"locomo.memories_precision": memories[0], "locomo.memories_recall": memories[1]}
        for strategy, name in ((Strategy.SIMILARITY, "recall"), (Strategy.BALANCED, "balanced_recall")):
            beside = [
                await _asked(services, tenant, one.name, question, [], strategy)
                for one, tenant in zip(conversations, tenants, strict=True)
                for question in one.questions
            ]
            Console(stderr=True).print(f"{strategy} beside memories: {_told(beside)}")
            mixing |= {f"locomo.{name}_at_{k}_beside_memories": share for k, share in _means(beside)}
        for tenant in (*tenants, together):
            await services.longterm.drop_tenant(tenant)
    count = sum(len(said) for one in conversations for said in one.sessions.values())
    figures = {f"locomo.recall_at_{k}": share for k, share in _means(found)}
    balanced = {f"locomo.balanced_recall_at_{k}": share for k, share in _means(cut)}
    of_one = {f"locomo.recall_at_{k}_in_one": share for k, share in _means(mixed)}
    p95 = sorted(taken)[int(len(taken) * 0.95)]
    of_all = {"locomo.p95_ms": p95, "locomo.ingest_per_second": count / seconds}
    return {**figures, **balanced, **of_one, **mixing, **of_all}


async def _beside(here: Serving, tenants: Sequence[str]) -> tuple[float, float]:
    """Add memories to users' turns, those of the precision cases, and ask these cases' questions.

    Returns:
        Precision and recall of the memories; what comes back of the conversations is wrong. ``precision.balanced_…``
        are the figures without any turns.
    """
    files = [
        cases for cases in precision.read(precision.CASES).values() if not any(one.user for one in cases.questions)
    ]
    users = [(cases, tenants[place % len(tenants)]) for place, cases in enumerate(files)]
    labels = [await precision.written(here, cases, {"": tenant}) for cases, tenant in users]
    scored = [
        await precision.asked_of(here, question, tenant, known, Strategy.BALANCED)
        for (cases, tenant), known in zip(users, labels, strict=True)
        for question in cases.questions
    ]
    found = precision.means(scored)
    Console(stderr=True).print(f"memories beside turns: precision {found[0]:.3f}, recall {found[1]:.3f}")
    return found


async def _remember(gateway: Gateway, user: str, sessions: Mapping[str, Sequence[Said]]) -> None:
    gate = asyncio.Semaphore(_JOBS_AT_ONCE)

    async def remember(session: str, start: int) -> int:
        said = sessions[session][start : start + BATCH]
        request = ObserveRequest(user_id=user, session=session, said=tuple(said), start=start, policy="transcript")
        async with gate:
            observed = await gateway.observe(request, by=_BY)
            return (await gateway.receipt(observed.job, by=_BY)).count(Fate.SEARCHABLE)

    parts = [(session, start) for session, said in sessions.items() for start in range(0, len(said), BATCH)]
    searchable = sum(await asyncio.gather(*(remember(session, start) for session, start in parts)))
    if searchable != (count := sum(map(len, sessions.values()))):
        raise RuntimeError(f"{searchable} of {count} turns are searchable")


async def _asked(
    services: Services,
    tenant: str,
    name: str,
    question: tuple[str, frozenset[str]],
    taken: list[float],
    strategy: Strategy = Strategy.SIMILARITY,
) -> tuple[float, ...]:
    """Return the share of the right turns among the first k, for each k."""
    text, right = question
    began = time.perf_counter()
    query = Query(
        tenant=tenant,
        session="bench",
        text=text,
        limit=LIMIT,
        strategy=strategy,
        now=datetime.now(UTC),
        context_characters=500,
    )
    result = await services.recall.recall(query)
    taken.append((time.perf_counter() - began) * 1000.0)
    if result.degraded:
        raise RuntimeError(f"degraded: {result.degraded}")
    places = [_id(item, name) for item in result.items]
    return tuple(len(right & set(places[:k])) / len(right) for k in AT)


def _id(item: RecalledItem, name: str) -> str:
    """Return the id that a turn has in the data; empty for one of another conversation."""
    of, _, number = item.session.rpartition(".")
    return f"D{number}:{(item.position or 0) + 1}" if of == name else ""


def _read(folder: Path) -> list[_Conversation]:
    """Read the data.

    Raises:
        InvalidInput: There is none in the folder.
    """
    found = [_conversation(path) for path in sorted(folder.glob("*.json"))]
    if not found:
        raise InvalidInput("DATA", f"no *.json in {folder}", fix="make bench-locomo DATA=folder of LoCoMo's files")
    return found


def _conversation(path: Path) -> _Conversation:
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    said = data.get("conversation", data)
    questions = [
        (str(one["question"]), frozenset(_TURN.findall(" ".join(one.get("evidence") or ()))))
        for one in data.get("qa") or data.get("questions") or ()
    ]
    return _Conversation(path.stem, dict(_sessions(path.stem, said)), [one for one in questions if one[1]])


def _sessions(name: str, said: dict[str, Any]) -> Iterator[tuple[str, list[Said]]]:
    number = 1
    while (moment := said.get(f"session_{number}_date_time")) is not None:
        at = datetime.strptime(moment.upper(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        turns = enumerate(said.get(f"session_{number}") or ())
        yield f"{name}.{number}", [_turn(name, turn, at + timedelta(seconds=place)) for place, turn in turns]
        number += 1


def _turn(name: str, turn: Mapping[str, str], at: datetime) -> Said:
    caption = f" [shared image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    occurrence = f"{name}/{turn['dia_id']}"
    return Said(text=f"{turn['text']}{caption}", speaker=turn["speaker"], at=at, occurrence=occurrence)


def _means(shares: Sequence[tuple[float, ...]]) -> list[tuple[int, float]]:
    return [(k, statistics.fmean(of)) for k, of in zip(AT, zip(*shares, strict=True), strict=True)]


def _told(shares: Sequence[tuple[float, ...]]) -> str:
    return ", ".join(f"@{k} {share:.3f}" for k, share in _means(shares))
