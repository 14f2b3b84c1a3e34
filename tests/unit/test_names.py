import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

from temporalio import activity

from activities.accesses import AccessActivities
from activities.compensation import CompensatingActivities
from activities.consolidation import ConsolidationActivities
from activities.corrections import CorrectingActivities
from activities.credits import CreditingActivities
from activities.due_dates import RedatingActivities
from activities.erasure import ErasingActivities
from activities.evaluation import EvaluationActivities
from activities.feedback import JudgingActivities
from activities.foreign import ForeignActivities
from activities.forgetting import ForgettingActivities
from activities.holds import HoldingActivities
from activities.jobs import IngestActivities
from activities.lessons import LessonActivities
from activities.memory import MemoryActivities
from activities.notifications import NotifyingActivities
from activities.promotion import PromotionActivities
from activities.prompts import PromptActivities
from activities.reasoning import ReasoningActivities
from activities.recalls import RecallStepActivities
from activities.reconciliation import ReconcilingActivities
from activities.session_items import SessionItemActivities
from activities.steps import StepActivities
from activities.tasks import TaskActivities
from activities.updates import UpdatingActivities
from activities.values import ValueActivities
from perdure.names import (
    ACCESSES,
    CONSOLIDATING,
    PROMOTING,
    RECONCILING,
    REDATING,
    RESERVED_TOOLS,
    SCHEDULE,
    Activity,
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
            HoldingActivities,
            NotifyingActivities,
            CreditingActivities,
            JudgingActivities,
            LessonActivities,
            SessionItemActivities,
            CorrectingActivities,
            PromptActivities,
            ValueActivities,
            CompensatingActivities,
            ForeignActivities,
            ReasoningActivities,
            ReconcilingActivities,
            PromotionActivities,
            ConsolidationActivities,
            RedatingActivities,
            StepActivities,
            TaskActivities,
            ErasingActivities,
            UpdatingActivities,
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
    schedules = (SCHEDULE, ACCESSES, PROMOTING, CONSOLIDATING, REDATING, RECONCILING)
    assert [name for name in (*Workflow, *schedules) if f"`{name}`" not in page] == []
