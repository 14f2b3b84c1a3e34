"""What a worker does beside its tasks: bring episodes that waited in the mirror to Redis once it is back."""

import asyncio
from datetime import UTC, datetime

import structlog

from perdure.errors import StoreUnavailable
from perdure.stores.journal.log import Mirror
from perdure.stores.redis.episodes import LIFETIME, Episodes

AGAIN_AFTER = 5.0
"""Seconds between two tries while Redis is away."""

_log = structlog.get_logger(__name__)


async def bring_episodes(mirror: Mirror, episodes: Episodes, *, now: datetime) -> int:
    """Append every waiting episode that is not too old to be kept; gives how many were new.

    Appending is idempotent, so it may run as often as it likes, and in several workers at once.

    Raises:
        StoreUnavailable: Redis is still away, or the mirror cannot be read.
    """
    brought = 0
    for tenant in await mirror.tenants():
        for line in await mirror.episodes(tenant):
            if line.episode.at > now - LIFETIME:
                brought += await episodes.append(tenant, line.session, line.episode)
    return brought


async def keep_catching_up(mirror: Mirror, episodes: Episodes, waiting: asyncio.Event) -> None:
    """Bring what waited before this worker started, and then whatever it has to leave waiting; until cancelled."""
    waiting.set()
    while True:
        await waiting.wait()
        waiting.clear()
        try:
            brought = await bring_episodes(mirror, episodes, now=datetime.now(UTC))
        except StoreUnavailable as error:
            _log.warning("episodes wait", problem=str(error))
            waiting.set()
            await asyncio.sleep(AGAIN_AFTER)
        else:
            if brought:
                _log.info("brought episodes that had waited", number=brought)
