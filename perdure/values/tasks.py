"""What a user asks and gets back: tasks, where they are, and their results. Pure values."""

import datetime
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    JsonValue,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)

from perdure.documents import refuse_unknown, validated
from perdure.durations import Wait
from perdure.errors import InvalidTask
from perdure.frames import Frame
from perdure.identity import UserId, workflow_id
from perdure.model import EARLIEST, Instant, Name, OpenEnum, Passed, Request, ShallowJson
from perdure.values.explanations import RecallSummary
from perdure.values.jobs import Receipt
from perdure.values.questions import Question
from perdure.values.retries import Retry
from perdure.values.steering import Intervention
from perdure.values.task_limits import Limits

DEFAULT_AGENT = "agent"
"""Who works on a task that names no agent."""


def _not_before_1970(day: datetime.date) -> datetime.date:
    # What the task observes is dated to this day.
    if day < EARLIEST.date():
        raise ValueError("is before 1970 (give the day that the task is about)")
    return day


class MemoryMode(OpenEnum):
    """What a task may do with memory. An unknown mode counts as ``off``."""

    ON = "on"
    READ = "read"
    """It recalls, and remembers nothing; what it recalls does not count as used."""
    OFF = "off"
    """Neither: for anonymous, stateless, regulated or must-be-deterministic use."""

    @property
    def recalls(self) -> bool:
        """Whether a task in this mode reads memory."""
        return self in (MemoryMode.ON, MemoryMode.READ)

    @property
    def remembers(self) -> bool:
        """Whether a task in this mode writes memory."""
        return self is MemoryMode.ON

    def narrowed(self, other: "MemoryMode") -> "MemoryMode":
        """Return the stricter of two modes.

        >>> MemoryMode.READ.narrowed(MemoryMode.ON).value
        'read'
        """
        return min(self, other, key=lambda mode: (mode.recalls, mode.remembers))


class AgentTask(Request):
    """A durable task: the input of the ``ResumableAgent`` workflow.

    >>> task = AgentTask(task_id="audit-7", user_id="ada", skill="dependency-audit", inputs={"lock": "uv.lock"})
    >>> task.workflow_id
    'task-audit-7-1fd90551848a'
    """

    model_config = ConfigDict(extra="forbid")

    task_id: Name
    """The caller's own id. The same id for the same user is the same task."""
    user_id: UserId
    """Whose task it is; it decides what can be recalled. Kept out of ids, keys and labels."""
    skill: Name | Literal[""] = ""
    """The name of the skill to run. Either it or a goal is given."""
    goal: Annotated[str, Field(max_length=20_000)] = ""
    """What the task's agent should achieve, in words."""
    chat: bool = False
    """Whether the agent converses instead: it answers each message, until nobody says anything more."""
    inputs: dict[str, ShallowJson] = Field(default_factory=dict)
    """The inputs of its skill, by name."""
    session_id: Name | None = None
    """Tasks of one session share their episodes; without one, the task is its own session."""
    agent: Name = DEFAULT_AGENT
    """Who works on it: for a goal, one of the agents that the worker has."""
    date: Annotated[datetime.date, AfterValidator(_not_before_1970)] | None = None
    """The day that the task is about, as ``${task.date}`` or in its model's input; without one, the day it starts."""
    memory: MemoryMode = MemoryMode.ON
    """What it may do with memory."""
    limits: Limits = Limits()
    """Its bounds."""

    @model_validator(mode="after")
    def _holds_what_is_known(self) -> Self:
        # Its envelope in a workflow may come from another build, and is checked when the task is prepared.
        if type(self) is AgentTask:
            refuse_unknown(self, "", InvalidTask)
            self._require_one_plan()
        return self

    def _require_one_plan(self) -> None:
        if self.skill and self.goal.strip():
            raise InvalidTask("goal", "is given together with a skill", fix="give one of the two")
        if self.chat and (self.skill or self.goal.strip()):
            field = "skill" if self.skill else "goal"
            raise InvalidTask(field, "is given together with chat", fix="say in the conversation what is wanted")
        if not (self.skill or self.goal.strip() or self.chat):
            raise InvalidTask("skill", "is missing", fix="name a skill, or give a goal")
        if self.inputs and not self.skill:
            raise InvalidTask("inputs", "belong to a skill", fix="say it in the goal")

    @property
    def title(self) -> str:
        """What the task runs, without content: its skill, or that it has a goal, or is a chat."""
        return f"skill {self.skill}" if self.skill else "a chat" if self.chat else "a goal"

    @property
    def summary(self) -> str:
        """What it runs, and for which agent if it names one: what Temporal's UI shows beside its id.

        >>> AgentTask(task_id="audit-7", user_id="ada", skill="dependency-audit").summary
        'skill dependency-audit'
        """
        return self.title if self.agent == DEFAULT_AGENT else f"{self.title} for {self.agent}"

    @property
    def workflow_id(self) -> str:
        """The id of the workflow that runs it."""
        return workflow_id(self.user_id, self.task_id)

    @property
    def session(self) -> str:
        """The session that its episodes belong to."""
        return self.session_id or self.task_id


class TaskEnvelope(AgentTask):
    """A task in transit, perhaps from another build: its unknown fields are kept until it is prepared."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="wrap")
    @classmethod
    def _refuse_by_name(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError:
            # A name that is written wrongly is also missing; the strict reading says which it is. What a rollover
            # carries was written by a build, which may have more of everything.
            if isinstance(data, dict) and (fields := cast("dict[str, Any]", data)).get("carried") is None:
                written = {name: fields[name] for name in fields if name not in ("carried", "begin", "pinned")}
                validated(AgentTask, written, "", InvalidTask)
            raise


class Phase(OpenEnum):
    """Where a task is.

    It is ``waiting`` for a person; ``paused`` by somebody, or until a moment or an event; ``listening`` for what is
    said next.

    An unknown one is shown.
    """

    PREPARING = "preparing"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    LISTENING = "listening"
    REMEMBERING = "remembering"
    EVALUATING = "evaluating"
    COMPENSATING = "compensating"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepStatus(OpenEnum):
    """How a step ended. One with an unknown status has ended too."""

    DONE = "done"
    SKIPPED = "skipped"  # as its ``when`` was false, or a person said so
    FAILED = "failed"  # and the skill or a person let the task continue


class StepReport(Passed):
    """A step that did not do what it was to do, and why."""

    step: str
    """Its path."""
    shown: str = ""
    """The path with the names of its elements; empty where they have none."""
    status: StepStatus
    """Skipped or failed."""
    problem: str = ""
    """Why."""
    frames: tuple[Frame, ...] = ()
    """Where its tool raised the exception that it failed with; the tool's own lines first."""


class Progress(Passed):
    """Where a task is, small enough to be asked for often: the answer of the ``progress`` query."""

    task_id: str
    skill: str
    """Empty for a task with a goal."""
    chat: bool = False
    """Whether it is a conversation."""
    phase: Phase
    step: str = ""
    """The path of the current step."""
    shown: str = ""
    """The same for people to read, with the names of list elements (``shops[North].inspect``) in place of indexes;
    empty: there are none."""
    done: int = 0
    """Steps that ended in any way."""
    total: int = 0
    """Steps known so far; a ``for_each`` adds its own when its list is known."""
    skipped: int = 0
    failed: int = 0
    incomplete: tuple[StepReport, ...] = ()
    """The steps that failed or were skipped, each with the reason; the last 10 of each."""
    recalled: int = 0
    """Items that recalls returned."""
    remembered: int = 0
    """Items handed to ingest jobs."""
    questions: tuple[Question, ...] = ()
    tasks: tuple[str, ...] = ()
    """The workflow ids of tasks that its steps run, as an agent's calls of skills are, the first ten: each has
    questions of its own."""
    waits: tuple[Wait, ...] = ()
    """The next ten of those steps that wait for a moment or an event, those without a deadline last."""
    waiting: int = 0
    kept: int = 0
    """Events that were delivered, and that no step has waited for yet."""
    paused: Intervention | None = None
    """Who paused it and when; None: nobody did. What is under way ends, and nothing new begins."""
    interventions: tuple[Intervention, ...] = ()
    """What was done to it while it ran, by whom and when; the last 20."""
    unread: int = 0
    """Messages that its model has not seen yet."""
    versions: dict[str, str] = Field(default_factory=dict[str, str])
    """What it is pinned to, by kind and name (``skill invoicing``): the digest of each definition's content; of a
    language model, nothing."""
    until: Instant | None = None
    """When it fails unless it has ended (``limits.hours``); None: it has no deadline, or has ended."""
    retries: tuple[Retry, ...] = ()
    """Its calls that failed and are tried again, as Temporal knows of them; its workflow does not."""
    problem: str = ""
    tokens: int = 0
    """That its model has used."""
    unknown: tuple[str, ...] = ()
    """Once it has ended: the steps whose ``once`` effects may or may not have happened."""
    compensated: tuple[str, ...] = ()
    """The steps that were undone, as the task failed or was cancelled; the last one first."""
    uncompensated: tuple[str, ...] = ()
    """The steps that could not be undone, each with the reason."""


class Judgement(Passed):
    """What one judge says of a task's output."""

    by: str
    """``expect``, the skill's or the agent's rule, or ``model``, or ``person``."""
    passed: bool
    reason: str = ""


class Evaluation(Passed):
    """Whether the task did what its skill promises, or what its agent should do."""

    judgements: Annotated[tuple[Judgement, ...], Field(min_length=1)]

    @property
    def passed(self) -> bool:
        """Whether every judge says so."""
        return all(judgement.passed for judgement in self.judgements)


class TaskResult(Passed):
    """How a task ended: the output of the ``ResumableAgent`` workflow."""

    task_id: str
    status: Phase
    """The phase that it ended in: completed, failed or cancelled."""
    output: JsonValue = None
    done: int = 0
    skipped: int = 0
    failed: int = 0
    happened_before: int = 0
    """Steps whose effects had happened before, in an attempt that died or in an earlier run, and were not repeated."""
    incomplete: tuple[StepReport, ...] = ()
    """The steps that failed or were skipped, each with the reason; the last 10 of each."""
    problem: str = ""
    """Why it failed, with the step that did."""
    recalls: tuple[RecallSummary, ...] = ()
    """The last recalls, at most 50."""
    recalled: int = 0
    jobs: tuple[str, ...] = ()
    """The last ingest jobs that it started, at most 50."""
    receipts: tuple[Receipt, ...] = ()
    """The receipts of critical jobs, the last 10."""
    refused: tuple[str, ...] = ()
    """What could not be remembered, each with its step and the reason; the last 10."""
    evaluation: Evaluation | None = None
    tokens: int = 0
    """That its model has used, read and written."""
    unknown: tuple[str, ...] = ()
    """The steps whose ``once`` effects, or effects that could be undone, may or may not have happened: check before you
    repeat one."""
    compensated: tuple[str, ...] = ()
    """The steps that were undone, as the task failed or was cancelled; the last one first."""
    uncompensated: tuple[str, ...] = ()
    """The steps that could not be undone, each with the reason."""
    warnings: tuple[str, ...] = ()
    """What policies warned of, each with its step and the policy; the last 10 of ``warned``."""
    warned: int = 0
    interventions: tuple[Intervention, ...] = ()
    """What was done to it while it ran, by whom and when; the last 20."""
    versions: dict[str, str] = Field(default_factory=dict[str, str])
    """What it was pinned to, by kind and name (``skill invoicing``): the digest of each definition's content; of a
    language model, nothing."""


def tokens_in(result: object) -> int:
    """Return how many tokens models used for a task, of its result as JSON; 0 for what is no such result."""
    used = cast("dict[str, object]", result).get("tokens") if isinstance(result, dict) else None
    return used if isinstance(used, int) else 0
