"""The command that explains how a task used memory."""

from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.explanations import RecallSummary, TaskExplanation
from perdure.values.jobs import Fate
from worker.cli.reach import gateway, person
from worker.cli.task_files import workflow_id_of
from worker.cli.tasks import AsJson, TaskArgument
from worker.terminal.display import shown_id, versions
from worker.terminal.output import out, show_json


async def explain(task: TaskArgument, *, as_json: AsJson = False) -> None:
    """Show what a task recalled and why, what it wrote to memory, and what was ignored and why.

    Example: perdure explain task-audit-7-1fd90551848a
    """
    async with gateway(Settings()) as installation:
        found = await installation.explain(workflow_id_of(task), by=person())
    if as_json:
        show_json(found)
    else:
        show(found)


def show(found: TaskExplanation) -> None:
    """Print an explanation for a person."""
    for told in versions(found.versions):
        out.print(told, markup=False)
    earlier = found.not_listed
    _earlier(earlier.recalls, "recall")
    for recall in found.recalls:
        _recall(found, recall)
    if not found.recalls:
        out.print("recalled nothing")
    _earlier(earlier.jobs, "job")
    for item in (item for receipt in found.receipts for item in receipt.items):
        what = {Fate.SEARCHABLE: "wrote", Fate.HELD: "asks a person about"}.get(item.fate, "ignored")
        reason = f": {item.reason}" if item.reason else ""
        about = f"  {_text(found, item.id)}" if item.id else f"  {item.hold}".rstrip()
        out.print(f"{what} ({item.decision.value}){about}{reason}", markup=False)
    for job in found.settled:
        for identifier in job.ids:
            out.print(f"changed (says the journal)  {_text(found, identifier)}", markup=False)
        for one in job.refused:
            what = "asked a person about" if one.held else "ignored"
            out.print(f"{what} (says the journal)  {job.job}[{one.index}]: {one.reason}", markup=False)
    for job in found.running:
        out.print(f"is writing: {job}", markup=False)
    for job, problem in found.failed.items():
        out.print(f"failed: {job}: {problem}", markup=False)
    for job in found.elsewhere:
        out.print(f"wrote elsewhere: {job}: the installation whose memory it is knows what became of it", markup=False)
    for job in found.gone:
        out.print(f"no longer known: {job}: neither Temporal nor the journal knows what it did", markup=False)
    _earlier(earlier.refused, "refusal")
    for refused in found.refused:
        out.print(f"ignored: {refused}", markup=False)


def _recall(found: TaskExplanation, recall: RecallSummary) -> None:
    down = ", degraded" if recall.degraded else ""
    out.print(f"{recall.step} recalled {counted(recall.recalled, 'item')}: {recall.why}{down}", markup=False)
    for identifier, score in zip(recall.ids, recall.scores, strict=False):
        out.print(f"  {score:.3f}  {_text(found, identifier)}", markup=False)
    if more := recall.recalled - len(recall.ids):
        out.print(f"  {more} more not listed", markup=False)
    if recall.left_out:
        reasons = ", ".join(f"{number} {reason.value}" for reason, number in recall.left_out.items())
        out.print(f"  left out: {reasons}", markup=False)
    if recall.withheld:
        purposes = ", ".join(one.value for one in recall.withheld)
        out.print(f"  left out without consent: what is {purposes}", markup=False)


def _earlier(number: int, what: str) -> None:
    if number:
        out.print(f"{counted(number, f'earlier {what}')} not listed", markup=False)


def _text(found: TaskExplanation, identifier: str) -> str:
    return f"{shown_id(identifier)}  {found.texts.get(identifier, '(no longer remembered, or not readable here)')}"
