"""Effects that must not happen twice: what an attempt does with the claim that it finds. Keeps no state itself.

An attempt acts only under a claim of its own whose deadline has not passed. One that finds the claim of another
waits until that one's deadline is over, takes the claim unless it was renewed, and then finds out what happened: from
the tool's own check, from a person, or not at all. In the last case it does not act, and asks.

Policies are asked last: they stop what has not happened yet, and never the finding out.

A call that failed leaves its claim until the deadline: a request that its client gave up may still be performed.
One that started work in threads keeps it until that work has ended: nothing can cut off a thread. A cancelled attempt
lets its call end, which it does at the deadline at the latest.

An attempt that finds no claim acts, unless it may follow another one and Redis lost data since that one began: then it
goes on as if it had found the claim of an attempt that began just now.
"""

import asyncio
import contextlib
import dataclasses
import datetime
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from pydantic import JsonValue

from perdure.agent.steps.attempts import Attempt, Happened
from perdure.agent.steps.claim_results import packed, packed_problem, unpacked
from perdure.agent.steps.gate import Gate, Stopped, Unknown, Verdict
from perdure.agent.steps.invocation import calling, ended, in_time
from perdure.agent.steps.secrecy import CallSecrets
from perdure.agent.steps.threads import Work, counted
from perdure.crashpoints import CrashPoint, reached
from perdure.errors import (
    ClaimLost,
    InvalidInput,
    NotDone,
    PerdureError,
    ResultTooLarge,
    StoreUnavailable,
    TenantErased,
    ToolFailed,
)
from perdure.frames import frames_of, place_of
from perdure.model import Instant
from perdure.stores.redis.claims import Claim, Claims, ClaimState, OnceEffect
from perdure.tools import Tool, ToolCall

_UNUSED = 0.9
"""The share of its time that a claim has left where it is not renewed before the call; a choice."""

_RENEWED_BEFORE = 0.75
"""The part of a call's time after which its claim is renewed if it works in threads, so that the claim never runs
out under them: a choice, which leaves Redis a quarter of the time to answer."""

RENEWED_WITHIN = 1.0
"""Seconds that Redis has to answer again before a claim whose time is over is taken: while Redis is away, nobody can
renew a claim, and an owner whose call goes on in a thread does so when it is back: after 0.2 s, or 0.5 s more where its
client waits before it tries again."""

_PROBLEM = 500
"""Characters that are kept of a failure, and of its place, for whoever is asked about it; a choice."""

STORE_ATTEMPTS = 5
"""How often storing a result is tried, one second apart. After that it is returned all the same: Temporal keeps it."""


class OnceRunner:
    """Runs ``once`` tools under their claims.

    Args:
        claims: The claims.
        redis_since: Returns since when Redis has lost nothing; None where it has lost something now.
        claimed: Counts a claim, so that a Redis that lacks it is known as an older copy.
    """

    def __init__(
        self,
        claims: Claims,
        redis_since: Callable[[], Awaitable[datetime.datetime | None]],
        claimed: Callable[[], Awaitable[None]],
    ) -> None:
        self._claims = claims
        self._redis_since = redis_since
        self._claimed = claimed
        self._renewing: set[asyncio.Task[None]] = set()

    async def run(
        self,
        tool: Tool[..., Any],
        call: ToolCall,
        keywords: Mapping[str, Any],
        effect: OnceEffect,
        attempt: Attempt,
        *,
        gate: Gate,
        seconds: float,
        cut: float | None = None,
        earlier: Instant | None = None,
        verdict: Verdict | None = None,
        secrets: CallSecrets | None = None,
    ) -> Happened | Unknown | Stopped:
        """Make an effect happen once.

        Args:
            tool: The tool.
            call: The call; its key is the same for every attempt.
            keywords: Validated arguments.
            effect: Its effect.
            attempt: This attempt.
            gate: What policies say of the call. They are asked once it is known that the effect has not happened.
            seconds: How long one call may take, as the tool declares it: so long its effect may still happen.
            cut: After how many seconds it is cut off, if sooner; its claim lasts for all of ``seconds``.
            earlier: Since when other series of attempts may have claimed the effect; None: there was none.
            verdict: What a person found out about an earlier attempt.
            secrets: Those of the tool and its check; None: they take none.

        Raises:
            StoreUnavailable: The claim cannot be made; nothing has happened.
            InvalidTask: The task's id is bound to another task; nothing has happened.
            ClaimLost: This attempt slept through its own deadline.
            ToolFailed: The call failed. The claim lasts until its deadline: the effect may still happen.
            NotDone: The tool knows that its call did nothing.
            TenantErased: The user was erased after the task was prepared. What happened is not kept.
        """
        owner, follows = attempt.owner, attempt.follows(earlier)
        # Where nothing is to be found out, nothing has to be claimed for a call that is not made.
        stops = follows is None and await gate.would_stop() and await self._claims.is_free(effect)
        if stops and (stopped := await gate.stopped()):
            return stopped
        secrets = secrets or CallSecrets(tool=tool.name, path=call.step, attempt=attempt.number)
        mine = _Mine(tool, call, keywords, effect, attempt, seconds, seconds if cut is None else cut, secrets)
        claim = await self._claims.claim(effect, owner, seconds)
        lost = claim.holding is ClaimState.OURS and (verdict is not None or await self._may_be_lost(mine, follows))
        if lost:
            # What an earlier attempt claimed just before the loss may happen for as long as a call takes.
            claim = await self._claims.doubt(effect, owner, seconds)
            if verdict is not None and follows is None:
                # Nothing was tried since a person found out about the claim that was lost.
                verdict = verdict.changed(claim=owner)
        while claim.holding is not ClaimState.OURS:
            other = claim.arguments != effect.arguments
            if claim.holding is ClaimState.DONE and not other:
                return Happened(output=unpacked(claim.result), at=claim.at, before=True)
            at = None if lost and claim.owner == owner else claim.at
            seen, deadline = claim.owner, None if claim.holding is ClaimState.DONE else _in(claim.remaining)
            happened = verdict.happened if verdict and verdict.claim == seen else None
            await self._over(effect, claim)
            if other and not happened:
                unknown = Unknown(claim=seen, deadline=deadline, at=at, other_arguments=True, problem=claim.problem)
                if held := unknown if happened is None else await _stopped_beside(gate, verdict):
                    return held
            claim = await self._claims.take_over(effect, seen, owner, seconds)
            if claim.holding is ClaimState.OURS:
                if happened is None and tool.check is None:
                    await self._claims.doubt(effect, owner, 0.0)
                    return Unknown(claim=owner, deadline=deadline, at=at, lost=lost, problem=claim.problem)
                found = await self._find_out(mine, happened, at)
                if found is not None:
                    return found
                claim = await self._claims.take_over(effect, owner, owner, seconds, acts=True)
        return await self._stopped(mine, gate) or await self._act(mine, await self._renewed(mine, claim))

    async def _over(self, effect: OnceEffect, claim: Claim) -> None:
        """Wait until the time of a claim is over, and its owner could have renewed it if Redis was away meanwhile."""
        await asyncio.sleep(max(0.0, claim.remaining))
        if claim.holding is ClaimState.THEIRS:
            await self._claims.look(effect)
            await asyncio.sleep(RENEWED_WITHIN)

    async def _stopped(self, mine: "_Mine", gate: Gate) -> Stopped | None:
        """Ask the policies about an effect that is not known to have happened; where they stop it, nobody claims it."""
        try:
            stopped = await gate.stopped()
        except BaseException:
            with contextlib.suppress(StoreUnavailable):
                await self._give_back(mine)
            raise
        if stopped:
            await self._give_back(mine)
        return stopped

    async def _give_back(self, mine: "_Mine") -> None:
        """Leave a claim under which nothing was called: the next attempt must not take it for one that has acted."""
        # What others did may show only after a policy's question was answered, days later: it is looked for again.
        await self._claims.release(mine.effect, mine.owner, known=mine.tool.check is None)
        if mine.tool.check is not None:
            await self._claims.doubt(mine.effect, mine.owner, 0.0, checked=True)

    async def _renewed(self, mine: "_Mine", claim: Claim) -> Claim:
        """Return the claim with its whole time, of which policies may have taken some; ClaimLost if another has it."""
        if claim.left() >= mine.seconds * _UNUSED:
            return claim
        claim = await self._claims.take_over(mine.effect, mine.owner, mine.owner, mine.seconds, acts=True)
        if claim.holding is not ClaimState.OURS:
            raise ClaimLost("another attempt took the claim while the policies were asked")
        return claim

    async def _may_be_lost(self, mine: "_Mine", follows: datetime.datetime | None) -> bool:
        """Return whether the claim of an earlier attempt may have been lost; our own has to be made before we ask."""
        if follows is None:
            return False
        try:
            since = await self._redis_since()
        except StoreUnavailable:
            # Nothing was called: the next attempt must not take this claim for one that may have acted.
            with contextlib.suppress(StoreUnavailable):
                await self._claims.release(mine.effect, mine.owner)
            raise
        return since is None or since > follows

    async def _find_out(self, mine: "_Mine", happened: bool | None, at: datetime.datetime | None) -> Happened | None:
        """Return what a dead attempt did, from a person or the tool's check; None: nothing, so this one may act."""
        output: JsonValue = None
        if happened is None:
            mine.secrets.require_for_check()
            async with calling(mine.tool.name, mine.seconds):
                call, values = _until(mine.call, mine.seconds), mine.secrets.values
                happened, output = await mine.tool.run_check(call, mine.keywords, values)
        if not happened:
            return None
        await self._claims.store(mine.effect, mine.owner, packed(output))
        return Happened(output=output, at=at, before=True)

    async def _act(self, mine: "_Mine", claim: Claim) -> Happened:
        await self._claimed()
        reached(CrashPoint.TOOL_CLAIMED)
        left, report = claim.left(), mine.attempt.report
        acted_before, report.acted, report.deadline = report.acted, True, _in(left)
        with counted() as work:
            call = asyncio.create_task(_called(mine, claim))
        renewing = asyncio.create_task(self._renew(mine, call, work, left))
        self._renewing.add(renewing)
        renewing.add_done_callback(self._renewing.discard)
        try:
            returned = await ended(call)
        except _Slept:
            report.acted = acted_before
            # Nothing was called: the next attempt must not take this claim for one that may have acted.
            with contextlib.suppress(PerdureError):
                await self._claims.release(mine.effect, mine.owner)
            raise ClaimLost("this attempt slept through its deadline, so it does not act") from None
        except ToolFailed as problem:
            # Whoever is asked what it did can then find out. Where Redis takes no note, the question says less.
            with contextlib.suppress(PerdureError):
                await self._claims.failed(mine.effect, mine.owner, _told(problem))
            raise
        except NotDone:
            if not work.is_running:
                report.acted = acted_before
                await self._claims.release(mine.effect, mine.owner)
            raise
        finally:
            if work.is_running:
                report.deadline = None
            else:
                renewing.cancel()
        report.deadline = None
        reached(CrashPoint.TOOL_ACTED)
        try:
            kept = packed(mine.tool.jsonable(returned))
        except (ResultTooLarge, InvalidInput) as problem:
            kept = packed_problem(problem)
        is_kept = await self._stored(mine, kept)
        reached(CrashPoint.TOOL_STORED)
        return Happened(output=unpacked(kept), unkept=not is_kept)

    async def _renew(self, mine: "_Mine", call: "asyncio.Task[Any]", work: Work, left: float) -> None:
        """Renew the claim for as long as the call goes on, or work that it started in threads.

        A coroutine is cut off at its deadline, and may go on all the same: it holds the claim for less long at a time,
        so that the next attempt need not wait much longer for one that ended.
        """
        await asyncio.sleep(left * _RENEWED_BEFORE)
        while work.is_running or not call.done():
            pause = mine.seconds * (0.25 if work.is_running else 0.3)
            try:
                more = mine.seconds * (1.0 if work.is_running else 0.5)
                claim = await self._claims.take_over(mine.effect, mine.owner, mine.owner, more)
                if claim.holding is not ClaimState.OURS:
                    return
            except TenantErased:
                return
            except StoreUnavailable:
                # Nobody can take the claim over while Redis is away.
                pause = min(pause, 0.2)
            await asyncio.sleep(pause)

    async def _stored(self, mine: "_Mine", result: str) -> bool:
        """Return whether Redis has taken the result."""
        for attempt in range(STORE_ATTEMPTS):
            try:
                await self._claims.store(mine.effect, mine.owner, result)
            except StoreUnavailable:
                await asyncio.sleep(1.0 if attempt + 1 < STORE_ATTEMPTS else 0.0)
            else:
                return True
        return False


async def _stopped_beside(gate: Gate, verdict: Verdict | None) -> Stopped | None:
    """Ask the policies while a claim with other arguments stands: it stays until this call may really be made."""
    stopped = await gate.stopped()
    return stopped and dataclasses.replace(stopped, verdict=verdict)


class _Mine(NamedTuple):
    """This attempt, and the effect that it is about."""

    tool: Tool[..., Any]
    call: ToolCall
    keywords: Mapping[str, Any]
    effect: OnceEffect
    attempt: Attempt
    seconds: float
    cut: float
    secrets: CallSecrets

    @property
    def owner(self) -> str:
        """Who has the claim."""
        return self.attempt.owner


class _Slept(Exception):
    """The deadline had passed before the tool was called; a tool may raise every other exception itself."""


async def _called(mine: _Mine, claim: Claim) -> Any:
    # In the turn of the loop in which the tool is called: another tool may have held the loop up in the one before.
    if (left := claim.left()) <= 0:
        raise _Slept
    left = min(left, mine.cut)
    async with calling(mine.tool.name, mine.cut, left=left) as limit:
        within, until = partial(in_time, left=claim.left, limit=limit), _until(mine.call, left)
        return await mine.tool.call(until, mine.keywords, mine.secrets.values, within)


def _told(failure: ToolFailed) -> str:
    place = place_of(frames_of(failure.raised))
    return f"{failure.kind}: {failure.text}"[:_PROBLEM] + place[:_PROBLEM]


def _in(seconds: float) -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)


def _until(call: ToolCall, seconds: float) -> ToolCall:
    """Return the call with its true deadline: waiting for a dead attempt's claim may have used up the first one."""
    return call.changed(deadline=_in(seconds))
