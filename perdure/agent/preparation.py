"""What a task is pinned to before its first step. Pure values."""

import datetime
from typing import Annotated, Any

from pydantic import Field

from perdure.agent.offered_skills import CalledSkill, OfferedSkill
from perdure.agent.steps.calls import Value
from perdure.expressions.syntax import Path
from perdure.model import Instant, Passed
from perdure.registry.agents import Agent
from perdure.skills.header import is_empty, is_none
from perdure.skills.shape import Skill
from perdure.tools import Effect
from perdure.values.beginnings import BeginRequest
from perdure.values.bindings import TaskBinding
from perdure.values.tasks import TaskEnvelope


class ToolShape(Passed):
    """What a workflow has to know about a tool: pinned for the task's life."""

    effect: Effect
    timeout: float
    quick: bool = False


class PrepareCall(Passed):
    """The input of a task's first activity."""

    task: TaskEnvelope
    started_at: Instant
    first_run: str
    """The first run of the task's workflow, which distinguishes it from others under the same workflow id."""
    begin: BeginRequest | None = Field(default=None, exclude_if=is_none)
    """Where it is to begin, if not where it began before."""
    pinned: CalledSkill | None = Field(default=None, exclude_if=is_none)
    """Its skill, where another task calls it."""


class CheckedTask(Passed):
    """What is known of a task that could start now."""

    version: str
    """The digest of what it would run."""
    differs: tuple[str, ...] = ()
    """What differs, without content, from what its id stands for so far, where it is to begin at a step."""


class InnerSkill(Passed):
    """A skill that a step runs, as the task is pinned to it."""

    skill: Skill
    reads: dict[str, tuple[Path, ...]] = Field(default_factory=dict[str, tuple[Path, ...]])
    """What the expressions of each of its steps refer to, as ``PreparedTask.reads``."""


class PreparedTask(Passed):
    """All that a task is pinned to: its skill as it is now, checked, and what each step reads."""

    tenant: str
    epoch: int | None = None
    """The tenant's epoch: once an erasure raises it, nothing more is stored for the task. None: unknown."""
    skill: Skill | None = None
    """None: it has a goal."""
    inner: dict[str, InnerSkill] = Field(default_factory=dict[str, InnerSkill], exclude_if=is_empty)
    """The skills that its steps run, and those that steps of these run, by their names."""
    agent: Agent | None = None
    """Who works towards the goal."""
    position: Any = None
    """The plan's position where the task begins, of an earlier run; only the plan knows its form."""
    version: str
    """The digest of the content of the skill and of all that it runs, or of the agent, together with its prompts."""
    versions: dict[str, str] = Field(default_factory=dict[str, str])
    """The digest of the content of each of these alone, by kind and name: ``skill invoicing``; of a model, nothing."""
    model: str = Field(default="", exclude_if=is_empty)
    """The language model of whatever names none; empty: nothing needs one."""
    tools: dict[str, ToolShape]
    offered: tuple[OfferedSkill, ...] = Field(default=(), exclude_if=is_empty)
    """The skills that its model may call as tools, the most promising first."""
    queue: str = ""
    """The task queue of its workers."""
    inputs: dict[str, Value]
    """With defaults filled in."""
    reads: dict[str, tuple[Path, ...]] = Field(default_factory=dict)
    """What the expressions of each step refer to, by its id; the end of the task under the empty name."""
    date: datetime.date
    binding: TaskBinding | None = None
    """What the task's id stands for from its first claim on."""
    earlier: Instant | None = None
    """When the first run of this task began whose claims Redis may have lost; None: there is none."""
    renew_after: Annotated[float, Field(gt=0)] = 30 * 86_400.0
    """Seconds after which the task renews its claims."""
    model_timeout: Annotated[float, Field(gt=0)] = 300.0
    """Seconds that a model's turn may take."""
    heartbeat: Annotated[float, Field(gt=0)]
    """Seconds without a sign of life after which an attempt is given up."""
    summary_content: bool = False
    """Whether the summaries of its activities and timers may name the elements of lists."""
    continue_after: int = 0
    """Events after which the history is rolled over; 0: after about 1,000."""

    @property
    def skills(self) -> tuple[Skill, ...]:
        """Its skill, and those that its steps run."""
        own = (self.skill,) if self.skill else ()
        return (*own, *(one.skill for one in self.inner.values()))

    @property
    def owners(self) -> tuple[str, ...]:
        """The teams and agents whose memory its steps name."""
        return tuple(sorted({owner for skill in self.skills for owner in skill.owners}))


def versions_of(*definitions: Skill | Agent | None) -> dict[str, str]:
    """Return the digest of each definition's content, and of its prompts', by kind and name."""
    found: dict[str, str] = {}
    for one in definitions:
        if one is not None:
            kind = "skill" if isinstance(one, Skill) else "agent"
            found |= {f"{kind} {one.name}": one.digest}
            found |= {f"prompt {name}": version for name, version in one.prompts.items()}
    return found
