"""What an installation knows of its skills, and of plans that could become some."""

import asyncio
import datetime
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, cast

from pydantic import Field, JsonValue

from perdure.errors import InvalidInput, InvalidTask
from perdure.model import Model
from perdure.names import CONVERSATION
from perdure.refusals import UnknownThing
from perdure.values.changes import Actor
from perdure.values.tasks import Phase, TaskEnvelope
from perdure.values.trials import Trials
from worker.gateway.base import ANSWERED_WITHIN, call
from worker.gateway.tasks import TaskCalls

if TYPE_CHECKING:
    from perdure.skills.library import SkillLibrary


class ListedSkill(Model):
    """A skill as this process has it."""

    name: str
    version: str = ""
    """The digest of its content, with that of the skills that it runs; empty where it cannot be used."""
    description: str = ""
    inputs: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """What a task may give, by name."""
    steps: tuple[str, ...] = ()
    """The names of its steps, in order; of one without a name, its path."""
    deprecated: str = ""
    """What becomes of it, where it is deprecated."""
    problem: str = ""
    """Why it cannot be used."""


class SkillCalls(TaskCalls):
    """Asking about skills, and drafting them."""

    @call
    async def skills(self, *, by: Actor) -> list[ListedSkill]:
        """Return the skills that this process has, by name: those of its settings."""
        from worker.wiring.registries import skills_of  # noqa: PLC0415  it loads what reads YAML

        library = await asyncio.to_thread(skills_of, self._settings)
        return [await asyncio.to_thread(_listed, library, name) for name in await asyncio.to_thread(library.names)]

    @call
    async def skill(self, name: str, *, by: Actor) -> ListedSkill:
        """Return one skill.

        Raises:
            UnknownThing: There is none with this name.
        """
        from worker.wiring.registries import skills_of  # noqa: PLC0415  the same

        library = await asyncio.to_thread(skills_of, self._settings)
        if name not in await asyncio.to_thread(library.names):
            raise UnknownThing("skill", f"there is no skill {name!r}", fix="perdure skills list shows the names")
        return await asyncio.to_thread(_listed, library, name)

    @call
    async def trials(self, versions: Sequence[str], *, by: Actor) -> dict[str, Trials]:
        """Return how the last tasks with each of these versions have ended.

        Args:
            versions: Versions of skills, as ``perdure skills list --json`` shows them.
            by: Who asks.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        # What most commands have no use for takes a tenth of a second.
        from perdure.stores.redis.connection import connect  # noqa: PLC0415
        from perdure.stores.redis.skill_trials import SkillTrials  # noqa: PLC0415

        async with aclosing(connect(self._addresses.redis_url)) as redis:
            return await SkillTrials(redis).of(versions)

    @call
    async def propose(self, workflow_id: str, name: str, kinds: Mapping[str, str], *, by: Actor) -> str:
        """Return a skill that does what the model of a task did, as a draft in YAML.

        Args:
            workflow_id: The task's.
            name: What the skill is to be called.
            kinds: The names of the tools and skills that may be steps, each with the kind of step that it is.
            by: Who wants it.

        Raises:
            InvalidTask: There is no such task; it had no goal, has not completed, or did not do what it should; or what
                it called is not known here.
            InvalidInput: Its agent is not known here, and so not what a person had to approve.
            WorkerUnavailable: No worker serves the task queue.
        """
        from perdure.agent.skill_proposals import proposed  # noqa: PLC0415  the same
        from perdure.agent.turns import Conversation  # noqa: PLC0415
        from worker.wiring.registries import agents_of  # noqa: PLC0415

        handle, result = await self.task(workflow_id, by=by), await self.ended(workflow_id, by=by)
        if result is None or result.status is not Phase.COMPLETED:
            how = f"ended as {result.status.value}" if result else "has not ended, or nobody can say how"
            raise InvalidTask("task", f"{workflow_id!r} {how}", fix="choose one that has completed")
        await self.served()
        if result.evaluation is not None and not result.evaluation.passed:
            fix = "choose one whose evaluation it passed"
            raise InvalidTask("task", f"{workflow_id!r} did not do what it should", fix=fix)
        kind = cast("type[Conversation]", Conversation | None)
        said = cast(
            "Conversation | None", await handle.query(CONVERSATION, result_type=kind, rpc_timeout=ANSWERED_WITHIN)
        )
        if said is None:
            raise InvalidTask("task", f"{workflow_id!r} ran a skill", fix="choose one with a goal")
        task = await self._asked(workflow_id)
        day = datetime.datetime.now(datetime.UTC).date()
        approve = agents_of(self._settings).get(task.agent).approve
        goal = said.goal or task.goal
        return proposed(name, goal, said, kinds, approve=approve, task=task.task_id, day=day)

    async def _asked(self, workflow_id: str) -> TaskEnvelope:
        """Return a task as it was started."""
        client = await self.client()
        began = await anext(client.get_workflow_handle(workflow_id).fetch_history_events(page_size=1))
        payloads = began.workflow_execution_started_event_attributes.input.payloads
        [task] = await client.data_converter.decode(payloads, [TaskEnvelope])
        return cast("TaskEnvelope", task)


def _listed(library: "SkillLibrary", name: str) -> ListedSkill:
    try:
        linked = library.linked(name)
    except InvalidInput as problem:
        return ListedSkill(name=name, problem=str(problem))
    skill = linked.skill
    return ListedSkill(
        name=name,
        version=linked.version,
        description=skill.description,
        inputs={key: one.model_dump(mode="json", exclude_none=True) for key, one in skill.inputs.items()},
        steps=tuple(step.id or path for path, step, _ in skill.walk()),
        deprecated=skill.going if skill.deprecated else "",
    )
