"""What passes between a step that runs another skill and its activities. Pure values."""

from pydantic import JsonValue

from perdure.agent.steps.calls import Ended, Result, Scope, StepContext, Value
from perdure.skills.inputs import Accepting
from perdure.skills.steps import SkillStep
from perdure.skills.templates import Template
from perdure.values.tasks import StepStatus


class EnterCall(StepContext):
    """The input of the activity that works out what a skill is given."""

    step: SkillStep
    skill: Accepting


class LeaveCall(StepContext):
    """The input of the activity that works out what a skill gives back; its scope is that of the step that runs it."""

    step: SkillStep
    output: JsonValue = None
    expect: Template | None = None
    inner: Scope
    """What the output and the expectation of the skill refer to."""


def known_end(call: LeaveCall) -> Ended | None:
    """Return the outcome of a step whose skill gives nothing back, and promises nothing; None: an activity has it."""
    if call.output is not None or call.expect is not None or call.step.remember:
        return None
    return Ended(result=Result(status=StepStatus.DONE, parts={"output": Value()}))
