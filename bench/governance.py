"""Whether memory believes the right things: sentences that must be stored, redacted or refused, and stories over days.

Every case goes through the product's own write path and recall: those that the rules were written with, then those
that nobody had looked at. ``bench/governance/README.md`` has their form; DATA names another folder of such files.
"""

import asyncio
import json
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from rich.console import Console

from bench.measured_worker import serving
from perdure.errors import InvalidInput
from perdure.settings import Addresses
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Entry, Purpose, State
from perdure.values.episodes import EPISODES_KEPT
from perdure.values.requests import ConsentRequest, ObserveRequest, RecallRequest
from perdure.values.statements import Said, Voice
from worker.gateway import Gateway
from worker.wiring.services import Services

OWN = Path(__file__).parent / "governance"
UNSEEN = "unseen"
"""The folder of cases that nobody looked at while the rules were written, and the prefix of their figures."""
_AT_ONCE = 8
_SESSION = "bench"
_BY = Actor(kind=ActorKind.SYSTEM, id="bench")
_PRIVATE = frozenset({"pii", "secret"})
_POLICY = "default: {most_a_session: null}\n"
"""The defaults, with the cap lifted: a story's turns are one session here."""

Case = dict[str, Any]
_T = TypeVar("_T")


@dataclass
class Outcome:
    """What became of one case."""

    case: Case
    right: bool
    told: str
    """What was done, for a person."""
    forbidden: bool = False
    """Whether something was stored, or returned, that must not be."""
    stored: bool = False


@dataclass(frozen=True)
class Asking:
    """The product that the cases are said to."""

    gateway: Gateway
    services: Services

    async def observe(self, user: str, said: Sequence[Said]) -> str:
        """Offer memory what was said, and return what became of it, and why."""
        await self.gateway.consent(ConsentRequest(user_id=user, grant=(Purpose.EXTRACTED,)), by=_BY)
        request = ObserveRequest(user_id=user, session=_SESSION, said=tuple(said))
        found = await self.gateway.observe(request, by=_BY)
        told = [f"{one.ground.value}: {one.reason}" for one in found.left]
        if found.job:
            receipt = await self.gateway.receipt(found.job, by=_BY)
            told += [f"{item.decision.value} {item.reason}".strip() for item in receipt.items]
        return ", ".join(told)

    async def happened(self, user: str) -> list[str]:
        """Return the texts of the episodes of a user's session."""
        tenant = self.services.tenant_key.tenant_of(user)
        return [one.text for one in await self.services.episodes.told(tenant, _SESSION, recent=EPISODES_KEPT)]

    async def kept(self, user: str) -> list[Entry]:
        """Return everything of a user that is kept and not forgotten."""
        tenant = self.services.tenant_key.tenant_of(user)
        found = await self.services.longterm.everything(tenant)
        return [entry for entry in found.values() if entry.state is not State.FORGOTTEN]


async def run(addresses: Addresses) -> dict[str, float]:
    """Run every case, and print those that failed."""
    if folder := os.environ.get("DATA"):
        return await _of(Path(folder), "governance", addresses)
    return await _of(OWN, "governance", addresses) | await _of(OWN / UNSEEN, UNSEEN, addresses)


async def _of(folder: Path, prefix: str, addresses: Addresses) -> dict[str, float]:
    """Run a folder's cases, and return their figures under a prefix."""
    sentences, stories = read(folder, "sentences.jsonl"), read(folder, "stories.jsonl")
    if not sentences and not stories:
        raise InvalidInput("DATA", f"neither sentences.jsonl nor stories.jsonl is in {folder}")
    async with _asking(addresses) as asking:
        judged = await _all(sentences, lambda case: sentence(asking, case))
        told = await _all(stories, lambda case: story(asking, case))
    console = Console(stderr=True, width=200)
    for one in (*judged, *told):
        # Whoever has read what fails writes rules for it: the honest figure would be gone.
        if not one.right and prefix != UNSEEN:
            console.print(f"{one.case['id']} {one.case.get('reason') or one.case['kind']}: {one.told}", markup=False)
    _shares(console, judged, "reason")
    _shares(console, told, "kind")
    figures = _figures(judged, told) | {"cases": float(len(sentences) + len(stories))}
    return {f"{prefix}.{name}": value for name, value in figures.items()}


@asynccontextmanager
async def _asking(addresses: Addresses) -> AsyncGenerator[Asking]:
    with tempfile.TemporaryDirectory(prefix="perdure-policies-") as folder:
        policies = Path(folder) / "policies.yaml"
        policies.write_text(_POLICY)
        async with (
            serving(addresses, write_policies=policies) as (_, services, settings),
            Gateway(settings, addresses) as gateway,
        ):
            yield Asking(gateway, services)


async def _all(cases: Sequence[Case], judge: Callable[[Case], Awaitable[Outcome]]) -> list[Outcome]:
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(case: Case) -> Outcome:
        async with gate:
            return await judge(case)

    return list(await asyncio.gather(*map(one, cases)))


async def sentence(asking: Asking, case: Case) -> Outcome:
    """Offer a sentence to the memory of a user of its own, and return what became of it."""
    user, now = f"{case['id']}-{uuid4().hex[:8]}", datetime.now(UTC)
    said = Said(text=case["text"], by=Voice(case["said_by"]), before=case.get("before", ""), at=now, occurrence="1")
    told = await asking.observe(user, [said])
    texts = [entry.text for entry in await asking.kept(user)]
    return judged(case, texts, await asking.happened(user), told)


def judged(case: Case, memories: Sequence[str], episodes: Sequence[str], told: str = "") -> Outcome:
    """Return what became of a sentence.

    An episode counts as stored only where what must not be kept is private or a secret, and then for what it mentions:
    that something was said is no memory.

    Args:
        case: The sentence, and what has to become of it.
        memories: The texts of what is remembered of its user.
        episodes: The texts of the episodes of its session.
        told: What the product reported about it.
    """
    texts = [text.casefold() for text in memories]
    private = [text.casefold() for text in episodes] if case["reason"] in _PRIVATE else []
    missing = [one for one in case["must_mention"] if not any(one.casefold() in text for text in texts)]
    leaked = [one for one in case["must_not_mention"] if any(one.casefold() in text for text in (*texts, *private))]
    match case["expect"]:
        case "store":
            right, forbidden = bool(texts) and not missing and not leaked, False
        case "redact":
            right, forbidden = bool(texts) and not missing and not leaked, bool(leaked)
        case _:
            right, forbidden = not texts and not leaked, bool(texts or leaked)
    found = f"{texts or 'nothing'}" + (f", episodes {private}" if leaked and private else "")
    return Outcome(case, right, f"{case['text']!r} → {found} ({told})", forbidden, bool(texts))


async def story(asking: Asking, case: Case) -> Outcome:
    """Offer a story to the memories of users of its own, and return what is believed in the end."""
    run = uuid4().hex[:8]
    last = max(turn["day"] for turn in case["turns"])
    # A minute ago, so that the last turn's own time is over when it is asked for.
    now = datetime.now(UTC) - timedelta(minutes=1)
    told: list[str] = []
    for number, turn in enumerate(case["turns"]):
        at = now - timedelta(days=last - turn["day"]) + timedelta(milliseconds=number)
        said = Said(text=turn["text"], by=Voice(turn["said_by"]), at=at, occurrence=str(number))
        became = await asking.observe(f"{case['id']}-{run}-{turn['user']}", [said])
        told.append(f"{turn['text']} ({became})")
    found = await asking.gateway.recall(
        RecallRequest(user_id=f"{case['id']}-{run}-{case['user']}", text=case["ask"]), by=_BY
    )
    texts = [item.text.casefold() for item in found.items if item.kind == "memory"]
    missing = [one for one in case["believe"] if not any(one.casefold() in text for text in texts)]
    wrong = [one for one in case["not_believe"] if any(one.casefold() in text for text in texts)]
    too_many = "count" in case and len(texts) > case["count"]
    right = not missing and not wrong and not too_many
    return Outcome(case, right, f"{'; '.join(told)} → {texts or 'nothing'}", bool(wrong))


def _figures(judged: Sequence[Outcome], told: Sequence[Outcome]) -> dict[str, float]:
    stored = [one for one in judged if one.case["expect"] == "store"]
    others = [one for one in judged if one.case["expect"] != "store"]
    private = [one for one in others if one.case["reason"] in _PRIVATE]
    return {
        "decisions": _share(one.right for one in judged),
        "false_store": _share(one.forbidden for one in others),
        "false_store_private": _share(one.forbidden for one in private),
        "false_refuse": _share(not one.stored for one in stored),
        "stories": _share(one.right for one in told),
        "wrong_beliefs": float(sum(one.forbidden for one in told)),
    }


def _shares(console: Console, outcomes: Sequence[Outcome], by: str) -> None:
    groups: Mapping[str, Counter[bool]] = defaultdict(Counter)
    for one in outcomes:
        groups[f"{one.case.get('expect', '')} {one.case[by]}".strip()][one.right] += 1
    for name, counts in sorted(groups.items()):
        console.print(f"{name:<28} {counts[True]:>4} of {counts.total()}", markup=False)


def _share(values: Any) -> float:
    flags = list(values)
    return sum(flags) / len(flags) if flags else 0.0


def read(folder: Path, name: str) -> list[Case]:
    """Return the cases of a file; none where there is no such file."""
    path = folder / name
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
