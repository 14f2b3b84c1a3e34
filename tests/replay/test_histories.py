"""Recorded histories of every workflow are replayed in fresh processes: a change that running tasks do not survive
fails here."""

import asyncio
import os
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from perdure.model import Model
from tests.replay import histories
from tests.replay.changed import CHANGED
from worker.plugin import WORKFLOWS

SEED = 4242
"""Of hashes, so of the order of sets; the histories were recorded under another one."""

OTHER_SEEDS = (0, 1)

TYPES = {"ResumableAgent", "IngestMemory", "HoldMemory", "ForgetMemory", "UndoForgetting"}

SIZE = 3_400_000
"""Bytes that all histories may have, since they are kept for ever in the repository: 28 kB each."""


class Line(Model):
    """What ``replay_main`` says of one replay."""

    name: str
    workflow: str
    control: bool
    failure: str


class Replays:
    """The replays of all histories under several seeds of hashes, each made once."""

    def __init__(self) -> None:
        self._made: dict[int, list[Line]] = {}

    async def under(self, seed: int) -> list[Line]:
        """Return what was said under one seed."""
        if seed not in self._made:
            self._made[seed] = await replayed_under(seed)
        return self._made[seed]


async def replayed_under(seed: int) -> list[Line]:
    files = [str(histories.FOLDER / f"{name}.json") for name in histories.names()]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.replay.replay_main",
        "--control",
        *files,
        env=os.environ | {"PYTHONHASHSEED": str(seed)},
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    lines = [Line.model_validate_json(line) for line in output.splitlines()]
    assert len(lines) == 2 * len(files)
    return lines


@pytest.fixture(scope="module")
def replays() -> Replays:
    return Replays()


@pytest.mark.parametrize("seed", [SEED, *(pytest.param(seed, marks=pytest.mark.slow) for seed in OTHER_SEEDS)])
async def test_recorded_histories_are_replayed(replays: Replays, seed: int) -> None:
    problems = [
        f"{line.workflow} takes another way than {line.name}.json, so tasks that run now would stop: "
        f"use workflow.patched or a new type.\n  {line.failure[:600]}"
        for line in await replays.under(seed)
        if line.failure and not line.control
    ]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("workflow", sorted(TYPES))
async def test_control_a_changed_workflow_is_found(replays: Replays, workflow: str) -> None:
    found = [line for line in await replays.under(SEED) if line.control and line.workflow == workflow]
    failures = [line.failure for line in found if line.failure]
    assert failures
    assert all("Nondeterminism error" in failure for failure in failures)


@pytest.mark.slow
async def test_control_an_order_out_of_a_set_is_found_by_some_seeds(replays: Replays) -> None:
    failed = {
        seed: [
            line.name
            for line in await replays.under(seed)
            if line.control and line.workflow == "ForgetMemory" and line.failure
        ]
        for seed in (SEED, *OTHER_SEEDS)
    }
    assert {bool(names) for names in failed.values()} == {True, False}


def test_every_workflow_is_recorded_in_every_way_it_ends() -> None:
    ends: defaultdict[str, set[str]] = defaultdict(set)
    for name in histories.names():
        history = histories.read(histories.FOLDER / f"{name}.json")
        ends[histories.workflow_type(history)].add(histories.end_of(history))
    assert dict(ends) == {
        "ResumableAgent": {"completed", "failed", "canceled", "continued_as_new"},
        "IngestMemory": {"completed", "failed"},
        "HoldMemory": {"completed", "failed", "canceled"},
        "ForgetMemory": {"completed", "continued_as_new"},
        "UndoForgetting": {"completed", "failed", "continued_as_new"},
        "RecallMemory": {"completed", "failed"},
        "RememberItems": {"completed", "failed"},
        "KeepClaims": {"completed", "failed"},
        "ReconcileMemory": {"completed", "failed"},
        "EraseMemory": {"completed", "failed"},
        "RedateMemory": {"completed", "failed"},
        "UpdateMemory": {"completed", "failed"},
        "SetConsent": {"completed", "failed"},
        "SetMember": {"completed", "failed"},
        "FlushAccesses": {"completed"},
        "ConsolidateMemory": {"completed", "failed"},
        "PromoteEpisodes": {"completed", "failed"},
        "CreditMemories": {"completed", "failed"},
        "CheckTask": {"completed", "failed"},
        "JudgeTask": {"completed", "failed"},
        "SetLesson": {"completed", "failed"},
        "AskPerson": {"completed", "failed", "canceled"},
        "DeliverNotice": {"completed", "failed"},
    }
    assert len(WORKFLOWS) == len(CHANGED) == len(ends), "a workflow without a recorded history, or without a control"


@pytest.mark.parametrize(
    ("name", "sign"),
    [
        ("agent_blocked", '"type":"Blocked"'),
        ("agent_permitted_yes", "Write it?"),
        ("agent_permitted_no", "Write it?"),
        ("agent_out_of_time", "(limits.hours)"),
        ("agent_judged", "It is one."),
        ("agent_judged_not", "not judged: "),
        ("agent_correcting", "it is hedged"),
        ("agent_correcting", '{"name":"correct"}'),
        ("agent_chat_unanswered", "nobody answered within"),
        ("agent_chat_unanswered", '"lapsed":true'),
    ],
)
def test_tasks_are_recorded_that_others_have_a_say_in(name: str, sign: str) -> None:
    text = (histories.FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert sign in text or any(sign in readable for readable in histories.legible(text))


def test_histories_tell_nothing_of_the_machine_and_stay_small() -> None:
    texts = {name: (histories.FOLDER / f"{name}.json").read_text(encoding="utf-8") for name in histories.names()}
    assert {name: found for name, text in texts.items() if (found := histories.traces(text))} == {}
    assert sum(map(len, texts.values())) < SIZE


@pytest.mark.parametrize("planted", ["a/home/me/x", "12@host", "L2hvbWUvbWUveA==", "MTJAaG9zdA=="])
def test_control_a_trace_of_the_machine_is_found(planted: str) -> None:
    assert histories.traces(f'{{"events": [{{"payload": ["{planted}"]}}]}}')


def test_a_written_history_can_be_read(tmp_path: Path) -> None:
    history = histories.read(histories.FOLDER / f"{histories.names()[0]}.json")
    histories.write(tmp_path / "again.json", history)
    assert histories.read(tmp_path / "again.json") == history
