"""Recall over HTTP with a token, side by side with the gateway called directly.

The service is a process of its own, as it is for its users; the gateway is asked in this one, as a program that has the
tenant key asks it. Both read the same memory of one user, in sentences that people wrote.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from uuid import uuid4

import httpx2

from bench.measured_worker import remembered, serving
from bench.sentences import sentences
from localservers.commands import choose
from localservers.fleet import child_environment, start_service
from perdure.memory.extraction.screening import screen
from perdure.settings import Addresses, Settings
from perdure.values.access_tokens import TokenRequest, TokenScope
from perdure.values.changes import Actor, ActorKind
from perdure.values.requests import RecallRequest
from worker.gateway import Gateway

_MEMORIES = 2_000
_WARMING = 15
_PAIRS = 150
_CLIENTS = 32
_SECONDS = 8.0
"""For which as many clients ask as fast as they can; in each of the rounds."""
_ROUNDS = 3
_STARTS_WITHIN = 60.0
_BY = Actor(kind=ActorKind.PERSON, id="bench")

Ask = Callable[[str], Awaitable[None]]


async def run(addresses: Addresses) -> dict[str, float]:
    """Measure both in turn, one question at a time and by many clients at once."""
    user = f"bench {uuid4().hex}"
    # An author's address, say, is no memory.
    kept = (text for text in sentences() if not screen(text).kinds)
    texts = [*islice(kept, _MEMORIES + _PAIRS + _WARMING)]
    async with serving(addresses) as here:
        # Of two sentences that contradict each other, the later one is believed.
        began = datetime(2026, 5, 1, tzinfo=UTC)
        items = [
            {
                "kind": "memory",
                "content": text,
                "occurrence": str(place),
                "occurred_at": (began + timedelta(minutes=place)).isoformat(),
            }
            for place, text in enumerate(texts[:_MEMORIES])
        ]
        await remembered(here, here.services.tenant_key.tenant_of(user), items)
        async with Gateway(here.settings, addresses) as gateway:
            asked = TokenRequest(name="bench", scopes=(TokenScope.READ,), user_id=user)
            token = (await gateway.create_token(asked, by=_BY)).text
            async with _service(here.settings, addresses) as url:
                limits = httpx2.Limits(max_connections=_CLIENTS)
                headers = {"Authorization": f"Bearer {token}"}
                async with httpx2.AsyncClient(
                    base_url=url, headers=headers, timeout=60, limits=limits, trust_env=False
                ) as client:

                    async def over_http(question: str) -> None:
                        answer = await client.post("/v2/control/query", json={"text": question})
                        if answer.status_code != httpx2.codes.OK.value or not answer.json()["items"]:
                            raise RuntimeError(f"answered {answer.status_code}: {answer.text[:200]}")

                    async def directly(question: str) -> None:
                        result = await gateway.recall(RecallRequest(user_id=user, text=question), by=_BY)
                        if not result.items:
                            raise RuntimeError("recall returned nothing")

                    return await _measured(over_http, directly, texts[_MEMORIES:])


async def _measured(over_http: Ask, directly: Ask, questions: Sequence[str]) -> dict[str, float]:
    for question in questions[:_WARMING]:
        await over_http(question)
        await directly(question)
    times: dict[Ask, list[float]] = {over_http: [], directly: []}
    for place, question in enumerate(questions[_WARMING:]):
        # Whichever comes second finds the stores' caches filled: each does as often.
        for ask in (over_http, directly) if place % 2 else (directly, over_http):
            began = time.perf_counter()
            await ask(question)
            times[ask].append((time.perf_counter() - began) * 1000)
    rates: dict[Ask, list[float]] = {over_http: [], directly: []}
    for _ in range(_ROUNDS):
        for ask in (directly, over_http):
            rates[ask].append(await _rate(ask, questions))
    p50, floor = statistics.median(times[over_http]), statistics.median(times[directly])
    rate, alone = statistics.median(rates[over_http]), statistics.median(rates[directly])
    return {
        "http.p50_ms": round(p50, 2),
        "http.floor_p50_ms": round(floor, 2),
        "http.ratio_p50": round(p50 / floor, 3),
        "http.per_second": round(rate, 1),
        "http.floor_per_second": round(alone, 1),
        "http.ratio_per_second": round(rate / alone, 3),
    }


async def _rate(ask: Ask, questions: Sequence[str]) -> float:
    """Return how many questions a second are answered while many clients ask."""
    began, answered = time.perf_counter(), 0

    async def client(number: int) -> None:
        nonlocal answered
        place = number
        while time.perf_counter() - began < _SECONDS:
            await ask(questions[place % len(questions)])
            place, answered = place + _CLIENTS, answered + 1

    await asyncio.gather(*map(client, range(_CLIENTS)))
    return answered / (time.perf_counter() - began)


@asynccontextmanager
async def _service(settings: Settings, addresses: Addresses) -> AsyncGenerator[str]:
    """Run the service for as long as the block lasts."""
    port = choose([("http",)], {})["http"]
    with tempfile.TemporaryDirectory() as folder:
        child = await start_service(child_environment(settings), addresses, port, Path(folder) / "service.log")
        try:
            url = f"http://127.0.0.1:{port}"
            async with httpx2.AsyncClient(base_url=url, trust_env=False) as client, asyncio.timeout(_STARTS_WITHIN):
                while not await _answers(client):
                    if child.ended:
                        raise RuntimeError(f"the service ended: {child.last_lines()}")
                    await asyncio.sleep(0.1)
            yield url
        finally:
            await child.stop(10)


async def _answers(client: httpx2.AsyncClient) -> bool:
    try:
        return (await client.get("/livez")).is_success
    except httpx2.TransportError:
        return False
