"""Many users on one Weaviate whose file limit would end it at the 675th: written, then recalled in random order."""

import asyncio
import random
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from bench.sentences import sentences
from perdure.errors import StoreUnavailable
from perdure.memory.recall.query import Query
from perdure.settings import Addresses, Settings
from perdure.values.entries import MARKER, Lane, Memory, MemoryType, Record, Source
from worker.wiring.services import Services, open_services

USERS = 5_000
FILES = 20_000
"""The limit of Weaviate's open files; ``bench.__main__`` sets it before the servers start."""
_AT_ONCE = 8
_WARM_EACH = 10
"""One user in this many is asked again at once."""
_QUESTION = "what does this user like?"


async def run(addresses: Addresses) -> dict[str, float]:
    """Write and recall all users, and return what it cost."""
    process = _process_of(addresses)
    with tempfile.TemporaryDirectory(prefix="perdure-bench-") as home:
        async with open_services(Settings().changed(home=Path(home)), addresses) as services:
            await services.belongs()
            await services.prepare()
            tenants = [f"t_{uuid4().hex}" for _ in range(USERS)]
            files: list[int] = []
            errors = await _write(services, tenants, process, files)
            random.Random(1).shuffle(tenants)
            first: list[float] = []
            warm: list[float] = []
            for number, tenant in enumerate(tenants):
                errors += await _recall(services, tenant, first)
                if number % _WARM_EACH == 0:
                    errors += await _recall(services, tenant, warm)
                    files.append(_open_files(process))
    return {
        "tenants.users": USERS,
        "tenants.errors": errors,
        "tenants.open_files": max(files),
        "tenants.p95_ms": _p95(first),
        "tenants.p95_warm_ms": _p95(warm),
    }


async def _write(services: Services, tenants: list[str], process: Path, files: list[int]) -> int:
    """Write one memory and one record of each user; return how many writes failed."""
    now, texts, gate = datetime.now(UTC), sentences(), asyncio.Semaphore(_AT_ONCE)
    [vector] = await services.embedder.embed([_QUESTION])

    async def write(number: int, tenant: str) -> bool:
        memory = Memory(
            id=f"mem_{tenant}",
            text=texts[number % len(texts)],
            memory_type=MemoryType.FACT,
            source=Source.EXPLICIT,
            first_seen=now,
            last_seen=now,
        )
        record = Record(
            id=f"exec_{tenant}",
            text=f"an audit\n{MARKER}1",
            lane=Lane.PATTERN,
            key="k",
            payload=1,
            first_seen=now,
            last_seen=now,
        )
        async with gate:
            if number % 50 == 0:
                files.append(_open_files(process))
            try:
                await services.longterm.put(tenant, [memory, record], {memory.id: vector, record.id: vector})
            except StoreUnavailable:
                return False
            return True

    return (await asyncio.gather(*(write(number, tenant) for number, tenant in enumerate(tenants)))).count(False)


async def _recall(services: Services, tenant: str, times: list[float]) -> bool:
    """Recall what a user likes, and return whether the answer lacks it."""
    query = Query(tenant=tenant, session="s", text=_QUESTION, now=datetime.now(UTC))
    began = time.perf_counter()
    result = await services.recall.recall(query)
    times.append((time.perf_counter() - began) * 1_000)
    return bool(result.degraded) or f"mem_{tenant}" not in {item.id for item in result.items}


def _p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


def _process_of(addresses: Addresses) -> Path:
    """Return the folder in ``/proc`` of the local Weaviate."""
    port = f"\0--port\0{urlsplit(addresses.weaviate_url).port}\0".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if port in (folder / "cmdline").read_bytes():
                return folder
        except OSError:
            continue  # It has ended, or is another user's.
    raise RuntimeError("Weaviate does not run on this machine")


def _open_files(process: Path) -> int:
    return sum(1 for _ in (process / "fd").iterdir())
