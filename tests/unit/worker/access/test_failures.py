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
    for one in range(20_000):
        failures.failed(str(one), 0.0)
    assert len(failures._windows) == 10_000  # pyright: ignore[reportPrivateUsage]
