"""How much may be under way at the same time, and how much a task may do at all."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from perdure import Limits
from perdure.agent.plan import UNDER_WAY, Action, beyond, has_room
from perdure.agent.preparation import PreparedTask
from perdure.agent.state import TaskState, Used
from perdure.values.tasks import StepStatus

NOW = datetime(2026, 1, 2, tzinfo=UTC)
PREPARED = PreparedTask(tenant="t", version="1", tools={}, inputs={}, date=date(2026, 1, 2), heartbeat=2)


@pytest.mark.parametrize(
    ("under_way", "size", "starts"),
    [
        (0, 0, True),
        (0, UNDER_WAY + 1, True),
        (1, UNDER_WAY - 1, True),
        (1, UNDER_WAY, False),
        (UNDER_WAY, 0, True),
        (UNDER_WAY, 1, False),
    ],
)
def test_an_action_starts_where_there_is_room_or_nothing_else(under_way: int, size: int, starts: bool) -> None:
    assert has_room(under_way, size) == starts


@pytest.mark.parametrize(
    ("limits", "action", "told"),
    [
        (Limits(steps=3, tokens=101), {"requests": 3}, ""),
        (Limits(steps=2), {}, "step s: the task may run 2 steps (limits.steps)"),
        (Limits(steps=2), {"is_step": False}, ""),
        (Limits(tokens=100), {}, ""),
        (Limits(tokens=100), {"requests": 3}, "step s: the task has used 100 tokens, and may use 100 (limits.tokens)"),
        (
            Limits(tokens=99),
            {"requests": 1, "is_step": False},
            "step s: the task has used 100 tokens, and may use 99 (limits.tokens)",
        ),
    ],
)
def test_no_further_step_begins_beyond_a_limit_and_no_model_is_asked(
    limits: Limits, action: dict[str, Any], told: str
) -> None:
    state = TaskState(prepared=PREPARED, started_at=NOW, renewed_at=NOW, tokens=100, ended={StepStatus.DONE: 2})
    assert beyond(limits, Action(branch="s", path="s", **action), state) == told


@pytest.mark.parametrize(
    ("limits", "action", "told"),
    [
        (Limits(steps=1, tokens=1), {}, ""),
        (Limits(steps=1, tokens=11), {"requests": 1}, ""),
        (Limits(tokens=10), {"requests": 1}, "step s: this answer has used 10 tokens, and may use 10 (limits.tokens)"),
    ],
)
def test_what_was_used_before_the_message_that_is_answered_does_not_count(
    limits: Limits, action: dict[str, Any], told: str
) -> None:
    state = TaskState(prepared=PREPARED, started_at=NOW, renewed_at=NOW, tokens=100, ended={StepStatus.DONE: 2})
    state = state.changed(used_before=Used(steps=2, tokens=90))
    assert beyond(limits, Action(branch="s", path="s", **action), state) == told
    begun = state.branch("b", path="b")
    assert "this answer may run 1 step" in beyond(Limits(steps=1), Action(branch="s", path="s"), begun)
