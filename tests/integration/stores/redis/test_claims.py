"""Claims on the real Redis: one owner at a time, and the late word of an earlier one counts no more."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import date, timedelta
from uuid import uuid4

import pytest

from perdure.errors import ClaimLost, InvalidTask, ResultExpired, StoreUnavailable
from perdure.stores.redis import keys
from perdure.stores.redis.bindings import TaskBindings
from perdure.stores.redis.claims import Claims, ClaimState, OnceEffect
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.outputs import Outputs
from perdure.values.bindings import TaskBinding
from tests.conftest import Servers
from tests.support.waiting import until

T = f"t_{uuid4().hex}"


@pytest.fixture
async def claims(servers: Servers) -> AsyncGenerator[Claims]:
    redis = connect(servers.redis_url)
    yield Claims(redis, timedelta(minutes=1))
    await redis.aclose()


@pytest.fixture
def key() -> OnceEffect:
    return OnceEffect(tenant=T, task_id=uuid4().hex, step="s")


async def test_one_of_many_gets_it(claims: Claims, key: OnceEffect) -> None:
    found = await asyncio.gather(*(claims.claim(key, f"o{number}", 5) for number in range(20)))
    assert [claim.holding for claim in found].count(ClaimState.OURS) == 1
    assert {claim.owner for claim in found if claim.holding is ClaimState.THEIRS} == {
        claim.owner for claim in found if claim.holding is ClaimState.OURS
    }


async def test_asking_again_is_the_same_claim(claims: Claims, key: OnceEffect) -> None:
    first = await claims.claim(key, "a", 5)
    again = await claims.claim(key, "a", 5)
    assert again.holding is ClaimState.OURS
    assert again.remaining <= first.remaining == 5
    assert 0 < again.left() <= again.remaining


async def test_only_a_claim_that_ran_out_is_taken_over_and_only_by_one(claims: Claims, key: OnceEffect) -> None:
    await claims.claim(key, "a", 5)
    assert (await claims.take_over(key, "a", "b", 5)).holding is ClaimState.THEIRS
    await claims.doubt(key, "a", 0.0)
    found = await asyncio.gather(*(claims.take_over(key, "a", f"o{number}", 5) for number in range(20)))
    assert [claim.holding for claim in found].count(ClaimState.OURS) == 1


async def test_a_claim_knows_when_it_was_made_to_act(claims: Claims, key: OnceEffect) -> None:
    await claims.claim(key, "a", 0.001)
    made = (await claims.claim(key, "b", 5)).at
    assert made is not None
    found = await until(lambda: claims.take_over(key, "a", "b", 5), lambda claim: claim.holding is ClaimState.OURS)
    assert found.at == made, "its new owner has yet to find out what the first one did"
    await claims.take_over(key, "b", "b", 5)
    assert (await claims.claim(key, "c", 5)).at == made, "it was only renewed"
    await claims.take_over(key, "b", "b", 5, acts=True)
    anew = (await claims.claim(key, "c", 5)).at
    assert anew is not None
    assert anew > made


@pytest.mark.parametrize("noted", [True, False], ids=["noted", "control"])
async def test_a_clock_of_redis_that_is_set_forward_ends_no_claim(
    servers: Servers, claims: Claims, key: OnceEffect, noted: bool
) -> None:
    redis = connect(servers.redis_url)
    await claims.claim(key, "a", 5)
    # To a claim, a clock that is ten seconds ahead is a deadline that is ten seconds earlier.
    await ask(redis, "HINCRBY", keys.claim(T, key.key), "deadline", -10_000)
    if not noted:
        await ask(redis, "HSET", keys.claim(T, key.key), "note", "")
    found = await claims.claim(key, "b", 5)
    assert found.holding is ClaimState.THEIRS
    assert (found.remaining > 4.5) == noted
    await redis.aclose()


async def test_a_result_is_taken_from_the_present_owner_only(claims: Claims, key: OnceEffect) -> None:
    await claims.claim(key, "a", 5)
    await claims.doubt(key, "a", 0.0)
    await claims.take_over(key, "a", "b", 5)
    with pytest.raises(ClaimLost):
        await claims.store(key, "a", "late")
    await claims.store(key, "b", "1")
    await claims.store(key, "b", "1")
    found = await claims.claim(key, "c", 5)
    assert (found.holding, found.result) == (ClaimState.DONE, "1")
    assert (await claims.take_over(key, "b", "c", 5)).holding is ClaimState.DONE


async def test_a_result_whose_claim_was_lost_is_taken_with_all_that_the_claim_said(
    claims: Claims, servers: Servers
) -> None:
    binding = TaskBinding(skill="s", version="1", inputs={}, day=date(2026, 1, 1))
    key = OnceEffect(tenant=T, task_id=uuid4().hex, step="s", arguments="these", binding=binding)
    redis = connect(servers.redis_url)
    await claims.claim(key, "a", 5)
    await ask(redis, "DEL", *key.places)
    await claims.store(key, "a", "1")
    found = await claims.claim(key, "b", 5)
    assert (found.holding, found.owner, found.result, found.arguments) == (ClaimState.DONE, "a", "1", "these")
    with pytest.raises(InvalidTask, match="is already used by another task"):
        await claims.claim(replace(key, step="t", binding=binding.changed(skill="other")), "b", 5)
    assert await TaskBindings(redis, timedelta(minutes=1)).keep(T, key.task_id) == (), "it is renewed with the task"
    assert await ask(redis, "SMEMBERS", key.places[3]) == {keys.claim(T, key.key), key.places[3]}
    await redis.aclose()


async def test_a_result_of_an_attempt_that_was_taken_over_is_taken_once_that_claim_is_lost_too(
    claims: Claims, servers: Servers, key: OnceEffect
) -> None:
    redis = connect(servers.redis_url)
    await claims.claim(key, "a", 5)
    await claims.doubt(key, "a", 0.0)
    await claims.take_over(key, "a", "b", 5)
    with pytest.raises(ClaimLost):
        await claims.store(key, "a", "1")
    await ask(redis, "DEL", *key.places)
    await claims.store(key, "a", "1")
    with pytest.raises(ClaimLost):
        await claims.store(key, "b", "2")
    assert (await claims.take_over(key, "b", "b", 5, acts=True)).holding is ClaimState.DONE, "it does not act"
    assert (await claims.claim(key, "b", 5)).result == "1"
    await redis.aclose()


async def test_a_released_claim_is_free_and_a_stored_one_is_not(claims: Claims, key: OnceEffect) -> None:
    await claims.claim(key, "a", 5)
    await claims.release(key, "b")
    assert (await claims.claim(key, "b", 5)).holding is ClaimState.THEIRS
    await claims.release(key, "a")
    assert (await claims.claim(key, "b", 5)).holding is ClaimState.OURS
    await claims.store(key, "b", "1")
    await claims.release(key, "b")
    assert (await claims.claim(key, "c", 5)).holding is ClaimState.DONE


async def test_a_release_frees_the_tasks_id_unless_another_claim_binds_it(claims: Claims) -> None:
    binding = TaskBinding(skill="s", version="1", inputs={}, day=date(2026, 1, 1))
    bound = OnceEffect(tenant=T, task_id=uuid4().hex, step="s", binding=binding)
    mended = replace(bound, binding=binding.changed(version="2"))
    assert (await claims.claim(bound, "a", 5)).holding is ClaimState.OURS
    await claims.release(bound, "a")
    assert (await claims.claim(mended, "b", 5)).holding is ClaimState.OURS
    await claims.claim(replace(mended, step="t"), "c", 5)
    await claims.release(mended, "b")
    with pytest.raises(InvalidTask):
        await claims.claim(bound, "d", 5)


@pytest.mark.parametrize("first", ["a", "b"])
async def test_the_last_release_frees_the_tasks_id_whoever_bound_it(claims: Claims, first: str) -> None:
    binding = TaskBinding(skill="s", version="1", inputs={}, day=date(2026, 1, 1))
    bound = OnceEffect(tenant=T, task_id=uuid4().hex, step="s", binding=binding)
    other = replace(bound, step="t")
    mended = replace(bound, binding=binding.changed(version="2"))
    await claims.claim(bound, "a", 5)
    await claims.claim(other, "b", 5)
    one, two = ((bound, "a"), (other, "b")) if first == "a" else ((other, "b"), (bound, "a"))
    await claims.release(*one)
    with pytest.raises(InvalidTask):
        await claims.claim(mended, "c", 5)
    await claims.release(*two)
    assert (await claims.claim(mended, "c", 5)).holding is ClaimState.OURS


async def test_a_release_frees_the_id_of_a_task_that_keeps_a_large_value(claims: Claims, servers: Servers) -> None:
    binding = TaskBinding(skill="s", version="1", inputs={}, day=date(2026, 1, 1))
    bound = OnceEffect(tenant=T, task_id=uuid4().hex, step="s", binding=binding)
    redis = connect(servers.redis_url)
    await Outputs(redis, timedelta(minutes=1)).keep(T, '"large"', bound.task_id)
    await TaskBindings(redis, timedelta(minutes=1)).keep(T, bound.task_id)
    await claims.claim(bound, "a", 5)
    await claims.release(bound, "a")
    mended = replace(bound, binding=binding.changed(version="2"))
    assert (await claims.claim(mended, "b", 5)).holding is ClaimState.OURS
    await redis.aclose()


async def test_a_release_does_not_free_the_id_of_a_completed_task(claims: Claims, servers: Servers) -> None:
    binding = TaskBinding(skill="s", version="1", inputs={}, day=date(2026, 1, 1))
    bound = OnceEffect(tenant=T, task_id=uuid4().hex, step="s", binding=binding)
    redis = connect(servers.redis_url)
    await claims.claim(bound, "a", 5)
    await TaskBindings(redis, timedelta(minutes=1)).keep(T, bound.task_id, binding)
    await claims.release(bound, "a")
    with pytest.raises(InvalidTask):
        await claims.claim(replace(bound, binding=binding.changed(version="2")), "b", 5)
    await redis.aclose()


async def test_without_redis_there_is_no_claim(key: OnceEffect) -> None:
    redis = connect("redis://127.0.0.1:1")
    with pytest.raises(StoreUnavailable):
        await Claims(redis, timedelta(minutes=1)).claim(key, "a", 5)
    await redis.aclose()


async def test_outputs_come_back_and_belong_to_their_tenant(servers: Servers) -> None:
    key = uuid4().hex
    redis = connect(servers.redis_url)
    reference = await Outputs(redis, timedelta(minutes=1)).keep(key, '{"a":[1,"é"]}')
    assert await Outputs(redis, timedelta(minutes=1)).get(key, reference) == {"a": [1, "é"]}
    with pytest.raises(ResultExpired, match="no longer kept"):
        await Outputs(redis, timedelta(minutes=1)).get(uuid4().hex, reference)
    await redis.aclose()


@pytest.mark.parametrize(
    ("kind", "cached_for", "gone"),
    [("output", 600.0, False), ("output", 0.0, True), ("answer", 600.0, True)],
    ids=["control", "after a while", "an answer"],
)
async def test_what_is_gone_from_redis_leaves_the_process_too(
    servers: Servers, monkeypatch: pytest.MonkeyPatch, kind: str, cached_for: float, gone: bool
) -> None:
    monkeypatch.setattr("perdure.stores.redis.outputs.CACHED_FOR", cached_for)
    redis, tenant = connect(servers.redis_url), uuid4().hex
    outputs = Outputs(redis, timedelta(minutes=1), kind=kind)
    reference = await outputs.keep(tenant, '"x"')
    assert await outputs.get(tenant, reference) == "x"
    await ask(redis, "DEL", keys.output(tenant, kind, reference))
    if gone:
        with pytest.raises(ResultExpired):
            await outputs.get(tenant, reference)
    else:
        assert await outputs.get(tenant, reference) == "x"
    await redis.aclose()


async def test_an_id_is_bound_anew_by_who_runs_the_task_and_instead_of_what_was_seen(
    claims: Claims, servers: Servers
) -> None:
    redis, task = connect(servers.redis_url), uuid4().hex
    bindings = TaskBindings(redis, timedelta(minutes=1))
    first, second, third = [
        TaskBinding(skill="s", version=version, inputs={}, day=date(2026, 1, 2)) for version in ("1", "2", "3")
    ]
    effect = OnceEffect(tenant=T, task_id=task, step="s", binding=first)
    await bindings.open(T, task, "me")
    with pytest.raises(ClaimLost, match="another workflow runs the task now: me"):
        await bindings.begin(T, task, "another", second, instead_of="", epoch=None)
    await claims.claim(effect, "o", 5)
    with pytest.raises(InvalidTask, match="differs in skill"):
        await bindings.begin(T, task, "me", second, instead_of=third.digest, epoch=None)
    for _ in range(2):
        await bindings.begin(T, task, "me", second, instead_of=first.digest, epoch=None)
    found = await bindings.known(T, task)
    assert found is not None
    assert found.binding == second
    # A late attempt of the run before claims nothing any more, and what it gives back frees nothing.
    with pytest.raises(InvalidTask, match="differs in skill"):
        await claims.claim(replace(effect, step="t"), "o", 5)
    await claims.release(effect, "o")
    assert await bindings.known(T, task) == found
    assert await bindings.known(T, uuid4().hex) is None
    await redis.aclose()
