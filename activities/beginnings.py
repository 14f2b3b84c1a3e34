"""Where a task begins, if not at its first step: what the steps before left, copied or kept, and bound to its id."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue
from temporalio import activity
from temporalio.client import Client

from activities.pinned_plans import PinnedPlan
from activities.step_results import StepResults, StepsSource, bound_to, require_kept
from activities.task_runs import LISTED_WITHIN
from perdure.agent.readers import inline_of
from perdure.agent.reused_steps import (
    FIELD,
    LeftBySteps,
    TakenOver,
    after,
    before,
    gone_on,
    place_of,
    require_own,
    taken_over,
    undoing,
)
from perdure.agent.skill_actions import CARRIED_INLINE, SMALL_INLINE_LIMIT
from perdure.agent.steps.calls import INLINE_LIMIT, Compensation, Result, Value
from perdure.agent.steps.values import Values
from perdure.crashpoints import CrashPoint, reached
from perdure.documents import refuse_unknown
from perdure.errors import InvalidTask, ResultExpired, StoreUnavailable, Unconfirmed
from perdure.identity import digest
from perdure.skills.shape import Skill
from perdure.stores.redis.bindings import TaskBindings
from perdure.values.beginnings import ANY, Beginning, BeginRequest
from perdure.values.bindings import TaskBinding
from perdure.values.changes import ActorKind
from perdure.values.tasks import AgentTask


@dataclass(frozen=True)
class Asker:
    """The run of a task that is to begin at a step."""

    task: AgentTask
    tenant: str
    epoch: int | None
    holder: str
    """The workflow that runs the task, as Redis knows it."""
    started_at: datetime


@dataclass(frozen=True)
class _Allowed:
    """What a task is to begin with."""

    skill: Skill
    place: int
    binding: TaskBinding
    """What its id is to stand for."""
    reference: TaskBinding
    """What that of the task stands for whose results it begins with."""
    differs: tuple[str, ...]
    """What a person has confirmed to differ between the two, without content."""
    left: LeftBySteps


@dataclass(frozen=True)
class TaskBeginnings:
    """Finds out what steps left, and keeps it for the tasks that begin behind them.

    Args:
        client: Asks Temporal, and a worker, which replays a run.
        values: Where large values are kept.
        bindings: What task ids stand for.
    """

    client: Client
    values: Values
    bindings: TaskBindings

    async def begin(
        self, request: BeginRequest, asker: Asker, plan: PinnedPlan, own: StepsSource, source: StepsSource
    ) -> tuple[TaskBinding, TakenOver]:
        """Bind a task's id to what it stands for from now on, and return that, and the position where it begins.

        What was bound is kept: each further run of the task begins there, and one that is tried again does the same.

        Args:
            request: Where it is to begin.
            asker: The run.
            plan: What the task runs.
            own: The task itself.
            source: The task whose steps have run.

        Raises:
            InvalidTask: It cannot begin there; with what to do.
            Unconfirmed: It differs from what its id stands for, and no person has confirmed just that.
            StoreUnavailable: Redis does not answer, or Temporal does not list a run yet.
        """
        refuse_unknown(request, "begin", InvalidTask)
        if (begun := await _begun_before(request, asker, plan, own)) is not None:
            return await self._begun(asker, plan, *begun)
        found = await self._allowed(request, asker, plan, source)
        skill, place, binding, reference = found.skill, found.place, found.binding, found.reference
        kept = await self._kept(asker, source.task_id, found.left)
        tools = [one.name for one in plan.tools]
        again = after(skill, place)
        kept = kept.changed(
            compensations=undoing(kept.compensations, before(skill, place), again, tools),
            failures=gone_on(kept.failures, again, found.differs),
        )
        stored = await self._value(asker, kept.model_dump(mode="json"), 0)
        beginning = Beginning(
            step=request.step,
            of=request.of or (reference.begins.of if reference.begins else ""),
            results=stored.ref,
            by=request.by,
            at=asker.started_at,
            differs=found.differs,
        )
        binding = binding.changed(begins=beginning)
        instead_of = "" if request.of or own.known is None or own.known.binding is None else reference.digest
        await self.bindings.begin(
            asker.tenant, asker.task.task_id, asker.holder, binding, instead_of=instead_of, epoch=asker.epoch
        )
        reached(CrashPoint.TASK_BOUND)
        return binding, taken_over(skill, plan.reads, place, kept)

    async def check(
        self, request: BeginRequest, asker: Asker, plan: PinnedPlan, own: StepsSource, source: StepsSource
    ) -> tuple[str, ...]:
        """Return what differs from what the task's id stands for, and was confirmed; takes and raises as ``begin``."""
        refuse_unknown(request, "begin", InvalidTask)
        await require_kept(own)
        if await _begun_before(request, asker, plan, own) is not None:
            return ()
        return (await self._allowed(request, asker, plan, source)).differs

    async def position(self, tenant: str, task_id: str, begins: Beginning | None, plan: PinnedPlan) -> TakenOver | None:
        """Return the position at which each run of a task begins; None: before its first step.

        Raises:
            InvalidTask: The results that it begins with are no longer kept.
            StoreUnavailable: Neither Redis nor the files answer.
        """
        if begins is None:
            return None
        skill, place = _place(plan, begins.step)
        return taken_over(skill, plan.reads, place, await self._results.stored(tenant, task_id, begins))

    async def _allowed(self, request: BeginRequest, asker: Asker, plan: PinnedPlan, source: StepsSource) -> _Allowed:
        """Return what a task is to begin with that may begin at a step."""
        skill, place = _place(plan, request.step)
        reference = await bound_to(source)
        if reference is None and activity.info().attempt < LISTED_WITHIN:
            # Temporal lists a run a moment after it was prepared.
            raise StoreUnavailable("temporal", "does not list a run of the task")
        if reference is None:
            problem = f"this user has no task {source.task_id!r} that has run"
            raise InvalidTask(FIELD, problem, fix="name one by the task_id that it was run under")
        binding, differs = _binding(asker, plan, reference), tuple[str, ...]()
        if request.of:
            await require_kept(source)
        else:
            differs = _confirmed(request, asker.task.task_id, binding, reference)
        left = await self._results.of(asker.tenant, source, skill, place, reference, is_fork=bool(request.of))
        require_own(skill, place, left)
        return _Allowed(skill, place, binding, reference, differs, left)

    async def _begun(
        self, asker: Asker, plan: PinnedPlan, mine: TaskBinding, begins: Beginning
    ) -> tuple[TaskBinding, TakenOver]:
        """Return what a task's id stands for and where it begins, as it was bound before."""
        task_id = asker.task.task_id
        skill, place = _place(plan, begins.step)
        left = await self._results.stored(asker.tenant, task_id, begins)
        # Redis may have lost it since.
        await self.bindings.begin(asker.tenant, task_id, asker.holder, mine, instead_of=mine.digest, epoch=asker.epoch)
        return mine, taken_over(skill, plan.reads, place, left)

    @property
    def _results(self) -> StepResults:
        return StepResults(self.client, self.values)

    async def _kept(self, asker: Asker, source: str, left: LeftBySteps) -> LeftBySteps:
        """Return what steps left with each large value kept for the task that begins behind them.

        Raises:
            InvalidTask: One is no longer kept.
            StoreUnavailable: One can neither be had nor kept now.
        """
        inline = sum(inline_of(result.parts) for result in left.results.values())
        limit = SMALL_INLINE_LIMIT if inline > CARRIED_INLINE else INLINE_LIMIT
        results = {step: await self._result(asker, source, step, one, limit) for step, one in left.results.items()}
        undo = [await self._compensation(asker, source, one) for one in left.compensations]
        return left.changed(results=results, compensations=tuple(undo))

    async def _result(self, asker: Asker, source: str, step: str, result: Result, limit: int) -> Result:
        parts = {part: await self._moved(asker, source, step, value, limit) for part, value in result.parts.items()}
        return result.changed(parts=parts)

    async def _compensation(self, asker: Asker, source: str, one: Compensation) -> Compensation:
        return one.changed(arguments=await self._moved(asker, source, one.path, one.arguments, INLINE_LIMIT))

    async def _moved(self, asker: Asker, source: str, step: str, value: Value, limit: int) -> Value:
        try:
            plain = await self.values.get(asker.tenant, source, value)
        except ResultExpired as error:
            problem = f"what {step!r} left in {source!r} is no longer kept"
            raise InvalidTask(FIELD, problem, fix=f"begin at {step!r}, or before it") from error
        return await self._value(asker, plain, limit)

    async def _value(self, asker: Asker, plain: JsonValue, limit: int) -> Value:
        task_id = asker.task.task_id
        return await self.values.keep(asker.tenant, task_id, plain, limit=limit, epoch=asker.epoch)


def _place(plan: PinnedPlan, step: str) -> tuple[Skill, int]:
    if plan.skill is None:
        problem = "a model's turns have no steps that another run would take as well"
        raise InvalidTask(FIELD, problem, fix="run the task again under its id: it goes on from its turns")
    return plan.skill, place_of(plan.skill, step)


def _binding(asker: Asker, plan: PinnedPlan, reference: TaskBinding) -> TaskBinding:
    """Return what the task is bound to; without a date of its own, about the same day as what ran before."""
    task = asker.task
    day = asker.started_at.date() if reference.date else reference.day
    return TaskBinding.of(task, plan.version, task.date or day)


async def _begun_before(
    request: BeginRequest, asker: Asker, plan: PinnedPlan, own: StepsSource
) -> tuple[TaskBinding, Beginning] | None:
    """Return what a task's id was bound to, and where it begins, by an attempt before this one or as the same fork.

    Raises:
        InvalidTask: The id is that of another task, or of another fork.
    """
    _place(plan, request.step)
    if request.of == asker.task.task_id:
        raise InvalidTask("task_id", "is that of the task whose results are copied", fix="choose a new task_id")
    mine = await bound_to(own)
    if mine is None:
        return None
    if mine.begins is not None and mine.begins.at == asker.started_at:
        # An attempt before this one got that far.
        return mine, mine.begins
    if request.of:
        # What it copied stays as it was, whatever has become of the first task.
        return mine, _same_fork(request, asker.task.task_id, _binding(asker, plan, mine), mine)
    return None


def _same_fork(request: BeginRequest, task_id: str, binding: TaskBinding, mine: TaskBinding) -> Beginning:
    """Return where a fork began that is asked for once more: what it copied stays as it was.

    Raises:
        InvalidTask: The id is that of another task, or of another fork.
    """
    if not binding.is_same(mine):
        raise binding.refused(task_id, mine)
    if mine.begins is None or (mine.begins.of, mine.begins.step) != (request.of, request.step):
        raise InvalidTask("task_id", f"{task_id!r} is already used by another task", fix="choose a new task_id")
    return mine.begins


def _confirmed(request: BeginRequest, task_id: str, binding: TaskBinding, reference: TaskBinding) -> tuple[str, ...]:
    """Return what differs from what the task's id stands for.

    Raises:
        Unconfirmed: Something does, and no person has confirmed just that.
    """
    if binding.changed(begins=reference.begins).digest == reference.digest:
        return ()
    differs = tuple(binding.differences(reference))
    code = digest("confirmed/1", reference.digest, binding.digest)[:12]
    if request.by.kind is not ActorKind.PERSON or request.confirmed not in (ANY, code):
        problem = f"{task_id!r} differs from what it was in {', '.join(differs)}"
        by_program = request.confirmed and request.by.kind is not ActorKind.PERSON
        fix = "only a person can confirm it" if by_program else "look at it, and confirm it with --yes"
        raise Unconfirmed("task_id", problem, fix=fix, confirmation=code)
    return differs
