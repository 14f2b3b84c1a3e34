"""What a worker does besides its tasks: check the installation, bring waiting episodes to Redis, repair memory."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing, suppress
from datetime import UTC, datetime

import structlog

from perdure.errors import PerdureError, StoreRefused, StoreUnavailable, TenantErased
from perdure.memory.consent_book import ConsentBook
from perdure.memory.repair import Repair
from perdure.memory.wholeness import COMPARED_EVERY, Wholeness
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.connection import connect
from perdure.stores.redis.durability import NEEDED_TOLD, wrong_settings
from perdure.stores.redis.episodes import LIFETIME, Episodes
from perdure.stores.redis.erasures import RedisErasures
from perdure.stores.spool import Spool
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together
from perdure.values.consents import withdrawn
from perdure.values.episodes import permitted

AGAIN_AFTER = 5.0
"""Seconds between two tries while Redis is away."""

BRING_EVERY = 60.0
"""Seconds between two looks for episodes that another process left waiting."""

CHECK_EVERY = 5.0
"""Seconds between two looks for tenants to be checked; one look is one command to Redis."""

WATCH_EVERY = 1.0
"""Seconds between two looks whether Weaviate is up."""

RESTARTED_WITHIN = 2.0
"""Seconds that Weaviate takes to start, at least (measured)."""

LOOK_EVERY = 600.0
"""Seconds between two looks for tenants that are open unnoticed; only errors and the loss of Redis leave any."""

_log = structlog.get_logger(__name__)


async def warn_of_settings(redis_url: str) -> None:
    """Warn where Redis may lose that a ``once`` effect has happened, or does not show whether it may.

    A worker serves all the same: it is the operator who knows what may be lost.
    """
    async with aclosing(connect(redis_url)) as redis:
        try:
            wrong = await wrong_settings(redis)
        except (StoreRefused, StoreUnavailable):
            # Whatever needs it says so.
            return
    if wrong is None:
        _log.warning("Redis does not show its settings: nobody checked that it loses no claims", needed=NEEDED_TOLD)
    elif wrong:
        _log.warning("Redis may lose claims, and effects may happen twice", settings=wrong, needed=NEEDED_TOLD)


async def bring_episodes(
    spool: Spool, episodes: Episodes, erasures: RedisErasures, consents: ConsentBook, *, now: datetime
) -> int:
    """Append every waiting episode that is not too old to be read, or may be promoted; return how many were new.

    What happened before its user was erased is dropped: an erasure reaches no spool of another machine. So is what the
    user no longer consents to.

    Appending is idempotent, so it may run as often as it likes, and in several workers at once.

    Raises:
        StoreUnavailable: Redis is still away, or the spool cannot be read.
    """
    brought = 0
    for tenant in await spool.tenants():
        waited, erased = await spool.read(tenant), await erasures.of(tenant)
        allowed = permitted((line.episode for line in waited.episodes), withdrawn(await consents.of(tenant)))
        kept = {one.id for one in allowed}
        for line in waited.episodes:
            if line.episode.id not in kept or (erased and line.episode.at <= erased.at):
                continue
            if line.episode.is_promotable or line.episode.at > now - LIFETIME:
                with suppress(TenantErased):
                    brought += await episodes.append(tenant, line.session, line.episode, epoch=line.epoch)
        await spool.delivered(tenant, waited)
    return brought


async def keep_up(
    checks: Iterable[Callable[[], Awaitable[None]]], bring: Callable[[], Awaitable[int]], waiting: asyncio.Event
) -> None:
    """Repeat what a store did not answer at the start, and bring waiting episodes to Redis; until cancelled.

    Args:
        checks: What must hold for this worker to serve its installation.
        bring: Brings them: ``bring_episodes``.
        waiting: Set when an episode was left waiting.

    Raises:
        PerdureError: A check found that this worker must not write.
    """
    await together(*map(_until_answered, checks), _keep_bringing(bring, waiting))


async def keep_checked(repair: Repair) -> None:
    """Check the tenants that were written, one after the other, and repair what no search finds; until cancelled."""
    while True:
        try:
            checked = await repair.check_next(datetime.now(UTC))
        except PerdureError as error:
            # Another check follows, of this tenant too: no error here is a reason for the worker to stop.
            _log.warning("not checked yet", problem=str(error))
            checked = None
        if checked is None:
            await asyncio.sleep(CHECK_EVERY)


async def keep_compared(whole: Wholeness, key: TenantKey, reconcile: Callable[[], Awaitable[None]]) -> None:
    """Compare what the stores say of themselves, and have them reconciled where one lost data; until cancelled.

    A store that is new because nothing was ever written to memory is enrolled in the installation again.

    Args:
        whole: Compares them.
        key: The installation's tenant key.
        reconcile: Starts a reconciliation, unless one runs.

    Raises:
        JournalMismatch: A store belongs to another installation: this worker must not write.
    """
    while True:
        try:
            found = await whole.begin(key)
            for loss in found:
                _log.error("data was lost", store=loss.store, what=loss.kind.told)
            if found:
                await _started(reconcile)
        except StoreUnavailable as error:
            # A journal that is not there may be mounted again; beginning it anew is for a person to decide.
            _log.warning("not compared yet", problem=str(error))
        await asyncio.sleep(COMPARED_EVERY)


async def keep_watching(longterm: LongTerm, checks: Checks, whole: Wholeness) -> None:
    """Hasten the checks of recent writes and of the stores whenever Weaviate may have restarted; until cancelled.

    What Weaviate confirmed just before it went away may be missing from its vector index. It may have restarted while
    no worker ran, or while this one was stopped: whenever nobody saw it up for as long as a start takes.
    """
    seen = -math.inf
    while True:
        asked = time.monotonic()
        if not await longterm.is_up():
            seen = -math.inf
        elif asked - seen < RESTARTED_WITHIN or await _hastened(checks, whole):
            seen = asked
        await asyncio.sleep(WATCH_EVERY)


async def _hastened(checks: Checks, whole: Wholeness) -> bool:
    whole.doubt()
    try:
        await checks.hasten(datetime.now(UTC))
    except StoreUnavailable as error:
        _log.warning("not checked early", problem=str(error))
        return False
    return True


async def keep_looking(longterm: LongTerm) -> None:
    """Look for tenants that Weaviate has open unnoticed, now and from time to time; until cancelled."""
    while True:
        try:
            await longterm.look_for_active()
        except PerdureError as error:
            _log.warning("open tenants are not known", problem=str(error))
            await asyncio.sleep(AGAIN_AFTER)
        else:
            await asyncio.sleep(LOOK_EVERY)


async def _started(reconcile: Callable[[], Awaitable[None]]) -> None:
    try:
        await reconcile()
    except PerdureError as error:
        _log.warning("not reconciled yet", problem=str(error))


async def _until_answered(check: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            return await check()
        except StoreUnavailable as error:
            _log.warning("not checked yet", problem=str(error))
            await asyncio.sleep(AGAIN_AFTER)


async def _keep_bringing(bring: Callable[[], Awaitable[int]], waiting: asyncio.Event) -> None:
    waiting.set()
    while True:
        # Another process of this machine may have left some, and died.
        with suppress(TimeoutError):
            async with asyncio.timeout(BRING_EVERY):
                await waiting.wait()
        waiting.clear()
        try:
            brought = await bring()
        except StoreUnavailable as error:
            _log.warning("episodes wait", problem=str(error))
            waiting.set()
            await asyncio.sleep(AGAIN_AFTER)
        else:
            if brought:
                _log.info("brought episodes that had waited", number=brought)
