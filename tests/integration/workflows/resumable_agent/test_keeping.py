"""What a task claimed and kept lives as long as the task, and then for its full time; what ends unseen runs out."""

from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from perdure import Actor, ActorKind, Answer, TaskResult
from perdure.stores.redis import keys
from perdure.stores.redis.bindings import TaskBindings
from perdure.stores.redis.connection import ask
from tests.conftest import Servers
from tests.support.harness import bench
from tests.support.waiting import question_of, until
from worker.gateway import Gateway

KEPT = 4.0
"""Seconds that claims are kept; a task renews them three times as often."""

WAITING = """
inputs: {ledger: string, large: string}
steps:
  - {id: send, tool: append, args: {ledger: "${inputs.ledger}", line: x}}
  - {for_each: "${[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}", as: n, steps: [{id: step, tool: echo, args: {value: 1}}]}
  - {id: ask, tool: echo, args: {value: "${inputs.large.size()}"}, approve: "Go on?"}
"""


async def present(redis: Redis, places: list[str]) -> int:
    return await ask(redis, "EXISTS", *places)


async def left(redis: Redis, places: list[str]) -> float:
    """Return the seconds that the first of some keys to go has left."""
    return min([await ask(redis, "PTTL", place) for place in places]) / 1000


async def waited(redis: Redis, seconds: float) -> None:
    """Wait until the clock of Redis has gone on."""

    async def now() -> float:
        whole, millionths = await ask(redis, "TIME")
        return int(whole) + int(millionths) / 1e6

    then = await now() + seconds
    await until(now, lambda at: at >= then)


@pytest.mark.parametrize(
    ("renewed", "continue_after"),
    [pytest.param(True, 0, marks=pytest.mark.slow), (True, 40), pytest.param(False, 0, marks=pytest.mark.slow)],
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
        ledger, redis = agents.ledger(), agents.services.redis
        task = agents.task(agents.skill(WAITING), inputs={"ledger": str(ledger), "large": "x" * 10_000})
        tenant = agents.services.tenant_key.tenant_of(task.user_id)
        handle = await agents.start(task)
        await question_of(handle)
        latest = agents.client.get_workflow_handle(handle.id, result_type=TaskResult)
        assert ((await latest.describe()).run_id != handle.first_execution_run_id) == bool(continue_after)
        _, members = keys.task(tenant, task.task_id)
        kept: list[str] = sorted(await ask(redis, "SMEMBERS", members) - {members})
        assert [":claim:" in one for one in kept] == [True, False]
        places = [*keys.task(tenant, task.task_id), *kept]
        await waited(redis, KEPT * 1.5)
        assert await present(redis, places) == (len(places) if renewed else 0)
        async with Gateway(agents.settings, servers) as gateway:
            # Not by Temporal's own client: a run that renews its claims often is often being rolled over.
            answer = Answer(question_id=(await question_of(latest)).id, value="yes")
            await gateway.answer(latest.id, answer, by=Actor(kind=ActorKind.PERSON, id="ada"))
        assert (await latest.result()).done == 12
        if renewed:
            assert await left(redis, places) > KEPT - 1.0


async def test_a_task_that_was_terminated_lets_its_claims_run_out(servers: Servers, tmp_path: Path) -> None:
    days = timedelta(seconds=KEPT) / timedelta(days=1)
    async with bench(servers, tmp_path, claim_ttl_days=days) as agents:
        task = agents.task(agents.skill(WAITING), inputs={"ledger": str(agents.ledger()), "large": ""})
        tenant, redis = agents.services.tenant_key.tenant_of(task.user_id), agents.services.redis
        handle = await agents.start(task)
        await question_of(handle)
        await handle.terminate()
        places = [*keys.task(tenant, task.task_id)]
        assert await present(redis, places) == 2
        assert await until(lambda: present(redis, places), lambda number: not number) == 0
