"""A worker killed around a person's approval: it is asked once, and approved it is one memory."""

import signal
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import WorkflowHandle

from activities.jobs import job_id
from localservers.processes import Child
from perdure.memory.writing.batch_checks import read_batch
from perdure.names import ANSWER, QUESTIONS
from perdure.stores.journal.folded_state import fold
from perdure.values.holds import Decided, HoldOutcome, hold_id
from perdure.values.jobs import Fate, Receipt, SubmitCall
from perdure.values.questions import Answer, Question
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from tests.support.processes import start_mortal
from tests.support.waiting import until


def item(content: str, *tags: str) -> JsonValue:
    moment = "2026-05-01T12:00:00Z"
    return {"kind": "memory", "content": content, "occurrence": content, "occurred_at": moment, "tags": list(tags)}


async def start(here: Deployment, servers: Servers, crash_at: str = "") -> Child:
    return await start_mortal(here.settings, servers, here.settings.home / "worker.log", crash_at=crash_at)


def settings(folder: Path) -> dict[str, Any]:
    policies = folder / "policies.yaml"
    policies.write_text("default: {hold: {rules: [{tags: [health]}]}}\n")
    return {"write_policies": policies}


async def submitted(here: Deployment, tenant: str, *items: JsonValue) -> tuple[Any, WorkflowHandle[Any, Decided]]:
    """Submit a batch of which the first item is held; gives the submission, and the hold."""
    batch = read_batch(tenant=tenant, key="k", items=items)
    submitting = await here.client.start_activity(
        "submit_ingest",
        SubmitCall(batch=batch),
        id=uuid4().hex,
        task_queue=here.queue,
        result_type=str,
        start_to_close_timeout=timedelta(seconds=60),
        heartbeat_timeout=timedelta(seconds=2),
    )
    hold = hold_id(tenant, job_id(batch), 0)
    return submitting, here.client.get_workflow_handle(hold, result_type=Decided)


@pytest.mark.slow
async def test_a_worker_killed_between_the_hold_and_the_job_asks_once(
    servers: Servers, tmp_path: Path, tenant: str
) -> None:
    async with deployment(servers, tmp_path, serving=False, settings=settings(tmp_path)) as here:
        doomed = await start(here, servers, "submit.held")
        submitting, hold = await submitted(here, tenant, item("Marzipan has almonds.", "health"), item("It rains."))
        assert await doomed.wait() == -signal.SIGKILL
        run = (await hold.describe()).run_id
        assert await here.services.journal.read(tenant) == []
        second = await start(here, servers)
        try:
            job = await submitting.result()
            receipt = await here.client.get_workflow_handle(job, result_type=Receipt).result()
        finally:
            await second.stop(15)
        assert [(one.fate, one.hold) for one in receipt.items] == [(Fate.HELD, hold.id), (Fate.SEARCHABLE, "")]
        assert (await hold.describe()).run_id == run
        files = (here.settings.journal_folder / tenant).glob("*.jsonl")
        assert not any(b"Marzipan" in file.read_bytes() for file in files)


@pytest.mark.slow
@pytest.mark.parametrize(
    "point",
    [
        "hold.approved",
        "submit.journaled:2",
        "submit.started:2",
        "plan.decided:2",
        "change.journaled",
        "apply.half_written",
        "confirm.read:2",
    ],
)
async def test_a_worker_killed_between_an_approval_and_its_receipt(
    servers: Servers, tmp_path: Path, tenant: str, point: str
) -> None:
    async with deployment(servers, tmp_path, serving=False, settings=settings(tmp_path)) as here:
        doomed = await start(here, servers, point)
        submitting, hold = await submitted(here, tenant, item("Marzipan has almonds.", "health"))
        receipt = await here.client.get_workflow_handle(await submitting.result(), result_type=Receipt).result()
        assert [one.fate for one in receipt.items] == [Fate.HELD]

        async def asked() -> tuple[Question, ...]:
            return await hold.query(QUESTIONS, result_type=tuple[Question, ...])

        [question] = await until(asked, bool)
        await hold.execute_update(ANSWER, Answer(question_id=question.id, value="yes", by="anna"))
        assert await doomed.wait() == -signal.SIGKILL
        second = await start(here, servers)
        try:
            decided = await hold.result()
        finally:
            await second.stop(15)
        assert (decided.outcome, decided.by.id) == (HoldOutcome.APPROVED, "anna")
        assert decided.receipt is not None
        [line] = decided.receipt.items
        assert line.fate is Fate.SEARCHABLE
        stored = await here.services.longterm.everything(tenant)
        assert [(entry.id, entry.seen, entry.version) for entry in stored.values()] == [(line.id, 1, 1)]
        # The journal says the same, and nothing is left to be done.
        assert fold(await here.services.journal.read(tenant)) == (stored, {}, ())
