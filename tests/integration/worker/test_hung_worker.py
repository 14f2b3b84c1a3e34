"""A worker that serves and does not answer: it hangs, as far as a caller can see."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from perdure import Actor, ActorKind, RememberRequest
from perdure.errors import WorkerUnavailable
from perdure.names import Workflow
from perdure.values.questions import Answer
from tests.conftest import Servers, clean_settings
from tests.integration.worker.cli.installation import Installation, installation
from tests.support.waiting import until
from worker.cli.task_files import read_task
from worker.gateway import Gateway

TESTER = Actor(kind=ActorKind.PERSON, id="tester")
REMEMBER = RememberRequest(user_id="ada", key="k", items=({"kind": "memory", "content": "x", "occurrence": "o"},))


@pytest.fixture
async def given(servers: Servers, tmp_path: Path) -> AsyncGenerator[Installation]:
    async with installation(servers, tmp_path) as given:
        yield given


@pytest.mark.parametrize("limited", [True, False])
@pytest.mark.slow
async def test_a_caller_is_told_and_not_left_for_ever(
    given: Installation, servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limited: bool
) -> None:
    monkeypatch.setattr("worker.worker_wait.NOTICE_AFTER", 0.2)
    # The control: without a limit, nothing ends the wait.
    for place in ("tasks", "memory"):
        monkeypatch.setattr(f"worker.gateway.{place}.ANSWER_WITHIN", 1.0 if limited else None)
    process = await given.ready_worker()
    file, _ = given.audit("nodeenv==1.12.0")
    assert (await given.perdure("run", file, "--detach")).status == 0
    task = read_task(given.folder / file).workflow_id
    said: list[str] = []
    settings = clean_settings(tmp_path / "home", task_queue=given.environment["PERDURE_TASK_QUEUE"])
    async with Gateway(settings, servers, notify=said.append) as gateway:
        progress = await until(lambda: gateway.progress(task, by=TESTER), lambda now: bool(now and now.questions))
        assert progress is not None
        answer = Answer(question_id=progress.questions[0].id, value="MIT")
        process.send_signal(signal.SIGSTOP)
        for call, afterwards in (
            (lambda: gateway.answer(task, answer, by=TESTER), "the answer may still be taken"),
            (lambda: gateway.remember(REMEMBER, by=TESTER), "runs when a worker is available"),
        ):
            said.clear()
            with pytest.raises(WorkerUnavailable if limited else TimeoutError) as ended:
                async with asyncio.timeout(4):
                    await call()
            assert said[0].startswith("waiting for a worker to ")
            assert (afterwards in str(ended.value)) is limited
        said.clear()
        client, queue = await gateway.client(), settings.task_queue
        await client.start_workflow(Workflow.INGEST_MEMORY, id=f"job-{queue}", task_queue=queue)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await gateway.receipt(f"job-{queue}", by=TESTER)
        assert said == [f"waiting for a worker to end job-{queue}"], "its receipt may be far away"
    if limited:
        status = await given.perdure("status", file)
        assert status.status == 3
        assert "did not answer: it is busy, hangs or was killed" in status.complaint
