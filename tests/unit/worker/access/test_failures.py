"""How many tokens that do not count an address may try."""

from worker.access.failures import MOST, WINDOW, Failures


def test_an_address_waits_after_many_failures_and_no_other_does() -> None:
    failures = Failures()
    assert [failures.failed("a", float(one)) for one in range(MOST)] == [0.0] * MOST
    assert failures.failed("a", 30.0) == WINDOW - 30
    assert failures.failed("b", 30.0) == 0
    assert failures.failed("a", WINDOW) == 0, "a minute after the first one"


def test_few_addresses_are_remembered() -> None:
    failures = Failures()
    for one in range(10_001):
        failures.failed(str(one), 0.0)
    assert [failures.failed("0", 0.0) for _ in range(MOST)] == [0.0] * MOST, "the oldest one is forgotten"
    assert [failures.failed("10000", 0.0) > 0 for _ in range(MOST)] == [False] * (MOST - 1) + [True], "the control"
