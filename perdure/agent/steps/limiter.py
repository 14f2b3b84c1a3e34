"""The limits of a tool around its calls: a call that finds no place is tried again later, and has not acted."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from perdure.agent.steps.attempts import Attempt
from perdure.agent.steps.calls import StepCall, longest_attempt
from perdure.errors import StoreRefused, StoreUnavailable
from perdure.stores.redis.call_slots import CallSlots
from perdure.tools import Tool
from perdure.values.call_limits import MINUTE, CallLimit, LimitReached

_LONGEST = 4.0
"""Seconds after which a call looks again whether another one has ended: a choice between idle slots and attempts."""


@dataclass
class Admission:
    """A call's slots in the limits of its tool."""

    is_made: bool = False
    """Whether the call has begun; one that has not does not count as one of its minute."""


class Limiter:
    """Lets calls of tools begin as their limits allow.

    Args:
        slots: The slots that calls take.
    """

    def __init__(self, slots: CallSlots) -> None:
        self._slots = slots

    @asynccontextmanager
    async def within(self, tool: Tool[..., object], call: StepCall, attempt: Attempt) -> AsyncGenerator[Admission]:
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
        admission, lasts = Admission(), longest_attempt(call.timeout or tool.timeout)
        tried: list[tuple[CallLimit, str, str]] = []
        try:
            # A user who waits for a turn of their own takes none from the others.
            for limit in sorted(tool.limits, key=lambda one: not one.per_user):
                tenant = call.tenant if limit.per_user else ""
                name = f"{tool.name}:{'at_once' if limit.at_once else 'per_minute'}"
                # First: a place whose answer is lost may have been taken.
                tried.append((limit, name, tenant))
                seconds = lasts if limit.at_once else MINUTE
                left = await self._slots.take(name, attempt.owner, limit.most, seconds, tenant=tenant, epoch=call.epoch)
                if left:
                    raise LimitReached(tool.name, limit.told, _again(limit, left, attempt.number))
            admission.is_made = True
            yield admission
        finally:
            for limit, name, tenant in tried:
                if limit.at_once or not admission.is_made:
                    with suppress(StoreUnavailable, StoreRefused):
                        await self._slots.release(name, attempt.owner, tenant=tenant)


def _again(limit: CallLimit, left: float, attempt: int) -> float:
    """Return after how many seconds to look again. Spread, as all that wait would look at the same moment."""
    spread = random.uniform(1.0, 1.25)  # noqa: S311  no secret
    if limit.per_minute:
        return left * spread
    return min(left, _LONGEST, 0.25 * 2.0 ** min(attempt, 5)) * spread
