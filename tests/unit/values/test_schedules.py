from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from perdure import AgentTask
from perdure.values.schedules import LONGEST_ID, Timing, started_at

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}", fullmatch=True)
ZONES = st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours)))
SECONDS = st.datetimes(datetime(1970, 1, 2), datetime(9998, 1, 1)).map(lambda one: one.replace(microsecond=0))


@given(name=NAMES, moment=SECONDS, zone=ZONES)
def test_a_start_is_a_task_of_its_own_whatever_zone_its_moment_is_in(
    name: str, moment: datetime, zone: timezone
) -> None:
    assert len(name) <= LONGEST_ID
    task, at = AgentTask(task_id=name, user_id="ada", skill="s"), moment.replace(tzinfo=UTC)
    first = started_at(task, at)
    assert first == started_at(task, at.astimezone(zone))
    assert first.task_id not in {name, started_at(task, at + timedelta(seconds=1)).task_id}
    assert AgentTask.model_validate(first.model_dump()).changed(task_id=name) == task


@pytest.mark.parametrize(
    "given", [{}, {"cron": " "}, {"cron": "0 6 * * *", "every": "1d"}, {"every": "0s"}, {"every": "soon"}]
)
def test_either_a_cron_expression_or_an_interval_is_given(given: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Timing.model_validate(given)
