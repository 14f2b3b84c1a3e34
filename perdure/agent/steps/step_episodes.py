"""What a step leaves in its session, as episodes: never its raw output, and never how it came about. Pure."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from perdure.agent.steps.calls import Ended, StepCall, StepContext
from perdure.agent.steps.task_calls import AnnounceCall
from perdure.agent.steps.wait_calls import TakeCall
from perdure.expressions.evaluation import written
from perdure.identity import digest
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Lane
from perdure.values.episodes import DRAFT, LONGEST, Episode, EpisodeKind, importance
from perdure.values.items import Item, MemoryItem, RecordItem
from perdure.values.questions import TakenAnswer
from perdure.values.statements import Voice
from perdure.values.steering import GivenFeedback, Heard

_INSIGHTS = frozenset({Lane.RECOMMENDATION, Lane.PATTERN})
"""The lanes of what was learned; feedback is a person's, whose answer is an episode already."""

_QUOTED = 200
"""Characters of a problem that its resolution quotes."""


def done(call: StepCall, workflow_id: str, outcome: Ended, at: datetime) -> Episode:
    """Return the episode that a tool returned, without what it returned."""
    text = f"{call.path}: {call.step.tool} {outcome.result.status}"
    return _episode(EpisodeKind.TOOL, f"{workflow_id}/{call.path}/done", text, at, step=call.path)


def insights(items: Sequence[Item], at: datetime) -> list[Episode]:
    """Return what was learned: the same observation is the same episode, whichever run makes it."""
    return [
        _episode(
            EpisodeKind.INSIGHT,
            f"insight/{item.occurrence}",
            text,
            at,
            step="",
            weight=item.confidence if item.importance is None else item.importance,
            # It is on its way to memory as it is.
            extracted=True,
        )
        for item in items
        if (text := _learned(item))
    ]


def stated(call: StepContext, called: str, workflow_id: str, statements: Sequence[str], at: datetime) -> list[Episode]:
    """Return what a result states that memory may take, each statement by itself, and nothing else of it.

    Args:
        call: The step.
        called: The tool, activity or workflow whose result it is.
        workflow_id: That of its task.
        statements: What may be believed of the result, in order: a retry that is told the same is the same episode.
        at: When.
    """
    return [
        _episode(
            EpisodeKind.INSIGHT,
            f"{workflow_id}/{call.path}/stated#{place}",
            f"{call.path}: {called} states: {text}",
            at,
            step=call.path,
            by=Voice.TOOL,
            said=text,
        )
        for place, text in enumerate(statements)
    ]


def failed(call: StepCall, workflow_id: str, problem: str, arguments: str, at: datetime) -> Episode:
    """Return that a step failed for good, or that an attempt did.

    Args:
        call: The step.
        workflow_id: That of its task.
        problem: Why.
        arguments: Of its call, as JSON, shortened.
        at: When.
    """
    text = f"{call.path}: {problem}"
    identifier, known = failure_id(workflow_id, call.path), digests(arguments)
    return _episode(EpisodeKind.ERROR, identifier, text, at, step=call.path, arguments=known)


def failure_id(workflow_id: str, path: str) -> str:
    """Return the id of the episode of a step's failure."""
    return _identifier(f"{workflow_id}/{path}/failed")


def resolved(
    call: StepCall, workflow_id: str, failure: Episode, *, attempt: int, arguments: str, at: datetime
) -> Episode:
    """Return how a failure was resolved: what was different when the step succeeded.

    Args:
        call: The step.
        workflow_id: That of its task.
        failure: The episode of the failure.
        attempt: The number of the attempt that succeeded.
        arguments: Of its call, as JSON, shortened.
        at: When.
    """
    problem = failure.text.removeprefix(f"{call.path}: ")[:_QUOTED]
    changed = changes(failure.arguments, digests(arguments))
    how = f"with another value of {', '.join(changed)}" if changed else f"at attempt {attempt}" if attempt > 1 else ""
    said = f'{call.step.tool} failed with "{problem}", and succeeded {how or "when it was tried again later"}.'
    return _episode(
        EpisodeKind.RESOLUTION,
        f"{workflow_id}/{call.path}/resolved",
        f"{call.path}: {said}",
        at,
        step=call.path,
        said=said[:DRAFT],
        # That something passed when it was tried again is no lesson.
        extracted=not changed,
    )


def answered(workflow_id: str, step: str, answer: TakenAnswer, asked: str = "") -> Episode:
    """Return what a person decided.

    Args:
        workflow_id: That of its task.
        step: The path of the step that asked.
        answer: The answer.
        asked: The question.
    """
    by, value = f" by {answer.by}" if answer.by else "", written(answer.value)
    text = f"{step}: {value} (answered{by} at {answer.at:%Y-%m-%d %H:%M:%S} UTC)"
    return _episode(
        EpisodeKind.DECISION,
        f"{workflow_id}/{answer.question_id}/answer",
        text,
        answer.at,
        step=step,
        by=Voice.USER,
        said=value[:DRAFT],
        before=_asked(asked),
        person=answer.by,
        # What is cut off may say the opposite.
        extracted=len(value) > LONGEST,
    )


def judged(given: GivenFeedback, identifier: str, workflow_id: str) -> Episode:
    """Return the episode that a person said whether a task, or a step of it, did what it should, and why.

    Args:
        given: What they said.
        identifier: The id of that: sent again, it is the same episode.
        workflow_id: The task's.
    """
    what, verdict = given.step or "the task", "passed" if given.passed else "did not pass"
    why = f": {given.text}" if given.text else ""
    return _episode(
        EpisodeKind.DECISION,
        f"{workflow_id}/judged/{identifier}",
        f"{what} {verdict}{why} (judged by {given.by.id} at {given.at:%Y-%m-%d %H:%M:%S} UTC)",
        given.at,
        step=given.step,
        by=Voice.USER,
        said=given.text,
        person=given.by.id,
        # Without a reason, there is nothing in it for memory.
        extracted=not given.text,
    )


def delivered(call: TakeCall, workflow_id: str) -> Episode:
    """Return the episode that an event came, without its value."""
    event = call.event
    by = f"{event.by.kind.value} {event.by.id}".strip()
    text = f"{call.path}: {event.name} (delivered by {by} at {event.at:%Y-%m-%d %H:%M:%S} UTC)"
    return _episode(
        EpisodeKind.TOOL, f"{workflow_id}/{call.path}/delivered", text, event.at, step=call.path, **_named(event.by)
    )


def said(message: Heard, workflow_id: str, before: str = "") -> Episode:
    """Return the episode that somebody said something in a conversation, of which memory may keep something.

    Args:
        message: What was said.
        workflow_id: That of its task.
        before: What the agent said before it; empty: nothing.
    """
    by = Voice.USER if message.by.kind is ActorKind.PERSON else Voice.TOOL
    identifier, asked = f"{workflow_id}/said/{message.id}", _asked(before)
    return _episode(EpisodeKind.TURN, identifier, message.text, message.at, step="", by=by, before=asked)


def heard(said: Heard, workflow_id: str, before: str = "") -> Episode:
    """Return the episode that somebody told the model of a task something while it ran; see ``said``."""
    by = f"{said.by.kind.value} {said.by.id}".strip()
    return _episode(
        EpisodeKind.TURN,
        f"{workflow_id}/told/{said.id or said.at.isoformat()}",
        f"{said.text} (sent by {by} at {said.at:%Y-%m-%d %H:%M:%S} UTC)",
        said.at,
        step="",
        by=Voice.USER if said.by.kind is ActorKind.PERSON else Voice.TOOL,
        said=said.text[:DRAFT],
        before=_asked(before),
        extracted=True,
        **_named(said.by),
    )


def asked(call: AnnounceCall, workflow_id: str, at: datetime) -> Episode:
    """Return what a task asks."""
    question = call.question
    identifier = question_id(workflow_id, question.id)
    return _episode(EpisodeKind.TURN, identifier, question.text, at, step=question.id, by=Voice.AGENT, extracted=True)


def lapsed(call: AnnounceCall, workflow_id: str, at: datetime) -> Episode:
    """Return that nobody answered what a task asked in time: without it, whoever recalls the question sees it open."""
    question, step = call.question, call.question.id.partition("#")[0]
    text = f'{step}: nobody answered in time ({question.otherwise}): "{question.text[:_QUOTED]}"'
    identifier = f"{workflow_id}/{question.id}/lapsed"
    return _episode(EpisodeKind.ERROR, identifier, text, at, step=step, extracted=True)


def question_id(workflow_id: str, question: str) -> str:
    """Return the id of the episode of a question."""
    return _identifier(f"{workflow_id}/{question}/asked")


def digests(arguments: str) -> dict[str, str]:
    """Return digests of a call's arguments by name; of those that were shortened, one of all under no name."""
    if not arguments:
        return {}
    try:
        values: dict[str, JsonValue] = json.loads(arguments)
    except ValueError:
        return {"": digest("arguments/1", arguments)[:12]}
    return {name: digest("argument/1", value)[:12] for name, value in values.items()}


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return which arguments differ, by name, in order; nothing where either is not known.

    >>> changes({"path": "1f", "mode": "2a"}, {"path": "3c", "mode": "2a"})
    ['path']
    """
    if not before or not after:
        return []
    differing = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    return ["its arguments"] if "" in differing else sorted(differing)


def _asked(text: str) -> str:
    """Return what an agent said as what came before an answer: the end of it, where its question stands."""
    speaker = f"{Voice.AGENT.value}: "
    return f"{speaker}{text[-(DRAFT - len(speaker)) :]}" if text else ""


def _named(by: Actor) -> dict[str, Any]:
    return {"person": by.id} if by.kind is ActorKind.PERSON else {}


def _learned(item: Item) -> str:
    match item:
        case MemoryItem():
            return item.content
        case RecordItem() if item.lane in _INSIGHTS:
            return item.summary or f"{item.lane} {item.key}"
        case _:
            return ""


def _episode(
    kind: EpisodeKind,
    identifier: str,
    text: str,
    at: datetime,
    *,
    by: Voice | None = None,
    weight: float = 0.5,
    **fields: Any,
) -> Episode:
    matters = importance(kind, by=by or Voice.AGENT, weight=weight)
    return Episode(id=_identifier(identifier), kind=kind, text=text[:DRAFT], importance=matters, at=at, by=by, **fields)


def _identifier(text: str) -> str:
    """Return an id as it is, or, where it is too long, its end behind a digest of all of it."""
    return text if len(text) <= 300 else f"{digest('episode/1', text)[:24]}…{text[-250:]}"
