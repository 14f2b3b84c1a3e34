"""A task as a whole: prepare it with what this worker has, and keep its claims for as long as it lives."""

import functools
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from datetime import datetime

from temporalio import activity
from temporalio.client import Client

from activities.beginnings import Asker, TaskBeginnings
from activities.conversations import earlier_turns
from activities.outcomes import EndedTask, TaskOutcomes
from activities.pinned_plans import PinnedPlan, TaskPinner
from activities.step_results import StepsSource, bound_to, require_kept
from activities.task_holders import TaskHolders
from activities.task_runs import Holder, TaskRuns
from perdure.agent.offered_skills import OfferedSkill
from perdure.agent.preparation import CheckedTask, PrepareCall, PreparedTask, ToolShape, versions_of
from perdure.agent.reused_steps import TakenOver
from perdure.agent.skill_actions import SMALL_INLINE_LIMIT
from perdure.agent.steps.calls import Value
from perdure.agent.steps.secrecy import require_secrets
from perdure.agent.steps.task_calls import KeepCall, Kept
from perdure.agent.steps.values import Values
from perdure.documents import validated
from perdure.errors import InvalidTask, StoreUnavailable
from perdure.mcp.servers import McpServers
from perdure.memory.wholeness import Wholeness
from perdure.names import BINDING, Activity
from perdure.secrets.sources import SecretKeeper
from perdure.skills.linked_skills import LinkedSkill
from perdure.stores.redis.bindings import TaskBindings
from perdure.stores.redis.erasures import RedisErasures
from perdure.stores.tenant_key import TenantKey
from perdure.together import together
from perdure.values.beginnings import BeginRequest
from perdure.values.bindings import TaskBinding
from perdure.values.tasks import AgentTask

RENEWALS = 3
"""How often claims are renewed within the time that they are kept: a choice, so that two may fail."""


@dataclass(frozen=True)
class TaskActivities:
    """Prepares tasks.

    Args:
        pinner: Finds what tasks run.
        key: Turns user ids into tenants.
        values: Where large inputs are kept.
        bindings: What task ids stand for, and which workflow runs a task.
        outcomes: Count how tasks with each skill have ended.
        client: Knows which workflows run a task, or did.
        whole: Knows since when Redis, with its data about tasks, has lost nothing.
        erasures: Knows when a user was erased.
        secrets: Has the secrets that tools ask for.
        servers: The MCP servers of this worker.
        heartbeat: Seconds without a sign of life after which an attempt is given up.
        model_timeout: Seconds that a model's turn may take.
        continue_after: Events after which a task's history is rolled over; 0: after about 1,000.
        summary_content: Whether summaries may name the elements of lists.
    """

    pinner: TaskPinner
    key: TenantKey
    values: Values
    bindings: TaskBindings
    outcomes: TaskOutcomes
    client: Client
    whole: Wholeness
    erasures: RedisErasures
    secrets: SecretKeeper
    servers: McpServers
    _: KW_ONLY
    heartbeat: float
    model_timeout: float
    continue_after: int = 0
    summary_content: bool = False

    @activity.defn(name=Activity.PREPARE_TASK)
    async def prepare_task(self, request: PrepareCall) -> PreparedTask:
        """Check a task and pin it to its skill, or its agent, as it is now.

        Raises:
            InvalidInput: For an unknown field, skill, agent, tool, name or input, with the nearest existing one; for a
                missing secret, a task that another workflow runs, and an id that is already used by another task.
        """
        task, tenant, epoch, plan = await self._planned(request)

        async def kept() -> tuple[Value, ...]:
            keep = functools.partial(self.values.keep, tenant, task.task_id, epoch=epoch)
            return await together(*map(keep, plan.inputs.values()))

        found, since, values = await together(
            self._holders.opened(tenant, task.task_id, self._holder(request.first_run), epoch), self._since(), kept()
        )
        bound = found.binding if found else None
        binding = TaskBinding.of(task, plan.version, task.date or request.started_at.date())
        looks_back = not task.skill or request.begin is not None
        every = await self._runs.earlier(tenant, task.task_id, None if looks_back else since)
        runs = [run for run in every if since is None or run.start_time < since]
        await require_kept(StepsSource(task.task_id, runs, found))
        earlier = runs[0].start_time if runs else None
        if earlier is None and bound is not None:
            # What Redis knows of began after it last lost data, and can still be lost in this run.
            earlier = since
        asker = Asker(task, tenant, epoch, str(self._holder(request.first_run)), request.started_at)
        if request.begin is not None:
            own = StepsSource(task.task_id, every, found)
            binding, position = await self._begun(request.begin, asker, plan, own)
        else:
            # If Redis is away or has lost it, claims are bound to the day of the last run, which begins where that did.
            for known in (*[await run.memo_value(BINDING, None, type_hint=TaskBinding) for run in runs], bound):
                if known is not None and binding.is_same(known):
                    binding = known
            if bound is not None and bound.digest != binding.digest:
                raise binding.refused(task.task_id, bound)
            position = (
                await earlier_turns(
                    self.client, task.task_id, every, binding, await self.bindings.effects(tenant, task.task_id)
                )
                if not task.skill
                else await self._beginnings.position(tenant, task.task_id, binding.begins, plan)
            )
        offered = (skill for called in plan.called.values() for skill in called.every)
        return PreparedTask(
            tenant=tenant,
            epoch=epoch,
            skill=plan.skill,
            inner=plan.inner,
            agent=plan.agent,
            offered=await self._offered(tenant, task, plan, epoch),
            queue=activity.info().task_queue if plan.offered else "",
            position=position,
            version=plan.version,
            versions=versions_of(plan.skill, *(one.skill for one in plan.inner.values()), plan.agent, *offered)
            | {f"model {self.pinner.models.named(name)}": "" for name in plan.models},
            model=self.pinner.models.named("") if "" in plan.models else "",
            tools={
                tool.name: ToolShape(effect=tool.effect, timeout=tool.timeout, quick=tool.quick) for tool in plan.tools
            },
            inputs=dict(zip(plan.inputs, values, strict=True)),
            reads=plan.reads,
            date=binding.day,
            binding=binding,
            earlier=earlier,
            renew_after=self.bindings.ttl.total_seconds() / RENEWALS,
            heartbeat=self.heartbeat,
            model_timeout=self.model_timeout,
            continue_after=self.continue_after,
            summary_content=self.summary_content,
        )

    @activity.defn(name=Activity.CHECK_TASK)
    async def check_task(self, request: PrepareCall) -> CheckedTask:
        """Check a task, and whether it can begin at a step, as its preparation will; nothing is kept or bound.

        Raises:
            InvalidInput: What the preparation would refuse.
            Unconfirmed: It differs from what its id stands for, and no person has confirmed just that.
            StoreUnavailable: Redis does not answer, or Temporal does not list a run yet.
        """
        task, tenant, epoch, plan = await self._planned(request)
        if request.begin is None:
            day = task.date or request.started_at.date()
            await self._require_startable(task, tenant, TaskBinding.of(task, plan.version, day))
            return CheckedTask(version=plan.version)
        own = await (
            self._holders.free(task, tenant, None) if request.begin.of else self._holders.ended(tenant, task.task_id)
        )
        if own is None:
            return CheckedTask(version=plan.version)
        asker = Asker(task, tenant, epoch, "", request.started_at)
        source = await self._source(request.begin, tenant, own)
        differs = await self._beginnings.check(request.begin, asker, plan, own, source)
        return CheckedTask(version=plan.version, differs=differs)

    async def _require_startable(self, task: AgentTask, tenant: str, binding: TaskBinding) -> None:
        """Refuse a task whose id another workflow or another task has.

        Raises:
            InvalidTask: It has.
        """
        try:
            # What began after Redis last lost data is known by it; a user may have had thousands of tasks.
            own = await self._holders.free(task, tenant, await self._since())
        except StoreUnavailable as problem:
            if problem.store != "redis":
                raise
            # A task goes on without Redis, so it also starts: what its id stands for is looked up as it is prepared.
            return
        if own is None:
            return
        await require_kept(own)
        bound = own.known.binding if own.known is not None else None
        if bound is not None and not binding.is_same(bound):
            raise binding.refused(task.task_id, bound)

    async def _planned(self, request: PrepareCall) -> tuple[AgentTask, str, int | None, PinnedPlan]:
        """Return the task, its tenant and its epoch, and what it runs.

        Raises:
            InvalidInput: The task, or what it runs, is not as it should be.
        """
        task = validated(AgentTask, request.task.model_dump(), "", InvalidTask)
        tenant = self.key.tenant_of(task.user_id)
        epoch = await self._epoch(tenant, request.started_at)
        called = await self._called(request, task, tenant)
        plan = await self.pinner.pinned(task, called)
        await require_secrets(plan.tools, self.secrets)
        if await self.servers.require(plan.tools, activity.info().attempt):
            # What its arguments may be, only the servers knew.
            plan = await self.pinner.pinned(task, called)
        return task, tenant, epoch, plan

    async def _called(self, request: PrepareCall, task: AgentTask, tenant: str) -> LinkedSkill | None:
        """Return a task's skill as the task has it that calls this one; None: nobody calls it.

        Raises:
            InvalidTask: It is another skill, or another version.
            ResultExpired: The task that calls it no longer keeps it.
            StoreUnavailable: It may still be kept where nothing answers.
        """
        if (pinned := request.pinned) is None:
            return None
        found = LinkedSkill.of_document(await self.values.get(tenant, pinned.kept_by, pinned.content))
        if (found.skill.name, found.version) != (task.skill, pinned.version):
            raise InvalidTask("pinned", "is not the skill of the task", fix="leave it to the task that calls it")
        return found

    async def _offered(
        self, tenant: str, task: AgentTask, plan: PinnedPlan, epoch: int | None
    ) -> tuple[OfferedSkill, ...]:
        """Return the skills that a task offers its model, each kept as it is now for the calls to come."""
        kept = await together(
            *(
                self.values.keep(
                    tenant, task.task_id, plan.called[one.name].document, limit=SMALL_INLINE_LIMIT, epoch=epoch
                )
                for one in plan.offered
            )
        )
        return tuple(one.changed(content=content) for one, content in zip(plan.offered, kept, strict=True))

    async def _begun(
        self, request: BeginRequest, asker: Asker, plan: PinnedPlan, own: StepsSource
    ) -> tuple[TaskBinding, TakenOver]:
        """Bind a task's id to what begins at a step; see ``TaskBeginnings.begin``.

        Raises:
            InvalidTask: It cannot begin there, or the task whose results it copies is still open.
            StoreUnavailable: Redis does not answer.
        """
        if own.known is None:
            raise StoreUnavailable("redis", "does not answer, so the task cannot be recorded as starting at this step")
        source = await self._source(request, asker.tenant, own)
        return await self._beginnings.begin(request, asker, plan, own, source)

    async def _source(self, request: BeginRequest, tenant: str, own: StepsSource) -> StepsSource:
        """Return the task whose results another begins with.

        Raises:
            InvalidTask: It is still open.
        """
        if not request.of or request.of == own.task_id or await bound_to(own) is not None:
            return own
        return await self._holders.ended(tenant, request.of)

    @property
    def _runs(self) -> TaskRuns:
        return TaskRuns(self.client)

    @property
    def _holders(self) -> TaskHolders:
        return TaskHolders(self.bindings, self._runs)

    @property
    def _beginnings(self) -> TaskBeginnings:
        return TaskBeginnings(self.client, self.values, self.bindings)

    def _holder(self, first_run: str) -> Holder:
        return Holder(first_run, activity.info().workflow_id or "")

    async def _epoch(self, tenant: str, started_at: datetime) -> int | None:
        """Return the user's epoch for a task that was started after their last erasure; None without Redis.

        Raises:
            TenantErased: The user was erased after the task was started.
        """
        with suppress(StoreUnavailable):
            return await self.erasures.epoch_since(tenant, started_at)
        return None

    @activity.defn(name=Activity.KEEP_CLAIMS)
    async def keep_claims(self, call: KeepCall) -> Kept:
        """Keep a task's claims for their full time from now, and find the effects of unknown fate.

        Raises:
            StoreUnavailable: Redis does not answer, and the caller wants to wait for it.
        """
        try:
            unknown = await self.bindings.keep(call.tenant, call.task_id, call.binding, epoch=call.epoch)
        except StoreUnavailable:
            if call.patient:
                raise
            # Nothing is lost yet: claims last three times as long as the interval of their renewal.
            return Kept(answered=False)
        if call.trial is not None:
            with suppress(StoreUnavailable):
                # What it may cost is one task that is not counted.
                trial = call.trial
                task = EndedTask(
                    tenant=call.tenant, task_id=call.task_id, first_run=trial.first_run, succeeded=trial.succeeded
                )
                await self.outcomes.tried(task, trial.version)
        return Kept(answered=True, unknown=unknown)

    async def _since(self) -> datetime | None:
        """Return since when Redis has lost nothing; None if it has, or does not answer."""
        try:
            return await self.whole.redis_since()
        except StoreUnavailable:
            return None
