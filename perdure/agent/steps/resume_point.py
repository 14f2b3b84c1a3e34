"""How far a step came before it asked a person: it travels with the question, and comes back with the answer. Pure."""

from pydantic import Field

from perdure.agent.steps.calls import Asks, MemoryCall, StepCall, StepContext, Value
from perdure.agent.steps.foreign_calls import ForeignCall
from perdure.agent.steps.gate import Unknown, Verdict
from perdure.model import Passed
from perdure.policies.ruling import Ruling
from perdure.skills.header import is_empty
from perdure.tolerance import taken_back
from perdure.values.questions import (
    AnswerSpec,
    Approval,
    EffectFate,
    Question,
    QuestionKind,
    Subject,
    TakenAnswer,
)

QUESTION_LIMIT = 2_000
"""Characters of a question: it is in the history several times, and in what the UI shows."""


class Reached(Passed):
    """How far a step came before it asked: travels with its question, and comes back with the answer."""

    asked: QuestionKind | None = None
    approved: TakenAnswer | None = None
    ruling: Ruling | None = None
    """Of policies that asked, which a person's answer is bound to; None: they asked nothing."""
    permitted: TakenAnswer | None = None
    """A person's yes to them."""
    claim: str = ""
    """Which claim the question was about."""
    verdict: Verdict | None = None
    acted: Value | None = None
    """What the tool returned, so that it is not called again."""
    answer: TakenAnswer | None = None
    """To the question that its ``ask`` put."""
    warnings: tuple[str, ...] = ()
    """The soft policies that spoke before the tool was called."""
    unkept: bool = Field(default=False, exclude_if=is_empty)
    """Whether the tool has acted, and Redis could not take the result."""
    happened_before: bool = Field(default=False, exclude_if=is_empty)
    """Whether an earlier attempt, of this run or another, made the effect happen."""


def so_far_of(call: StepCall | ForeignCall | MemoryCall) -> Reached:
    """Return how far the step came before it asked, with what the answer changes."""
    if call.resumed is None:
        return Reached()
    so_far, answer = taken_back(Reached, call.resumed.resume), call.resumed.answer
    match so_far.asked:
        case QuestionKind.APPROVAL if so_far.ruling is not None:
            return so_far.changed(permitted=answer if answer.value == Approval.YES else None)
        case QuestionKind.APPROVAL:
            return so_far.changed(approved=answer if answer.value == Approval.YES else None)
        case QuestionKind.UNKNOWN_EFFECT if answer.value in (EffectFate.DONE, EffectFate.NOT_DONE):
            verdict = Verdict(claim=so_far.claim, happened=answer.value == EffectFate.DONE)
            return so_far.changed(verdict=verdict)
        case QuestionKind.INPUT:
            return so_far.changed(answer=answer)
        case _:
            return so_far


def is_declined(so_far: Reached) -> bool:
    """Return whether a person was asked whether the step may act, and did not say yes."""
    said = so_far.permitted if so_far.ruling is not None else so_far.approved
    return so_far.asked is QuestionKind.APPROVAL and said is None


def is_undecided(call: StepCall) -> bool:
    """Return whether it has to be decided whether a step's tool is called: by its ``when``, or by a person."""
    so_far, step = so_far_of(call), call.step
    if so_far.acted is not None:
        return False
    is_unasked = step.approve is not None and so_far.approved is None
    return is_declined(so_far) or is_unasked or (step.when is not None and call.resumed is None)


def unknown_effect(tool: str, unknown: Unknown) -> str:
    """Return how a person is asked whether an effect happened."""
    failed = f" That attempt failed: {unknown.problem}." if unknown.problem else ""
    if unknown.other_arguments:
        return f"{tool} was called at this step before, with other arguments.{failed} Did this effect happen?"
    if unknown.lost:
        since = f"Redis lost its claims since an earlier attempt at {tool}, or run of this task."
        return f"{since} Did its effect happen?"
    if unknown.problem:
        return f"An attempt at {tool} failed: {unknown.problem}. Did its effect happen?"
    why = f"An attempt at {tool} left no result: it died, failed, or took longer than it may."
    return f"{why} Did its effect happen?"


def question_of(call: StepContext, text: str, about: Subject, takes: AnswerSpec, so_far: Reached) -> Asks:
    """Return the question of a step, with how far it came."""
    if not text.strip():
        text = f"{call.path} asks, but its question is empty"
    elif len(text) > QUESTION_LIMIT:
        text = text[: QUESTION_LIMIT - 1] + "…"
    kind = so_far.asked or QuestionKind.INPUT
    question = Question(id=call.path, kind=kind, text=text, about=about, answer=takes)
    return Asks(question=question, resume=so_far.model_dump(mode="json"))
