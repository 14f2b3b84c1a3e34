"""Tasks as a person steers them: paused, and resumed."""

import json
from uuid import uuid4

import pytest

from perdure.values.tasks import Phase, Progress
from tests.integration.worker.cli.installation import Installation
from tests.support.waiting import until

TWO = """
name: two
steps:
  - {id: paid, wait: {event: paid}}
  - {id: noted, wait: {event: note}}
"""


async def progress(installed: Installation, task: str) -> Progress:
    shown = await installed.perdure("status", task, "--json")
    assert shown.status == 0, shown.err
    return Progress.model_validate_json(shown.out)


@pytest.mark.slow
async def test_a_task_is_paused_and_resumed_and_status_says_by_whom(installed: Installation) -> None:
    installed.write("skills/two.yaml", TWO)
    file = installed.write("two-task.yaml", f"task_id: t{uuid4().hex[:10]}\nuser_id: ada\nskill: two\n")
    started = json.loads((await installed.perdure("run", file, "--detach", "--json")).out)["workflow_id"]
    await until(lambda: progress(installed, file), lambda now: bool(now.waits))

    early = await installed.perdure("resume", file)
    complaint = "error: PRD117 task: is not paused (perdure status shows what it waits for)"
    assert (early.status, early.complaint) == (2, complaint), early.err
    paused = await installed.perdure("pause", file, "--because", "the shop is closed", "--by", "ada")
    assert (paused.status, f"perdure resume {started} has it go on" in paused.err) == (0, True)
    twice = await installed.perdure("pause", started)
    assert (twice.status, "task: is paused by person ada on 20" in twice.complaint) == (2, True)
    assert (await installed.perdure("pause", file, "--because", "x" * 501)).status == 2

    assert (await installed.perdure("deliver", file, "paid")).status == 0
    await until(lambda: progress(installed, file), lambda now: not now.waits and now.phase is Phase.PAUSED)
    shown = (await installed.perdure("status", file)).out
    assert ": the shop is closed" in shown
    assert f"\n  perdure resume {started}\n" in shown

    judged = await installed.perdure("feedback", file, "failed", "--step", "paid", "--because", "late", "--by", "kim")
    assert judged.status == 0, judged.err
    assert "(step paid: not passed): late" in (await installed.perdure("status", file)).out
    resumed = await installed.perdure("resume", file, "--by", "kim", "--json")
    assert json.loads(resumed.out) == {"resumed": started}
    await until(lambda: progress(installed, file), lambda now: [wait.step for wait in now.waits] == ["noted"])
    assert "resumed by person kim on 20" in (await installed.perdure("status", file)).out
    assert (await installed.perdure("deliver", file, "note")).status == 0
    ended = await installed.perdure("run", file)
    assert ended.status == 0
    assert "evaluation by person, not passed: step paid: late (person kim, 20" in ended.out
    late = await installed.perdure("pause", file)
    assert (late.status, "has ended: it takes no pause any more" in late.complaint) == (2, True)


async def test_status_and_the_result_say_who_cancelled_a_task_and_why(installed: Installation) -> None:
    installed.write("skills/two.yaml", TWO)
    file = installed.write("two-task.yaml", f"task_id: t{uuid4().hex[:10]}\nuser_id: ada\nskill: two\n")
    started = json.loads((await installed.perdure("run", file, "--detach", "--json")).out)["workflow_id"]
    await until(lambda: progress(installed, file), lambda now: bool(now.waits))
    assert (await installed.perdure("cancel", file, "--because", "x" * 501)).status == 2
    asked = await installed.perdure("cancel", file, "--because", "the shop is closed", "--by", "kim", "--json")
    assert json.loads(asked.out) == {"cancelled": started}
    ended = await until(lambda: progress(installed, file), lambda now: now.phase is Phase.CANCELLED)
    assert [(one.kind.value, one.by.id) for one in ended.interventions] == [("cancelled", "kim")]
    shown = (await installed.perdure("status", file)).out
    assert "cancelled by person kim on 20" in shown
    assert ": the shop is closed" in shown


async def test_a_task_that_runs_a_skill_refuses_a_message_with_the_reason(installed: Installation) -> None:
    installed.write("skills/two.yaml", TWO)
    file = installed.write("two-task.yaml", f"task_id: t{uuid4().hex[:10]}\nuser_id: ada\nskill: two\n")
    assert (await installed.perdure("run", file, "--detach")).status == 0
    await until(lambda: progress(installed, file), lambda now: bool(now.waits))
    for command in (("message", file, "Look there."), ("redirect", file, "--goal", "Find it", "--constraint", "Soon.")):
        told = await installed.perdure(*command)
        assert (told.status, "task: runs a skill, whose steps are fixed" in told.complaint) == (2, True)
    empty = await installed.perdure("message", file, " ")
    assert (empty.status, empty.complaint) == (2, "error: PRD101 text: is empty (write some text)")
    assert (await installed.perdure("cancel", file)).status == 0
