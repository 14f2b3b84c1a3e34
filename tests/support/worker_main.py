"""A worker in a process of its own, to be killed: ``python -m tests.support.worker_main`` with its settings as JSON."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weaviate.exceptions import WeaviateBaseError

from perdure.agent.steps.attempts import Happened
from perdure.agent.steps.gate import Gate, Stopped, Unknown
from perdure.agent.steps.once import OnceRunner
from perdure.stores.redis.claims import Claim
from perdure.stores.weaviate.store import LongTerm
from perdure.stores.weaviate.writes import Fence, Vectors, Writes
from perdure.values.entries import Entry
from tests.conftest import Servers
from tests.support.harness import bench
from worker.eviction import EvictingRunner
from worker.slots import tuner


def _die_in_a_write(objects: int) -> None:
    """Have SIGKILL hit the first write to Weaviate, once the store has so many of its objects."""
    put = Writes.put

    async def stored(self: Writes, tenant: str) -> int:
        try:
            collection = await self._connection.of(tenant, "memory")  # pyright: ignore[reportPrivateUsage]
            return (await collection.aggregate.over_all(total_count=True)).total_count or 0
        except WeaviateBaseError:  # Its first write makes a tenant.
            return 0

    async def mortal(self: Writes, tenant: str, entries: Sequence[Entry], vectors: Vectors, fence: Fence) -> None:
        before = await stored(self, tenant)
        writing = asyncio.create_task(put(self, tenant, entries, vectors, fence))
        # A write of what is there already adds no object.
        while await stored(self, tenant) < before + objects and not writing.done():
            pass
        os.kill(os.getpid(), signal.SIGKILL)

    Writes.put = mortal


def _confirm_by_filter() -> None:
    """Take what a filter finds for searchable: the control."""

    async def stored(self: LongTerm, tenant: str, ids: Sequence[str]) -> dict[str, int]:
        return {identifier: entry.version for identifier, entry in (await self.get(tenant, ids)).items()}

    LongTerm.searchable = stored


def _ask_policies_first() -> None:
    """Ask the policies before anything is found out: the control."""
    run = OnceRunner.run

    async def hasty(self: OnceRunner, *given: Any, gate: Gate, **more: Any) -> Happened | Unknown | Stopped:
        return await gate.stopped() or await run(self, *given, gate=gate, **more)

    OnceRunner.run = hasty


def _never_evict() -> None:
    """Keep workflows that have run ahead: the control."""
    EvictingRunner.serve = lambda self, worker: None


async def _main() -> None:
    settings = json.loads(sys.argv[1])
    if settings["worker"].pop("without_deadline", 0):
        Claim.left = lambda self: 60.0  # the control: an attempt that trusts a deadline that has passed
    if objects := settings["worker"].pop("killed_in_a_write_at", 0):
        _die_in_a_write(objects)
    if settings["worker"].pop("confirming_by_filter", 0):
        _confirm_by_filter()
    if settings["worker"].pop("policies_first", 0):
        _ask_policies_first()
    if settings["worker"].pop("never_evicting", 0):
        _never_evict()
    if activities := settings["worker"].pop("activities_at_once", 0):
        settings["worker"]["tuner"] = tuner(activities=activities)
    async with bench(
        Servers(**settings["servers"]),
        Path(settings["folder"]),
        queue=settings["queue"],
        continue_after=settings["continue_after"],
        **settings["worker"],
    ):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    """Serve until it is killed."""
    asyncio.run(_main())


if __name__ == "__main__":
    main()
