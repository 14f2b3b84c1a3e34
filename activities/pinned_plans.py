"""What a task runs, as it is when the task is prepared: its skill, or its agent with what that may call."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from perdure.agent.offered_skills import OfferedSkill, best_first
from perdure.agent.preparation import InnerSkill
from perdure.agent.steps.validation import check_linked, checked_inputs
from perdure.agent.tool_specs import MemoryTool
from perdure.errors import InvalidAgent, InvalidInput, StoreUnavailable
from perdure.expressions.syntax import Path
from perdure.models.language import LanguageModels
from perdure.registry.agents import Agent, AgentLibrary
from perdure.skills.library import SkillLibrary
from perdure.skills.linked_skills import LinkedSkill
from perdure.skills.shape import Skill
from perdure.skills.steps import PromptStep
from perdure.stores.redis.skill_trials import SkillTrials
from perdure.toolbox import Toolbox
from perdure.tools import Tool
from perdure.values.tasks import AgentTask
from perdure.values.trials import Trials


@dataclass(frozen=True, kw_only=True)
class PinnedPlan:
    """What a task runs: a skill, or what an agent may do for its goal."""

    skill: Skill | None = None
    inner: dict[str, InnerSkill] = field(default_factory=dict[str, InnerSkill])
    agent: Agent | None = None
    version: str
    tools: list[Tool[..., Any]]
    offered: tuple[OfferedSkill, ...] = ()
    called: dict[str, LinkedSkill] = field(default_factory=dict[str, LinkedSkill])
    """The offered skills, by their names."""
    models: tuple[str, ...] = ()
    """The language models that it asks, as it names them; empty names: the installation's."""
    inputs: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    reads: dict[str, tuple[Path, ...]] = field(default_factory=dict[str, tuple[Path, ...]])


@dataclass(frozen=True)
class TaskPinner:
    """Finds what tasks run.

    Args:
        skills: Where skills are.
        agents: Where agents are.
        models: The language models that they may name.
        toolbox: The tools that this worker has.
        trials: Know how tasks with each skill have ended.
    """

    skills: SkillLibrary
    agents: AgentLibrary
    models: LanguageModels
    toolbox: Toolbox
    trials: SkillTrials

    async def pinned(self, task: AgentTask, called: LinkedSkill | None = None) -> PinnedPlan:
        """Return what a task runs.

        Args:
            task: The task.
            called: Its skill as the task has it that calls this one; None: the skill as it is now.

        Raises:
            InvalidInput: For an unknown skill, agent, tool or input, with the nearest existing one.
        """
        return self._of_skill(task, called) if task.skill else await self._of_agent(task)

    def _of_skill(self, task: AgentTask, called: LinkedSkill | None) -> PinnedPlan:
        found = called or self.skills.linked(task.skill)
        reads = check_linked(found, self.toolbox)
        models = list[str]()
        for skill in found.every:
            with found.placing(skill.name):
                for path, step, _ in skill.walk():
                    if isinstance(step, PromptStep):
                        models.append(self._model(step.model, f"{path}.model"))
        if found.skill.judge:
            with found.placing(found.skill.name):
                models.append(self._model(found.skill.judge.model, "judge.model"))
        inner = {name: InnerSkill(skill=skill.running, reads=reads[name]) for name, skill in found.inner.items()}
        return PinnedPlan(
            skill=found.skill.running,
            inner=inner,
            version=found.version,
            tools=[self.toolbox.get(name) for name in found.tools],
            inputs=checked_inputs(found.skill, task.inputs),
            reads=reads[found.skill.name],
            models=tuple(models),
        )

    async def _of_agent(self, task: AgentTask) -> PinnedPlan:
        agent = self.agents.get(task.agent)
        with self.agents.placing(agent.name):
            models = [self._model(agent.model, "model")]
            if agent.judged:
                models.append(self._model(agent.judged.model, "judge.model"))
            tools = [self.toolbox.get(name, f"tools[{place}]", InvalidAgent) for place, name in enumerate(agent.tools)]
        linked = self._called(agent)
        known = dict[str, Trials]()
        with suppress(StoreUnavailable):
            known = await self.trials.of([one.version for one in linked])
        offered = (OfferedSkill.of(one.skill, one.version, known.get(one.version, Trials())) for one in linked)
        called = {one.skill.name: one for one in linked}
        return PinnedPlan(
            agent=agent,
            version=agent.version,
            tools=tools,
            offered=best_first(offered),
            called=called,
            models=tuple(models),
        )

    def _model(self, name: str, field: str) -> str:
        """Return the name of a model, as it is, once it is known that the model can be used here.

        Raises:
            InvalidInput: It cannot, or there is none; naming the field.
        """
        try:
            self.models.get(name)
        except InvalidInput as error:
            raise type(error)(field, error.problem, fix=error.fix) from error
        return name

    def _called(self, agent: Agent) -> list[LinkedSkill]:
        """Return the skills that an agent may call.

        Raises:
            InvalidAgent: One has the name of a tool of the model's own memory.
            InvalidSkill: There is no such skill, or it is not well formed.
            InvalidInput: One does not fit the tools of this worker.
        """
        linked: list[LinkedSkill] = []
        for place, name in enumerate(agent.skills):
            if name in {one.value for one in MemoryTool}:
                problem = f"{name!r} is the name of a tool that every agent has"
                raise InvalidAgent(f"skills[{place}]", problem, fix="rename the skill")
            linked.append(self.skills.linked(name))
            check_linked(linked[-1], self.toolbox)
        return linked
