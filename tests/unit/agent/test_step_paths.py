"""The paths of steps that people may name: those that the task can have, and no others."""

from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.agent.goal_plan import MAIN
from perdure.agent.preparation import InnerSkill, PreparedTask
from perdure.agent.state import TaskState
from perdure.agent.step_paths import require_step
from perdure.agent.turns import Conversation
from perdure.errors import InvalidTask
from perdure.skills.library import read_skill

NOW = datetime(2026, 1, 2, 3, tzinfo=UTC)

SKILL = """
name: order
steps:
  - parallel:
      - {id: room, tool: book, args: {}}
      - for_each: "${[1, 2]}"
        as: seat
        steps: [{id: train, tool: book, args: {}}, {id: pay, skill: pays, inputs: {}}]
  - {let: {rate: 2}}
"""
PAYS = "name: pays\nsteps: [{id: card, tool: pay, args: {}}]\n"


def state(**more: object) -> TaskState:
    plain: dict[str, Any] = {
        "tenant": "t",
        "version": "v",
        "tools": {},
        "inputs": {},
        "date": NOW.date(),
        "heartbeat": 4,
    }
    prepared = PreparedTask.model_validate(plain | more)
    return TaskState(prepared=prepared, started_at=NOW, renewed_at=NOW)


ORDER = state(skill=read_skill(SKILL), inner={"pays": InnerSkill(skill=read_skill(PAYS), reads={})})
GOAL = state(agent={"name": "a"}).branch(MAIN, position=Conversation(begun=2))


@pytest.mark.parametrize("path", ["", "room", "seat", "seat[7]", "seat[0].train", "seat[0].pay", "seat[0].pay.card"])
def test_a_step_of_a_skill_is_known_by_its_path(path: str) -> None:
    require_step(ORDER, path)


@pytest.mark.parametrize(
    "path", ["rooms", "seat.train", "train", "room[0]", "seat[0].card", "room.card", ".", "let rate"]
)
def test_a_step_that_the_task_does_not_have_is_refused(path: str) -> None:
    with pytest.raises(InvalidTask, match="step: the task has no step"):
        require_step(ORDER, path)


def test_of_a_goal_the_turns_that_were_taken_can_be_named() -> None:
    for path in ("", "turn[1]", "turn[2].call[0]"):
        require_step(GOAL, path)
    for path in ("turn[3]", "turn[0]", "a", "turn[1].calls"):
        with pytest.raises(InvalidTask, match=r"step: its model has taken no .*the last turn is 2"):
            require_step(GOAL, path)
