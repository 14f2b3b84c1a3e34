"""The limits of a tool around its calls: a call that finds no place is tried again later, and has not acted."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from perdure.agent.steps.calls import StepCall, longest_attempt
from perdure.agent.steps.once import Attempt
from perdure.errors import StoreUnavailable
from perdure.limits import MINUTE, CallLimit, LimitReached
from perdure.stores.redis import keys
from perdure.stores.redis.places import Places
from perdure.tools import Tool

_LONGEST = 4.0
"""Seconds after which a call looks again whether another one has ended: a choice between idle places and attempts."""


class Limiter:
    """Lets calls of tools begin as their limits allow.

    Args:
        places: The places that calls take.
    """

    def __init__(self, places: Places) -> None:
        self._places = places

    @asynccontextmanager
    async def within(self, tool: Tool[..., object], call: StepCall, attempt: Attempt) -> AsyncGenerator[None]:
        """Hold a place in each of a tool's limits while it is called.

        Args:
            tool: The tool.
            call: The step that calls it.
            attempt: The attempt, which has a place of its own. If its worker is killed, the place is given back when
                the attempt's time is over.

        Raises:
            LimitReached: There is none; says when to look again.
            StoreUnavailable: Redis does not answer.
        """
        held: list[str] = []
        begun: list[str] = []
        try:
            # A user who waits for a turn of their own takes none from the others.
            for limit in sorted(tool.limits, key=lambda one: not one.per_user):
                tenant = call.tenant if limit.per_user else ""
                name = f"{tool.name}:{'at_once' if limit.at_once else 'per_minute'}"
                lasts = longest_attempt(tool.timeout) if limit.at_once else MINUTE
                left = await self._places.take(name, attempt.owner, limit.most, lasts, tenant=tenant, epoch=call.epoch)
                if left:
                    raise LimitReached(tool.name, limit.told, _again(limit, left, attempt.number))
                (held if limit.at_once else begun).append(keys.places(tenant, name))
            begun.clear()
            yield
        finally:
            # Of a call that was not made, none has begun either.
            with suppress(StoreUnavailable):
                await self._places.release([*held, *begun], attempt.owner)


def _again(limit: CallLimit, left: float, attempt: int) -> float:
    """Return after how many seconds to look again. Spread, as all that wait would look at the same moment."""
    spread = random.uniform(1.0, 1.25)  # noqa: S311  no secret
    if limit.per_minute:
        return left * spread
    return min(left, _LONGEST, 0.25 * 2.0 ** min(attempt, 5)) * spread
