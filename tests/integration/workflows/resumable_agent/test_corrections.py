"""A model that corrects what is remembered: by the id that it is shown, once, and under the rules of memory."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from pytest_httpserver import HTTPServer

from perdure.errors import StoreUnavailable
from perdure.identity import short_id
from perdure.memory.updates.versions import versions
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.redis.changed_tenants import ChangedTenants
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Memory, Source, State
from perdure.values.tasks import MemoryMode
from tests.conftest import Servers
from tests.support.goals import Agents, agents_on, goal
from tests.support.harness import Bench
from tests.support.turn_server import Asked, Call, Says, Script

pytestmark = pytest.mark.slow

WRONG, RIGHT = "The standup is at 9.", "The standup is at 10."
EMAIL = "a@example.com"
BEFORE = datetime.now(UTC) - timedelta(days=30)


@pytest.fixture
def agents(servers: Servers, tmp_path: Path, httpserver: HTTPServer) -> Agents:
    return agents_on(servers, tmp_path, httpserver)


async def believed(one: Bench, user: str, text: str = WRONG, **fields: JsonValue) -> str:
    """Have a memory believed of a user; returns its id."""
    item = {"kind": "memory", "content": text, "source": "learned", "occurrence": uuid4().hex}
    items: list[JsonValue] = [{**item, "occurred_at": BEFORE.isoformat(), **fields}]
    batch = read_batch(tenant=one.services.tenant_key.tenant_of(user), key="setup", items=items)
    plan = await one.services.writer.plan(batch, at=BEFORE)
    await one.services.writer.apply(batch, plan, operation=uuid4().hex)
    return plan.items[0].target


async def memories(one: Bench, user: str) -> dict[str, Memory]:
    tenant = one.services.tenant_key.tenant_of(user)
    stored = await one.services.longterm.everything(tenant)
    return {entry.text: entry for entry in stored.values() if isinstance(entry, Memory)}


def corrects(identifier: str = "", text: str = RIGHT, **more: str) -> Script:
    """Return a script that corrects the memory that it is shown first, or one with this id, and says what that gave."""

    def script(asked: Asked) -> Says:
        if asked.outputs:
            return Says(asked.outputs[-1])
        shown = re.findall(r"; (mem_[0-9a-f]+)\)", asked.first)
        return Says(calls=(Call("correct", {"id": identifier or shown[0], "text": text, **more}),))

    return script


async def corrected(one: Bench, user: str, **more: Any) -> str:
    """Run a task in which the model corrects; returns what it was told, once its history was replayed."""
    handle = await one.start(goal("When is the standup?", user_id=user, **more))
    result = await handle.result()
    await one.replay(handle)
    return str(result.output)


async def test_what_is_wrong_is_put_right_by_the_task_with_its_history(agents: Agents) -> None:
    user = uuid4().hex
    async with agents(corrects()) as (one, server):
        wrong = await believed(one, user)
        task = goal("When is the standup?", user_id=user)
        result = await (await one.start(task)).result()
        found = await memories(one, user)
        new, old = found[RIGHT], found[WRONG]
        assert (new.state, old.state, old.superseded_by) == (State.CURRENT, State.SUPERSEDED, new.id)
        assert (new.source, new.confidence, new.supersedes) == (Source.LEARNED, 0.9, wrong)
        lines = await one.services.journal.read(one.services.tenant_key.tenant_of(user))
        by = Actor(kind=ActorKind.AGENT, id=task.workflow_id)
        assert [(v.why, v.by) for v in versions(lines, new.id)] == [("correct", by)]
        assert [(v.why, v.by) for v in versions(lines, wrong)][1:] == [("correct", by)]
        assert str(result.output).endswith(short_id(new.id)), "the model can correct it again"
    assert short_id(wrong) in server.asked[0].first
    assert wrong not in server.asked[0].first, "few of its signs are enough"


async def test_a_repeated_attempt_corrects_once(agents: Agents, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wording alone is corrected: made twice, that would be two versions."""
    add, attempts = ChangedTenants.add, list[str]()

    async def away_at_first(self: ChangedTenants, tenant: str, at: datetime) -> None:
        attempts.append(tenant)
        if len(attempts) == 1:
            raise StoreUnavailable("redis", "is away")
        await add(self, tenant, at)

    user = uuid4().hex
    async with agents(corrects(text="the standup is at 9")) as (one, _):
        wrong = await believed(one, user)
        monkeypatch.setattr(ChangedTenants, "add", away_at_first)
        await corrected(one, user)
        assert attempts == [one.services.tenant_key.tenant_of(user)] * 2
        [memory] = (await memories(one, user)).values()
        assert (memory.id, memory.text, memory.version) == (wrong, "the standup is at 9", 2)


async def test_what_a_person_has_ruled_is_not_weakened(agents: Agents) -> None:
    user, rule = uuid4().hex, "Never deploy on Friday."
    async with agents(corrects(text="Deploy on Friday.")) as (one, _):
        await believed(one, user, rule, memory_type="constraint", source="explicit")
        said = await corrected(one, user)
        assert "it contradicts what a person said" in said
        assert "remember it instead" in said
        assert {text: entry.state for text, entry in (await memories(one, user)).items()} == {rule: State.CURRENT}


async def test_another_users_memory_is_as_if_it_did_not_exist(agents: Agents) -> None:
    user, other, given = uuid4().hex, uuid4().hex, list[str]()

    def script(asked: Asked) -> Says:
        if asked.outputs:
            return Says(" | ".join(asked.outputs))
        return Says(calls=tuple(Call("correct", {"id": one, "text": RIGHT}) for one in given))

    async with agents(script) as (one, _):
        theirs = await believed(one, other)
        await believed(one, user, "Lunch is at 12.")
        nobodys = f"mem_{'0' * 64}"
        given += [short_id(theirs), theirs, nobodys, "mem_*", "turn_1", ""]
        said = (await corrected(one, user)).split(" | ")
        assert [line.replace(repr(name), "X") for name, line in zip(given, said, strict=True)] == [
            "It failed: PRD100 id: there is no memory X (recall it: its id stands behind it, as mem_1a2b3c4d)"
        ] * len(given)
        assert [*await memories(one, other)] == [WRONG]


async def test_what_the_model_gets_wrong_is_said_and_private_data_are_not_kept(agents: Agents) -> None:
    user = uuid4().hex

    def script(asked: Asked) -> Says:
        if asked.outputs:
            return Says(" | ".join(asked.outputs))
        [shown] = re.findall(r"; (mem_[0-9a-f]+)\)", asked.first)
        wanted = (
            {"id": shown},
            {"id": shown, "txt": RIGHT},
            {"id": shown, "text": f"{RIGHT[:-1]}, says {EMAIL}."},
        )
        return Says(calls=tuple(Call("correct", one) for one in wanted))

    async with agents(script) as (one, _):
        await believed(one, user)
        said = (await corrected(one, user)).split(" | ")
        assert "text: is missing" in said[0]
        assert "did you mean 'text'" in said[1]
        assert said[2].startswith("corrected")
        assert [text for text, entry in (await memories(one, user)).items() if entry.state is State.CURRENT] == [
            f"{RIGHT[:-1]}, says [email]."
        ]


@pytest.mark.parametrize("mode", [MemoryMode.READ, MemoryMode.OFF])
async def test_a_task_that_remembers_nothing_corrects_nothing(agents: Agents, mode: MemoryMode) -> None:
    user = uuid4().hex
    script = corrects("mem_00000000")
    async with agents(script) as (one, server):
        wrong = await believed(one, user)
        assert "there is no tool 'correct'" in await corrected(one, user, memory=mode)
    assert "correct" not in server.asked[0].tools
    assert short_id(wrong) not in server.asked[0].first
