"""A once effect while Redis is away: it happens once, and the task knows that it did."""

import asyncio
import datetime
import random
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest
from redis.asyncio import Redis

from localservers import Fleet, Server
from perdure import ToolCall, tool
from perdure.agent.state import TaskState
from perdure.agent.steps.calls import Ended
from perdure.agent.steps.once import OnceRunner
from perdure.agent.steps.threads import count_threads
from perdure.errors import PerdureError
from perdure.stores.redis.claims import Claim, Claims, OnceEffect
from perdure.stores.redis.connection import connect
from tests.conftest import OwnServers
from tests.integration.workflows.resumable_agent.test_once import attempt, counted, effect, since
from tests.support.harness import bench
from tests.support.tools import lines_in
from tests.support.waiting import progress_of, until_true

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

EFFECTS = 40

AWAY = 5.0
"""Seconds that Redis is away: longer than a claim lasts and than its client waits for an answer. That a claim has run
out is to be seen in Redis alone, which is away."""


class Tried(Claims):
    """Claims that count how often somebody else has tried to take each over."""

    def __init__(self, redis: Redis, ttl: datetime.timedelta) -> None:
        super().__init__(redis, ttl)
        self.tries: Counter[str] = Counter()

    async def take_over(
        self, effect: OnceEffect, expected: str, owner: str, seconds: float, *, acts: bool = False
    ) -> Claim:
        found = await super().take_over(effect, expected, owner, seconds, acts=acts)
        self.tries[effect.key] += expected != owner
        return found


class Late(Claims):
    """Claims that are renewed a moment later."""

    async def take_over(
        self, effect: OnceEffect, expected: str, owner: str, seconds: float, *, acts: bool = False
    ) -> Claim:
        await asyncio.sleep(LATE)
        return await super().take_over(effect, expected, owner, seconds, acts=acts)


LATE = 0.3
"""Seconds, within those that an owner has to renew its claim once Redis is back."""


@pytest.mark.parametrize(
    ("how", "waits"),
    [("killed", True), ("killed", False), ("stopped", True)],
    ids=["killed", "control", "stopped"],
)
async def test_a_call_that_goes_on_in_a_thread_keeps_its_claim(
    own_servers: OwnServers, monkeypatch: pytest.MonkeyPatch, how: str, waits: bool
) -> None:
    if not waits:

        async def over(_self: OnceRunner, _effect: OnceEffect, claim: Claim) -> None:
            await asyncio.sleep(max(0.0, claim.remaining))

        monkeypatch.setattr(OnceRunner, "_over", over)
    fleet = await own_servers(Server.REDIS)
    count_threads()
    # Whether anything is doubled without the wait is a matter of moments: the control's owners are late, and it may try
    # again.
    is_doubled, tries = False, 1 if waits else 4
    while tries and not is_doubled:
        acted = await _acted_while_redis_was_away(fleet, how, Claims if waits else Late)
        assert len(acted) == EFFECTS
        is_doubled, tries = {*acted.values()} != {1}, tries - 1
    assert is_doubled is not waits


async def _acted_while_redis_was_away(fleet: Fleet, how: str, renewed: type[Claims]) -> Counter[str]:
    """Return how often each of some effects happened whose second attempts began while Redis was away.

    Args:
        fleet: The servers.
        how: Whether Redis is killed or stopped.
        renewed: The claims of those that go on.
    """
    mine, other = connect(fleet.addresses.redis_url), connect(fleet.addresses.redis_url)
    claims = Tried(other, datetime.timedelta(minutes=5))
    first = OnceRunner(renewed(mine, datetime.timedelta(minutes=5)), since, counted)
    second = OnceRunner(claims, since, counted)
    acted: Counter[str] = Counter()
    done: Counter[str] = Counter()
    let = threading.Event()

    async def look(call: ToolCall) -> int | None:
        return done[call.idempotency_key] or None

    @tool(effect="once", timeout=1.0, check=look)
    def act(call: ToolCall) -> int:
        acted[call.idempotency_key] += 1
        let.wait(120)
        done[call.idempotency_key] += 1
        return 1

    async def again_until_it_ends(this: OnceEffect) -> None:
        for number in range(60):
            try:
                await attempt(second, act, this, f"second{number}")
            except PerdureError:
                # As Temporal does: a second later.
                await asyncio.sleep(random.uniform(0.5, 1.5))
            else:
                return

    effects = [effect() for _ in range(EFFECTS)]
    timed_out = await asyncio.gather(*(attempt(first, act, one, "first") for one in effects), return_exceptions=True)
    assert all(isinstance(one, PerdureError) for one in timed_out)
    later = [asyncio.create_task(again_until_it_ends(this)) for this in effects]
    if how == "killed":
        await fleet.stop(Server.REDIS)
        await asyncio.sleep(AWAY)
        claims.tries.clear()
        await fleet.start(Server.REDIS)
    else:
        fleet.child(Server.REDIS).signal(signal.SIGSTOP)
        await asyncio.sleep(AWAY)
        claims.tries.clear()
        fleet.child(Server.REDIS).signal(signal.SIGCONT)
    # Since Redis is back, the second attempts have had every claim within their reach.
    await until_true(lambda: all(claims.tries[one.key] >= 2 for one in effects))
    let.set()
    await asyncio.wait_for(asyncio.gather(*later), 90)
    await mine.aclose()
    await other.aclose()
    return acted


@pytest.mark.parametrize("told", [True, False], ids=["told", "control"])
async def test_an_effect_whose_result_redis_could_not_take_is_not_of_unknown_fate(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    if not told:
        telling = TaskState.telling

        def without(self: TaskState, path: str, outcome: Ended) -> TaskState:
            return telling(self, path, outcome.changed(unkept=False))

        monkeypatch.setattr(TaskState, "telling", without)
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path) as agents:
        ledger = agents.ledger()
        text = f"""
steps:
  - {{id: slow, tool: take_time, args: {{ledger: "{ledger}", seconds: 1.0}}}}
  - {{id: quick, tool: echo, args: {{value: 1}}}}
  - {{id: rest, wait: 12s}}
"""
        handle = await agents.start(agents.task(agents.skill(text)))
        await until_true(ledger.exists)
        await fleet.stop(Server.REDIS)
        # The step ends once its worker has tried often enough to keep its result.
        await progress_of(handle, lambda one: one.done >= 1)
        await fleet.start(Server.REDIS)
        result = await handle.result()
        await agents.replay(handle)
        assert len(lines_in(str(ledger))) >= 1
        assert result.unknown == (() if told else ("slow",))
