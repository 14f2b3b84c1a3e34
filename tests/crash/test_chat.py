"""A worker killed in the middle of a reply: its text begins anew, with a mark, and is given once."""

import asyncio
import threading
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from pytest_httpserver import HTTPServer
from temporalio.client import WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy

from perdure import AgentTask
from perdure.names import Workflow
from perdure.stores.redis.connection import connect
from perdure.stores.redis.reply_streams import ReplyStreams
from perdure.values.chats import BEGINNING, ChatLog, ChatMessage, ChatReply, ReplyPlace, ReplyReader, ShownKind
from tests.conftest import Servers
from tests.support.goals import settings_of
from tests.support.processes import processes
from tests.support.turn_server import Asked, Call, Says, TurnServer
from tests.support.waiting import until


@pytest.mark.slow
@pytest.mark.parametrize("marks", [True, False], ids=["marked", "control"])
async def test_a_killed_attempt_at_a_reply_is_begun_anew_and_nothing_happens_twice(
    servers: Servers, tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, marks: bool
) -> None:
    if not marks:
        # A reader that takes every piece for one of the same attempt.
        monkeypatch.setattr(ReplyReader, "take", _takes_all)
    killed, ledger = threading.Event(), tmp_path / "ledger"
    writes = Call("append", {"ledger": str(ledger), "line": "x"})

    def hold(number: int) -> None:
        assert number < 2 or killed.wait(60)

    def script(asked: Asked) -> Says:
        return Says("Once upon a time", before=hold) if asked.outputs else Says("Let me write.", calls=(writes,))

    server = TurnServer(httpserver, script)
    more = {**settings_of(tmp_path, server), "agents": [str(tmp_path / "agents")]}
    redis = connect(servers.redis_url)
    async with processes(servers, tmp_path) as (workers, bench):
        worker = await workers.start(more=more)
        task = AgentTask(task_id=f"c{uuid4().hex[:8]}", user_id=f"user {uuid4().hex}", agent="worker", chat=True)
        starting: WithStartWorkflowOperation[object, object] = WithStartWorkflowOperation(
            Workflow.RESUMABLE_AGENT,
            task,
            id=task.workflow_id,
            task_queue=bench.queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            task_timeout=timedelta(seconds=3),
        )
        saying = asyncio.create_task(
            bench.client.execute_update_with_start_workflow(
                "say",
                ChatMessage(text="Tell me a story", id="m"),
                start_workflow_operation=starting,
                result_type=ChatReply,
            )
        )
        handle = await starting.workflow_handle()
        log = await until(lambda: handle.query("chat", result_type=ChatLog), lambda one: bool(one.tenant))
        reader, streams, after = ReplyReader(), ReplyStreams(redis), BEGINNING
        place = ReplyPlace(tenant=log.tenant, task_id=task.task_id, message="m")
        seen: list[str] = []

        async def read() -> str:
            nonlocal after
            pieces, after = await streams.read(place, after)
            for piece in pieces:
                seen.extend(shown.text or shown.kind.value for shown in reader.take(piece))
            return reader.text

        await until(read, lambda text: text.endswith("Once upon "))
        assert not saying.done()
        worker.kill()
        await worker.wait()
        killed.set()
        await workers.start(more=more)
        reply = await saying
        await until(read, lambda text: text.endswith("a time"))
        await handle.execute_update("end", {})
        await handle.result()
        log = await handle.query("chat", result_type=ChatLog)
    await redis.aclose()
    assert (reply.text, [one.text for one in log.exchanges]) == ("Once upon a time", ["Once upon a time"])
    assert ledger.read_text() == "x\n"
    assert (reader.text == reply.text, ShownKind.ANEW.value in seen) == (marks, marks)


def _takes_all(self: ReplyReader, piece: object) -> list[object]:
    """Show each piece, whatever attempt it is of: the control."""
    self.text += getattr(piece, "text", "")
    return []
