"""The time that activities get: enough for all that one attempt may do."""

from workflows import options


def test_an_activity_has_time_for_each_request_to_a_model_that_it_may_make() -> None:
    assert options.of_model(300.0, 4.0, 3)["start_to_close_timeout"].total_seconds() > 3 * 300
