"""Listing tasks: what Temporal knows of each by itself, so that no worker is needed."""

import datetime
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated

from pydantic import Field
from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus

from perdure.durations import duration_of
from perdure.model import Instant, Model, Name
from perdure.names import STARTED_BY, TASK, Attribute, Workflow
from perdure.skills.templates import Duration
from perdure.temporal.attributes import AGENT, PHASE, SKILL
from perdure.values.changes import PROGRAM, Actor
from perdure.values.retries import Retry
from perdure.values.tasks import Phase
from worker.gateway.base import call
from worker.gateway.memories import MemoriesCalls
from worker.lookup import how_it_ended, retries_of, task_of

_ENDED = {Phase.COMPLETED: "Completed", Phase.FAILED: "Failed", Phase.CANCELLED: "Canceled"}
"""How Temporal says in a query that a run has ended in a phase."""

_IS_LAST_OF_A_CHAIN = "ExecutionStatus != 'ContinuedAsNew'"

_READ_AT_ONCE = 100
"""Runs that are read at once; one query more asks for later runs of the same tasks. A choice."""


class TaskFilter(Model):
    """Which tasks are meant: those of which all of it holds.

    >>> TaskFilter(skill="restock", older="2h").skill
    'restock'
    """

    phase: Phase | None = None
    skill: Name | None = None
    agent: Name | None = None
    newer: Duration | None = None
    """Only those that began within this time: ``2h``."""
    older: Duration | None = None
    """Only those that began longer ago."""
    limit: Annotated[int, Field(ge=1, le=1_000)] = 50

    def query(self, queue: str, tenant: str | None, now: datetime.datetime) -> str:
        """Return the query of Temporal's list that finds them."""
        parts = [f"WorkflowType = '{Workflow.RESUMABLE_AGENT}'", f"TaskQueue = '{queue}'", _IS_LAST_OF_A_CHAIN]
        if self.phase:
            parts.append(_in_phase(self.phase))
        equal = {Attribute.SKILL: self.skill, Attribute.AGENT: self.agent}
        parts += [f"{name} = '{value}'" for name, value in {**equal, Attribute.TENANT: tenant}.items() if value]
        for sign, age in ((">", self.newer), ("<", self.older)):
            if age:
                parts.append(f"StartTime {sign} '{(now - duration_of(age)).isoformat()}'")
        return " AND ".join(parts)


def _in_phase(phase: Phase) -> str:
    """Return the part of a query that finds the runs which are listed in a phase."""
    shown = f"{Attribute.PHASE} = '{phase}'"
    if phase is Phase.PREPARING:
        # One that no worker has begun shows none.
        shown = f"({shown} OR {Attribute.PHASE} IS NULL)"
    # What an ended run showed last is not how it ended where Temporal ended it, or it was refused at once.
    is_open = f"ExecutionStatus = 'Running' AND {shown}"
    return f"(ExecutionStatus = '{_ENDED[phase]}' OR {is_open})" if phase in _ENDED else is_open


class ListedTask(Model):
    """A task as Temporal lists it."""

    workflow_id: str
    task_id: str
    """The caller's own id; empty where it was not prepared yet."""
    phase: str
    """Its phase; of one that Temporal ended by itself, how: ``terminated``, ``timed_out``."""
    skill: str
    """Empty for a goal or a chat."""
    agent: str
    started_at: Instant
    """When its last run began."""
    ended_at: Instant | None
    started_by: Actor = PROGRAM
    retries: tuple[Retry, ...] = ()
    """Its calls that failed and are tried again; a list does not say."""

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.ended_at is None


class TaskListCalls(MemoriesCalls):
    """Which tasks there are. What Temporal's list says lags behind by a moment."""

    @call
    async def tasks(self, wanted: TaskFilter, user_id: str | None = None, *, by: Actor) -> list[ListedTask]:
        """Return tasks, open ones first, the newest first; of a task that was run again, its last run.

        Args:
            wanted: Which.
            user_id: Whose; None: everybody's. Nothing that is listed says whose a task is.
            by: Who looks.

        Raises:
            TenantKeyMissing: A user is given, and this process has no tenant key.
        """
        tenant = None if user_id is None else await (await self._keyed_reader()).tenant(user_id, None)
        query = wanted.query(self._settings.task_queue, tenant, datetime.datetime.now(datetime.UTC))
        found = dict[str, ListedTask]()
        async for run in _last_runs(await self.client(), query):
            if run.id in found:
                continue
            if len(found) >= wanted.limit:
                break
            found[run.id] = await _listed(run)
        return sorted(found.values(), key=lambda one: (not one.is_open, -one.started_at.timestamp()))

    @call
    async def open_tasks(self, *, by: Actor) -> int:
        """Return how many tasks have not ended."""
        parts = (f"WorkflowType = '{Workflow.RESUMABLE_AGENT}'", f"TaskQueue = '{self._settings.task_queue}'")
        query = " AND ".join((*parts, "ExecutionStatus = 'Running'"))
        return (await (await self.client()).count_workflows(query)).count

    @call
    async def listed(self, workflow_id: str, *, by: Actor) -> ListedTask:
        """Return what Temporal knows of one task.

        Raises:
            InvalidTask: There is none with this id, or it is something else.
        """
        found = await task_of(await self.client(), workflow_id)
        return (await _listed(found)).changed(retries=await retries_of(found))


async def _last_runs(client: Client, query: str) -> AsyncGenerator[WorkflowExecution]:
    """Yield the runs that a query finds, without those after which the same task was run again."""
    runs = client.list_workflows(query, page_size=_READ_AT_ONCE)
    while True:
        await runs.fetch_next_page()
        read = runs.current_page or ()
        latest = await _latest(client, [run for run in read if run.close_time])
        for run in read:
            if run.start_time >= latest.get(run.id, run.start_time):
                yield run
        if not runs.next_page_token:
            return


async def _latest(client: Client, ended: Sequence[WorkflowExecution]) -> dict[str, datetime.datetime]:
    """Return when the last runs of the tasks of some runs began, for those that have later ones."""
    if not ended:
        return {}
    since = min(run.start_time for run in ended)
    ids = ", ".join(sorted({_quoted(run.id) for run in ended}))
    query = f"WorkflowId IN ({ids}) AND StartTime > '{since.isoformat()}' AND {_IS_LAST_OF_A_CHAIN}"
    latest = dict[str, datetime.datetime]()
    async for run in client.list_workflows(query):
        latest[run.id] = max(run.start_time, latest.get(run.id, since))
    return latest


def _quoted(text: str) -> str:
    r"""Return a text as queries of Temporal's list have it: others' ids may hold quotes.

    Its SQLite store finds nothing by ids with a backslash, a double quote, or a quote at an end (1.8.2, seen).

    >>> print(_quoted("it's"))
    'it\'s'
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


async def _listed(run: WorkflowExecution) -> ListedTask:
    known = run.typed_search_attributes
    # Each by its name: others may have written a memo that this program cannot read.
    task_id, by = await run.memo_value(TASK, ""), await run.memo_value(STARTED_BY, None)
    phase = known.get(PHASE) or Phase.PREPARING.value
    if run.status is not None and run.status is not WorkflowExecutionStatus.RUNNING:
        # A run that Temporal ended could not say so.
        phase = how_it_ended(run.status)
    return ListedTask(
        workflow_id=run.id,
        task_id=str(task_id),
        phase=phase,
        skill=known.get(SKILL) or "",
        agent=known.get(AGENT) or "",
        started_at=run.start_time,
        ended_at=run.close_time,
        started_by=PROGRAM if by is None else Actor.model_validate(by),
    )
