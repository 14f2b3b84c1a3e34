"""What a task claimed and kept lives as long as the task, and then for its full time; what ends unseen runs out."""

import signal
from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from localservers import Server
from perdure import Actor, ActorKind, AgentTask, Answer, TaskResult
from perdure.stores.redis import keys
from perdure.stores.redis.bindings import TaskBindings
from perdure.stores.redis.connection import ask
from tests.conftest import OwnServers, Servers
from tests.support.harness import Bench, bench
from tests.support.waiting import question_of, until
from worker.gateway import Gateway

pytestmark = pytest.mark.slow

KEPT = 18.0
"""Seconds that claims are kept; a task renews them three times as often, so each renewal may be 12 s late. Beside four
other processes of tests, one that came while the history was rolled over was more than 6 s late."""

WAITING = """
inputs: {ledger: string, large: string}
steps:
  - {id: send, tool: append, args: {ledger: "${inputs.ledger}", line: x}}
  - {for_each: "${[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}", as: n, steps: [{id: step, tool: echo, args: {value: 1}}]}
  - {id: ask, tool: echo, args: {value: "${inputs.large.size()}"}, approve: "Go on?"}
"""


async def present(redis: Redis, places: list[str]) -> int:
    return await ask(redis, "EXISTS", *places)


async def ends(redis: Redis, places: list[str]) -> float:
    """Return the moment on the clock of Redis at which the first of some keys goes; negative: one is gone."""
    return min([await ask(redis, "PEXPIRETIME", place) for place in places]) / 1000


async def now(redis: Redis) -> float:
    """Return the moment on the clock of Redis."""
    whole, millionths = await ask(redis, "TIME")
    return int(whole) + int(millionths) / 1e6


async def places_of(agents: Bench, task: AgentTask) -> list[str]:
    """Return the keys of a task that waits: what it is bound to, their list, its claim, and its large input."""
    redis, tenant = agents.services.redis, agents.services.tenant_key.tenant_of(task.user_id)
    binding, members = keys.task(tenant, task.task_id)
    kept: list[str] = sorted(await ask(redis, "SMEMBERS", members) - {members})
    assert [":claim:" in one for one in kept] == [True, False]
    return [binding, members, *kept]


@pytest.mark.parametrize(
    ("renewed", "continue_after"),
    [pytest.param(True, 0), (True, 40), pytest.param(False, 0)],
    ids=["renewed", "rolled over", "control"],
)
async def test_claims_live_as_long_as_their_task_and_count_from_its_end(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renewed: bool, continue_after: int
) -> None:
    if not renewed:

        async def keeps_nothing(*_: object, **__: object) -> tuple[str, ...]:
            return ()

        monkeypatch.setattr(TaskBindings, "keep", keeps_nothing)
    days = timedelta(seconds=KEPT) / timedelta(days=1)
    async with bench(servers, tmp_path, claim_ttl_days=days, continue_after=continue_after) as agents:
        redis = agents.services.redis
        task = agents.task(agents.skill(WAITING), inputs={"ledger": str(agents.ledger()), "large": "x" * 10_000})
        handle = await agents.start(task)
        await question_of(handle)
        latest = agents.client.get_workflow_handle(handle.id, result_type=TaskResult)
        assert ((await latest.describe()).run_id != handle.first_execution_run_id) == bool(continue_after)
        places, asked = await places_of(agents, task), await now(redis)
        if renewed:
            # Some 10 s of waiting say that they live for 27: nothing else has them go later.
            await until(lambda: ends(redis, places), lambda end: end > asked + KEPT * 1.5, KEPT * 2)
        else:
            await until(lambda: present(redis, places), lambda number: not number)
        answered = await now(redis)
        async with Gateway(agents.settings, servers) as gateway:
            # Not by Temporal's own client: a run that renews its claims often is often being rolled over.
            answer = Answer(question_id=(await question_of(latest)).id, value="yes")
            await gateway.answer(latest.id, answer, by=Actor(kind=ActorKind.PERSON, id="ada"))
        assert (await latest.result()).done == 12
        if renewed:
            assert await ends(redis, places) > answered + KEPT


async def test_a_renewal_that_redis_did_not_answer_is_repeated_before_the_claims_run_out(
    own_servers: OwnServers, tmp_path: Path
) -> None:
    fleet, kept = await own_servers(Server.REDIS, Server.WEAVIATE), KEPT
    days = timedelta(seconds=kept) / timedelta(days=1)
    async with bench(fleet.addresses, tmp_path, claim_ttl_days=days) as agents:
        task = agents.task(agents.skill(WAITING), inputs={"ledger": str(agents.ledger()), "large": "x" * 10_000})
        handle = await agents.start(task)
        await question_of(handle)
        places, redis = await places_of(agents, task), agents.services.redis
        before = await ends(redis, places)

        async def tried() -> int:
            return sum(
                event.HasField("timer_started_event_attributes") for event in (await handle.fetch_history()).events
            )

        fleet.child(Server.REDIS).signal(signal.SIGSTOP)
        timers = await tried()
        # The next timer is that of the renewal's repetition, once Redis has not answered for 4 s.
        await until(tried, lambda number: number > timers, kept)
        fleet.child(Server.REDIS).signal(signal.SIGCONT)
        assert await present(redis, places) == len(places), "the control: they have not run out yet"
        await until(lambda: ends(redis, places), lambda end: end > before + kept / 3, kept)
        await handle.cancel()


async def test_a_task_that_was_terminated_lets_its_claims_run_out(servers: Servers, tmp_path: Path) -> None:
    days = timedelta(seconds=KEPT / 2) / timedelta(days=1)
    async with bench(servers, tmp_path, claim_ttl_days=days) as agents:
        task = agents.task(agents.skill(WAITING), inputs={"ledger": str(agents.ledger()), "large": ""})
        tenant, redis = agents.services.tenant_key.tenant_of(task.user_id), agents.services.redis
        handle = await agents.start(task)
        await question_of(handle)
        await handle.terminate()
        places = [*keys.task(tenant, task.task_id)]
        assert await present(redis, places) == 2
        assert await until(lambda: present(redis, places), lambda number: not number) == 0
