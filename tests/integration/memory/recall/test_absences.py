"""What a user has none of is not asked for again, until somebody writes; on the real stores."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from perdure.memory.recall.query import FoundBy
from perdure.memory.recall.service import Recall
from perdure.memory.recall.telemetry import RecallTelemetry
from perdure.stores.redis.connection import connect
from perdure.stores.redis.leases import Leases
from perdure.values.items import TurnItem
from perdure.values.updates import Pinning, UpdateRequest
from tests.integration.conftest import Stores
from tests.integration.memory.recall.test_strategies import NOW, ask, item, recall_of, write

GHENT = item("The office is in Ghent.")
ASKED = "Where do the trains go?"
NOTHING = {"weaviate.pinned", "weaviate.speakers"}


class Watched:
    """A recall, and which calls it makes."""

    def __init__(self, stores: Stores, folder: Path, **more: Any) -> None:
        self._spans = InMemorySpanExporter()
        traces = TracerProvider()
        traces.add_span_processor(SimpleSpanProcessor(self._spans))
        self.recall: Recall = recall_of(stores, folder, telemetry=RecallTelemetry(tracer_provider=traces), **more)

    async def calls(self, tenant: str) -> set[str]:
        """Recall once, and return which calls that took."""
        return {*await self.counted(tenant)}

    async def counted(self, tenant: str, **asked: Any) -> Counter[str]:
        """Recall once, and return how often each call was made."""
        self._spans.clear()
        await ask(self.recall, tenant, ASKED, **asked)
        return Counter(span.name for span in self._spans.get_finished_spans())


async def pin(stores: Stores, tenant: str, identifier: str) -> None:
    request = UpdateRequest(user_id="u", id=identifier, update=Pinning(pinned=True))
    await stores.updater.update(tenant, request, operation="pin", at=NOW)


async def pinned(recall: Recall, tenant: str) -> list[str]:
    found = (await ask(recall, tenant, ASKED)).items
    return [one.text for one in found if one.pinned]


async def test_it_is_asked_once_and_again_after_each_write(stores: Stores, tenant: str, tmp_path: Path) -> None:
    [office] = await write(stores, tenant, GHENT)
    watched = Watched(stores, tmp_path)
    assert await watched.calls(tenant) >= NOTHING
    assert not await watched.calls(tenant) & NOTHING
    await pin(stores, tenant, office)
    for _ in range(2):
        assert await watched.calls(tenant) & NOTHING >= {"weaviate.pinned"}, "there is something now"
    assert not await watched.calls(tenant) & {"weaviate.speakers"}


async def test_what_is_pinned_or_said_is_found_at_once(stores: Stores, tenant: str, tmp_path: Path) -> None:
    [office] = await write(stores, tenant, GHENT)
    recall = recall_of(stores, tmp_path)
    for _ in range(2):
        assert await pinned(recall, tenant) == []
    await pin(stores, tenant, office)
    assert await pinned(recall, tenant) == [GHENT.content]
    turn = TurnItem(
        speaker="Kim", content="All trains go to Bruges.", session="s", position=0, occurrence="t", occurred_at=NOW
    )
    await write(stores, tenant, turn)
    said = [one for one in (await ask(recall, tenant, ASKED)).items if one.kind == "turn"]
    assert [(one.speaker, one.found_by) for one in said] == [("Kim", FoundBy.SEMANTIC)]


async def test_without_asking_who_wrote_what_is_pinned_would_be_missed(
    stores: Stores, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def always_the_same(*_: object) -> str:
        return "w"

    monkeypatch.setattr(Leases, "writer", always_the_same)
    [office] = await write(stores, tenant, GHENT)
    recall = recall_of(stores, tmp_path)
    assert await pinned(recall, tenant) == []
    await pin(stores, tenant, office)
    assert await pinned(recall, tenant) == []


async def test_while_somebody_writes_nothing_is_taken_for_absent(stores: Stores, tenant: str, tmp_path: Path) -> None:
    await write(stores, tenant, GHENT)
    watched = Watched(stores, tmp_path)
    leases = Leases(stores.redis)
    async with leases.hold(tenant):
        assert await leases.writer(tenant) is None
        for _ in range(2):
            assert await watched.calls(tenant) >= NOTHING
    assert await leases.writer(tenant)
    assert await watched.calls(tenant) >= NOTHING
    assert not await watched.calls(tenant) & NOTHING


async def test_without_redis_it_is_asked_each_time(stores: Stores, tenant: str, tmp_path: Path) -> None:
    await write(stores, tenant, GHENT)
    dead = connect("redis://127.0.0.1:9")
    watched = Watched(stores, tmp_path, leases=Leases(dead))
    for _ in range(2):
        assert await watched.calls(tenant) >= NOTHING
    await dead.aclose()
