from pathlib import Path

import pytest

from perdure.history import ACTIVITY, BYTES, EVENTS, History


@pytest.mark.parametrize("limit", [0, 60])
def test_a_run_is_rolled_over_after_as_many_events_as_are_allowed(limit: int) -> None:
    history, activities = History(limit), 0
    while not history.is_due:
        history.grow()
        activities += 1
    assert activities * ACTIVITY >= (limit or EVENTS) > (activities - 1) * ACTIVITY


def test_large_outcomes_roll_it_over_sooner() -> None:
    history = History()
    history.grow(size=BYTES - 1)
    assert not history.is_due
    history.grow(size=1)
    assert history.is_due


@pytest.mark.parametrize("file", sorted(Path("workflows").glob("*.py")), ids=str)
def test_no_workflow_decides_by_what_a_replay_sees_otherwise(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert "get_current_history" not in text
    assert "is_continue_as_new_suggested" not in text
