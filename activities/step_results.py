"""What the steps of a task left, in runs that have ended and in what a run began with."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from temporalio import activity
from temporalio.client import Client, WorkflowExecution, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from activities.task_runs import LISTED_WITHIN
from perdure.agent.reused_steps import FIELD, LeftBySteps, StepsAsked, before, require_known
from perdure.agent.steps.calls import Value
from perdure.agent.steps.values import Values
from perdure.errors import InvalidTask, ResultExpired, StoreUnavailable
from perdure.names import BINDING, COMPENSATED, STEPS
from perdure.skills.shape import Skill
from perdure.stores.redis.bindings import OpenedTask
from perdure.temporal.errors import of_call
from perdure.tolerance import taken_back
from perdure.values.beginnings import Beginning
from perdure.values.bindings import TaskBinding, was_compensated

_ANSWERED_WITHIN = timedelta(seconds=10)


@dataclass(frozen=True)
class StepsSource:
    """The task whose steps have run: the same one, or another of the same user."""

    task_id: str
    runs: Sequence[WorkflowExecution]
    """Its runs that have ended, oldest first."""
    known: OpenedTask | None
    """What Redis knows of it."""


@dataclass(frozen=True)
class StepResults:
    """Finds out what steps left.

    Args:
        client: Asks Temporal, and a worker, which replays a run.
        values: Where large values are kept.
    """

    client: Client
    values: Values

    async def of(
        self, tenant: str, source: StepsSource, skill: Skill, place: int, reference: TaskBinding, *, is_fork: bool
    ) -> LeftBySteps:
        """Return what the steps before a place left, from the newest run that knows it of each.

        Raises:
            InvalidTask: It is not known.
            StoreUnavailable: Temporal may just not list a run yet; or nobody answers.
        """
        wanted, found, asked = before(skill, place), LeftBySteps(), False
        begins = reference.begins
        stored = await self.stored(tenant, source.task_id, begins) if begins else LeftBySteps()
        # Behind nothing, only what the last run failed at counts, and a task can begin without that.
        for run in reversed(source.runs if wanted else source.runs[-1:]):
            if not reference.is_same(await binding_of(run)):
                continue
            missing = tuple(step for step in wanted if step not in found.results)
            if asked and not missing:
                break
            try:
                left = await self._left_in(run, missing)
            except InvalidTask:
                if wanted:
                    raise
                break
            if left is not None:
                left = left if wanted else LeftBySteps(failures=left.failures)
                found, asked = _together(found, left), True
        found = _together(found, stored)
        missing = [step for step in wanted if step not in found.results]
        if missing and not asked and activity.info().attempt < LISTED_WITHIN:
            raise StoreUnavailable("temporal", "does not list a run of the task")
        is_known = asked or begins is not None
        require_known(skill, place, found, source.task_id, is_known=is_known, is_fork=is_fork)
        copied = wanted if is_fork else stored.copied
        undo = () if is_fork else found.compensations
        results = {step: found.results[step] for step in wanted if step in found.results}
        return found.changed(results=results, copied=copied, compensations=undo)

    async def _left_in(self, run: WorkflowExecution, steps: tuple[str, ...]) -> LeftBySteps | None:
        """Return what some steps left in a run that has ended; None where Temporal no longer has it."""
        handle = self.client.get_workflow_handle(run.id, run_id=run.run_id)
        found, rest = LeftBySteps(), steps
        try:
            while True:
                asked = StepsAsked(steps=rest)
                page = await handle.query(STEPS, asked, result_type=LeftBySteps, rpc_timeout=_ANSWERED_WITHIN)
                found = _together(page, found)
                if not page.results:
                    return found
                rest = tuple(step for step in rest if step not in page.results)
                if not rest:
                    return found
        except WorkflowQueryFailedError as error:
            problem = f"the results of its run {run.run_id} cannot be read by this build"
            raise InvalidTask(FIELD, problem, fix="choose a new task_id") from error
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise of_call(error) from error

    async def stored(self, tenant: str, task_id: str, begins: Beginning) -> LeftBySteps:
        """Return what the steps left before a task's beginning.

        Raises:
            InvalidTask: It is no longer kept.
            StoreUnavailable: Neither Redis nor the files answer.
        """
        try:
            return taken_back(LeftBySteps, await self.values.get(tenant, task_id, Value(ref=begins.results)))
        except ResultExpired as error:
            problem = f"the results with which {task_id!r} begins at {begins.step!r} are no longer kept"
            raise InvalidTask("task_id", problem, fix="choose a new task_id") from error


async def bound_to(source: StepsSource) -> TaskBinding | None:
    """Return what a task's id stands for, or its last run's if it is free."""
    if source.known is not None and source.known.binding is not None:
        return source.known.binding
    for run in reversed(source.runs):
        if (found := await binding_of(run)) is not None:
            return found
    return None


async def require_kept(source: StepsSource) -> None:
    """Refuse a task whose effects were undone.

    Raises:
        InvalidTask: They were.
    """
    undone = [await run.memo_value(COMPENSATED, default=False, type_hint=bool) for run in source.runs]
    if any(undone) or (source.known is not None and source.known.compensated):
        raise was_compensated(source.task_id)


async def binding_of(run: WorkflowExecution) -> TaskBinding | None:
    """Return what the task stood for that a run was of; None: it was refused before its first step."""
    return await run.memo_value(BINDING, None, type_hint=TaskBinding)


def _together(newer: LeftBySteps, older: LeftBySteps) -> LeftBySteps:
    """Return what steps left, and what undoes them, of each step what the newer one knows.

    A newer run may have ended before it came to an effect of an older one, whose result counts then.
    """
    known = {one.path for one in newer.compensations}
    met = {one.path for one in newer.failures}
    return newer.changed(
        results={**older.results, **newer.results},
        kinds={**older.kinds, **newer.kinds},
        compensations=(*newer.compensations, *(one for one in older.compensations if one.path not in known)),
        failures=(*newer.failures, *(one for one in older.failures if one.path not in met)),
        copied=tuple(dict.fromkeys((*older.copied, *newer.copied))),
    )
