"""A model is told why memory refuses what it remembers, in the same turn, and can say it otherwise."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pytest_httpserver import HTTPServer

from perdure.errors import StoreUnavailable, WorkerUnavailable
from perdure.memory.writing.intake import Intake
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Purpose
from perdure.values.jobs import Batch
from perdure.values.tasks import TaskResult
from tests.conftest import Servers
from tests.integration.workflows.resumable_agent.test_corrections import memories
from tests.support.goals import Agents, agents_on, goal
from tests.support.harness import Bench
from tests.support.turn_server import Asked, Call, Says
from tests.support.waiting import until

HEDGED, SURE = "The cache might be stale.", "The cache was stale on 2 May."
HABIT = "The user usually books window seats."
ONCE = "it is a habit that was observed only once: it is kept when it is observed again"


@pytest.fixture
def agents(servers: Servers, tmp_path: Path, httpserver: HTTPServer) -> Agents:
    return agents_on(servers, tmp_path, httpserver)


def remembers(*texts: str) -> Any:
    """Return a script that remembers these, one a turn, and says what that gave."""

    def script(asked: Asked) -> Says:
        if len(asked.outputs) < len(texts):
            return Says(calls=(Call("remember", {"text": texts[len(asked.outputs)]}),))
        return Says(" | ".join(asked.outputs))

    return script


async def told(one: Bench, user: str) -> tuple[list[str], TaskResult]:
    """Run a task; returns what its model was told, once its history was replayed."""
    handle = await one.start(goal(user_id=user))
    result = await handle.result()
    await one.replay(handle)
    return str(result.output).split(" | "), result


@pytest.mark.slow
@pytest.mark.parametrize("tells", [True, False], ids=["told", "control"])
async def test_it_is_told_what_is_refused_and_why_and_the_rest_is_kept(
    agents: Agents, monkeypatch: pytest.MonkeyPatch, tells: bool
) -> None:
    if not tells:

        async def none(*_: object, **__: object) -> dict[int, str]:
            return {}

        monkeypatch.setattr(Intake, "refusals", none)
    user = uuid4().hex
    async with agents(remembers(HEDGED, SURE)) as (one, _):
        (hedged, sure), result = await told(one, user)
        await until(lambda: memories(one, user), lambda found: [*found] == [SURE])
    why = "it is hedged: say it once it is sure (unstable: the write policy may believe it)"
    assert (why in hedged) is tells
    assert "hedged" not in sure
    assert result.refused == ((why,) if tells else ())
    assert len(result.jobs) == (1 if tells else 2), "what memory refuses alone needs no job"


@pytest.mark.slow
async def test_a_repeated_attempt_and_a_repeated_turn_observe_nothing_anew(
    agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals, attempts = Intake.refusals, list[str]()

    async def cut_off_at_first(self: Intake, batch: Batch, *, at: datetime) -> dict[int, str]:
        found = await refusals(self, batch, at=at)
        attempts.append(batch.key)
        if len(attempts) == 1:
            raise WorkerUnavailable("the worker stops")
        return found

    monkeypatch.setattr(Intake, "refusals", cut_off_at_first)
    user = uuid4().hex
    async with agents(remembers(HABIT, HABIT)) as (one, _):
        said, result = await told(one, user)
        assert attempts == ["turn[1].call[0]", "turn[1].call[0]", "turn[2].call[0]"]
        assert [ONCE in line for line in said] == [True, True]
        assert (result.refused, result.jobs) == ((ONCE, ONCE), ())
        _, another = await told(one, user)
        assert (another.refused, len(another.jobs)) == ((), 2), "another task has seen it as well"
        await until(lambda: memories(one, user), lambda found: [*found] == [HABIT])


@pytest.mark.slow
async def test_it_is_told_that_the_user_does_not_consent(agents: Agents) -> None:
    user, person = uuid4().hex, Actor(kind=ActorKind.PERSON, id="ada")
    async with agents(remembers(SURE)) as (one, _):
        tenant = one.services.tenant_key.tenant_of(user)
        await one.services.consents.say(
            tenant, grant=[], withdraw=[Purpose.GIVEN], operation="no", by=person, at=datetime.now().astimezone()
        )
        [line], result = await told(one, user)
        assert "consent" in line
        assert result.jobs == ()


@pytest.mark.slow
async def test_without_the_stores_it_goes_on_and_its_job_decides(
    agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object, **__: object) -> dict[int, str]:
        raise StoreUnavailable("redis", "is away")

    monkeypatch.setattr(Intake, "refusals", away)
    user = uuid4().hex
    async with agents(remembers(HEDGED, SURE)) as (one, _):
        _, result = await told(one, user)
        assert (result.refused, len(result.jobs)) == ((), 2)
        await until(lambda: memories(one, user), lambda found: [*found] == [SURE])
