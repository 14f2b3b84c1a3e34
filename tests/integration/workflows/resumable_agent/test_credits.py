"""A task that has ended is a trial of each memory that it recalled, once, and whatever the stores do meanwhile."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle

from perdure import Actor, ActorKind, AgentTask
from perdure.agent.steps.task_calls import CreditCall
from perdure.errors import StoreUnavailable
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.redis.recalls import TaskRecalls
from perdure.values.entries import Memory
from perdure.values.tasks import MemoryMode
from tests.support.harness import Bench

pytestmark = pytest.mark.slow

NOW = datetime.now(UTC)
"""What was recorded long ago, and not used since, is not believed enough to be recalled."""

RECALL = """
inputs: {passes: boolean}
steps:
  - {id: known, recall: {text: "what does Ada prefer?", limit: 1}}
  - {id: again, recall: {text: "what does Ada prefer?", limit: 1}}
output: "${inputs.passes}"
expect: "${output}"
"""

FAIL = """
steps:
  - {id: known, recall: {text: "what does Ada prefer?", limit: 1}}
  - {id: no, tool: echo, args: {value: 1}, expect: "${output == 2}"}
"""


async def believed(agents: Bench, user: str) -> list[str]:
    return await believed_by(agents, agents.services.tenant_key.tenant_of(user))


async def believed_by(agents: Bench, tenant: str) -> list[str]:
    items: list[JsonValue] = [
        {"kind": "memory", "content": content, "occurrence": content, "occurred_at": NOW.isoformat()}
        for content in ("Ada prefers trains.", "The printer is on the second floor.")
    ]
    batch = read_batch(tenant=tenant, key="setup", items=items)
    plan = await agents.services.writer.plan(batch, at=NOW)
    await agents.services.writer.apply(batch, plan, operation="setup")
    return [item.target for item in plan.items]


async def ended(agents: Bench, task: AgentTask) -> WorkflowHandle[object, int] | None:
    """Run a task to its end, whichever it is, and return the workflow that credits, if there is one."""
    handle = await agents.start(task, id_=f"{task.workflow_id}-{uuid4().hex[:6]}")
    with suppress(WorkflowFailureError):
        await handle.result()
    credit = agents.client.get_workflow_handle(f"credit-{handle.first_execution_run_id}", result_type=int)
    history = await handle.fetch_history()
    began = any(event.HasField("child_workflow_execution_started_event_attributes") for event in history.events)
    return credit if began else None


async def counts(agents: Bench, user: str, ids: Sequence[str]) -> list[tuple[int, int]]:
    stored = await agents.services.longterm.get(agents.services.tenant_key.tenant_of(user), ids)
    memories = [stored[identifier] for identifier in ids]
    return [(len(one.trials), len(one.successes)) for one in memories if isinstance(one, Memory)]


async def test_each_task_is_one_trial_of_what_it_recalled(agents: Bench) -> None:
    user = uuid4().hex
    ids = await believed(agents, user)
    skill = agents.skill(RECALL)
    first = AgentTask(task_id="t1", user_id=user, skill=skill, inputs={"passes": True})
    for _ in range(2):  # The second run of a task, under whichever workflow id, is no second trial.
        credit = await ended(agents, first)
        assert credit
        assert await credit.result() == 1
        assert await counts(agents, user, ids) == [(1, 1), (0, 0)]
    unmet = await ended(agents, AgentTask(task_id="t2", user_id=user, skill=skill, inputs={"passes": False}))
    assert unmet
    await unmet.result()
    assert await counts(agents, user, ids) == [(2, 1), (0, 0)]
    failed = await ended(agents, AgentTask(task_id="t3", user_id=user, skill=agents.skill(FAIL)))
    assert failed
    await failed.result()
    assert await counts(agents, user, ids) == [(3, 1), (0, 0)]


async def test_a_teams_memory_is_credited_while_the_user_belongs_to_it(agents: Bench) -> None:
    user, team = uuid4().hex, f"team:{uuid4().hex[:12]}"
    tenant, members = agents.services.tenant_key.tenant_of_owner(team), agents.services.members
    by = Actor(kind=ActorKind.PERSON, id="admin")
    await members.say(team, user, belongs=True, operation="add", by=by, at=datetime.now(UTC))
    [one, _] = await believed_by(agents, tenant)
    skill = agents.skill(RECALL.replace("{text:", f"{{of: {team}, text:"))

    async def trials() -> int:
        found = (await agents.services.longterm.get(tenant, [one]))[one]
        assert isinstance(found, Memory)
        return len(found.trials)

    credit = await ended(agents, AgentTask(task_id="t1", user_id=user, skill=skill, inputs={"passes": True}))
    assert credit
    await credit.result()
    assert await trials() == 1

    own = agents.services.tenant_key.tenant_of(user)
    recalls = TaskRecalls(agents.services.redis, agents.services.bindings.ttl)
    for number, belongs in enumerate((False, True)):
        await members.say(team, user, belongs=belongs, operation=uuid4().hex, by=by, at=datetime.now(UTC))
        await recalls.add(own, "t2", [one], of=team)
        await agents.execute("CreditMemories", CreditCall(tenant=own, task_id="t2", task="t2", succeeded=True))
        assert await trials() == 1 + number
        assert await recalls.of(own, "t2") == {}


@pytest.mark.parametrize("mode", [MemoryMode.READ, MemoryMode.OFF])
async def test_a_task_that_remembers_nothing_credits_nothing(agents: Bench, mode: MemoryMode) -> None:
    user = uuid4().hex
    ids = await believed(agents, user)
    task = AgentTask(task_id="t", user_id=user, skill=agents.skill(RECALL), inputs={"passes": True}, memory=mode)
    assert await ended(agents, task) is None
    assert await counts(agents, user, ids) == [(0, 0), (0, 0)]
    tenant = agents.services.tenant_key.tenant_of(user)
    assert await TaskRecalls(agents.services.redis, agents.services.bindings.ttl).of(tenant, "t") == {}


async def test_a_result_waits_for_no_store(agents: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    user = uuid4().hex
    ids = await believed(agents, user)

    async def away(*_: object, **__: object) -> list[str]:
        raise StoreUnavailable("redis", "is away")

    with monkeypatch.context() as patch:
        patch.setattr(TaskRecalls, "of", away)
        task = AgentTask(task_id="t", user_id=user, skill=agents.skill(RECALL), inputs={"passes": True})
        credit = await ended(agents, task)
        assert credit
        assert (await credit.describe()).status is WorkflowExecutionStatus.RUNNING
    await credit.result()
    assert await counts(agents, user, ids) == [(1, 1), (0, 0)]
