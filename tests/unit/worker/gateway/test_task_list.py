"""Which tasks a filter asks Temporal for."""

import datetime

import pytest
from typer.testing import CliRunner

from perdure.values.tasks import Phase
from worker.cli.commands import app
from worker.gateway.task_list import TaskFilter

NOW = datetime.datetime(2026, 3, 2, 12, tzinfo=datetime.UTC)
ALWAYS = "WorkflowType = 'ResumableAgent' AND TaskQueue = 'q' AND ExecutionStatus != 'ContinuedAsNew'"


@pytest.mark.parametrize(
    ("wanted", "tenant", "query"),
    [
        (TaskFilter(), None, ""),
        (TaskFilter(phase=Phase.WAITING), None, " AND ExecutionStatus = 'Running' AND PerdurePhase = 'waiting'"),
        (
            TaskFilter(phase=Phase.CANCELLED),
            None,
            " AND (ExecutionStatus = 'Canceled' OR ExecutionStatus = 'Running' AND PerdurePhase = 'cancelled')",
        ),
        (
            TaskFilter(phase=Phase.PREPARING),
            None,
            " AND ExecutionStatus = 'Running' AND (PerdurePhase = 'preparing' OR PerdurePhase IS NULL)",
        ),
        (
            TaskFilter(skill="s", agent="a"),
            "t1",
            " AND PerdureSkill = 's' AND PerdureAgent = 'a' AND PerdureTenant = 't1'",
        ),
        (TaskFilter(newer="2h"), None, " AND StartTime > '2026-03-02T10:00:00+00:00'"),
        (TaskFilter(older="7d"), None, " AND StartTime < '2026-02-23T12:00:00+00:00'"),
    ],
)
def test_a_filter_is_a_query(wanted: TaskFilter, tenant: str | None, query: str) -> None:
    assert wanted.query("q", tenant, NOW) == ALWAYS + query


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("--phase waitin", "phase: 'waitin' is not one of the choices (did you mean 'waiting'?)"),
        ("--skill x'y", 'skill: "x\'y" is not a valid name'),
        ("--older soon", "older: "),
    ],
)
def test_what_cannot_be_asked_for_is_refused_before_any_server_is_asked(options: str, problem: str) -> None:
    ran = CliRunner().invoke(app, ["tasks", "list", *options.split()])
    assert (ran.exit_code, problem in ran.stderr) == (2, True), ran.stderr
