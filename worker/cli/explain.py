"""The command that explains what a task had to do with memory."""

from perdure.jobs import Fate
from perdure.requests import TaskExplanation
from perdure.settings import Settings
from worker.cli.reach import gateway, person
from worker.cli.tasks import AsJson, TaskArgument, workflow_id_of
from worker.terminal.output import counted, out, show_json


async def explain(task: TaskArgument, *, as_json: AsJson = False) -> None:
    """Show what a task recalled and why, what it wrote to memory, and what was ignored and why."""
    async with gateway(Settings()) as installation:
        found = await installation.explain(workflow_id_of(task), by=person())
    if as_json:
        show_json(found)
    else:
        show(found)


def show(found: TaskExplanation) -> None:
    """Print an explanation for a person."""
    for recall in found.recalls:
        down = ", degraded" if recall.degraded else ""
        out.print(f"{recall.step} recalled {counted(len(recall.ids), 'item')}: {recall.why}{down}", markup=False)
        for identifier, score in zip(recall.ids, recall.scores, strict=False):
            out.print(f"  {score:.3f}  {_text(found, identifier)}", markup=False)
    if not found.recalls:
        out.print("recalled nothing")
    for item in (item for receipt in found.receipts for item in receipt.items):
        what = {Fate.SEARCHABLE: "wrote", Fate.HELD: "asks a person about"}.get(item.fate, "ignored")
        reason = f": {item.reason}" if item.reason else ""
        about = f"  {_text(found, item.id)}" if item.id else f"  {item.hold}".rstrip()
        out.print(f"{what} ({item.decision.value}){about}{reason}", markup=False)
    for job in found.running:
        out.print(f"is writing: {job}", markup=False)
    for refused in found.refused:
        out.print(f"ignored: {refused}", markup=False)


def _text(found: TaskExplanation, identifier: str) -> str:
    return f"{identifier[:17]}  {found.texts.get(identifier, '(no longer remembered, or not readable here)')}"
