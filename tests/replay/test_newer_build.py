"""What a newer build has accepted, or written, this one goes on with, and keeps what it does not know of it."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowHandle
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from perdure import AgentTask, Answer, TaskResult
from perdure.model import Request
from perdure.temporal import converter
from perdure.temporal.plugin import Plugin
from perdure.values.entries import Memory
from tests.conftest import Servers
from tests.deployment import deployment
from tests.replay import histories
from tests.replay.test_upgrade import builds, copied_build, newer_build
from tests.support.waiting import question_of, until
from worker.plugin import WORKFLOWS

LONG = "a" * 20_001
ACCEPTED = {
    "agent_approval_yes": {"note": LONG},
    "agent_expecting": {"id": LONG},
    "agent_halted": {"because": LONG},
    "agent_told": {"text": LONG, "because": LONG, "note": LONG},
    "agent_chat_idle": {"text": LONG},
    "ask_person": {"note": LONG},
    "hold_yes": {"note": LONG, "text": LONG},
}


def widened(payloads: dict[str, Any], changes: dict[str, Any]) -> None:
    """Change a recorded argument where it stands."""
    [payload] = payloads["payloads"]
    written = json.loads(base64.b64decode(payload["data"])) | changes
    payload["data"] = base64.b64encode(json.dumps(written).encode()).decode()


async def replay(tmp_path: Path, name: str, content: dict[str, Any]) -> None:
    changed = tmp_path / f"{name}.json"
    changed.write_text(json.dumps(content))
    await Replayer(workflows=WORKFLOWS, plugins=[Plugin()]).replay_workflow(histories.read(changed))


def _is_asked_whenever_it_is_read(model: type[BaseModel], payload: Payload) -> bool:
    return issubclass(model, Request)


@pytest.fixture(params=[True, False], ids=["tolerant", "control"])
def tolerant(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether this build reads what was accepted without its own bounds."""
    if not request.param:
        monkeypatch.setattr(converter, "_is_asked_now", _is_asked_whenever_it_is_read)
    return request.param


@pytest.mark.parametrize("name", ACCEPTED)
async def test_an_update_that_a_newer_build_accepted(tmp_path: Path, name: str, tolerant: bool) -> None:
    content = json.loads((histories.FOLDER / f"{name}.json").read_text())
    of_update = "workflowExecutionUpdateAcceptedEventAttributes"
    found: list[dict[str, Any]] = [event[of_update] for event in content["events"] if of_update in event]
    for number, accepted in enumerate(found):
        changes = {field: f"{text}{number}" for field, text in ACCEPTED[name].items()}
        widened(accepted["acceptedRequest"]["input"]["args"], changes)
    assert found
    with nullcontext() if tolerant else pytest.raises(NondeterminismError):
        await replay(tmp_path, name, content)


@pytest.mark.parametrize("name", ["agent_continued_2", "agent_goal_continued_2", "agent_chat_continued_2"])
async def test_a_run_that_a_newer_build_rolled_over(tmp_path: Path, name: str, tolerant: bool) -> None:
    content = json.loads((histories.FOLDER / f"{name}.json").read_text())
    started = content["events"][0]["workflowExecutionStartedEventAttributes"]
    widened(started["input"], {"limits": {"steps": 1_000_000}, "from_a_newer_build": 1})
    with nullcontext() if tolerant else pytest.raises(NondeterminismError):
        await replay(tmp_path, name, content)


NEWER = "from_a_newer_build"
LEARNS_TWICE = """
steps:
  - {id: first, remember: [{memory: The lead is Kim.}], critical: true}
  - {id: ask, tool: look, args: {name: x, known: false}, expect: "${output.licence != null}", ask: "Which?"}
  - {id: second, remember: [{memory: The lead is Kim.}], critical: true}
output: "${steps.ask.answer}"
"""


def knows_more(value: Any) -> bool:
    """Return whether a value has the field that only the newer build knows."""
    return NEWER in (value.model_extra or {})


LEAVES_OUT = {"perdure/model.py": ('ConfigDict(extra="allow")', 'ConfigDict(extra="ignore")')}
"""Makes the control: a build that reads what it knows, and no more."""
REFUSES = {
    "perdure/agent/preparation.py": ("class PreparedTask(Passed):", 'class PreparedTask(Passed, extra="forbid"):')
}
"""Makes the control: a build that refuses one value with more in it than it knows."""


@asynccontextmanager
async def handed_over(
    servers: Servers, folder: Path, edits: Mapping[str, tuple[str, str]]
) -> AsyncGenerator[tuple[AgentTask, WorkflowHandle[Any, TaskResult], Answer]]:
    """Have a newer build begin a task, which waits for an answer, and another build with some edits take its place."""
    async with builds(servers, folder) as (workers, bench):
        newer = await workers.start(newer_build(folder / "newer"))
        task = bench.task(bench.skill(LEARNS_TWICE))
        handle = await bench.start(task)
        question = await question_of(handle)
        newer.terminate()
        await newer.wait()
        await workers.start(copied_build(folder / "older", edits))
        yield task, handle, Answer(question_id=question.id, value="this")


@pytest.mark.slow
@pytest.mark.apart
@pytest.mark.parametrize("edits", [{}, LEAVES_OUT], ids=["keeps it", "control: leaves it out"])
async def test_what_a_newer_build_wrote_the_older_one_writes_again_with_what_it_does_not_know(
    servers: Servers, tmp_path: Path, edits: Mapping[str, tuple[str, str]]
) -> None:
    """A task that the newer build began is finished by the older one, which observes the same memory again."""
    async with handed_over(servers, tmp_path, edits) as (task, handle, answer):
        await handle.execute_update("answer", answer)
        assert (await handle.result()).output == "this"
    async with deployment(servers, tmp_path, serving=False) as here:
        tenant = here.services.tenant_key.tenant_of(task.user_id)
        [entry] = (await here.services.longterm.everything(tenant)).values()
        changes = await here.services.journal.history(tenant, entry.id)
    assert isinstance(entry, Memory)
    assert (entry.seen, entry.version) == (2, 2)
    assert [knows_more(change) for change in changes] == [True, False], "each build wrote it once"
    kept = not edits
    assert [knows_more(change.entry) for change in changes] == [True, kept]
    assert knows_more(entry) is kept


@pytest.mark.apart
async def test_control_a_build_that_refuses_what_it_does_not_know_cannot_go_on(
    servers: Servers, tmp_path: Path
) -> None:
    async with handed_over(servers, tmp_path, REFUSES) as (_, handle, answer):
        answering = asyncio.create_task(handle.execute_update("answer", answer))
        problem, *_ = await until(lambda: problems(handle), bool)
        assert "Fail workflow" in problem, "it wants to fail the task, with which the newer build has gone on"
        await handle.terminate()
        await asyncio.gather(answering, return_exceptions=True)


async def problems(handle: WorkflowHandle[Any, Any]) -> list[str]:
    """Return why workers could not go on with a workflow."""
    failed = [event.workflow_task_failed_event_attributes for event in (await handle.fetch_history()).events]
    return [one.failure.message for one in failed if one.failure.message]
