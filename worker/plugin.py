"""The worker's own plugin: everything that Perdure's workers register, on top of ``perdure.temporal.Plugin``."""

from collections.abc import Callable, Sequence
from typing import Any

from temporalio.plugin import SimplePlugin

from perdure.temporal.failures import ActivityInterceptor
from worker.telemetry.attempts import AttemptInterceptor
from workflows.ask_person import AskPerson
from workflows.check_task import CheckTask
from workflows.consolidate_memory import ConsolidateMemory
from workflows.credit_memories import CreditMemories
from workflows.deliver_notice import DeliverNotice
from workflows.erase_memory import EraseMemory
from workflows.flush_accesses import FlushAccesses
from workflows.forget_memory import ForgetMemory
from workflows.hold_memory import HoldMemory
from workflows.ingest_memory import IngestMemory
from workflows.judge_task import JudgeTask
from workflows.keep_claims import KeepClaims
from workflows.promote_episodes import PromoteEpisodes
from workflows.reconcile_memory import ReconcileMemory
from workflows.redate_memory import RedateMemory
from workflows.requests import RecallMemory, RememberItems, SetConsent, SetMember, UpdateMemory
from workflows.resumable_agent import ResumableAgent
from workflows.set_lesson import SetLesson
from workflows.undo_forgetting import UndoForgetting

WORKFLOWS: Sequence[type] = (
    ResumableAgent,
    CheckTask,
    IngestMemory,
    HoldMemory,
    AskPerson,
    DeliverNotice,
    ForgetMemory,
    UndoForgetting,
    RecallMemory,
    RememberItems,
    UpdateMemory,
    SetConsent,
    SetMember,
    KeepClaims,
    CreditMemories,
    JudgeTask,
    SetLesson,
    FlushAccesses,
    PromoteEpisodes,
    ConsolidateMemory,
    RedateMemory,
    ReconcileMemory,
    EraseMemory,
)


class WorkerPlugin(SimplePlugin):
    """Registers workflows and activities, and turns their errors into failures.

    Args:
        activities: What the worker's services offer.
        workflows: Perdure's own; a test may add some.
        content: Whether logs may have the messages of tools' exceptions.
    """

    def __init__(
        self,
        activities: Sequence[Callable[..., Any]],
        workflows: Sequence[type] = WORKFLOWS,
        *,
        content: bool = False,
    ) -> None:
        super().__init__(
            "perdure.WorkerPlugin",
            activities=activities,
            workflows=workflows,
            # The first is the outermost: it turns into failures what the second has seen.
            interceptors=[ActivityInterceptor(), AttemptInterceptor(content=content)],
        )
