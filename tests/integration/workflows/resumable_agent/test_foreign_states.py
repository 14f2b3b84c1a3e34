"""The state of a run is gone on from by its own later runs alone: sent by somebody else, nothing of it is used."""

import dataclasses
import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio import workflow

from perdure import AgentTask
from perdure.values.changes import PROGRAM
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.waiting import until
from workflows.carried import Carried
from workflows.resumable_agent import ResumableAgent

FACT = "The vault opens at nine."
SKILL = f"""
steps:
  - {{id: learn, remember: [{{memory: "{FACT}"}}], critical: true}}
  - {{id: known, recall: {{text: "When does the vault open?"}}}}
output: "${{steps.known.items[0].text}}"
"""
CRON = "@every 1s"


@pytest.fixture
async def rolling(servers: Servers, tmp_path: Path) -> AsyncGenerator[Bench]:
    async with bench(servers, tmp_path, continue_after=1) as agents:
        yield agents


async def of_another(agents: Bench) -> tuple[str, dict[str, Any]]:
    """Run a task that remembers something; return its user's tenant, and the input of its last run, which recalls."""
    task = agents.task(agents.skill(SKILL))
    assert (await (await agents.start(task)).result()).output == FACT
    history = await agents.client.get_workflow_handle(task.workflow_id).fetch_history()
    [given] = history.events[0].workflow_execution_started_event_attributes.input.payloads
    found = json.loads(given.data)
    assert found["carried"]
    return agents.services.tenant_key.tenant_of(task.user_id), found


async def ended(agents: Bench, identifier: str) -> list[str]:
    """Return what came of each run of a workflow that has ended: why it failed, or what it returned."""
    found: list[str] = []
    query = f"WorkflowId = '{identifier}' AND ExecutionStatus != 'Running'"
    async for run in agents.client.list_workflows(query):
        history = await agents.client.get_workflow_handle(identifier, run_id=run.run_id).fetch_history()
        last = history.events[-1]
        again = last.workflow_execution_continued_as_new_event_attributes
        failure = again.failure.message or last.workflow_execution_failed_event_attributes.failure.message
        results = (again.last_completion_result, last.workflow_execution_completed_event_attributes.result)
        found.append(failure or "".join(one.data.decode() for result in results for one in result.payloads))
    return found


async def outcomes(agents: Bench, kind: str, given: dict[str, Any], *, cron: str, refused: bool) -> list[str]:
    """Start a workflow with an input of somebody's own; return what came of its first run, or two by a schedule.

    Args:
        agents: The worker.
        kind: The type of the workflow.
        given: Its input.
        cron: The schedule that starts it; empty: it is started once.
        refused: Whether all of its runs are refused. Otherwise it runs until one is not.
    """
    identifier = f"foreign-{uuid4().hex}"
    handle = await agents.client.start_workflow(kind, given, id=identifier, task_queue=agents.queue, cron_schedule=cron)
    most = 2 if cron else 1
    try:
        return await until(
            lambda: ended(agents, identifier),
            lambda some: len(some) >= most if refused else any("PRD" not in one for one in some),
        )
    finally:
        if cron:
            await agents.client.get_workflow_handle(handle.id).terminate()


@pytest.mark.slow
@pytest.mark.parametrize("cron", ["", CRON], ids=["at once", "by a schedule"])
@pytest.mark.parametrize("refused", [True, False], ids=["refused", "control"])
async def test_a_task_does_not_go_on_from_another_users_run(
    rolling: Bench, monkeypatch: pytest.MonkeyPatch, cron: str, refused: bool
) -> None:
    _, state = await of_another(rolling)
    bob = AgentTask(task_id=uuid4().hex, user_id=f"user {uuid4().hex}", skill=state["skill"])
    if not refused:
        monkeypatch.setattr(ResumableAgent, "_refuse_unless", _refuse_nobody)
        if not cron:
            _look_continued(monkeypatch)
    given = state | {"user_id": bob.user_id, "task_id": bob.task_id}
    found = await outcomes(rolling, "ResumableAgent", given, cron=cron, refused=refused)
    if refused:
        assert set(found) == {"PRD101 carried: is not a field here"}
    else:
        assert any(FACT in one for one in found), "the other user's memory is what it returns"


def _refuse_nobody(_: ResumableAgent, tenant: str) -> None:
    pass


def _look_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each first run look to its workflow as a later one does."""
    info = workflow.info

    def continued() -> workflow.Info:
        found = info()
        return dataclasses.replace(found, continued_run_id=found.run_id)

    monkeypatch.setattr(workflow, "info", continued)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("refused", "cron"),
    [(True, ""), (False, ""), (False, CRON)],
    ids=["refused", "control: any state counts as its own", "control: any state does in a run that was continued"],
)
async def test_an_erasure_does_not_go_on_with_another_users_memory(
    rolling: Bench, monkeypatch: pytest.MonkeyPatch, refused: bool, cron: str
) -> None:
    tenant, _ = await of_another(rolling)
    if not refused:
        # Temporal calls the later runs of a cron schedule continued as well.
        own = property(lambda _: not cron or workflow.info().continued_run_id is not None)
        monkeypatch.setattr(Carried, "is_own", own)
        # An erasure that is not the user's latest removes nothing, either.
        await rolling.services.eraser.begin(tenant, operation="o", by=PROGRAM, at=datetime.now(UTC))
    erasure = {"tenant": tenant, "epoch": 1, "at": "2026-01-01T00:00:00Z", "operation": "o"}
    carried = {"erasure": erasure, "entries": 0, "keys": 0, "executions": 0}
    given = {"user_id": f"user {uuid4().hex}", "carried": carried}
    found = await outcomes(rolling, "EraseMemory", given, cron=cron, refused=refused)
    left = [entry.text for entry in (await rolling.services.longterm.everything(tenant)).values()]
    if refused:
        assert (found, left) == (["PRD100 carried: is not a field here"], [FACT])
    else:
        assert left == [], "the other user's memory is gone"
