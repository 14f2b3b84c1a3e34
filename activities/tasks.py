"""A task's first activity: pin its skill, check all of it against what this worker has, fill in its inputs."""

from dataclasses import KW_ONLY, dataclass

from temporalio import activity

from perdure.agent.steps.calls import EvaluateCall, Evaluated, PrepareCall, PreparedTask, ToolShape
from perdure.agent.steps.runner import StepRunner
from perdure.agent.steps.validation import check_skill, checked_inputs
from perdure.agent.steps.values import Values
from perdure.documents import validated
from perdure.errors import InvalidTask
from perdure.skills.library import SkillLibrary
from perdure.skills.shape import ToolStep
from perdure.stores.tenant_key import TenantKey
from perdure.tasks import AgentTask
from perdure.tools import Toolbox


@dataclass(frozen=True)
class TaskActivities:
    """Prepares tasks.

    Args:
        skills: Where skills are.
        toolbox: The tools that this worker has.
        key: Turns user ids into tenants.
        values: Where large inputs are kept.
        heartbeat: Seconds without a sign of life after which an attempt is given up.
        continue_after: Events after which a task's history is rolled over; 0: after about 8,000.
    """

    skills: SkillLibrary
    toolbox: Toolbox
    key: TenantKey
    values: Values
    _: KW_ONLY
    heartbeat: float
    continue_after: int = 0

    @activity.defn
    async def prepare_task(self, request: PrepareCall) -> PreparedTask:
        """Check a task and pin it to its skill as it is now.

        Raises:
            InvalidInput: For an unknown field, skill, tool, name or input, with the nearest one there is.
        """
        task = validated(AgentTask, request.task.model_dump(), "", InvalidTask)
        tenant = self.key.tenant_of(task.user_id)
        skill = self.skills.get(task.skill)
        reads = check_skill(skill, self.toolbox)
        inputs = checked_inputs(skill, task.inputs)
        names = {step.tool for _, step, _ in skill.walk() if isinstance(step, ToolStep)}
        tools = [self.toolbox.get(name) for name in sorted(names)]
        return PreparedTask(
            tenant=tenant,
            skill=skill,
            version=skill.digest,
            tools={tool.name: ToolShape(effect=tool.effect, timeout=tool.timeout) for tool in tools},
            inputs={name: await self.values.keep(tenant, value) for name, value in inputs.items()},
            reads=reads,
            date=task.date or request.started_at.date(),
            heartbeat=self.heartbeat,
            continue_after=self.continue_after,
        )


class EvaluationActivities:
    """Evaluates tasks."""

    def __init__(self, runner: StepRunner) -> None:
        self._runner = runner

    @activity.defn
    async def evaluate_task(self, call: EvaluateCall) -> Evaluated:
        """Evaluate a skill's ``output`` and ``expect``."""
        return await self._runner.evaluate(call)
