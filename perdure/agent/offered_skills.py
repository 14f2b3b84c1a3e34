"""Skills that a model may call as tools: how they are told, in which order, and which task a call is. Pure."""

from collections.abc import Iterable

from pydantic import Field, JsonValue

from perdure.agent.steps.calls import Value
from perdure.identity import digest
from perdure.model import Name, Passed
from perdure.models.language.conversation import ToolSpec
from perdure.plurals import counted
from perdure.skills.shape import Skill
from perdure.skills.templates import InputSpec, InputType
from perdure.values.tasks import AgentTask
from perdure.values.trials import Trials

_LONGEST_ID = 80
"""Characters of a task's id, as ``Name`` has them."""

_TYPES: dict[InputType, JsonValue] = {
    InputType.STRING: "string",
    InputType.INTEGER: "integer",
    InputType.NUMBER: "number",
    InputType.BOOLEAN: "boolean",
    InputType.LIST: "array",
    InputType.OBJECT: "object",
}


class CalledSkill(Passed):
    """The skill that a task runs as the task has it whose model calls it."""

    version: str
    content: Value
    """The skill, with those that its steps run."""
    kept_by: Name
    """The task that keeps the content."""


class OfferedSkill(Passed):
    """A skill as a task's model is offered it: pinned for the task's life."""

    name: Name
    description: str = ""
    inputs: dict[str, InputSpec] = Field(default_factory=dict[str, InputSpec])
    version: str
    content: Value = Value()
    """The skill, with those that its steps run, as the task keeps it."""
    trials: Trials = Trials()

    @classmethod
    def of(cls, skill: Skill, version: str, trials: Trials) -> "OfferedSkill":
        """Return how a skill is offered."""
        said = (skill.description, skill.when_to_use and f"When to use: {skill.when_to_use}", skill.going)
        description = "\n".join(" ".join(one.split()) for one in said if one)
        return cls(name=skill.name, description=description, inputs=skill.inputs, version=version, trials=trials)

    @property
    def told(self) -> str:
        """Its description for a model, with how its tasks have ended so far."""
        ended = f"{self.trials.successes} of its last {counted(self.trials.tasks, 'task')} did what they should."
        return "\n".join(filter(None, (self.description, ended if self.trials.tasks else "")))

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """The JSON Schema of its inputs."""
        required: list[JsonValue] = [name for name, one in self.inputs.items() if one.required and one.default is None]
        properties: dict[str, JsonValue] = {name: _schema(one) for name, one in self.inputs.items()}
        return {"type": "object", "properties": properties, "required": required}

    def spec(self, name: str) -> ToolSpec:
        """Return its specification as a tool of this name."""
        return ToolSpec(name=name, description=self.told, parameters=self.parameters)


def best_first(skills: Iterable[OfferedSkill]) -> tuple[OfferedSkill, ...]:
    """Return skills with those first that are most likely to do what they should; the others by name."""
    return tuple(sorted(skills, key=lambda one: (-one.trials.expected, one.name)))


def task_of_call(task: AgentTask, skill: OfferedSkill, turn: int, place: int, *, tokens: int) -> dict[str, JsonValue]:
    """Return the task that a call of a skill is, but for its inputs.

    It is the same however often its turn is gone through, but for how much it may use.

    Args:
        task: The task whose model calls it.
        skill: The skill as the task's model was offered it.
        turn: The number of the turn.
        place: The call's place in it.
        tokens: How many tokens it may use.
    """
    end = f".t{turn}.c{place}"
    named = task.task_id
    if len(named) + len(end) > _LONGEST_ID:
        named = f"{named[: _LONGEST_ID - len(end) - 13]}.{digest('task-of-call/1', named)[:12]}"
    called = AgentTask(
        task_id=f"{named}{end}",
        user_id=task.user_id,
        skill=skill.name,
        session_id=task.session,
        agent=task.agent,
        date=task.date,
        memory=task.memory,
        limits=task.limits.changed(tokens=tokens),
    )
    pinned = CalledSkill(version=skill.version, content=skill.content, kept_by=task.task_id)
    return called.model_dump(mode="json") | {"pinned": pinned.model_dump(mode="json")}


def _schema(spec: InputSpec) -> JsonValue:
    kind: dict[str, JsonValue] = {"type": _TYPES[spec.type]} if spec.type in _TYPES else {}
    told: dict[str, JsonValue] = {"description": spec.description} if spec.description else {}
    otherwise: dict[str, JsonValue] = {} if spec.default is None else {"default": spec.default}
    return {**kind, **told, **otherwise}
