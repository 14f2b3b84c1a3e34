"""``perdure tasks``: tasks by phase, skill, age and user, without a worker's help."""

import json

import pytest

from tests.integration.worker.cli.installation import Installation
from tests.support.waiting import until
from worker.cli.task_files import read_task

pytestmark = pytest.mark.slow


async def test_tasks_are_listed_and_shown(installed: Installation) -> None:
    file, task_id = installed.audit("nodeenv==1.12.0")
    started = await installed.perdure("run", file, "--detach", "--json")
    workflow_id = json.loads(started.out)["workflow_id"]

    async def listed(*options: str) -> list[dict[str, object]]:
        shown = await installed.perdure("tasks", "list", "--json", *options)
        assert shown.status == 0, shown.err
        return [one for one in json.loads(shown.out) if one["workflow_id"] == workflow_id]

    async def waits() -> bool:
        return bool(await listed("--phase", "waiting"))

    await until(waits, bool)
    [one] = await listed("--skill", "dependency-audit", "--newer", "1h")
    assert (one["phase"], one["task_id"], one["skill"]) == ("waiting", task_id, "dependency-audit")
    assert await listed("--older", "1h") == await listed("--skill", "other") == await listed("--phase", "failed") == []
    assert await listed("--user", "nobody") == []

    shown = await installed.perdure("tasks", "show", file)
    assert (shown.status, f"waiting       {workflow_id}  skill dependency-audit, started" in shown.out) == (0, True)
    user = read_task(installed.folder / file).user_id
    by_own_id = await installed.perdure("tasks", "show", task_id, "--user", user)
    assert (by_own_id.status, by_own_id.out) == (0, shown.out)
    unnamed = await installed.perdure("tasks", "show", task_id)
    assert (unnamed.status, "take a task_id of your own with --user" in unnamed.complaint) == (2, True)
    assert (await installed.perdure("cancel", file)).status == 0

    async def cancelled() -> bool:
        return [one["phase"] for one in await listed()] == ["cancelled"]

    await until(cancelled, bool)
    missing = await installed.perdure("tasks", "show", "task-none", "--json")
    assert (missing.status, json.loads(missing.out)["error"]["code"]) == (2, "PRD101")
