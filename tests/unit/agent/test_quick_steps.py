from datetime import UTC, datetime, timedelta

from perdure.agent.quick_steps import AT_MOST, BYTES, QuickSteps
from perdure.agent.steps.calls import QUICK_SECONDS

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def test_so_many_begin_before_another_step_has_ended() -> None:
    steps = QuickSteps()
    assert [steps.begin(NOW) for _ in range(AT_MOST + 2)] == [*[True] * AT_MOST, False, False]
    steps.reset()
    assert steps.begin(NOW)


def test_none_begins_after_so_long() -> None:
    steps = QuickSteps()
    assert steps.begin(NOW)
    assert steps.begin(NOW + timedelta(seconds=QUICK_SECONDS - 0.01))
    assert not steps.begin(NOW + timedelta(seconds=QUICK_SECONDS))
    steps.reset()
    assert steps.begin(NOW + timedelta(seconds=QUICK_SECONDS))


def test_none_begins_after_so_many_bytes() -> None:
    steps = QuickSteps()
    assert steps.begin(NOW)
    steps.ended(BYTES)
    assert not steps.begin(NOW)
    steps.reset()
    assert steps.begin(NOW)
