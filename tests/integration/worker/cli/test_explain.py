"""``perdure explain``: a task's dealings with memory as a person reads them."""

import re
from uuid import uuid4

import pytest

from perdure.values.explanations import TaskExplanation
from perdure.values.filters import Omission
from tests.integration.worker.cli.installation import Installation

SKILL = """
name: explained
steps:
  - id: learn
    remember: [{memory: "Rooms are blue."}, {memory: "Doors are blue."}, {memory: "It rains.", confidence: 0.2}]
    critical: true
  - {id: look, recall: {text: "What is blue?", limit: 1, strategy: similarity}}
"""


@pytest.mark.slow
async def test_a_task_is_explained_by_its_file(installed: Installation) -> None:
    (installed.folder / "skills" / "explained.yaml").write_text(SKILL)
    name = uuid4().hex
    file = installed.write(f"{name}.yaml", f"task_id: t-{name}\nuser_id: u-{name}\nskill: explained\n")
    ran = await installed.perdure("run", file)
    assert ran.status == 0, ran.err
    told = await installed.perdure("explain", file)
    assert told.status == 0, told.err
    pinned, first, item, left, *jobs = told.out.splitlines()
    assert re.fullmatch(r"pinned to skill explained [0-9a-f]{12}", pinned)
    assert first.startswith("look recalled 1 item: 1 semantic")
    assert item.endswith("s are blue.")
    assert left == "  left out: 1 over the limit"
    assert [line.split("  ")[0].split(":")[0] for line in jobs] == [
        "wrote (insert)",
        "wrote (insert)",
        "ignored (reject)",
    ]
    found = TaskExplanation.model_validate_json((await installed.perdure("explain", file, "--json")).out)
    assert [recall.left_out for recall in found.recalls] == [{Omission.LIMIT: 1}]
    assert (found.failed, found.settled, found.gone) == ({}, (), ())
