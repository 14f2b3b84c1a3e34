"""Which processes are in the middle of something: only what is cut off there proves anything."""

import asyncio
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import Client
from temporalio.service import RPCError

from chaos.ledger import read
from chaos.load import Load
from chaos.site import Target
from perdure.errors import PerdureError
from perdure.names import Activity

AIMED_FOR = 10.0
"""Seconds for which a blow waits until it hits something; then it falls all the same, and does not count. A choice."""

_LOOKS_EVERY = 0.02
_ASKS_EVERY = 0.2
"""Temporal, which works for all others too."""

_ANSWERS_WITHIN = 0.2


async def aimed(load: Load, targets: Mapping[Target, Collection[int]]) -> Target | None:
    """Wait until one of the targets is in the middle of something; None: none was in time.

    Args:
        load: What is under way.
        targets: The workers whose work a blow at each of them cuts off.
    """
    end, asks = time.monotonic() + AIMED_FOR, 0.0
    while time.monotonic() < end:
        busy = {*read(load.ledger).open}
        if not busy and time.monotonic() > asks:
            busy = await _writing(load)
            asks = time.monotonic() + _ASKS_EVERY
        for target, processes in targets.items():
            if not busy.isdisjoint(processes):
                return target
        await asyncio.sleep(_LOOKS_EVERY)
    return None


async def _writing(load: Load) -> set[int]:
    """Return the processes that write a job now, as Temporal tells; none where it does not answer, so none counts."""
    found: set[int] = set()
    jobs = [one.job for one in load.jobs if one.job and one.receipt is None]
    if not jobs:
        return found
    with suppress(RPCError, PerdureError, TimeoutError):
        async with asyncio.timeout(_ANSWERS_WITHIN):
            found |= await _appliers(await load.gateway.client(), jobs)
    return found


async def _appliers(client: Client, jobs: Iterable[str]) -> set[int]:
    found: set[int] = set()
    for job in jobs:
        raw = (await client.get_workflow_handle(job).describe()).raw_description
        for one in raw.pending_activities:
            is_started = one.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
            if is_started and one.activity_type.name == Activity.APPLY_INGEST:
                # The SDK's own identity of a worker: its process at its host.
                found.add(int(one.last_worker_identity.partition("@")[0]))
    return found
