"""An attempt at a once effect and the one before it, on the real Redis."""

import asyncio
import contextlib
import datetime
import functools
import re
import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from perdure import NotDone, Tool, ToolCall, tool
from perdure.agent.steps import once
from perdure.agent.steps.attempts import Attempt, Happened
from perdure.agent.steps.gate import Gate, Stopped, Unknown, Verdict
from perdure.agent.steps.once import OnceRunner
from perdure.agent.steps.resume_point import unknown_effect
from perdure.agent.steps.threads import Work, count_threads
from perdure.errors import Blocked, ClaimLost, InvalidInput, PerdureError, ResultTooLarge, StoreUnavailable, ToolFailed
from perdure.policies.decision import PolicyDecision
from perdure.policies.ruling import Ruling
from perdure.policies.shape import Outcome
from perdure.stores.redis import keys
from perdure.stores.redis.claims import Claim, Claims, ClaimState, OnceEffect
from perdure.stores.redis.connection import ask, connect
from tests.conftest import Servers
from tests.support.waiting import until, until_true


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis is never away here: what waits for it to be back would only make the tests longer."""
    monkeypatch.setattr(once, "RENEWED_WITHIN", 0.01)


@pytest.fixture
async def redis(servers: Servers) -> AsyncGenerator[Redis]:
    redis = connect(servers.redis_url)
    yield redis
    await redis.aclose()


@pytest.fixture
async def claims(redis: Redis) -> Claims:
    return Claims(redis, datetime.timedelta(minutes=1))


BEGAN = datetime.datetime.now(datetime.UTC)


@dataclass
class Reported:
    """What an attempt reports to the next one."""

    acted: bool
    arguments: str = ""
    deadline: datetime.datetime | None = None


async def since() -> datetime.datetime:
    """Return since when Redis has lost nothing."""
    return BEGAN


async def counted() -> None:
    """Count a claim."""


def effect() -> OnceEffect:
    return OnceEffect(tenant="t", task_id=uuid4().hex, step="s")


class Open:
    """Policies that let everything pass."""

    async def would_stop(self) -> bool:
        """Return that they would not."""
        return False

    async def stopped(self) -> None:
        """Stop nothing."""


@dataclass
class Closed:
    """Policies that stop the call, and see what is claimed for it by then."""

    claims: Claims
    effect: OnceEffect
    foresees: bool = True
    was_free: list[bool] = field(default_factory=list[bool])

    async def would_stop(self) -> bool:
        """Return whether they know it before the call is at hand."""
        return self.foresees

    async def stopped(self) -> Stopped:
        """Stop it."""
        self.was_free.append(await self.claims.is_free(self.effect))
        ruling = Ruling(outcome=Outcome.BLOCK, tool="act", step="s", arguments="", version="v")
        return Stopped(decision=PolicyDecision(outcome=Outcome.BLOCK, version="v"), ruling=ruling)


async def attempt(
    runner: OnceRunner,
    tool: Tool[..., Any],
    this: OnceEffect,
    owner: str,
    verdict: Verdict | None = None,
    *,
    seconds: float = 0.0,
    gate: Gate | None = None,
    acted: bool = True,
) -> Happened | Unknown:
    """Make one attempt at an effect."""
    call = ToolCall(
        idempotency_key=this.key,
        task_id=this.task_id,
        step=this.step,
        attempt=1,
        deadline=datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=tool.timeout),
    )
    mine = Attempt(
        workflow_id="w", owner=owner, number=1, scheduled_at=BEGAN, started_at=BEGAN, report=Reported(acted=acted)
    )
    how: dict[str, Any] = {"gate": gate or Open(), "seconds": seconds or tool.timeout, "verdict": verdict}
    found = await runner.run(tool, call, {}, this, mine, **how)
    if isinstance(found, Stopped):
        raise Blocked("stopped")
    return found


def output(found: Happened | Unknown) -> Any:
    """Return what an effect that happened gave."""
    assert isinstance(found, Happened)
    return found.output


@pytest.mark.parametrize(
    ("foresees", "acted", "free"),
    [(True, False, True), (True, True, False), (False, False, False)],
    ids=["foreseen", "after another attempt", "in the last moment"],
)
async def test_for_a_call_that_is_stopped_nothing_stays_claimed(
    claims: Claims, foresees: bool, acted: bool, free: bool
) -> None:
    @tool(effect="once", timeout=1.0)
    async def act() -> int:
        return 1

    runner, this = OnceRunner(claims, since, counted), effect()
    closed = Closed(claims, this, foresees)
    with pytest.raises(Blocked):
        await attempt(runner, act, this, "first", gate=closed, acted=acted)
    # Where another attempt may have acted, it is found out under a claim that it did not.
    assert closed.was_free == [free]
    assert await claims.is_free(this)
    assert output(await attempt(runner, act, this, "second", acted=False)) == 1


async def test_what_an_earlier_attempt_did_is_found_out_before_policies_are_asked(claims: Claims) -> None:
    done = [False]

    async def look() -> int | None:
        return 1 if done[0] else None

    @tool(effect="once", timeout=0.2, check=look)
    async def act() -> int:
        done[0] = True
        raise ConnectionError

    runner, this = OnceRunner(claims, since, counted), effect()
    with pytest.raises(ToolFailed):
        await attempt(runner, act, this, "first", acted=False)
    closed = Closed(claims, this)
    assert output(await attempt(runner, act, this, "second", gate=closed, acted=False)) == 1
    assert closed.was_free == []
    assert output(await attempt(runner, act, this, "third", gate=closed, acted=False)) == 1
    assert closed.was_free == []


async def test_what_shows_only_after_policies_stopped_the_next_attempt_is_found_by_the_one_after_it(
    claims: Claims,
) -> None:
    shows, acted = [False], list[str]()

    async def look() -> int | None:
        return 1 if shows[0] else None

    @tool(effect="once", timeout=0.2, check=look)
    async def act() -> int:
        acted.append("act")
        raise ConnectionError

    runner, this = OnceRunner(claims, since, counted), effect()
    with pytest.raises(ToolFailed):
        await attempt(runner, act, this, "first", acted=False)
    with pytest.raises(Blocked):
        await attempt(runner, act, this, "second", gate=Closed(claims, this), acted=True)
    shows[0] = True
    assert output(await attempt(runner, act, this, "third", acted=False)) == 1
    assert acted == ["act"]


async def test_a_cancelled_attempt_lets_its_call_end(claims: Claims) -> None:
    started, let = asyncio.Event(), asyncio.Event()

    @tool(effect="once", timeout=5.0)
    async def act() -> int:
        started.set()
        await let.wait()
        return 1

    runner, this = OnceRunner(claims, since, counted), effect()
    cancelled = asyncio.create_task(attempt(runner, act, this, "first"))
    await started.wait()
    for _ in range(3):
        cancelled.cancel()
        await asyncio.sleep(0)
    let.set()
    assert output(await cancelled) == 1
    assert (await claims.claim(this, "second", 5)).holding is ClaimState.DONE


@pytest.mark.parametrize(("renewed", "times"), [(True, 1), (False, 2)], ids=["renewed", "control"])
async def test_a_coroutine_that_goes_on_when_it_is_cut_off_keeps_the_claim(
    claims: Claims, monkeypatch: pytest.MonkeyPatch, renewed: bool, times: int
) -> None:

    async def not_renewed(*_: object, **__: object) -> None:
        return

    if not renewed:
        monkeypatch.setattr(OnceRunner, "_renew", not_renewed)
    effects: list[int] = []

    async def look() -> int | None:
        return len(effects) or None

    @tool(effect="once", timeout=0.4, check=look)
    async def act() -> int:
        ends = asyncio.get_running_loop().time() + 1.2
        while (left := ends - asyncio.get_running_loop().time()) > 0:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(left)
        effects.append(1)
        return 1

    runner, this = OnceRunner(claims, since, counted), effect()
    first = asyncio.create_task(attempt(runner, act, this, "first"))
    await until(lambda: claims.claim(this, "nobody", 1), lambda found: found.owner == "first")
    await asyncio.gather(first, attempt(runner, act, this, "second"), return_exceptions=True)
    assert len(effects) == times


@pytest.mark.parametrize(("looks", "times"), [(True, 1), (False, 2)], ids=["looks again", "control"])
async def test_an_attempt_whose_loop_was_held_up_before_its_call_does_not_act(
    servers: Servers, claims: Claims, monkeypatch: pytest.MonkeyPatch, looks: bool, times: int
) -> None:
    effects: list[int] = []

    async def look() -> int | None:
        return len(effects) or None

    @tool(effect="once", timeout=0.5, check=look)
    async def act() -> int:
        effects.append(1)
        return 1

    this, claim = effect(), claims.claim
    worker = threading.Thread(target=lambda: asyncio.run(other()))

    async def other() -> None:
        redis = connect(servers.redis_url)
        theirs = Claims(redis, datetime.timedelta(minutes=1))
        assert output(await attempt(OnceRunner(theirs, since, counted), act, this, "second")) == 1
        await redis.aclose()

    async def held_up(*arguments: Any, **more: Any) -> Any:
        found = await claim(*arguments, **more)
        # Another tool's coroutine is ready in the same turn of the loop, and blocks until another worker has acted.
        asyncio.get_running_loop().call_soon(worker.join)
        worker.start()
        return found

    def remaining(found: Claim) -> float:
        return found.remaining

    if not looks:
        monkeypatch.setattr(Claim, "left", remaining)
    monkeypatch.setattr(claims, "claim", held_up)
    with contextlib.suppress(PerdureError):
        await attempt(OnceRunner(claims, since, counted), act, this, "first")
    assert len(effects) == times


def plainly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function as one that knows nothing of coroutines does."""

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        return function(*args, **keywords)

    return call


@pytest.mark.parametrize(("looks", "times"), [(True, 1), (False, 2)], ids=["looks again", "control"])
@pytest.mark.parametrize("decorated", [False, True], ids=["bare", "in a plain decorator"])
async def test_a_call_that_is_resumed_after_its_deadline_does_not_act(
    servers: Servers, claims: Claims, monkeypatch: pytest.MonkeyPatch, looks: bool, times: int, decorated: bool
) -> None:
    effects: list[int] = []
    began, answered = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def look() -> int | None:
        return len(effects) or None

    async def work() -> int:
        if threading.current_thread() is threading.main_thread():
            began.set()
            await answered
        effects.append(1)
        return 1

    this, act = effect(), tool(effect="once", timeout=0.5, check=look, name="act")(plainly(work) if decorated else work)

    async def other() -> None:
        redis = connect(servers.redis_url)
        theirs = Claims(redis, datetime.timedelta(minutes=1))
        assert output(await attempt(OnceRunner(theirs, since, counted), act, this, "second")) == 1
        await redis.aclose()

    def held_up() -> None:
        # What the call waits for is there; before the loop's next turn, another worker has acted in its place.
        answered.set_result(None)
        worker = threading.Thread(target=lambda: asyncio.run(other()))
        worker.start()
        worker.join()

    def resumed_whenever(call: Any, **_: Any) -> Any:
        return call

    if not looks:
        monkeypatch.setattr(once, "in_time", resumed_whenever)
    first = asyncio.create_task(attempt(OnceRunner(claims, since, counted), act, this, "first"))
    await began.wait()
    asyncio.get_running_loop().call_soon(held_up)
    with contextlib.suppress(PerdureError):
        await first
    assert len(effects) == times


@pytest.mark.parametrize("raised", [SystemExit(2), asyncio.CancelledError()], ids=["SystemExit", "CancelledError"])
@pytest.mark.parametrize("plain", [True, False], ids=["plain function", "coroutine"])
async def test_what_ends_a_process_or_a_task_ends_only_the_call(
    claims: Claims, plain: bool, raised: BaseException
) -> None:
    def work() -> int:
        raise raised

    async def act() -> int:
        return work()

    named: Tool[..., Any] = tool(effect="once", timeout=0.5)(work if plain else act)
    with pytest.raises(ToolFailed, match=type(raised).__name__):
        await attempt(OnceRunner(claims, since, counted), named, effect(), "first")


async def test_a_claim_is_counted_before_its_effect(claims: Claims) -> None:
    happened: list[str] = []

    async def count() -> None:
        happened.append("counted")

    @tool(effect="once", timeout=0.5)
    async def act() -> int:
        happened.append("acted")
        return 1

    runner, this = OnceRunner(claims, since, count), effect()
    for owner in ("first", "second"):
        assert output(await attempt(runner, act, this, owner)) == 1
    assert happened == ["counted", "acted"]


async def test_a_claim_under_which_nothing_was_called_asks_nobody(claims: Claims) -> None:
    answers: list[Exception | None] = [StoreUnavailable("journal", "does not answer"), None]

    async def away_at_first() -> datetime.datetime:
        if (problem := answers.pop(0)) is not None:
            raise problem
        return BEGAN

    @tool(effect="once", timeout=0.5)
    async def act() -> int:
        return 1

    runner, this = OnceRunner(claims, away_at_first, counted), effect()
    with pytest.raises(StoreUnavailable):
        await attempt(runner, act, this, "first")
    assert output(await attempt(runner, act, this, "second")) == 1


@pytest.mark.parametrize(("counts", "times"), [(True, 1), (False, 2)], ids=["counted", "control"])
@pytest.mark.parametrize("plain", [True, False], ids=["plain function", "to_thread"])
async def test_work_in_a_thread_that_outlives_its_call_keeps_the_claim(
    claims: Claims, monkeypatch: pytest.MonkeyPatch, plain: bool, counts: bool, times: int
) -> None:
    count_threads()
    if not counts:
        monkeypatch.setattr("perdure.agent.steps.once.counted", lambda: contextlib.nullcontext(Work()))
    effects: list[int] = []
    let = threading.Event()

    async def look() -> int | None:
        return len(effects) or None

    def work() -> int:
        let.wait(10)
        effects.append(1)
        return 1

    async def in_thread() -> int:
        return await asyncio.to_thread(work)

    act: Tool[..., Any] = tool(effect="once", timeout=0.4, check=look)(work if plain else in_thread)
    runner, this = OnceRunner(claims, since, counted), effect()
    with pytest.raises(ToolFailed):
        await attempt(runner, act, this, "first")
    # Three times as long as a claim lasts that nobody renews.
    asyncio.get_running_loop().call_later(1.2, let.set)
    if counts:
        assert output(await attempt(runner, act, this, "second")) == 1
    else:
        with pytest.raises(ToolFailed):
            await attempt(runner, act, this, "second")
    await until_true(lambda: len(effects) == times)


async def test_a_call_that_says_not_done_while_its_thread_works_keeps_its_claim(claims: Claims) -> None:
    count_threads()
    let = threading.Event()

    @tool(effect="once", timeout=5.0)
    async def act() -> None:
        work = asyncio.create_task(asyncio.to_thread(let.wait, 10))
        await asyncio.sleep(0)
        raise NotDone(f"or so it says: {work.done()}")

    runner, this = OnceRunner(claims, since, counted), effect()
    with pytest.raises(NotDone):
        await attempt(runner, act, this, "first")
    assert (await claims.claim(this, "second", 5)).holding is ClaimState.THEIRS
    let.set()


async def test_the_deadline_that_a_tool_is_told_is_its_own(claims: Claims) -> None:
    async def look(call: ToolCall) -> float | None:
        left.append((call.deadline - datetime.datetime.now(datetime.UTC)).total_seconds())
        return None

    @tool(effect="once", timeout=1.0, check=look)
    async def act(call: ToolCall) -> None:
        left.append((call.deadline - datetime.datetime.now(datetime.UTC)).total_seconds())

    left: list[float] = []
    this = effect()
    await claims.claim(this, "dead", 1.0)
    await attempt(OnceRunner(claims, since, counted), act, this, "ours")
    assert len(left) == 2
    assert all(0.5 < seconds <= 1.0 for seconds in left)


@pytest.mark.parametrize(
    ("result", "kind", "message"),
    [
        ("x" * 2_000_001, ResultTooLarge, "PRD110 tool 'act' returned 2,000,003 bytes"),
        (float("nan"), InvalidInput, "PRD100 tool act: returned float that is not JSON"),
    ],
)
async def test_a_result_that_no_step_can_carry_is_refused_as_what_it_is_for_each_attempt(
    claims: Claims, result: object, kind: type[PerdureError], message: str
) -> None:
    calls: list[int] = []

    @tool(effect="once", timeout=1.0)
    async def act() -> object:
        calls.append(1)
        return result

    this, messages = effect(), list[str]()
    for owner in ("first", "second"):
        with pytest.raises(kind) as caught:
            await attempt(OnceRunner(claims, since, counted), act, this, owner)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert messages[0].startswith(message)
    assert calls == [1]


class Service:
    """A service that performs what it is asked only after a while, whether or not anybody still waits."""

    def __init__(self, seconds: float) -> None:
        self.effects: list[int] = []
        self.working = 0
        self._seconds = seconds

    def request(self) -> None:
        self.working += 1
        asyncio.get_running_loop().call_later(self._seconds, self._perform)

    def _perform(self) -> None:
        self.working -= 1
        self.effects.append(1)

    async def find(self) -> int | None:
        return len(self.effects) or None


@pytest.mark.parametrize(("kept", "times"), [(True, 1), (False, 2)], ids=["claim", "control"])
async def test_an_effect_whose_call_failed_is_not_repeated_before_its_deadline(
    claims: Claims, kept: bool, times: int
) -> None:
    service = Service(0.5)

    @tool(effect="once", timeout=1.0, check=service.find)
    async def act() -> int:
        service.request()
        if service.working == 1 and not service.effects:
            raise ConnectionError("the client gave up")
        return 1

    runner, this = OnceRunner(claims, since, counted), effect()
    with pytest.raises(ToolFailed):
        await attempt(runner, act, this, "first")
    if not kept:
        await claims.doubt(this, "first", 0.0)
    assert output(await attempt(runner, act, this, "second")) == 1
    await until_true(lambda: not service.working)
    assert len(service.effects) == times


async def test_who_is_asked_what_an_attempt_did_reads_how_it_failed(claims: Claims) -> None:
    failing = [True, False]

    @tool(effect="once", timeout=0.2)
    async def send() -> str:
        if failing.pop(0):
            raise ConnectionError("reset by peer")
        return "sent"

    runner, this = OnceRunner(claims, since, counted), effect()
    with pytest.raises(ToolFailed):
        await attempt(runner, send, this, "first")
    found = await attempt(runner, send, this, "second")
    assert isinstance(found, Unknown)
    assert re.fullmatch(r"ConnectionError: reset by peer \(.*test_once\.py:\d+ in .*send\)", found.problem)
    assert f"failed: {found.problem}. Did its effect happen" in unknown_effect("send", found)
    not_done = Verdict(claim=found.claim, happened=False)
    assert output(await attempt(runner, send, this, "third", verdict=not_done)) == "sent"


async def test_a_call_ends_with_the_time_that_its_task_was_pinned_to(claims: Claims) -> None:
    @tool(effect="once", timeout=60.0)
    async def act() -> None:
        await asyncio.sleep(60)

    with pytest.raises(ToolFailed) as caught:
        await attempt(OnceRunner(claims, since, counted), act, effect(), "first", seconds=0.3)
    assert caught.value.text == "it took longer than 0.3 s"


async def test_a_check_that_fails_leaves_the_claim_until_its_deadline(claims: Claims) -> None:
    async def look() -> int | None:
        raise ConnectionError("no answer")

    @tool(effect="once", timeout=5.0, check=look)
    async def act() -> None:
        pass

    this = effect()
    await claims.claim(this, "dead", 0.01)
    with pytest.raises(ToolFailed):
        await attempt(OnceRunner(claims, since, counted), act, this, "ours")
    assert (await claims.claim(this, "next", 5.0)).remaining > 4


@pytest.mark.parametrize(("kept", "times"), [(True, 1), (False, 2)], ids=["claim", "control"])
async def test_a_busy_service_says_nothing_about_an_earlier_attempt(
    claims: Claims, redis: Redis, kept: bool, times: int
) -> None:
    service = Service(0.3)

    @tool(effect="once", timeout=0.5, check=service.find)
    async def act() -> int:
        if service.working:
            raise NotDone("busy")
        service.request()
        return 1

    runner, this = OnceRunner(claims, since, counted), effect()
    await claims.claim(this, "dead", 0.01)
    service.request()
    with pytest.raises(NotDone):
        await attempt(runner, act, this, "second")
    if not kept:
        await until_true(lambda: not service.working)
        await ask(redis, "DEL", keys.claim("t", this.key))
    assert output(await attempt(runner, act, this, "third")) == 1
    await until_true(lambda: not service.working)
    assert len(service.effects) == times


@pytest.mark.parametrize("by_tool", [False, True], ids=["slept", "raised by the tool"])
async def test_an_attempt_that_slept_until_its_deadline_leaves_no_claim_to_ask_about(
    claims: Claims, monkeypatch: pytest.MonkeyPatch, by_tool: bool
) -> None:
    effects: list[str] = []

    @tool(effect="once", timeout=0.2)
    async def act() -> str:
        effects.append("made")
        if by_tool:
            raise ClaimLost("of an effect of its own")
        return "made"

    def over(_: Claim) -> float:
        return -1.0

    async def sleep() -> None:
        monkeypatch.setattr(Claim, "left", over)

    # Counted right before it acts.
    runner, this = OnceRunner(claims, since, counted if by_tool else sleep), effect()
    with monkeypatch.context() as monkeypatch, pytest.raises(ClaimLost):
        await attempt(runner, act, this, "first", acted=False)
    assert await claims.is_free(this) != by_tool
    if by_tool:
        assert isinstance(await attempt(runner, act, this, "second", acted=False), Unknown), "it may have acted"
        assert effects == ["made"]
    else:
        assert effects == []
        assert output(await attempt(OnceRunner(claims, since, counted), act, this, "second", acted=False)) == "made"


@pytest.mark.parametrize("happened", [True, False])
@pytest.mark.parametrize("ended", [True, False], ids=["done", "dead"])
async def test_other_arguments_under_the_same_key_ask_a_person(claims: Claims, ended: bool, happened: bool) -> None:
    effects: list[str] = []

    async def look() -> str | None:
        return "what an earlier call did"

    @tool(effect="once", timeout=1.0, check=look)
    async def act() -> str:
        effects.append("made")
        return "made"

    runner, this = OnceRunner(claims, since, counted), effect()
    before, now = replace(this, arguments="Kim"), replace(this, arguments="Lee")
    await claims.claim(before, "first", 0.01)
    if ended:
        await claims.store(before, "first", '{"output": "sent to Kim"}')
    asked = await attempt(runner, act, now, "second")
    assert isinstance(asked, Unknown)
    assert (asked.claim, asked.other_arguments, asked.deadline is None) == ("first", True, ended)
    other = await attempt(runner, act, now, "third", Verdict(claim="another", happened=happened))
    assert isinstance(other, Unknown)
    told = Verdict(claim="first", happened=happened)
    assert output(await attempt(runner, act, now, "fourth", told)) == (None if happened else "made")
    assert len(effects) == (not happened)
    # The claim is the present arguments' now.
    assert output(await attempt(runner, act, now, "fifth")) == (None if happened else "made")
    assert isinstance(await attempt(runner, act, before, "sixth"), Unknown)


@pytest.mark.parametrize("foresees", [True, False])
async def test_what_was_done_with_other_arguments_stays_recorded_where_policies_stop_the_call(
    claims: Claims, foresees: bool
) -> None:
    effects: list[str] = []

    @tool(effect="once", timeout=1.0)
    async def act() -> str:
        effects.append("made")
        return "made"

    runner, this = OnceRunner(claims, since, counted), effect()
    before, now = replace(this, arguments="Kim"), replace(this, arguments="Lee")
    assert output(await attempt(runner, act, before, "first", acted=False)) == "made"
    told = Verdict(claim="first", happened=False)
    with pytest.raises(Blocked):
        await attempt(runner, act, now, "second", told, gate=Closed(claims, now, foresees))
    assert output(await attempt(runner, act, before, "third")) == "made"
    assert effects == ["made"], "and is not done again"
    assert output(await attempt(runner, act, now, "fourth", told)) == "made"
    assert len(effects) == 2, "the control: what a person said of the other arguments still counts"


async def test_policies_take_none_of_the_calls_time(claims: Claims) -> None:
    class Slow(Open):
        async def stopped(self) -> None:
            await asyncio.sleep(0.4)

    @tool(effect="once", timeout=0.6)
    async def act() -> str:
        await asyncio.sleep(0.4)
        return "made"

    runner, this = OnceRunner(claims, since, counted), effect()
    assert output(await attempt(runner, act, this, "first", gate=Slow(), acted=False)) == "made"


async def test_only_an_attempt_that_found_the_effect_free_gives_it_back(claims: Claims) -> None:
    free, taken = effect(), effect()
    await claims.claim(free, "a", 5)
    await claims.release(free, "a")
    assert (await claims.claim(free, "b", 5)).holding is ClaimState.OURS
    await claims.claim(taken, "a", 0.001)
    await until_owner(claims, taken, "b")
    await claims.release(taken, "b")
    assert (await claims.claim(taken, "c", 5)).holding is ClaimState.THEIRS


async def until_owner(claims: Claims, this: OnceEffect, owner: str) -> None:
    """Take a claim over from its owner ``a``, whose deadline is passing."""
    await until(lambda: claims.take_over(this, "a", owner, 5), lambda claim: claim.holding is ClaimState.OURS)
