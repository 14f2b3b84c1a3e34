"""What a task's workflow knows, as one value, which travels when the history is rolled over. Does nothing."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from heapq import nsmallest
from typing import Any

from pydantic import Field, JsonValue

from perdure.agent.offered_skills import CalledSkill
from perdure.agent.preparation import PreparedTask
from perdure.agent.steps.calls import Calls, Compensation, Ended, Resumed, Value
from perdure.durations import Wait
from perdure.model import Instant, Passed
from perdure.skills.header import is_empty, is_none
from perdure.values.beginnings import BeginRequest
from perdure.values.chats import ChatBox
from perdure.values.events import EventBox, TakenEvent
from perdure.values.explanations import RecallSummary
from perdure.values.items import OfferedItem
from perdure.values.jobs import Batch, Receipt
from perdure.values.lessons import MetFailure
from perdure.values.questions import FailedAttempt, Question, QuestionKind
from perdure.values.steering import Steered
from perdure.values.tasks import StepReport, StepStatus, TaskEnvelope

RECALLS_KEPT = 50
JOBS_KEPT = 50
RECEIPTS_KEPT = 10
REFUSED_KEPT = 10
WARNINGS_KEPT = 10
REPORTS_KEPT = 10
"""Of failed steps, and of skipped ones; a choice."""
PROBLEM_LIMIT = 500
"""Characters of why a step failed, in its report; a choice."""
ANSWERED_KEPT = 500
"""An answer is taken only for an open question; those that were answered, or not in time, only explain why another is
refused."""


_SHOWN = 10
"""Steps that progress names; a choice."""

_NEVER = datetime.max.replace(tzinfo=UTC)


class Learned(Passed):
    """What a task learned, and how far it has come on its way to memory."""

    buffer: tuple[OfferedItem, ...] = ()
    """To be remembered, and not yet handed to a job."""
    batches: int = 0
    """How many batches were made of the items to be remembered."""
    unsent: tuple[Batch, ...] = ()
    """Batches whose job was not accepted yet."""
    remembered: int = 0
    """Items that were handed over."""
    jobs: tuple[str, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    refused: tuple[str, ...] = ()
    started: int = 0
    """Number of jobs that were started; ``jobs`` names the last ones."""
    refusals: int = 0
    """Number of items that could not be remembered; ``refused`` lists the last ones."""


class Branch(Passed):
    """One line of a task's work: at most one action, or one question, at a time."""

    position: Any = None
    """The plan's position in it; only the plan knows its form."""
    path: str = ""
    """The action that is on its way or waits for an answer; empty: the branch is free."""
    shown: str = Field(default="", exclude_if=is_empty)
    """The same for people to read, with the names of list elements; empty: there are none around it."""
    question: Question | None = None
    """What it waits for. It has been put once ``asked_at`` is set."""
    until: Instant | None = None
    """Until when the step under way waits."""
    paused_at: Instant | None = Field(default=None, exclude_if=is_empty)
    """When it began to wait for a moment or an event, which may have been in an earlier run."""
    event: str = ""
    """The event that it waits for."""
    otherwise: Value | None = None
    """Its output if the event does not come in time; None: it fails then."""
    calls: Calls | None = None
    """The workflow of others that it has called and waits for, in an earlier run of the task's."""
    delivered: TakenEvent | None = None
    """To become the output of the step once it goes on."""
    of_plan: bool = False
    """Whether the plan asks, and not the step under way."""
    resume: JsonValue = None
    """What the step that asks needs to go on."""
    resumed: Resumed | None = None
    """To be handed to the step when it goes on."""
    problem: str = ""
    """Why its last action failed, while the plan decides what to do about it."""
    failed: FailedAttempt | None = None
    """The last failed attempt at it, if known."""
    lessons: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """What earlier tasks learned about its last failure."""
    again: bool = False
    """Whether its action failed before, and a person has it tried again."""


class Used(Passed):
    """What a task has used of what its limits bound."""

    steps: int = 0
    """Steps that ended or are under way."""
    tokens: int = 0


class TaskState(Passed):
    """Everything about a running task that its next step, or a person, may need."""

    prepared: PreparedTask
    started_at: Instant
    renewed_at: Instant
    """When the task's claims were last renewed."""
    earlier: Instant | None = None
    """When the first run of the task began that may have claimed effects before this one; None: there is none."""
    unknown: tuple[str, ...] = ()
    """The steps whose effects may or may not have happened: those about which nobody answered in time, and in the end
    all of them."""
    cut_off: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """The steps with ``once`` effects that the task's end cut off: their claims tell what became of them."""
    branches: dict[str, Branch] = Field(default_factory=dict[str, Branch])
    failure: str = ""
    """Why the plan gives the task up."""
    ended: dict[StepStatus, int] = Field(default_factory=dict[StepStatus, int])
    """How many steps ended in which way."""
    incomplete: tuple[StepReport, ...] = Field(default=(), exclude_if=is_empty)
    """The last steps that failed or were skipped."""
    total: int = 0
    """Steps known so far."""
    tokens: int = 0
    """Tokens that its model has used."""
    used_before: Used | None = Field(default=None, exclude_if=is_none)
    """In a conversation: what it had used before what was said last, from which on its limits count; None: they count
    from the beginning."""
    recalled: int = 0
    recalls: tuple[RecallSummary, ...] = ()
    recalls_made: int = 0
    """Number of recalls; ``recalls`` lists the last ones."""
    warnings: tuple[str, ...] = ()
    warned: int = 0
    """Number of policy warnings; ``warnings`` has the last ones."""
    learned: Learned = Learned()
    answered: tuple[str, ...] = ()
    """The ids of answered questions."""
    lapsed: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """The ids of questions that nobody answered in time."""
    events: EventBox = EventBox()
    steered: Steered = Steered()
    chat: ChatBox | None = Field(default=None, exclude_if=is_none)
    """What was said, where the task is a conversation."""
    compensations: tuple[Compensation, ...] = Field(default=(), exclude_if=is_empty)
    """What would undo the effects so far, in the order in which they happened."""
    compensated: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """The steps that were undone."""
    uncompensated: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """The steps that could not be undone, each with the reason."""
    failures: tuple[MetFailure, ...] = Field(default=(), exclude_if=is_empty)
    """Failures that may still be resolved, and teach something then."""
    lessons: int = Field(default=0, exclude_if=is_empty)
    """Lessons that it has written."""
    uncertain: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """The steps of which no claim tells, and nobody knows, whether their effects happened."""
    unkept: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """The steps whose effects happened although their claims do not tell, as Redis was away."""
    happened_before: int = Field(default=0, exclude_if=is_empty)
    """How many steps' effects had happened in an earlier attempt or run, and were not repeated."""

    @property
    def done(self) -> int:
        """How many steps ended, in any way."""
        return sum(self.ended.values())

    @property
    def begun(self) -> int:
        """How many steps ended or are under way; the plan's own questions do not count."""
        return self.done + sum(bool(branch.path) and not branch.of_plan for branch in self.branches.values())

    @property
    def used(self) -> Used:
        """What counts against its limits."""
        before = self.used_before or Used()
        return Used(steps=self.begun - before.steps, tokens=self.tokens - before.tokens)

    @property
    def step(self) -> str:
        """The paths of the actions under way: ten at most, and how many more."""
        return _listed([branch.path for branch in self.branches.values() if branch.path])

    @property
    def shown(self) -> str:
        """The same for people to read, with the names of list elements; empty: there are none."""
        busy = [branch for branch in self.branches.values() if branch.path]
        return _listed([one.shown or one.path for one in busy]) if any(one.shown for one in busy) else ""

    @property
    def waits(self) -> tuple[Wait, ...]:
        """The steps that wait for a moment or an event, the next ones first: ten at most, as thousands can wait."""
        first = nsmallest(_SHOWN, self._waiting, key=lambda branch: (branch.until or _NEVER, branch.path))
        return tuple(Wait(step=one.path, shown=one.shown, until=one.until, event=one.event) for one in first)

    @property
    def waiting(self) -> int:
        """How many steps wait for a moment or an event."""
        return len(self._waiting)

    @property
    def taken(self) -> tuple[TakenEvent, ...]:
        """The events that branches have, and whose steps have not ended."""
        return tuple(branch.delivered for branch in self.branches.values() if branch.delivered)

    @property
    def _waiting(self) -> list[Branch]:
        return [branch for branch in self.branches.values() if branch.until or branch.event]

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The steps for which a person was asked whether the effect happened, and has not answered."""
        asked = ((branch.path, branch.question) for branch in self.branches.values())
        return tuple(path for path, question in asked if question and question.kind is QuestionKind.UNKNOWN_EFFECT)

    def branch(self, name: str, **changes: Any) -> "TaskState":
        """Return the state with one branch changed, or added."""
        return self.changed(branches={**self.branches, name: self.branches.get(name, Branch()).changed(**changes)})

    def undoable(self, compensation: Compensation | None) -> "TaskState":
        """Return the state with what undoes an effect that has just happened; the last one at a step counts."""
        if compensation is None:
            return self
        others = (one for one in self.compensations if one.path != compensation.path)
        return self.changed(compensations=(*others, compensation))

    def doubted(self, path: str) -> "TaskState":
        """Return the state with a step of which no claim tells, and nobody knows, whether its effect happened."""
        return self if path in self.uncertain else self.changed(uncertain=(*self.uncertain, path))

    def positioned(self, positions: Mapping[str, Any]) -> "TaskState":
        """Return the state with these branches and no others, each at its position."""
        branches = {name: self.branches.get(name, Branch()) for name in positions}
        changed = {
            name: branch if branch.position is positions[name] else branch.changed(position=positions[name])
            for name, branch in branches.items()
        }
        return self.changed(branches=changed)

    def telling(self, path: str, outcome: Ended) -> "TaskState":
        """Return the state with the report of an ended step: what it recalled, whether its result is kept, warnings."""
        state = self.changed(unkept=(*self.unkept, path)) if outcome.unkept else self
        if outcome.happened_before:
            state = state.changed(happened_before=self.happened_before + 1)
        if outcome.warnings:
            warnings = (*self.warnings, *(f"{path}: {warning}" for warning in outcome.warnings))[-WARNINGS_KEPT:]
            state = state.changed(warnings=warnings, warned=self.warned + len(outcome.warnings))
        if outcome.recall is None:
            return state
        recalls = (*self.recalls, outcome.recall)[-RECALLS_KEPT:]
        made, recalled = self.recalls_made + 1, self.recalled + outcome.recall.recalled
        return state.changed(recalls=recalls, recalls_made=made, recalled=recalled)

    def counted(self, status: StepStatus) -> "TaskState":
        """Return the state with one more step that ended."""
        return self.changed(ended={**self.ended, status: self.ended.get(status, 0) + 1})

    def reported(
        self, branch: str, path: str, status: StepStatus, problem: str, attempt: FailedAttempt | None = None
    ) -> "TaskState":
        """Return the state with the report of a step that failed or was skipped, and of the last such ones before."""
        same = [one for one in self.incomplete if one.status is status][1 - REPORTS_KEPT :]
        others = [one for one in self.incomplete if one.status is not status]
        frames = attempt.frames if attempt is not None else ()
        shown = self.branches[branch].shown if branch in self.branches else ""
        report = StepReport(step=path, shown=shown, status=status, problem=problem[:PROBLEM_LIMIT], frames=frames)
        return self.changed(incomplete=(*others, *same, report))


class TaskRun(TaskEnvelope):
    """The input of one run of the workflow: a task, and what is known of it when its history was rolled over."""

    carried: TaskState | None = None
    begin: BeginRequest | None = None
    """Where it is to begin, if not where it began before."""
    pinned: CalledSkill | None = Field(default=None, exclude_if=is_none)
    """Its skill, where another task calls it."""

    @property
    def asked(self) -> TaskEnvelope:
        """The task alone, as a person asked for it."""
        return TaskEnvelope.model_validate(self.model_dump(exclude={"carried", "begin", "pinned"}))

    def by(self, prepared: PreparedTask) -> "TaskRun":
        """Return the task as the agent that it is pinned to may do it."""
        memory = self.memory.narrowed(prepared.agent.memory) if prepared.agent else self.memory
        return self if memory is self.memory else self.changed(memory=memory)


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more
