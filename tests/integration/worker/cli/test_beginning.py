"""Tasks that begin at a step, as a person runs them: shown what differs, asked whether it is meant, forked."""

from uuid import uuid4

import pytest

from perdure.values.tasks import TaskResult
from tests.integration.worker.cli.installation import Installation

GOING = """
name: going
inputs: {at: string}
steps:
  - {id: first, wait: 1s}
  - {id: then, wait: "${inputs.at}"}
output: "${steps.first.status} ${steps.then.status}"
"""


@pytest.mark.slow
async def test_what_differs_is_shown_and_confirmed_in_a_terminal_or_by_an_option(installed: Installation) -> None:
    installed.write("skills/going.yaml", GOING)
    task = f"task_id: {{}}\nuser_id: {uuid4().hex}\nskill: going\ninputs: {{{{at: {{}}}}}}\n"
    name = f"t{uuid4().hex[:10]}"
    file = installed.write("going-task.yaml", task.format(name, "never"))
    assert (await installed.perdure("run", file)).status == 1
    installed.write(file, task.format(name, "1s"))

    shown = await installed.perdure("run", file, "--from", "then")
    problem = f"PRD115 task_id: {name!r} differs from what it was in inputs.at (look at it, and confirm it with --yes)"
    assert (shown.status, shown.complaint) == (2, f"error: {problem}")
    declined = await installed.typing("n", "run", file, "--from", "then")
    assert (declined.status, declined.err.endswith(f"error: {problem}\n")) == (2, True)
    meant = await installed.typing("y", "run", file, "--from", "then", "--json")
    assert meant.status == 0, meant.err
    assert "Is that meant?" in meant.err
    result = TaskResult.model_validate_json(meant.out)
    assert (result.output, result.done) == ("done done", 1)

    again = await installed.perdure("run", file, "--from", "then", "--yes", "--json")
    assert TaskResult.model_validate_json(again.out).done == 1
    forked = await installed.perdure("fork", file, "--as", f"f{name}", "--from", "then", "--json")
    result = TaskResult.model_validate_json(forked.out)
    assert (result.task_id, result.output, result.done) == (f"f{name}", "done done", 1)
    itself = await installed.perdure("fork", file, "--as", name, "--from", "then")
    assert itself.status == 2
    assert "choose a new task_id" in itself.complaint
    nothing = await installed.perdure("run", file, "--yes")
    assert (nothing.status, "--yes: confirms nothing here" in nothing.complaint) == (2, True)
