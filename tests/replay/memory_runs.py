"""The jobs and sweeps whose histories are recorded: between them, every way through their workflows."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from pydantic import JsonValue
from temporalio.client import WorkflowHandle

from activities.jobs import job_id
from perdure.agent.steps.task_calls import CreditCall, KeepCall
from perdure.memory.extraction.assertions import assertion_of
from perdure.memory.writing.batch_checks import read_batch
from perdure.names import ANSWER
from perdure.values.entries import Purpose
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.holds import QUESTION, Hold, Silence
from perdure.values.jobs import Batch
from perdure.values.memberships import MemberRequest
from perdure.values.questions import Answer
from perdure.values.requests import ConsentRequest, EraseRequest, RecallRequest, RememberRequest
from perdure.values.updates import Pinning, UpdateRequest
from tests.replay.recorder import Recorder
from workflows.forget_memory import ForgetRun
from workflows.undo_forgetting import UndoRun

LONG_AGO = datetime(1999, 1, 1, tzinfo=UTC)
"""No other user of the same servers has anything due as early as this."""


async def record_jobs_and_sweeps(here: Recorder) -> None:
    """Record them all."""
    async with asyncio.TaskGroup() as group:
        for runs in (_jobs, _holds, _requests, _sweeps_of_a_user, _sweep_of_all):
            group.create_task(runs(here))


async def record_reconciliations(here: Recorder) -> None:
    """Record one that finds all stores whole, and one that was asked for something else."""
    whole = await here.start("ReconcileMemory", {})
    assert (await whole.result())["losses"] == []
    await here.keep("reconcile_memory", whole)
    await here.keep_failed("reconcile_refused", await here.start("ReconcileMemory", {"users": ["ada"]}))


async def record_redating(here: Recorder) -> None:
    """Record a pass through everybody, and one that was asked for something else."""
    redating = await here.start("RedateMemory", {"again": True})
    await redating.result()
    await here.keep("redate_memory", redating)
    await here.keep_failed("redate_refused", await here.start("RedateMemory", {"users": ["ada"]}))


async def record_consolidation(here: Recorder) -> None:
    """Record a pass that merges, and one that was asked for something else."""
    same = [_memory(1), _memory(1) | {"content": "Room 1 really has 1 windows.", "occurrence": "again"}]
    await (await _submit(here, _batch(_tenant(), "same", *same))).result()
    consolidating = await here.start("ConsolidateMemory", {})
    assert (await consolidating.result())["merged"] >= 1
    await here.keep("consolidate_memory", consolidating)
    await here.keep_failed("consolidate_refused", await here.start("ConsolidateMemory", {"users": ["ada"]}))


async def record_erasures(here: Recorder) -> None:
    """Record one of a user who is remembered, and one that was asked for something else."""
    user = f"recorder-{uuid4().hex[:12]}"
    remembering = await here.start("RememberItems", RememberRequest(user_id=user, key="k", items=(_memory(1),)))
    await here.client.get_workflow_handle(await remembering.result()).result()
    erasing = await here.start("EraseMemory", EraseRequest(user_id=user))
    assert (await erasing.result())["proved"]
    await here.keep("erase_memory", erasing)
    await here.keep_failed("erase_refused", await here.start("EraseMemory", {"user": user}))


async def _jobs(here: Recorder) -> None:
    tenant = _tenant()
    mixed = await _submit(here, _batch(tenant, "mixed", _memory(1), {"kind": "memory", "content": "no occurrence"}))
    assert [item["fate"] for item in (await mixed.result())["items"]] == ["searchable", "rejected"]
    await here.keep("ingest_mixed", mixed)

    # Both plan from the same version; the one whose writing is held up finds it moved, and plans again.
    late, early = (_batch(tenant, key, _memory(2) | {"occurrence": key}) for key in ("late", "early"))
    here.gate.job = job_id(late)
    held_up = await _submit(here, late)
    await here.gate.reached.wait()
    await (await _submit(here, early)).result()
    here.gate.opened.set()
    await held_up.result()
    await here.keep("ingest_planned_again", held_up)

    malformed = await here.start("IngestMemory", {"tenant": tenant, "items": "x"})
    await here.keep_failed("ingest_refused", malformed)


async def _holds(here: Recorder) -> None:
    tenant = _tenant()
    constraint = _stated("Monday") | {"memory_type": "constraint"}
    await (await _submit(here, _batch(tenant, "constraint", constraint))).result()
    doubtful = await _submit(here, _batch(tenant, "doubtful", _stated("Tuesday")))
    [held] = (await doubtful.result())["items"]
    await here.keep("ingest_doubtful", doubtful)
    settling = here.client.get_workflow_handle(held["hold"])
    await settling.execute_update(ANSWER, Answer(question_id=QUESTION, value="no", by="anna"))
    assert (await settling.result())["outcome"] == "rejected"

    for number, value in enumerate(("yes", "no")):
        holding = await _hold(here, tenant, number, timedelta(days=1))
        await holding.execute_update(ANSWER, Answer(question_id=QUESTION, value=value, by="anna"))
        await holding.result()
        await here.keep(f"hold_{value}", holding)
    silent = await _hold(here, tenant, 2, timedelta(0))
    assert (await silent.result())["receipt"]["items"][0]["fate"] == "searchable"
    await here.keep("hold_silent", silent)
    cancelled = await _hold(here, tenant, 3, timedelta(days=1))
    await cancelled.cancel()
    await here.keep_failed("hold_cancelled", cancelled)
    await here.keep_failed("hold_refused", await here.start("HoldMemory"))


async def _hold(here: Recorder, tenant: str, number: int, wait: timedelta) -> WorkflowHandle[Any, Any]:
    batch = _batch(tenant, f"hold-{number}", _memory(number)).changed(accepted_at=datetime.now(UTC))
    until = datetime.now(UTC) + wait
    return await here.start("HoldMemory", Hold(batch=batch, reason="why", until=until, silence=Silence.APPROVE))


def _stated(day: str) -> dict[str, JsonValue]:
    text, moment = f"The deploy window is on {day}.", datetime(2026, 5, 1, 12, tzinfo=UTC)
    assertion = assertion_of(text, moment).assertion
    assert assertion is not None
    told: dict[str, JsonValue] = {"content": text, "occurrence": day, "assertion": assertion.model_dump(mode="json")}
    return _memory(0) | told


async def _requests(here: Recorder) -> None:
    user = f"recorder-{uuid4().hex[:12]}"
    remembering = await here.start("RememberItems", RememberRequest(user_id=user, key="k", items=(_memory(1),)))
    await here.client.get_workflow_handle(await remembering.result()).result()
    await here.keep("remember_items", remembering)
    tenant = here.services.tenant_key.tenant_of(user)
    [identifier] = await here.services.longterm.everything(tenant)
    pinning = UpdateRequest(user_id=user, id=identifier, update=Pinning(pinned=True))
    updating = await here.start("UpdateMemory", pinning)
    await updating.result()
    await here.keep("update_memory", updating)
    await here.keep_failed("update_refused", await here.start("UpdateMemory", {"user_id": user, "idd": "x"}))
    consenting = await here.start("SetConsent", ConsentRequest(user_id=user, grant=(Purpose.EXTRACTED,)))
    await consenting.result()
    await here.keep("set_consent", consenting)
    await here.keep_failed("consent_refused", await here.start("SetConsent", {"user_id": user, "grnt": []}))
    enrolling = await here.start("SetMember", MemberRequest(of="team:ops", user_id=user, belongs=True))
    await enrolling.result()
    await here.keep("set_member", enrolling)
    await here.keep_failed("member_refused", await here.start("SetMember", {"user_id": user, "off": "team:ops"}))
    recalling = await here.start("RecallMemory", RecallRequest(user_id=user, text="how many windows?"))
    await recalling.result()
    await here.keep("recall_memory", recalling)
    flushing = await here.start("FlushAccesses")
    await flushing.result()
    await here.keep("flush_accesses", flushing)
    at = datetime.now(UTC) - timedelta(hours=2)
    turn = Episode(id="e", kind=EpisodeKind.TURN, text="I always travel by train.", importance=0.5, at=at)
    await here.services.episodes.append(tenant, "s", turn)
    promoting = await here.start("PromoteEpisodes", {})
    assert (await promoting.result())["jobs"] >= 1
    await here.keep("promote_episodes", promoting)
    await here.keep_failed("promote_refused", await here.start("PromoteEpisodes", {"users": ["ada"]}))
    crediting = await here.start("CreditMemories", CreditCall(tenant=tenant, task_id="t", task="t", succeeded=True))
    await crediting.result()
    await here.keep("credit_memories", crediting)
    await here.keep_failed("credit_refused", await here.start("CreditMemories", {"tenant": tenant}))
    keeping = await here.start("KeepClaims", KeepCall(tenant="nobody", task_id="t"))
    await keeping.result()
    await here.keep("keep_claims", keeping)
    await here.keep_failed("keep_claims_refused", await here.start("KeepClaims", {"tenant": "nobody"}))
    await here.keep_failed("recall_refused", await here.start("RecallMemory", {"user_id": user, "txt": "windows"}))
    await here.keep_failed("remember_refused", await here.start("RememberItems", {"user_id": user, "itms": []}))


async def _sweeps_of_a_user(here: Recorder) -> None:
    user = f"recorder-{uuid4().hex[:12]}"
    tenant = here.services.tenant_key.tenant_of(user)
    items = [_memory(number, expired=number > 1) for number in range(4)]
    await (await _submit(here, _batch(tenant, "forgotten", *items))).result()

    tried = await here.start("ForgetMemory", ForgetRun(user_id=user, dry_run=True))
    assert (await tried.result())["report"]["forgotten"] == 2
    await here.keep("forget_dry", tried)
    swept = await here.start("ForgetMemory", ForgetRun(user_id=user))
    run = await swept.result()
    assert run["report"]["forgotten"] == 2
    await here.keep("forget_user", swept)

    undone = await here.start("UndoForgetting", UndoRun(sweep=run["sweep"]))
    assert (await undone.result())["restored"] == 2
    await here.keep("undo_run", undone)
    # What was brought back is kept from then on, so that the next sweep needs something else.
    await (await _submit(here, _batch(tenant, "more", _memory(4, expired=True)))).result()
    await (await here.start("ForgetMemory", ForgetRun(user_id=user))).result()
    undone = await here.start("UndoForgetting", UndoRun(sweep="", user_id=user))
    assert (await undone.result())["restored"] == 1
    await here.keep("undo_user", undone)
    await here.keep_failed("undo_nothing", await here.start("UndoForgetting", UndoRun(sweep="nonsense")))

    much = [_memory(number, expired=True) for number in range(10, 40)]
    await (await _submit(here, _batch(tenant, "much", *much))).result()
    held = await here.start("ForgetMemory", ForgetRun(user_id=user))
    assert len((await held.result())["report"]["held"]) == 1
    await here.keep("forget_held", held)


async def _sweep_of_all(here: Recorder) -> None:
    tenants = [_tenant() for _ in range(3)]
    for tenant in tenants:
        old = _memory(1, expired=True) | {"occurred_at": LONG_AGO.isoformat(), "valid_until": LONG_AGO.isoformat()}
        await (await _submit(here, _batch(tenant, "old", old))).result()
    swept = await here.start("ForgetMemory", ForgetRun(at=LONG_AGO + timedelta(days=1), continue_after=60))
    run = (await swept.result())["sweep"]
    assert [await here.services.longterm.count(tenant) for tenant in tenants] == [0, 0, 0]
    await here.keep("forget_continued", swept)
    undone = await here.start("UndoForgetting", UndoRun(sweep=run, continue_after=12))
    assert (await undone.result())["restored"] == 3
    await here.keep("undo_continued", undone)


def _tenant() -> str:
    return f"t_0{uuid4().hex}"


def _memory(number: int, *, expired: bool = False) -> dict[str, JsonValue]:
    moment = datetime(2026, 5, 1, 12, tzinfo=UTC).isoformat()
    item: dict[str, JsonValue] = {
        "kind": "memory",
        "content": f"Room {number} has {number} windows.",
        "occurrence": f"o{number}",
        "occurred_at": moment,
    }
    return item | ({"valid_until": moment} if expired else {})


def _batch(tenant: str, key: str, *items: JsonValue) -> Batch:
    return read_batch(tenant=tenant, key=key, items=items)


async def _submit(here: Recorder, batch: Batch) -> WorkflowHandle[Any, Any]:
    return await here.start("IngestMemory", batch, id_=job_id(batch))
