"""Perdure on a Temporal that nobody prepared for it: no switch of the development server, no search attribute."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.workflow import _Definition

from perdure.errors import PerdureError
from perdure.names import (
    ANSWER,
    DELIVER,
    END,
    FEEDBACK,
    MESSAGE,
    PAUSE,
    REDIRECT,
    RESUME,
    SAY,
    STEPS,
    Activity,
    Attribute,
    Workflow,
)
from perdure.temporal.namespace import missing, prepare
from perdure.values.jobs import Fate
from perdure.values.requests import RememberRequest
from tests.conftest import Servers
from tests.deployment import deployment
from tests.integration.worker.cli.installation import STARTED_WITHIN, installation
from tests.integration.worker.plain import memory, tasks
from tests.integration.worker.plain.installation import Plain, plain_installation
from tests.support.http_service import ADMIN, memory_item
from tests.support.plain_temporal import plain_temporal
from tests.support.turn_server import Says
from tests.support.waiting import until
from worker.gateway import Gateway
from worker.plugin import WORKFLOWS

pytestmark = pytest.mark.slow


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def plain(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Plain]:
    async with plain_installation(servers, tmp_path_factory.mktemp("plain")) as one:
        yield one


@dataclass(frozen=True)
class Story:
    """What people do, and what of Temporal it takes."""

    told: Callable[[Plain, str], Awaitable[None]]
    workflows: frozenset[Workflow]
    """The types of workflows of which one runs to its end."""
    updates: frozenset[str] = frozenset()
    """The updates that workflows accept."""


def story(told: Callable[[Plain, str], Awaitable[None]], *workflows: Workflow, updates: tuple[str, ...] = ()) -> Story:
    return Story(told, frozenset(workflows), frozenset(updates))


STORIES = [
    story(
        tasks.runs_a_task_of_every_kind_of_step,
        Workflow.RESUMABLE_AGENT,
        Workflow.INGEST_MEMORY,
        Workflow.CREDIT_MEMORIES,
        Workflow.CHECK_TASK,
        Workflow.JUDGE_TASK,
        Workflow.DELIVER_NOTICE,
        updates=(ANSWER, DELIVER, PAUSE, RESUME, FEEDBACK),
    ),
    story(tasks.cancels_a_task_while_redis_is_away, Workflow.KEEP_CLAIMS),
    story(
        tasks.tells_and_redirects_a_task_with_a_goal,
        Workflow.RESUMABLE_AGENT,
        updates=(MESSAGE, REDIRECT, ANSWER),
    ),
    story(tasks.converses, Workflow.RESUMABLE_AGENT, updates=(SAY, END, ANSWER)),
    story(tasks.schedules_a_task, Workflow.RESUMABLE_AGENT, Workflow.CHECK_TASK),
    story(
        tasks.starts_what_the_workers_schedules_start,
        Workflow.FORGET_MEMORY,
        Workflow.FLUSH_ACCESSES,
        Workflow.PROMOTE_EPISODES,
        Workflow.CONSOLIDATE_MEMORY,
        Workflow.REDATE_MEMORY,
        Workflow.RECONCILE_MEMORY,
    ),
    story(
        tasks.asks_from_a_workflow_of_ones_own,
        Workflow.ASK_PERSON,
        Workflow.DELIVER_NOTICE,
        updates=(ANSWER,),
    ),
    story(
        memory.changes_and_recalls_memory,
        Workflow.REMEMBER_ITEMS,
        Workflow.INGEST_MEMORY,
        Workflow.RECALL_MEMORY,
        Workflow.UPDATE_MEMORY,
        Workflow.SET_CONSENT,
        Workflow.SET_MEMBER,
    ),
    story(
        memory.sweeps_and_repairs,
        Workflow.FORGET_MEMORY,
        Workflow.UNDO_FORGETTING,
        Workflow.REDATE_MEMORY,
        Workflow.RECONCILE_MEMORY,
    ),
    story(memory.holds_memories_for_a_person, Workflow.HOLD_MEMORY, Workflow.DELIVER_NOTICE, updates=(ANSWER,)),
    story(memory.promotes_a_lesson, Workflow.SET_LESSON),
    story(memory.is_used_by_workflows_of_ones_own, Workflow.INGEST_MEMORY),
    story(memory.erases_a_user, Workflow.ERASE_MEMORY),
]


DEFINED = {str(one.name): one for one in map(_Definition.must_from_class, WORKFLOWS)}
"""What each type of workflow takes."""


def test_the_stories_take_every_workflow_and_every_update_that_there_is() -> None:
    assert {one for story in STORIES for one in story.workflows} == {*Workflow}
    assert {one for story in STORIES for one in story.updates} == {one for of in DEFINED.values() for one in of.updates}


async def test_a_worker_registers_what_tasks_need(plain: Plain) -> None:
    assert plain.lacked == len(Attribute)
    assert await missing(plain.client) == []
    found = await plain.told("doctor")
    assert [one for one in found if one["check"] in {"temporal", "worker"} and not one["ok"]] == []


@pytest.mark.parametrize("one", STORIES, ids=lambda one: one.told.__name__)
async def test_what_people_do_works(plain: Plain, user: str, one: Story) -> None:
    plain.model.script = lambda _: Says("Hello")
    began = datetime.now(UTC)
    await one.told(plain, user)
    # The list lags behind, and what a task leaves to others ends after it.
    runs = await until(
        lambda: plain.completed(began), lambda found: {run.workflow_type for run in found} >= one.workflows
    )
    assert await plain.accepted(began) >= one.updates
    for run in runs:
        handle = plain.client.get_workflow_handle(run.id, run_id=run.run_id)
        for name in DEFINED[run.workflow_type].queries if run.workflow_type in DEFINED else ():
            if name != STEPS:  # A fork asks it, of a page.
                await handle.query(str(name))


@pytest.mark.parametrize("switched", [False, True], ids=["plain", "control"])
async def test_this_temporal_refuses_what_takes_a_switch(plain: Plain, servers: Servers, *, switched: bool) -> None:
    client = await Client.connect(servers.temporal) if switched else plain.client
    starting = client.start_activity(
        Activity.REMEMBER.value,
        {},
        id=f"a-{uuid4()}",
        task_queue=f"nobody-{uuid4()}",
        schedule_to_close_timeout=timedelta(seconds=60),
    )
    if switched:
        await (await starting).terminate()
        return
    with pytest.raises(RPCError, match="disabled"):
        await starting


@pytest.mark.parametrize("registered", [True, False], ids=["registered", "control"])
async def test_nothing_starts_on_it_before_the_search_attributes_are_there(
    servers: Servers, tmp_path: Path, user: str, *, registered: bool
) -> None:
    async with plain_temporal(tmp_path) as temporal:
        addresses = servers.changed(temporal=temporal.address)
        if registered:
            await prepare(await Client.connect(temporal.address))
        # Unlike a worker's process, this prepares nothing.
        async with deployment(addresses, tmp_path / "home") as here, Gateway(here.settings, addresses) as gateway:
            request = RememberRequest(user_id=user, key="k", items=(memory_item("The office is in Ghent."),))
            if registered:
                job = await gateway.remember(request, by=ADMIN)
                assert [item.fate for item in (await gateway.receipt(job, by=ADMIN)).items] == [Fate.SEARCHABLE]
                return
            with pytest.raises(PerdureError, match=Attribute.TENANT):
                await gateway.remember(request, by=ADMIN)


async def test_a_worker_that_may_not_register_them_refuses_with_the_command(servers: Servers, tmp_path: Path) -> None:
    async with (
        plain_temporal(tmp_path) as temporal,
        installation(servers.changed(temporal=temporal.address), tmp_path) as given,
    ):
        client = await Client.connect(temporal.address)
        # The development server has room for ten keywords.
        others = {f"Other{number}": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD for number in range(8)}
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace="default", search_attributes=others)
        )
        for environment, complaint in (
            ({}, "temporal operator search-attribute create --namespace default --name PerdureTenant --type Keyword"),
            ({"TEMPORAL_NAMESPACE": "none"}, "temporal operator namespace create --namespace none"),
        ):
            process, log = await given.worker(**environment)
            assert await asyncio.wait_for(process.wait(), STARTED_WITHIN) == 1
            [line] = [line for line in log.read_text().splitlines() if line.startswith("error: ")]
            assert line.startswith("error: PRD208 ")
            assert complaint in line
