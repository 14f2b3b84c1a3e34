"""What the journal on disk answers within a time limit, the newest first, if the store does not answer."""

import asyncio
import time
from collections.abc import Coroutine, Sequence
from typing import Any

from perdure.memory.recall import local
from perdure.memory.recall.query import Query
from perdure.memory.recall.sources import Sources
from perdure.stores.journal.lines import Line
from perdure.together import together
from perdure.values.changes import Deletion

_SHARE = 0.4
"""Of the time: for reading the newest lines, and as much for deciding on those that wait for their jobs. The rest is
for comparing words."""

_DECIDING = 15
"""How many times as long it takes to decide on an item that waits for its job as to read it: 0.4 ms and 0.03 ms
(measured)."""

_DECIDED = 100
"""Items that are decided on however long it took to read them: 40 ms, as a rule."""


async def journaled(
    sources: Sources, query: Query, log: Coroutine[Any, Any, Sequence[Deletion] | None], *, end: float
) -> local.Local:
    """Return what the journal knows, as far as time allows.

    Args:
        sources: What is asked.
        query: The question.
        log: Asks Redis for the deletion log; None: it does not answer.
        end: When the result has to be there, on the clock of ``time.monotonic``.

    Raises:
        StoreUnavailable: The journal cannot be read.
    """
    began = time.monotonic()
    each = max(0.0, end - began) * _SHARE

    async def newest() -> tuple[list[Line], bool, float]:
        lines, is_all = await sources.journal.newest(query.tenant, until=began + each)
        return lines, is_all, time.monotonic() - began

    (lines, is_all, took), forgotten = await together(newest(), log)
    # The reading has shown how busy the machine is.
    most = max(_DECIDED, int(len(lines) * each / (took * _DECIDING)))
    # In a thread, so that neither the time limit nor heartbeats wait for it.
    return await asyncio.to_thread(
        local.known, query, lines, sources.policies, forgotten, is_cut=not is_all, most_pending=most
    )
