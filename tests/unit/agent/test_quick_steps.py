from perdure.agent.quick_steps import AT_MOST, BYTES, QuickSteps
from perdure.agent.steps.calls import QUICK_SECONDS


def test_so_many_begin_before_another_step_has_ended() -> None:
    steps = QuickSteps()
    assert [steps.begin() for _ in range(AT_MOST + 2)] == [*[True] * AT_MOST, False, False]
    steps.reset()
    assert steps.begin()


def test_none_begins_after_so_long() -> None:
    steps = QuickSteps()
    steps.ended(0, QUICK_SECONDS / 2)
    assert steps.begin()
    steps.ended(0, QUICK_SECONDS / 2)
    assert not steps.begin()
    steps.reset()
    assert steps.begin()


def test_none_begins_after_so_many_bytes() -> None:
    steps = QuickSteps()
    assert steps.begin()
    steps.ended(BYTES, 0.0)
    assert not steps.begin()
    steps.reset()
    assert steps.begin()
