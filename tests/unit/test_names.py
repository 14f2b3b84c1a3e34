import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

from temporalio import activity

from activities.accesses import AccessActivities
from activities.compensation import CompensationActivities
from activities.consolidation import ConsolidationActivities
from activities.corrections import CorrectionActivities
from activities.credits import CreditActivities
from activities.due_dates import DueDateActivities
from activities.erasure import ErasureActivities
from activities.evaluation import EvaluationActivities
from activities.feedback import FeedbackActivities
from activities.foreign import ForeignActivities
from activities.forgetting import ForgettingActivities
from activities.holds import HoldActivities
from activities.jobs import IngestActivities
from activities.lessons import LessonActivities
from activities.memory import MemoryActivities
from activities.notifications import NotificationActivities
from activities.promotion import PromotionActivities
from activities.prompts import PromptActivities
from activities.reasoning import ReasoningActivities
from activities.recalls import RecallStepActivities
from activities.reconciliation import ReconciliationActivities
from activities.session_items import SessionItemActivities
from activities.steps import StepActivities
from activities.tasks import TaskActivities
from activities.tenants import TenantActivities
from activities.updates import UpdateActivities
from activities.values import ValueActivities
from perdure.names import (
    RESERVED_TOOLS,
    Activity,
    ScheduleId,
    Workflow,
)
from worker.plugin import WORKFLOWS

PRODUCT = ("perdure", "activities", "workflows", "worker", "localservers", "demo", "playbooks")
NAMES = {one.value for one in (*Workflow, *Activity) if "_" in one.value or one.value[0].isupper()}


def test_every_activity_has_its_name_from_here_and_no_tool_may_take_it() -> None:
    ours = (
        *(EvaluationActivities, ForgettingActivities, IngestActivities, MemoryActivities, RecallStepActivities),
        *(
            AccessActivities,
            TenantActivities,
            HoldActivities,
            NotificationActivities,
            CreditActivities,
            FeedbackActivities,
            LessonActivities,
            SessionItemActivities,
            CorrectionActivities,
            PromptActivities,
            ValueActivities,
            CompensationActivities,
            ForeignActivities,
            ReasoningActivities,
            ReconciliationActivities,
            PromotionActivities,
            ConsolidationActivities,
            DueDateActivities,
            StepActivities,
            TaskActivities,
            ErasureActivities,
            UpdateActivities,
        ),
    )
    marks = [getattr(value, "__temporal_activity_definition", None) for owner in ours for value in vars(owner).values()]
    assert {mark.name for mark in marks if mark is not None} == set(Activity)
    assert set(Activity) < RESERVED_TOOLS


def test_every_workflow_has_its_name_from_here() -> None:
    marks = [getattr(workflow, "__temporal_workflow_definition") for workflow in WORKFLOWS]
    assert {mark.name for mark in marks} == set(Workflow)


def test_no_name_is_written_a_second_time() -> None:
    files = [path for root in PRODUCT for path in Path(root).rglob("*.py") if path != Path("perdure/names.py")]
    assert len(files) > 300
    assert {str(file): written for file in files if (written := NAMES.intersection(_texts(file)))} == {}


def test_the_definitions_are_looked_for_where_temporal_puts_them() -> None:
    assert "__temporal_activity_definition" in inspect.getsource(activity)


def _texts(file: Path) -> Iterator[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_the_page_on_temporal_names_every_workflow_and_schedule() -> None:
    page = Path("docs/temporal.md").read_text(encoding="utf-8")
    schedules = tuple(ScheduleId)
    assert [name for name in (*Workflow, *schedules) if f"`{name}`" not in page] == []


ADDRESSED = {
    *("execute_update", "start_update", "execute_update_with_start_workflow", "query", "signal"),
    *("start_workflow", "execute_workflow", "start_child_workflow", "execute_child_workflow"),
    *("start_activity", "execute_activity", "start_local_activity", "execute_local_activity"),
}
"""Methods of Temporal's client and of workflows whose first argument is a name."""

NAMED = {"workflow.defn", "workflow.update", "workflow.query", "workflow.signal", "activity.defn"}
"""Decorators that take a name, and otherwise the function's."""


def _literal_names(file: Path) -> list[str]:
    """Return where a name that goes to Temporal is written out, or is a function's by chance."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found = [
        f"{file}:{call.lineno}"
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in ADDRESSED
        and any(isinstance(first, ast.Constant) and isinstance(first.value, str) for first in call.args[:1])
    ]
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    for mark in (mark for function in functions for mark in function.decorator_list):
        named = mark.keywords if isinstance(mark, ast.Call) else []
        if ast.unparse(mark).partition("(")[0] in NAMED and not any(
            one.arg in ("name", "dynamic") and not isinstance(one.value, ast.Constant | ast.JoinedStr) for one in named
        ):
            found.append(f"{file}:{mark.lineno}")
    return found


def test_names_of_updates_and_queries_too_stand_in_one_place(tmp_path: Path) -> None:
    files = [path for root in (*PRODUCT, "chaos") for path in Path(root).rglob("*.py")]
    assert [place for file in files for place in _literal_names(file)] == []
    control = tmp_path / "control.py"
    control.write_text('@workflow.update\nasync def a(): await handle.execute_update("b")\n', encoding="utf-8")
    assert len(_literal_names(control)) == 2
