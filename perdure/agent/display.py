"""What a person reads in the Temporal UI: where a task is, what it recalled and why, what it waits for."""

from collections.abc import Iterable

from perdure.plurals import counted
from perdure.values.explanations import RecallSummary
from perdure.values.questions import Answer, Question
from perdure.values.tasks import Progress

_RECALLS = 5
_SHOWN = 5
_UNDONE = 20


def details(progress: Progress, recalls: Iterable[RecallSummary], workflow_id: str) -> str:
    """Write a task's current details in Markdown."""
    what = f"skill `{progress.skill}`" if progress.skill else "a chat" if progress.chat else "a goal"
    done = counted(progress.done, "step")
    steps = f"{progress.done} of {counted(progress.total, 'step')}" if progress.skill else done
    lines = [f"**{progress.phase}** · {what} · {steps}"]
    if progress.tokens:
        lines.append(f"{progress.tokens:,} tokens of its model")
    if progress.until:
        lines.append(f"It ends by {progress.until:%Y-%m-%d %H:%M:%S %Z} at the latest")
    if progress.skipped or progress.failed:
        lines.append(f"{progress.skipped} skipped, {progress.failed} failed")
    if progress.paused:
        lines.append(f"### Paused\n{progress.paused.told}\n\nIt goes on with `perdure resume {workflow_id}`")
    if progress.step:
        lines.append(f"Now at `{progress.shown or progress.step}`")
    lines.extend(f"`{wait.shown or wait.step}` {wait.told}" for wait in progress.waits)
    if (more := progress.waiting - len(progress.waits)) > 0:
        lines.append(f"and {more} more wait")
    if progress.kept:
        lines.append(f"Events that no step has waited for yet: {progress.kept}")
    if progress.problem:
        lines.append(f"Problem: {progress.problem}")
    lines.extend(_effects(progress))
    lines.extend(_question(question, workflow_id) for question in progress.questions)
    if progress.unread:
        lines.append(f"Messages that its model has not seen yet: {progress.unread}")
    if progress.interventions:
        lines.append(
            "### What was done to it\n" + "\n".join(f"- {one.told}" for one in progress.interventions[-_SHOWN:])
        )
    shown = list(recalls)[-_RECALLS:]
    if shown:
        lines.append(f"### Recalled {progress.recalled}\n" + "\n".join(_recall(recall) for recall in reversed(shown)))
    if progress.remembered:
        lines.append(f"Handed {progress.remembered} to memory")
    return "\n\n".join(lines)


def _effects(progress: Progress) -> list[str]:
    """Return what became of the effects of a task that did not complete."""
    lines = [f"Not undone: {problem}" for problem in progress.uncompensated[-_UNDONE:]]
    if progress.compensated:
        undone = "`, `".join(progress.compensated[-_UNDONE:])
        lines.insert(0, f"Undone: `{undone}` ({len(progress.compensated)})")
    if progress.unknown:
        lines.append(f"Nobody knows whether the effect happened of: `{'`, `'.join(progress.unknown)}`")
    return lines


def _question(question: Question, workflow_id: str) -> str:
    example = Answer(question_id=question.id, value=question.choices[0] if question.choices else "…", by="")
    hint = f" ({question.answer.hint})" if question.answer.hint else ""
    about = "".join(f"- {line}\n" for line in question.about.lines) + "\n" if question.about else ""
    until = f"Until {question.until:%Y-%m-%d %H:%M:%S %Z}, then: {question.otherwise}\n\n" if question.until else ""
    return (
        f"### Waits for a person\n{question.text}{hint}\n\n{about}{until}"
        f"Answer with `perdure answer {workflow_id} '{question.id}' VALUE`, "
        f"or send the update `answer` with\n```json\n{example.model_dump_json()}\n```"
    )


def _recall(recall: RecallSummary) -> str:
    scored = list(zip(recall.ids, recall.scores, strict=False))
    best = ", ".join(f"`{id_[:17]}` {score:.2f}" for id_, score in scored[:3])
    more = f" and {recall.recalled - 3} more" if recall.recalled > 3 else ""
    return f"- `{recall.step}`: {recall.why} in {recall.milliseconds:.0f} ms" + (f": {best}{more}" if best else "")
