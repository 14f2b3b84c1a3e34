"""What people do with tasks and conversations, told as stories."""

from typing import Any
from uuid import uuid4

from temporalio.client import ScheduleActionExecutionStartWorkflow, WorkflowExecutionStatus
from temporalio.worker import Worker

from localservers import Server
from perdure.names import ScheduleId, Workflow
from perdure.values.changes import Actor, ActorKind
from perdure.values.questions import Answer
from perdure.values.tasks import Phase
from tests.integration.worker.plain.installation import Plain
from tests.support.own_question import Deploy
from tests.support.tools import lines_in
from tests.support.turn_server import Asked, Call, Says
from tests.support.waiting import until, until_true
from worker.gateway import Gateway
from workflows.claim_renewal import keeping_id

ADA = Actor(kind=ActorKind.PERSON, id="ada")


async def runs_a_task_of_every_kind_of_step(here: Plain, user: str) -> None:
    """A task that waits, remembers, recalls, calls others, is steered and rolls over; looked at and forked."""
    ledger = here.ledger()
    file = here.of_skill(user, "everything", ledger=ledger)
    task = await here.begun(file)
    await here.progress(file, lambda now: [wait.step for wait in now.waits] == ["paid"])
    await here.listed(task, "--user", user, "--phase", "paused", "--skill", "everything", "--newer", "1h")
    await here.run("pause", file, "--because", "the shop is closed")
    await here.run("deliver", file, "paid")
    await here.progress(file, lambda now: not now.waits and now.phase is Phase.PAUSED)
    await here.run("feedback", file, "passed", "--step", "charge")
    await here.run("resume", file)
    question = await here.asks(file)
    await here.listed(task, "--user", user, "--phase", "waiting")

    async def asked() -> Any:
        return [(one["workflow_id"], one["question"]["id"]) for one in await here.told("inbox", "--user", user)]

    assert await until(asked, bool) == [(task, question)]
    await here.run("answer", file, question, "yes")
    ended = await here.told("run", file)
    assert ended["output"] == "within books 1"
    assert lines_in(str(ledger))[-1] == "room"
    assert {"within", "charged 7", "shipped books"} < {*lines_in(str(ledger))}
    runs = [run async for run in here.client.list_workflows(f"WorkflowId = '{task}'")]
    assert [run.status for run in runs].count(WorkflowExecutionStatus.CONTINUED_AS_NEW) >= 1
    await here.listed(task, "--phase", "completed", "--user", user)
    assert len((await here.told("explain", file))["recalls"]) == 1
    await here.run("feedback", file, "failed", "--because", "the room is too small")
    forked = await here.told("fork", file, "--as", f"f{uuid4().hex[:10]}", "--from", "noted")
    assert forked["output"] == ended["output"]


async def cancels_a_task_while_redis_is_away(here: Plain, user: str) -> None:
    """A task that waits for somebody else's workflow, cancelled with it; what Redis has to know waits for Redis."""
    ledger = here.ledger()
    file = here.of_skill(user, "shipping", ledger=ledger)
    task = await here.begun(file)
    await until_true(lambda: lines_in(str(ledger)) == ["packed books"])
    await here.fleet.stop(Server.REDIS)
    try:
        await here.run("cancel", file)
        await here.listed(task, "--phase", "cancelled")
    finally:
        await here.fleet.start(Server.REDIS)
    await here.client.get_workflow_handle(keeping_id(task, binds=False)).result()
    shown = await here.told("status", file)
    assert shown["phase"] == Phase.CANCELLED
    found = here.client.list_workflows("WorkflowType = 'Ship' AND ExecutionStatus = 'Canceled'")
    assert [run async for run in found]


async def tells_and_redirects_a_task_with_a_goal(here: Plain, user: str) -> None:
    """A task whose model is told something, and given another goal, while a person is asked."""
    ledger = here.ledger()

    def script(asked: Asked) -> Says:
        writes = Call("append", {"ledger": str(ledger), "line": "x"})
        return Says(" | ".join((asked.first, *asked.told))) if asked.outputs else Says(calls=(writes,))

    here.model.script = script
    file = here.task(user, "agent: agent\ngoal: Find this")
    task = await here.begun(file)
    question = await here.asks(file)
    await here.run("message", file, "Look again.")
    await here.run("redirect", file, "--goal", "Find that")
    await here.listed(task, "--agent", "agent", "--user", user)
    await here.run("answer", file, question, "yes")
    output = (await here.told("run", file))["output"]
    assert "Look again." in output
    assert "Find that" in output
    again = await here.told("run", file, "--again")
    assert again["status"] == "completed"
    assert lines_in(str(ledger)) == ["x"]


async def converses(here: Plain, user: str) -> None:
    """A conversation in which a person is asked, which is gone on with in another terminal, and ended."""
    ledger = here.ledger()

    def script(asked: Asked) -> Says:
        if asked.outputs:
            return Says("Written")
        if asked.told[-1] == "Write it down":
            return Says(calls=(Call("append", {"ledger": str(ledger), "line": "x"}),))
        return Says(f"{len(asked.told)}: {asked.told[-1]}")

    here.model.script = script
    first = await here.told("chat", "Hello", "--user", user)
    assert first["text"] == "1: Hello"
    terminal = await here.given.talking("chat", "--user", user)
    await terminal.prints("> Hello\n1: Hello\n")
    terminal.type("Write it down")
    await terminal.says("May append be called")
    terminal.type("yes")
    await terminal.prints("Written\n")
    terminal.type("/end")
    assert (await terminal.ended()).status == 0
    assert lines_in(str(ledger)) == ["x"]
    gone = await here.given.perdure("chat", "--user", user, "--end")
    assert "has no open conversation" in gone.complaint


async def schedules_a_task(here: Plain, user: str) -> None:
    """A task that a schedule starts each second, until the schedule is deleted."""
    file = here.of_skill(user, "nothing")
    made = await here.told("schedule", file, "--every", "1s")

    async def started() -> list[str]:
        found = {one["id"]: one["recent"] for one in await here.told("schedules")}
        return found.get(made["id"], [])[:1]

    [first] = await until(started, bool)
    await here.client.get_workflow_handle(first).result()
    await here.run("unschedule", file)
    await until(lambda: here.told("schedules"), lambda found: made["id"] not in [one["id"] for one in found])
    assert (await here.told("tasks", "show", first))["started_by"]["kind"] == "schedule"


async def starts_what_the_workers_schedules_start(here: Plain, user: str) -> None:
    """Each schedule that a worker made, triggered: it sweeps, promotes, merges, dates and reconciles for everybody."""
    await here.run("remember", "Deploys happen on Tuesdays.", "--user", user)
    await here.run("recall", "When do deploys happen?", "--user", user)
    for schedule in ScheduleId:
        handle = here.client.get_schedule_handle(schedule)
        await handle.trigger()
        found = await until(handle.describe, lambda one: bool(one.info.recent_actions))
        action = found.info.recent_actions[0].action
        assert isinstance(action, ScheduleActionExecutionStartWorkflow)
        result: dict[str, Any] | None = await here.client.get_workflow_handle(action.workflow_id).result()
        for part in (result, *((result or {}).get(name) for name in ("report", "found"))):
            assert not (part or {}).get("failed"), result
        if schedule is ScheduleId.CONSOLIDATION:
            assert result is not None
            assert result["tenants"] >= 1


async def asks_from_a_workflow_of_ones_own(here: Plain, user: str) -> None:
    """Anybody's own workflow asks a person, and the inbox has it."""
    queue = f"q-{uuid4().hex}"
    async with Worker(here.client, task_queue=queue, workflows=[Deploy]):
        handle = await here.client.start_workflow(Deploy.run, args=[user, "1.2"], id=f"d-{uuid4()}", task_queue=queue)
        async with Gateway(here.settings, here.addresses) as gateway:
            [found] = await until(lambda: gateway.inbox(user, by=ADA), bool)
            assert (found.kind, found.asker) == (Workflow.ASK_PERSON, handle.id)
            answer = Answer(question_id=found.question.id, value="yes")
            await gateway.answer(found.workflow_id, answer, by=ADA)
        assert await handle.result() == "deployed, as ada says"
