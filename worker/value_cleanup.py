"""What a worker does about large values on disk: those that nothing needs are removed, missing ones are written."""

import asyncio

import structlog

from perdure.errors import PerdureError
from perdure.stores.redis.outputs import Outputs

CLEAN_EVERY = 6 * 3600.0
"""Seconds between two passes over the values of all tenants: a choice, since values are kept for weeks."""

_log = structlog.get_logger(__name__)


async def keep_clean(outputs: Outputs) -> None:
    """Remove the values that have run out and write missing ones, now and from time to time; until cancelled."""
    while True:
        try:
            await outputs.clean()
        except PerdureError as error:
            # What is left to do is found again by the next pass.
            _log.warning("large values on disk are not in order yet", problem=str(error))
        await asyncio.sleep(CLEAN_EVERY)
