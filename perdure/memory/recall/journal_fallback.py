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

_READING, _DECIDING = 0.4, 0.2
"""Of the time: for reading the newest lines, and for deciding on the items that wait for their jobs. The rest is for
comparing words, which takes longer than reading where most of them have not been met before: 0.08 ms an entry, and
0.06 ms for its two lines (measured)."""


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
    left = max(0.0, end - began)

    async def newest() -> tuple[list[Line], bool, float]:
        lines, is_all = await sources.journal.newest(query.tenant, until=began + left * _READING)
        return lines, is_all, time.monotonic() - began

    (lines, is_all, took), forgotten = await together(newest(), log)
    # The reading has shown how busy the machine is.
    effort = len(lines) * left * _DECIDING / took
    # In a thread, so that neither the time limit nor heartbeats wait for it.
    return await asyncio.to_thread(
        local.known,
        query,
        lines,
        sources.policies,
        forgotten,
        is_cut=not is_all,
        effort=effort,
        language=sources.longterm.language,
    )
