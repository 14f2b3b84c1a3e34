"""Jobs on the real servers: attach, receipts, malformed input, a store that is away."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue, ValidationError
from temporalio.client import ActivityFailureError, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from activities.jobs import job_id
from localservers import Server
from perdure.errors import InvalidItem, VersionConflict
from perdure.memory.door import Door
from perdure.memory.forgetting import forgetter
from perdure.memory.writing import writer
from perdure.memory.writing.batch_checks import read_batch
from perdure.memory.writing.writer import Writer
from perdure.stores.journal.folded_state import fold
from perdure.stores.journal.lines import accepted
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.tolerance import tolerant
from perdure.values.changes import Actor, ActorKind
from perdure.values.jobs import Applied, Batch, Fate, Receipt, SubmitCall, WaitIngestCall, WritePlan
from perdure.values.requests import RememberRequest
from tests.conftest import OwnServers, Servers
from tests.deployment import Deployment, deployment
from tests.support.hashing import HashingEmbedder
from tests.support.waiting import until, until_true
from worker.wiring import parts
from workflows import options

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC).isoformat()


def statement(number: int, content: str = "") -> dict[str, JsonValue]:
    return {
        "kind": "memory",
        "content": content or f"Room {number} has {number} windows.",
        "occurrence": f"o{number}",
        "occurred_at": NOW,
    }


def batch_of(tenant: str, *items: JsonValue, key: str = "k") -> Batch:
    return read_batch(tenant=tenant, key=key, items=items)


@pytest.mark.slow
async def test_a_batch_that_a_newer_build_lets_be_larger_becomes_memory(servers: Servers, tmp_path: Path) -> None:
    record: dict[str, JsonValue] = {
        "kind": "record",
        "lane": "feedback",
        "key": "k" * 201,
        "summary": "s" * 501,
        "payload": {"answer": "x" * 17_000},
        "occurrence": "o",
        "occurred_at": NOW,
    }
    tagged = {**statement(0), "tags": [f"t{number}" for number in range(21)]}
    written = {
        "key": "k",
        "agent": "a" * 81,
        "items": [record, tagged, *(statement(number) for number in range(1, 100))],
    }
    async with deployment(servers, tmp_path) as here:
        tenant = f"t_{uuid4().hex}"
        batch = tolerant(Batch).take({"tenant": tenant, **written})
        job = await submitted(here, batch)
        receipt = await here.client.get_workflow_handle(job, result_type=Receipt).result()
        assert (len(receipt.items), receipt.count(Fate.SEARCHABLE)) == (101, 101)
        alone = tolerant(Batch).take({"tenant": tenant, "key": "alone", "items": [record]})
        assert batch.items[0] == alone.items[0]
        receipt = await here.client.get_workflow_handle(await submitted(here, alone), result_type=Receipt).result()
        assert receipt.count(Fate.SEARCHABLE) == 1


async def submitted(here: Deployment, batch: Batch) -> str:
    return await here.client.execute_activity(
        "submit_ingest",
        SubmitCall(batch=batch),
        id=uuid4().hex,
        task_queue=here.queue,
        result_type=str,
        start_to_close_timeout=timedelta(seconds=20),
    )


async def receipt_of(here: Deployment, job: str) -> Receipt:
    return await here.client.get_workflow_handle(job, result_type=Receipt).result()


@pytest.mark.parametrize(
    "cached", [1000, pytest.param(0, marks=pytest.mark.slow)], ids=["cached", "every step a replay"]
)
async def test_a_batch_becomes_searchable_and_its_resubmission_is_the_same_job(
    servers: Servers, tmp_path: Path, tenant: str, cached: int
) -> None:
    async with deployment(servers, tmp_path, max_cached_workflows=cached) as here:
        batch = batch_of(tenant, statement(1), statement(2), {"kind": "memory", "content": "no occurrence"})
        job = await submitted(here, batch)
        receipt = await receipt_of(here, job)
        assert [item.fate for item in receipt.items] == [Fate.SEARCHABLE, Fate.SEARCHABLE, Fate.REJECTED]
        assert "items[2].occurrence" in receipt.items[2].reason
        assert await submitted(here, batch) == job, "also after it closed"
        assert await submitted(here, batch_of(tenant, statement(1), key="other")) != job
        assert await here.services.longterm.count(tenant) == 2


@pytest.mark.slow
async def test_to_submit_a_batch_again_appends_nothing_to_the_journal(
    servers: Servers, tmp_path: Path, tenant: str
) -> None:
    async with deployment(servers, tmp_path) as here:
        folder = here.settings.journal_folder / tenant

        def size() -> int:
            # What is erased is overwritten, so a file's size tells what was ever appended.
            return sum(file.stat().st_size for file in folder.glob("*.jsonl"))

        batch = batch_of(tenant, statement(1), statement(2))
        job = await submitted(here, batch)
        await receipt_of(here, job)
        before = size()
        assert before > 0
        # Also the third time, when the second one has erased what the first one's items said.
        for _ in range(2):
            assert await submitted(here, batch) == job
            assert size() == before
        assert await submitted(here, batch_of(tenant, statement(3), key="other")) != job
        assert size() > before, "the control"


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False], ids=["planned again under the lease", "control"])
async def test_jobs_that_plan_at_once_count_each_and_plan_twice_at_most(
    servers: Servers, tmp_path: Path, tenant: str, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    """All plan from version 0, and none writes before; without a second plan under the lease these are 36 plans."""
    jobs, plans, rounds = 8, 0, defaultdict[str, set[datetime]](set)
    decide, apply = writer.plan, Writer.apply
    planned = Door._planned  # pyright: ignore[reportPrivateUsage]

    def counted(*arguments: Any, **named: Any) -> WritePlan:
        nonlocal plans
        plans += 1
        return decide(*arguments, **named)

    async def together(self: Writer, batch: Batch, decided: WritePlan, *, operation: str) -> Applied:
        """Write once all that have not written have planned: in each round one of them does, and the others cannot."""
        rounds[operation].add(decided.at)
        needed = sum(range(jobs, jobs - len(rounds[operation]), -1))
        await until_true(lambda: plans >= needed)
        return await apply(self, batch, decided, operation=operation)

    async def once(self: Door, *arguments: Any, again: Any, **named: Any) -> Any:
        if not arguments[2]:
            raise VersionConflict("what it was planned from has changed")
        return await planned(self, *arguments, again=None, **named)

    monkeypatch.setattr(writer, "plan", counted)
    monkeypatch.setattr(Writer, "apply", together)
    if not protected:
        # A job that cannot write is begun again with its first step.
        monkeypatch.setattr(Door, "_planned", once)
        monkeypatch.setattr(options, "change", options.confirm)
    async with deployment(servers, tmp_path) as here:
        batches = [
            batch_of(tenant, statement(1) | {"occurrence": f"o{number}"}, statement(10 + number), key=f"k{number}")
            for number in range(jobs)
        ]
        started = [
            await here.client.start_workflow(
                "IngestMemory", batch, id=job_id(batch), task_queue=here.queue, task_timeout=TASK_TIMEOUT
            )
            for batch in batches
        ]
        receipts = [await receipt_of(here, job.id) for job in started]
        assert all(receipt.count(Fate.SEARCHABLE) == 2 for receipt in receipts)
        [identifier] = {receipt.items[0].id for receipt in receipts}
        decisions = sorted(receipt.items[0].decision.value for receipt in receipts)
        assert decisions == ["insert", *["reinforce"] * (jobs - 1)]
        [memory] = (await here.services.longterm.get(tenant, [identifier])).values()
        assert (memory.seen, memory.version) == (jobs, jobs)
        assert plans == (2 * jobs - 1 if protected else sum(range(jobs + 1)))


@pytest.mark.slow
@pytest.mark.parametrize("state", ["gone", "older"])
async def test_a_job_whose_entries_vanished_before_it_was_confirmed_ends(
    servers: Servers, tmp_path: Path, tenant: str, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """As after a purge, or with a Weaviate that was restored from an older copy."""
    confirm, calls = Writer.confirm, 0

    async def after_a_loss(self: Writer, batch: Batch, plan: WritePlan, versions: dict[str, int]) -> Any:
        nonlocal calls
        calls += batch.key == "second"
        if calls == 1:
            longterm = here.services.longterm
            await longterm.delete(tenant, list(versions))
            if state == "older":
                await longterm.put(tenant, list(before.values()), {one: [1.0] * 384 for one in before})
        return await confirm(self, batch, plan, versions)

    monkeypatch.setattr(Writer, "confirm", after_a_loss)
    async with deployment(servers, tmp_path) as here:
        first = await receipt_of(here, await submitted(here, batch_of(tenant, statement(1), key="first")))
        before = await here.services.longterm.get(tenant, [first.items[0].id])
        again = batch_of(tenant, statement(1) | {"occurrence": "again"}, key="second")
        receipt = await receipt_of(here, await submitted(here, again))
        assert receipt.count(Fate.SEARCHABLE) == 1
        assert calls > 4, "the control: it asked several times before it planned again"
        [entry] = (await here.services.longterm.get(tenant, [receipt.items[0].id])).values()
        assert (entry.version, entry.seen) == ((2, 2) if state == "older" else (1, 1))


@pytest.mark.slow
async def test_a_job_waits_for_weaviate_and_then_ends_well(
    own_servers: OwnServers, tmp_path: Path, tenant: str
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with deployment(Servers.model_validate(fleet.addresses.model_dump()), tmp_path) as here:
        await fleet.stop(Server.WEAVIATE)
        job = await submitted(here, batch_of(tenant, statement(1)))
        handle = here.client.get_workflow_handle(job, result_type=Receipt)
        await until(handle.describe, lambda found: bool(found.raw_description.pending_activities))
        await fleet.start(Server.WEAVIATE)
        assert (await handle.result()).count(Fate.SEARCHABLE) == 1


def another_model(*_: object, **_given: object) -> HashingEmbedder:
    return HashingEmbedder()


@pytest.mark.slow
async def test_a_job_waits_for_a_worker_with_the_right_model(
    servers: Servers, tmp_path: Path, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with deployment(servers, tmp_path, serving=False) as right:
        await right.services.longterm.open()
        monkeypatch.setattr(parts, "open_embedder", another_model)
        async with deployment(servers, tmp_path) as wrong:
            monkeypatch.undo()
            job = await submitted(wrong, batch_of(tenant, statement(1)))
            handle = wrong.client.get_workflow_handle(job, result_type=Receipt)

            async def last_failures() -> list[str]:
                pending = (await handle.describe()).raw_description.pending_activities
                return [activity.last_failure.message for activity in pending]

            [problem] = await until(last_failures, lambda found: bool(found and found[0]))
            assert "was made with all-MiniLM-L6-v2" in problem
    async with deployment(servers, tmp_path, queue=wrong.queue):
        assert (await handle.result()).count(Fate.SEARCHABLE) == 1


async def test_waiting_reports_a_failed_job_with_its_reason(servers: Servers, tmp_path: Path) -> None:
    async with deployment(servers, tmp_path) as here:
        bad = await here.client.start_workflow(
            "IngestMemory", {"tenant": "t", "items": "x"}, id=f"ingest-{uuid4().hex}", task_queue=here.queue
        )
        with pytest.raises(WorkflowFailureError) as failure:
            await bad.result()
        assert isinstance(failure.value.cause, ApplicationError)
        assert "key" in failure.value.cause.message


async def test_a_job_that_was_ended_from_outside_begins_again_when_its_batch_is_submitted_again(
    servers: Servers, tmp_path: Path, tenant: str
) -> None:
    async with deployment(servers, tmp_path) as here:
        batch = batch_of(tenant, statement(1))
        nobody = f"q-{uuid4().hex}"
        ended = await here.client.start_workflow("IngestMemory", batch, id=job_id(batch), task_queue=nobody)
        await ended.terminate()
        assert (await receipt_of(here, await submitted(here, batch))).count(Fate.SEARCHABLE) == 1


async def test_waiting_says_why_a_job_failed_and_does_not_wait_for_what_is_not_there(
    servers: Servers, tmp_path: Path, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(self: Writer, batch: Batch, *, at: datetime) -> WritePlan:
        raise InvalidItem("items[0]", "is no good")

    monkeypatch.setattr(Writer, "plan", refuse)
    async with deployment(servers, tmp_path) as here:
        job = await submitted(here, batch_of(tenant, statement(1)))
        for waited, reason in ((job, "items[0]: is no good"), ("ingest-of-nobody", "no such job")):
            with pytest.raises(ActivityFailureError) as failure:
                await here.client.execute_activity(
                    "wait_ingest",
                    WaitIngestCall(job=waited),
                    id=uuid4().hex,
                    task_queue=here.queue,
                    result_type=Receipt,
                    start_to_close_timeout=timedelta(seconds=20),
                )
            assert reason in str(failure.value.cause)


def on_disk(here: Deployment, tenant: str) -> bytes:
    return b"".join(file.read_bytes() for file in (here.settings.journal_folder / tenant).glob("*"))


async def test_what_was_refused_leaves_the_disk_also_when_it_is_submitted_again(
    servers: Servers, tmp_path: Path, tenant: str
) -> None:
    async with deployment(servers, tmp_path) as here:
        doubted = statement(2, "Perhaps the office moves.") | {"confidence": 0.4}
        batch = batch_of(tenant, statement(1), doubted)
        for attempt in ("the first", "again"):
            receipt = await receipt_of(here, await submitted(here, batch))
            assert [item.fate for item in receipt.items] == [Fate.SEARCHABLE, Fate.REJECTED]
            assert b"office" not in on_disk(here, tenant), attempt
        assert b"Room 1" in on_disk(here, tenant), "the control"
        folded = fold(await here.services.journal.read(tenant))
        assert (len(folded.entries), folded.pending) == (1, ())


@pytest.mark.slow
async def test_a_change_names_who_asked_for_it(servers: Servers, tmp_path: Path, tenant: str) -> None:
    async with deployment(servers, tmp_path) as here:
        ada = Actor(kind=ActorKind.PERSON, id="ada")
        again = statement(1) | {"occurrence": "again"}
        first = await receipt_of(here, await submitted(here, batch_of(tenant, statement(1)).changed(by=ada)))
        await receipt_of(here, await submitted(here, batch_of(tenant, again, key="b").changed(task="task-1")))
        told = await here.services.journal.history(tenant, first.items[0].id)
        assert [(line.by.kind, line.by.id, line.why) for line in told] == [
            (ActorKind.PERSON, "ada", "insert"),
            (ActorKind.AGENT, "task-1", "reinforce"),
        ]


@pytest.mark.slow
@pytest.mark.parametrize("erased", [True, False], ids=["erased", "control"])
async def test_a_job_that_was_accepted_before_an_erasure_ends_with_its_items_refused(
    servers: Servers, tmp_path: Path, tenant: str, erased: bool
) -> None:
    async with deployment(servers, tmp_path, serving=False) as here:
        batch = batch_of(tenant, statement(1), statement(2)).changed(epoch=await here.services.leases.epoch(tenant))
        await here.services.journal.append(tenant, accepted(job_id(batch), batch, datetime.now(UTC)))
        job = await here.client.start_workflow(
            "IngestMemory", batch, id=job_id(batch), task_queue=here.queue, task_timeout=TASK_TIMEOUT
        )
        if erased:
            by = Actor(kind=ActorKind.PERSON, id="ada")
            await here.services.eraser.begin(tenant, operation="erase", by=by, at=datetime.now(UTC))
            await here.services.eraser.remove(tenant, "erase")
        async with deployment(servers, tmp_path, queue=here.queue):
            receipt = await receipt_of(here, job.id)
        assert receipt.count(Fate.REJECTED) == (2 if erased else 0)
        assert all(("PRD304" in item.reason) is erased for item in receipt.items)
        assert await here.services.longterm.count(tenant) == (0 if erased else 2)
        assert (here.settings.journal_folder / tenant).exists() is not erased, "nor is the journal made anew"


@pytest.mark.slow
async def test_what_was_forgotten_is_refused_when_it_is_submitted_again(servers: Servers, tmp_path: Path) -> None:
    user = f"user {uuid4().hex}"
    async with deployment(servers, tmp_path) as here:
        tenant = here.services.tenant_key.tenant_of(user)
        expired = statement(1) | {"valid_until": NOW}
        first = await receipt_of(here, await submitted(here, batch_of(tenant, expired, statement(2))))
        swept = await here.client.execute_workflow(
            "ForgetMemory", {"user_id": user}, id=uuid4().hex, task_queue=here.queue
        )
        assert swept["report"]["forgotten"] == 1
        again = await receipt_of(here, await submitted(here, batch_of(tenant, expired, key="again")))
        assert again.items[0].fate is Fate.REJECTED
        assert "forgotten" in again.items[0].reason
        undone = await here.client.execute_workflow(
            "UndoForgetting", {"sweep": swept["sweep"]}, id=uuid4().hex, task_queue=here.queue
        )
        assert undone["restored"] == 1
        restored = await here.services.longterm.get(tenant, [first.items[0].id])
        assert [entry.state.value for entry in restored.values()] == ["current"]


@pytest.mark.slow
@pytest.mark.parametrize("cached", [1000, 0], ids=["cached", "every step a replay"])
async def test_the_sweep_visits_who_has_something_due_and_continues_as_new(
    servers: Servers, tmp_path: Path, cached: int
) -> None:
    long_ago = datetime(2000, 1, 1, tzinfo=UTC)
    async with deployment(servers, tmp_path, max_cached_workflows=cached) as here:
        tenants = [f"t_0{uuid4().hex}" for _ in range(5)]
        for tenant in tenants:
            old = statement(1) | {"occurred_at": long_ago.isoformat(), "valid_until": long_ago.isoformat()}
            await receipt_of(here, await submitted(here, batch_of(tenant, old)))
        swept = await here.client.execute_workflow(
            "ForgetMemory",
            {"at": (long_ago + timedelta(days=1)).isoformat(), "continue_after": 30},
            id=uuid4().hex,
            task_queue=here.queue,
        )
        assert swept["report"]["forgotten"] == 5
        for tenant in tenants:
            assert await here.services.longterm.count(tenant) == 0


@pytest.mark.slow
async def test_a_sweep_of_many_plans_says_beforehand_what_it_does_and_can_be_undone(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetter, "MOST_AT_ONCE", 4)
    user = f"user {uuid4().hex}"

    async def done(workflow: str, **argument: object) -> Any:
        arguments = {"user_id": user, "continue_after": 30, **argument}
        return await here.client.execute_workflow(workflow, arguments, id=uuid4().hex, task_queue=here.queue)

    async with deployment(servers, tmp_path) as here:
        tenant = here.services.tenant_key.tenant_of(user)
        await receipt_of(
            here, await submitted(here, batch_of(tenant, *(statement(n) | {"valid_until": NOW} for n in range(15))))
        )
        reports = [(await done("ForgetMemory", dry_run=dry_run))["report"] for dry_run in (True, False)]
        for report in reports:
            assert (report["tenants"], report["forgotten"], report["reasons"]) == (1, 15, {"expired": 15})
        assert await here.services.longterm.count(tenant) == 0
        assert (await done("UndoForgetting", sweep=""))["restored"] == 15
        assert await here.services.longterm.count(tenant) == 15


@pytest.mark.slow
async def test_a_mistyped_dry_run_is_refused_by_every_run_of_a_cron_too(servers: Servers, tmp_path: Path) -> None:
    async with deployment(servers, tmp_path) as here:
        handle = await here.client.start_workflow(
            "ForgetMemory",
            {"dry-run": True, "user_id": "nobody"},
            id=uuid4().hex,
            task_queue=here.queue,
            cron_schedule="@every 1s",
        )

        async def failed() -> set[str]:
            runs = here.client.list_workflows(f"WorkflowId = '{handle.id}' AND ExecutionStatus = 'Failed'")
            return {run.run_id async for run in runs}

        async def completed() -> int:
            runs = here.client.list_workflows(f"WorkflowId = '{handle.id}' AND ExecutionStatus = 'Completed'")
            return len([run async for run in runs])

        try:
            await until(failed, lambda runs: len(runs) >= 2, 30)
            assert await completed() == 0
        finally:
            await here.client.get_workflow_handle(handle.id).terminate()


async def test_undoing_what_never_was_is_refused(servers: Servers, tmp_path: Path) -> None:
    async with deployment(servers, tmp_path) as here:
        with pytest.raises(WorkflowFailureError) as failure:
            await here.client.execute_workflow(
                "UndoForgetting", {"sweep": "nonsense"}, id=uuid4().hex, task_queue=here.queue
            )
        assert "forgot nothing that can still be undone" in str(failure.value.cause)


def test_nobody_remembers_for_nobody() -> None:
    with pytest.raises(ValidationError, match="user_id"):
        RememberRequest(user_id="", key="k", items=(statement(1),), by=Actor(kind=ActorKind.PERSON))
