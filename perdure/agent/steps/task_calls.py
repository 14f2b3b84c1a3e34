"""What passes between a task's workflow and the activities for a task as a whole, not for one step. Pure values."""

from pydantic import Field, JsonValue

from perdure.agent.steps.calls import Scope
from perdure.model import Passed
from perdure.registry.judge import Judge
from perdure.skills.header import is_empty
from perdure.values.bindings import TaskBinding
from perdure.values.questions import Question, TakenAnswer
from perdure.values.tasks import Evaluation, MemoryMode


class AnnounceCall(Passed):
    """The input of the activity that writes into a session what its task asks, and what came of that."""

    tenant: str
    epoch: int | None = None
    session: str
    memory: MemoryMode
    question: Question
    answer: TakenAnswer | None = None
    lapsed: bool = Field(default=False, exclude_if=is_empty)
    """Whether nobody has answered in time; without that and an answer, the question is about to be put."""

    @property
    def asks(self) -> bool:
        """Whether the question is about to be put."""
        return self.answer is None and not self.lapsed


class EvaluateCall(Passed):
    """The input of the activity that ends a task."""

    tenant: str
    task_id: str
    output: JsonValue = None
    expect: str | None = None
    judge: Judge | None = None
    scope: Scope


class Evaluated(Passed):
    """A task's output and whether it is what the skill promises."""

    output: JsonValue
    evaluation: Evaluation | None
    tokens: int = 0
    """Tokens that a model read and wrote to judge the output."""


class SkillTrial(Passed):
    """That a task with a version of a skill has ended."""

    version: str
    first_run: str = ""
    """The first run of its workflow: a person may have judged it since."""
    succeeded: bool


class KeepCall(Passed):
    """The input of the activity that keeps a task's claims."""

    tenant: str
    epoch: int | None = None
    task_id: str
    binding: TaskBinding | None = None
    """What the task's id stands for from now on, if it is not bound yet: once the task has completed."""
    trial: SkillTrial | None = None
    """To be counted, once the task has ended."""
    patient: bool = False
    """Whether to try again until Redis answers."""


class Kept(Passed):
    """What became of a task's claims."""

    answered: bool
    """Whether Redis could be asked."""
    unknown: tuple[str, ...] = ()
    """The steps of which nobody knows whether their effect happened."""


class CompensateCall(Passed):
    """The input of the activity that notes that a task's effects are undone from now on."""

    tenant: str
    epoch: int | None = None
    task_id: str


class Compensating(Passed):
    """That it is noted."""


class CreditCall(Passed):
    """The input of the workflow and the activity that credit memories with how a task ended."""

    tenant: str
    task_id: str
    task: str
    """What the task is called in its memories' trials: the same however often it runs."""
    first_run: str = ""
    """The first run of its workflow."""
    succeeded: bool
