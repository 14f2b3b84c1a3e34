"""Tasks that begin at a step: what undoes the steps before it goes with them, and a fork needs its source no more."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest

from localservers import Server
from perdure import AgentTask
from perdure.errors import PerdureError
from perdure.values.beginnings import ANY
from perdure.values.tasks import Phase
from tests.conftest import OwnServers, Servers
from tests.integration.workflows.resumable_agent.test_beginning import FAILS, ME, ended, forget, mended
from tests.support.harness import Bench, bench
from tests.support.tools import lines_in
from tests.support.waiting import until
from worker.gateway import Gateway

pytestmark = pytest.mark.slow

UNDONE = """
inputs: {ledger: string, fails: boolean}
steps:
  - {id: looked, tool: lines_of, args: {file: "${inputs.ledger}"}, expect: "${output.size() == 0}"}
  - id: first
    tool: append
    args: {ledger: "${inputs.ledger}", line: a}
    compensate: {tool: append, args: {ledger: "${inputs.ledger}", line: "not a"}}
  - id: second
    tool: append
    args: {ledger: "${inputs.ledger}", line: b}
    compensate: {tool: append, args: {ledger: "${inputs.ledger}", line: "not b"}}
  - {id: then, tool: echo, args: {value: 1}, expect: "${!inputs.fails}"}
"""
WITHOUT_SECOND = UNDONE[: UNDONE.index("  - id: second")] + UNDONE[UNDONE.index("  - {id: then") :]


@pytest.fixture
async def gateway(agents: Bench, servers: Servers) -> Any:
    async with Gateway(agents.settings, servers) as one:
        yield one


async def gone(agents: Bench, task: AgentTask) -> None:
    """Have Temporal forget all runs of a task."""
    tenant = agents.services.tenant_key.tenant_of(task.user_id)
    query = f"WorkflowType = 'ResumableAgent' AND PerdureTenant = '{tenant}'"

    async def runs() -> list[str]:
        return [one.run_id async for one in agents.client.list_workflows(query) if one.id == task.workflow_id]

    for run_id in await runs():
        execution = WorkflowExecution(workflow_id=task.workflow_id, run_id=run_id)
        request = DeleteWorkflowExecutionRequest(namespace="default", workflow_execution=execution)
        await agents.client.workflow_service.delete_workflow_execution(request)
    await until(runs, lambda found: not found)


@pytest.mark.parametrize("change", ["a later run failed before them", "the skill has one of them no more"])
async def test_what_undoes_the_steps_before_is_kept(agents: Bench, gateway: Gateway, change: str) -> None:
    ledger = agents.ledger()
    task = agents.task(agents.skill(UNDONE), inputs={"ledger": str(ledger), "fails": False})
    assert (await ended(gateway, task)).status is Phase.COMPLETED
    if change == "a later run failed before them":
        started = await gateway.start(task, by=ME, again=True)
        with pytest.raises(PerdureError):
            await gateway.result(started.workflow_id, by=ME)
    else:
        mended(agents, task.skill, WITHOUT_SECOND)
    failing = task.changed(inputs={**task.inputs, "fails": True})
    result = await ended(gateway, failing, step="then", confirmed=ANY)
    assert result.status is Phase.FAILED
    assert (result.compensated, result.uncompensated) == (("second", "first"), ())
    assert lines_in(str(ledger)) == ["a", "b", "not b", "not a"]


async def test_a_fork_goes_on_by_the_same_command_after_its_source_is_gone(agents: Bench, gateway: Gateway) -> None:
    ledger = agents.ledger()
    task = agents.task(agents.skill(FAILS), inputs={"ledger": str(ledger), "line": "second"})
    await ended(gateway, task)
    forked = AgentTask.model_validate({**task.model_dump(), "task_id": f"f{uuid4().hex[:8]}"})
    assert (await ended(gateway, forked, step="second", of=task.task_id)).status is Phase.FAILED
    await forget(agents, task, forked)
    await gone(agents, task)
    assert (await ended(gateway, forked, step="second", of=task.task_id)).status is Phase.FAILED
    assert lines_in(str(ledger)).count("first") == 1


async def test_a_fork_that_nobody_knows_any_more_does_not_act_before_its_step(
    own_servers: OwnServers, tmp_path: Path
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path) as agents, Gateway(agents.settings, fleet.addresses) as gateway:
        ledger = agents.ledger()
        task = agents.task(agents.skill(FAILS), inputs={"ledger": str(ledger), "line": "second"})
        await ended(gateway, task)
        forked = AgentTask.model_validate({**task.model_dump(), "task_id": f"f{uuid4().hex[:8]}"})
        await ended(gateway, forked, step="second", of=task.task_id)
        # Its run is past Temporal's retention, and Redis does not answer where it is run again.
        await gone(agents, forked)
        await fleet.stop(Server.REDIS)
        started = await gateway.start(forked, by=ME)
        handle = agents.client.get_workflow_handle(started.workflow_id)

        async def tried() -> bool:
            pending = (await handle.describe()).raw_description.pending_activities
            return any(one.activity_type.name == "append" and one.attempt >= 2 for one in pending)

        async with asyncio.timeout(60):
            await until(tried, bool)
        await fleet.start(Server.REDIS)
        with pytest.raises(PerdureError, match="where it begins"):
            await gateway.result(started.workflow_id, by=ME)
        assert lines_in(str(ledger)).count("first") == 1
