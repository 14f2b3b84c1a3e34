"""Effects that must not happen twice: what an attempt does with the claim that it finds. Keeps no state itself.

An attempt acts only under a claim of its own whose deadline has not passed. One that finds the claim of another
waits until that one's deadline is over, takes the claim, and then finds out what happened: from the
tool's own check, from a person, or not at all. In the last case it does not act, and asks.
"""

import asyncio
import contextlib
import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from perdure.crashpoints import CrashPoint, reached
from perdure.errors import ClaimLost, InvalidInput, NotDone, PerdureError, ResultTooLarge, StoreUnavailable, ToolFailed
from perdure.stores.redis.claims import Claim, Claims, Holding
from perdure.tools import Tool, ToolCall

STORE_ATTEMPTS = 5
"""How often storing a result is tried, one second apart. After that it is returned all the same: Temporal keeps it."""


@dataclass(frozen=True, kw_only=True)
class Happened:
    """The effect happened, now or earlier."""

    output: JsonValue


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """An attempt died around the effect, and nothing can tell whether it happened."""

    claim: str
    """The claim that this is about; a person's word is valid for it alone."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a person found out about an effect."""

    claim: str
    happened: bool


class OnceRunner:
    """Runs ``once`` tools under their claims."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims

    async def run(
        self,
        tenant: str,
        tool: Tool[..., Any],
        call: ToolCall,
        keywords: Mapping[str, Any],
        owner: str,
        *,
        verdict: Verdict | None,
    ) -> Happened | Unknown:
        """Make an effect happen once.

        Args:
            tenant: Whose effect it is.
            tool: The tool.
            call: The call; its key is the same for every attempt.
            keywords: Validated arguments.
            owner: This attempt.
            verdict: What a person said about an earlier attempt.

        Raises:
            StoreUnavailable: When there is no claim to be had; nothing has happened.
            ClaimLost: When this attempt slept through its own deadline.
            NotDone: When the tool knows that nothing happened.
        """
        key = call.idempotency_key
        claim = await self._claims.claim(tenant, key, owner, tool.timeout)
        while claim.holding is Holding.THEIRS:
            dead = claim.owner
            await asyncio.sleep(max(0.0, claim.remaining))
            claim = await self._claims.take_over(tenant, key, dead, owner, tool.timeout)
            if claim.holding is Holding.OURS:
                said = verdict.happened if verdict and verdict.claim == dead else None
                found = await self._find_out(tenant, tool, call, keywords, owner, said=said)
                if found is not None:
                    return found
                claim = await self._claims.take_over(tenant, key, owner, owner, tool.timeout)
        if claim.holding is Holding.DONE:
            return Happened(output=_unpacked(claim.result))
        return await self._act(tenant, tool, call, keywords, owner, claim=claim)

    async def _find_out(
        self,
        tenant: str,
        tool: Tool[..., Any],
        call: ToolCall,
        keywords: Mapping[str, Any],
        owner: str,
        *,
        said: bool | None,
    ) -> Happened | Unknown | None:
        """Find out what a dead attempt did; None: nothing, so this one may act."""
        key = call.idempotency_key
        if said is not None:
            if not said:
                return None
            await self._claims.store(tenant, key, owner, _packed(None))
            return Happened(output=None)
        if tool.check is None:
            await self._claims.expire(tenant, key, owner)
            return Unknown(claim=owner)
        try:
            async with asyncio.timeout(tool.timeout):
                happened, output = await tool.run_check(_until(call, tool.timeout), keywords)
        except PerdureError:
            await self._given_up(tenant, key, owner)
            raise
        except Exception as problem:
            await self._given_up(tenant, key, owner)
            raise failed(tool, problem) from problem
        if not happened:
            return None
        await self._claims.store(tenant, key, owner, _packed(output))
        return Happened(output=output)

    async def _act(
        self,
        tenant: str,
        tool: Tool[..., Any],
        call: ToolCall,
        keywords: Mapping[str, Any],
        owner: str,
        *,
        claim: Claim,
    ) -> Happened:
        key = call.idempotency_key
        reached(CrashPoint.TOOL_CLAIMED)
        left = claim.left()
        if left <= 0:
            raise ClaimLost("this attempt slept through its deadline, so it does not act")
        try:
            async with asyncio.timeout(left):
                returned = await tool.call(_until(call, left), keywords)
        except NotDone:
            await self._claims.release(tenant, key, owner)
            raise
        except Exception as problem:
            # It failed in the middle: the next attempt need not wait, but has to find out. One that is cancelled
            # keeps its claim: a thread or a request that it started may act until its deadline.
            await self._given_up(tenant, key, owner)
            if isinstance(problem, PerdureError):
                raise
            raise failed(tool, problem) from problem
        reached(CrashPoint.TOOL_ACTED)
        try:
            packed = _packed(tool.jsonable(returned))
        except (ResultTooLarge, InvalidInput) as problem:
            packed = json.dumps({"problem": [type(problem).__name__, *problem.args]})
        await self._stored(tenant, key, owner, packed)
        reached(CrashPoint.TOOL_STORED)
        return Happened(output=_unpacked(packed))

    async def _given_up(self, tenant: str, key: str, owner: str) -> None:
        # With Redis away, the claim runs out by itself.
        with contextlib.suppress(StoreUnavailable):
            await self._claims.expire(tenant, key, owner)

    async def _stored(self, tenant: str, key: str, owner: str, packed: str) -> None:
        for attempt in range(STORE_ATTEMPTS):
            try:
                return await self._claims.store(tenant, key, owner, packed)
            except StoreUnavailable:
                await asyncio.sleep(1.0 if attempt + 1 < STORE_ATTEMPTS else 0.0)
        return None


def failed(tool: Tool[..., Any], problem: Exception) -> ToolFailed:
    """Turn what a tool raised into an error of ours; a time-out says how long it was."""
    text = f"it took longer than {tool.timeout:g} s" if isinstance(problem, TimeoutError) else str(problem)
    # A file name that is not UTF-8 has surrogates in it, which no history and no episode can carry.
    text = text.encode(errors="replace").decode()
    return ToolFailed(tool.name, type(problem).__name__, text)


def _until(call: ToolCall, seconds: float) -> ToolCall:
    """Give the call with its true deadline: waiting for a dead attempt's claim may have used up the first one."""
    deadline = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    return call.changed(deadline=deadline)


def _packed(output: JsonValue) -> str:
    return json.dumps({"output": output}, ensure_ascii=False)


def _unpacked(packed: str) -> JsonValue:
    """Give a stored result; one that no step can carry is refused again, every time."""
    content: dict[str, Any] = json.loads(packed)
    if "problem" in content:
        raise ResultTooLarge(content["problem"][1])
    return content["output"]
