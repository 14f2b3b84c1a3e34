"""What a newer build has accepted is replayed by this one, though it is beyond this build's bounds."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from temporalio.worker import Replayer

from perdure.temporal.plugin import Plugin
from tests.replay import histories
from worker.plugin import WORKFLOWS

LONG = "a" * 20_001
ACCEPTED = {
    "agent_approval_yes": {"note": LONG},
    "agent_expecting": {"id": LONG},
    "agent_halted": {"because": LONG},
    "agent_told": {"text": LONG, "because": LONG, "note": LONG},
    "agent_chat_idle": {"text": LONG},
    "ask_person": {"note": LONG},
    "hold_yes": {"note": LONG, "text": LONG},
}


def widened(payloads: dict[str, Any], changes: dict[str, Any]) -> None:
    """Change a recorded argument where it stands."""
    [payload] = payloads["payloads"]
    written = json.loads(base64.b64decode(payload["data"])) | changes
    payload["data"] = base64.b64encode(json.dumps(written).encode()).decode()


async def replay(tmp_path: Path, name: str, content: dict[str, Any]) -> None:
    changed = tmp_path / f"{name}.json"
    changed.write_text(json.dumps(content))
    await Replayer(workflows=WORKFLOWS, plugins=[Plugin()]).replay_workflow(histories.read(changed))


@pytest.mark.parametrize("name", ACCEPTED)
async def test_an_update_that_a_newer_build_accepted(tmp_path: Path, name: str) -> None:
    content = json.loads((histories.FOLDER / f"{name}.json").read_text())
    of_update = "workflowExecutionUpdateAcceptedEventAttributes"
    found: list[dict[str, Any]] = [event[of_update] for event in content["events"] if of_update in event]
    for number, accepted in enumerate(found):
        changes = {field: f"{text}{number}" for field, text in ACCEPTED[name].items()}
        widened(accepted["acceptedRequest"]["input"]["args"], changes)
    assert found
    await replay(tmp_path, name, content)


@pytest.mark.parametrize("name", ["agent_continued_2", "agent_goal_continued_2", "agent_chat_continued_2"])
async def test_a_run_that_a_newer_build_rolled_over(tmp_path: Path, name: str) -> None:
    content = json.loads((histories.FOLDER / f"{name}.json").read_text())
    started = content["events"][0]["workflowExecutionStartedEventAttributes"]
    widened(started["input"], {"limits": {"steps": 1_000_000}, "from_a_newer_build": 1})
    await replay(tmp_path, name, content)
