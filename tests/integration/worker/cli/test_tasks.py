"""Tasks as a person runs them: followed, asked, answered, left alone, cancelled."""

import csv
import json
import re
import signal
from pathlib import Path
from uuid import uuid4

import pytest
import yaml
from temporalio.client import Client

from localservers import Server
from perdure.temporal.namespace import prepare
from perdure.values.tasks import Phase, Progress, TaskResult
from tests.conftest import OwnServers, Servers
from tests.integration.worker.cli.installation import Installation, installation
from tests.support.waiting import until


async def progress(installed: Installation, task: str) -> Progress:
    shown = await installed.perdure("status", task, "--json")
    assert shown.status == 0, shown.err
    return Progress.model_validate_json(shown.out)


@pytest.mark.slow
async def test_a_task_is_followed_asks_and_is_answered(installed: Installation) -> None:
    file, task_id = installed.audit("nodeenv==1.12.0", "prompt-toolkit==3.0.52", "rich==15.0.0")
    following = await installed.start("run", file, "--json", "--trace")
    started = (await following.says("^started task-")).removeprefix("started ")
    # Both packages are inspected at the same time.
    first, second = sorted([await following.says("^  perdure answer "), await following.says("^  perdure answer ")])
    assert first == f"perdure answer {started} 'packages[0].inspect' ANSWER"

    shown = await installed.perdure("status", file)
    assert shown.status == 0
    assert f"{task_id}: dependency-audit, waiting at packages[" in shown.out
    assert "? Which licence does nodeenv 1.12.0 have?" in shown.out
    assert first in shown.out

    unasked = await installed.perdure("answer", started, "packages[7].inspect", "MIT")
    assert unasked.status == 2
    assert "there is no question 'packages[7].inspect' (open: packages[" in unasked.complaint
    empty = await installed.typed(first.replace("ANSWER", "''"))
    assert (empty.status, empty.complaint) == (2, "error: PRD106 value: is empty")

    assert (await installed.typed(first.replace("ANSWER", "BSD-3-Clause --by ada"))).status == 0
    again = await installed.typed(first.replace("ANSWER", "MIT"))
    assert again.status == 2
    assert "'packages[0].inspect' is answered already (open: packages[1].inspect)" in again.complaint

    assert (await installed.typed(second.replace("ANSWER", "BSD-3-Clause"))).status == 0
    ended = await following.ended()
    assert ended.status == 0, ended.err
    assert "memory.recall" in ended.err
    result = TaskResult.model_validate_json(ended.out)
    assert (result.task_id, result.status, result.done) == (task_id, "completed", 10)
    with installed.report(task_id).open(newline="") as report:
        rows = {row["package"]: row["licence"] for row in csv.DictReader(report)}
    assert rows == {"nodeenv": "BSD-3-Clause", "prompt-toolkit": "BSD-3-Clause", "rich": "MIT"}

    attached = await installed.perdure("run", file)
    assert attached.status == 0
    assert f"attached to {started}, which completed at 20" in attached.err
    assert "--again goes through it again, with the effects that are recorded" in attached.err
    assert attached.out.startswith("completed: 10 steps done, 0 skipped, 0 failed")
    late = await installed.typed(first.replace("ANSWER", "MIT"))
    assert late.status == 2
    assert "has ended: it asks nothing" in late.complaint
    looked_at = await installed.perdure("status", file)
    assert (looked_at.status, '"packages": 3' in looked_at.out) == (0, True)
    without = await installed.perdure("status", file, PERDURE_TASK_QUEUE="nobody-here")
    assert (without.status, without.out) == (0, attached.out)


@pytest.mark.slow
async def test_who_follows_a_task_in_a_terminal_is_asked_there(installed: Installation) -> None:
    file, task_id = installed.audit("nodeenv==1.12.0")
    ran = await installed.typing("BSD-3-Clause", "run", file)
    assert (ran.status, ran.out.splitlines()[0]) == (
        0,
        "completed: 4 steps done, 0 skipped, 0 failed, 0 items recalled",
    )
    assert "? Which licence does nodeenv 1.12.0 have?" in ran.err
    assert "perdure answer" not in ran.err
    with installed.report(task_id).open(newline="") as report:
        assert [row["licence"] for row in csv.DictReader(report)] == ["BSD-3-Clause"]


@pytest.mark.slow
async def test_a_question_that_is_answered_elsewhere_is_no_longer_asked(installed: Installation) -> None:
    file, _ = installed.audit("nodeenv==1.12.0")
    following = await installed.in_terminal("run", file)
    await following.says("Which licence does nodeenv")
    answered = await installed.perdure("answer", file, "packages[0].inspect", "BSD-3-Clause")
    assert answered.status == 0, answered.err
    ended = await following.ended()
    assert (ended.status, "it was answered elsewhere" in ended.err or "completed" in ended.out) == (0, True)


@pytest.mark.slow
async def test_what_all_tasks_ask_is_answered_in_one_terminal(installed: Installation) -> None:
    file, _ = installed.audit("nodeenv==1.12.0", "prompt-toolkit==3.0.52")
    user = yaml.safe_load((installed.folder / file).read_text())["user_id"]
    workflow_id = json.loads((await installed.perdure("run", file, "--detach", "--json")).out)["workflow_id"]
    await until(lambda: progress(installed, file), lambda now: len(now.questions) == 2)

    listed = json.loads((await installed.perdure("inbox", "--user", user, "--json")).out)
    assert {one["workflow_id"] for one in listed} == {workflow_id}
    assert len(json.loads((await installed.perdure("inbox", "--user", user, "--limit", "1", "--json")).out)) == 1
    assert json.loads((await installed.perdure("inbox", "--user", "nobody", "--json")).out) == []

    terminal = await installed.at_terminal("inbox", "--user", user)
    await terminal.says(f"1 of 2: {workflow_id}")
    await terminal.says("Which licence")
    # An empty line leaves it open.
    terminal.type("")
    await terminal.says("2 of 2")
    await terminal.says("Which licence")
    terminal.type("BSD-3-Clause")
    assert (await terminal.ended()).status == 0
    assert len((await progress(installed, file)).questions) == 1
    again = await installed.at_terminal("inbox", "--user", user)
    await again.says("1 of 1")
    await again.says("Which licence")
    again.type("BSD-3-Clause")
    assert (await again.ended()).status == 0
    ended = await installed.perdure("run", file)
    assert (ended.status, ended.out.startswith("completed")) == (0, True)
    assert "0 questions" in (await (await installed.at_terminal("inbox", "--user", user)).ended()).err


PAYING = """
name: paying
steps:
  - {id: paid, wait: {event: "paid 7", deadline: 1d}}
  - {id: noted, wait: {event: note}}
  - {id: nothing, wait: {event: nothing}}
output: ["${steps.paid.output}", "${steps.noted.output}", "${steps.nothing.output}"]
"""


@pytest.mark.slow
async def test_an_event_is_delivered_to_a_task_that_waits_for_it(installed: Installation) -> None:
    installed.write("skills/paying.yaml", PAYING)
    file = installed.write("paying-task.yaml", f"task_id: t{uuid4().hex[:10]}\nuser_id: ada\nskill: paying\n")
    started = json.loads((await installed.perdure("run", file, "--detach", "--json")).out)["workflow_id"]
    await until(lambda: progress(installed, file), lambda now: bool(now.waits))
    shown = await installed.perdure("status", file)
    assert "paid waits for the event 'paid 7' until 20" in shown.out
    command = f"perdure deliver {started} 'paid 7' VALUE"
    assert f"  {command}\n" in shown.out

    unknown = await installed.perdure("deliver", file, "payed 7", "1")
    assert unknown.status == 2
    assert "PRD114 name: no step of the task waits for 'payed 7' (did you mean 'paid 7'?)" in unknown.complaint
    nameless = await installed.perdure("deliver", file, "", "1")
    assert (nameless.status, "name: names no event" in nameless.complaint) == (2, True)
    large = await installed.perdure("deliver", file, "note", "x" * 20_001)
    assert (large.status, "at most 20,000: store it elsewhere" in large.complaint) == (2, True)

    assert (await installed.perdure("deliver", file, "note", "007")).status == 0
    assert "events that no step has waited for yet: 1" in (await installed.perdure("status", file)).out
    for value in ("'{\"amount\": 20}'", "'{\"amount\": 21}'"):
        delivered = await installed.typed(command.replace("VALUE", f"{value} --id payment-1 --by shop --json"))
        assert (delivered.status, json.loads(delivered.out)) == (0, {"delivered": "paid 7"})
    assert (await installed.perdure("deliver", file, "nothing")).status == 0
    ended = await installed.perdure("run", file, "--json")
    assert TaskResult.model_validate_json(ended.out).output == [{"amount": 20}, "007", None]
    late = await installed.perdure("deliver", file, "note")
    assert (late.status, "has ended: it waits for no event any more" in late.complaint) == (2, True)
    assert (
        "there is none with the id task-nothing" in (await installed.perdure("deliver", "task-nothing", "a")).complaint
    )


@pytest.mark.slow
async def test_a_task_goes_on_without_its_terminal_and_can_be_cancelled(installed: Installation) -> None:
    file, _ = installed.audit("nodeenv==1.12.0")
    detached = await installed.perdure("run", file, "--detach", "--json")
    assert detached.status == 0
    workflow_id = json.loads(detached.out)["workflow_id"]
    assert json.loads(detached.out)["new"] is True

    following = await installed.start("run", file)
    await following.says("^attached to ")
    await following.says("perdure answer")
    following.process.send_signal(signal.SIGINT)
    left = await following.ended()
    assert left.status == 130
    assert f"detached; the task goes on: perdure status {workflow_id}" in left.err
    assert "Traceback" not in left.err
    assert (await progress(installed, workflow_id)).phase is Phase.WAITING

    assert (await installed.perdure("cancel", file)).status == 0
    await until(lambda: progress(installed, file), lambda now: now.phase is Phase.CANCELLED)
    again = await installed.perdure("cancel", workflow_id, "--json")
    assert again.status == 2
    assert f"{workflow_id} has ended: there is nothing to cancel" in again.complaint

    following = await installed.start("run", file, "--json")
    await following.says("^started ")
    await following.says("perdure answer")
    assert (await installed.perdure("cancel", file)).status == 0
    followed = await following.ended()
    assert (followed.status, followed.complaint) == (1, "error: PRD404 it was cancelled")
    result = TaskResult.model_validate_json(followed.out)
    assert (result.status, result.unknown) == ("cancelled", ())
    again = await installed.perdure("run", file, "--detach")
    assert re.search(r"^started .*, whose last run ended at .*: cancelled; effects that it recorded are not", again.err)
    assert (await installed.perdure("cancel", file)).status == 0


@pytest.mark.slow
async def test_a_task_that_left_no_result_gives_its_error_to_a_script(
    installed: Installation, servers: Servers
) -> None:
    file, _ = installed.audit("nodeenv==1.12.0")
    following = await installed.start("run", file, "--json")
    workflow_id = (await following.says("^started task-")).split()[1].rstrip(",:;")
    await following.says("perdure answer")
    client = await Client.connect(servers.temporal)
    await client.get_workflow_handle(workflow_id).terminate()
    followed = await following.ended()
    assert followed.status == 1
    assert json.loads(followed.out)["error"]["code"] == "PRD403", followed.out


@pytest.mark.slow
async def test_another_task_under_an_id_that_was_used_is_refused_with_the_difference(installed: Installation) -> None:
    file, task_id = installed.audit("rich==15.0.0")
    assert (await installed.perdure("run", file)).status == 0
    other = installed.write("other.yaml", (installed.folder / file).read_text().replace(".csv", "-2.csv"))
    refused = await installed.perdure("run", other)
    assert refused.status == 2
    assert f"{task_id!r} is already used by another task, which differs in inputs.report" in refused.complaint
    again = await installed.start("run", file, "--again")
    assert ": completed; effects that it recorded are not repeated" in await again.says("^started task-")
    # It recalls now what it inspected then, so its row has other arguments: nobody but a person knows what to do.
    await again.says("append_row was called at this step before, with other arguments")
    again.process.send_signal(signal.SIGINT)
    await again.ended()
    with installed.report(task_id).open(newline="") as report:
        assert [row["package"] for row in csv.DictReader(report)] == ["rich"]


@pytest.mark.slow
async def test_a_failed_task_gives_its_result_to_a_script(installed: Installation) -> None:
    file, task_id = installed.audit("this is not a lock file")

    failed = await installed.perdure("run", file, "--json")

    assert failed.status == 1
    assert f"step lock: PRD100 {task_id}.lock: is not a lock file" in failed.complaint
    result = TaskResult.model_validate_json(failed.out)
    assert (result.status, result.problem) == ("failed", failed.complaint.removeprefix("error: PRD400 "))
    shown = await installed.perdure("status", file)
    assert (shown.status, shown.out.count("is not a lock file")) == (0, 1)
    without = await installed.perdure("status", file, PERDURE_TASK_QUEUE="nobody-here")
    assert (without.status, "is not a lock file" in without.out) == (0, True)
    again = await installed.perdure("run", file, "--detach")
    told = r"whose last run ended at 20\d\d-.* UTC: PRD400 .* is not a lock file.*; effects that it recorded are not"
    assert re.search(told, again.err, re.DOTALL)


@pytest.mark.slow
async def test_a_task_that_is_followed_goes_on_without_its_follower(
    servers: Servers, own_servers: OwnServers, tmp_path: Path
) -> None:
    fleet = await own_servers(Server.TEMPORAL)
    async with installation(Servers.model_validate(fleet.addresses.model_dump()), tmp_path) as given:
        # As a worker would.
        await prepare(await Client.connect(fleet.addresses.temporal))
        file, _ = given.audit("rich==15.0.0")
        following = await given.start("run", file)
        await following.says("^started task-")
        await fleet.stop(Server.TEMPORAL)
        ended = await following.ended()
    assert ended.status == 3
    assert "it cannot be followed any more; the task goes on: perdure status task-" in ended.err
