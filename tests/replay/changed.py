"""The control: the product's workflows, each changed in a way that running ones do not survive."""

from typing import Any

from temporalio import workflow

from activities.accesses import Flushed
from activities.forgetting import ForgetCall
from perdure.agent.preparation import CheckedTask
from perdure.agent.state import TaskRun
from perdure.agent.steps.task_calls import CreditCall, KeepCall, Kept
from perdure.memory.forgetting.forgetter import Tombstoned
from perdure.memory.forgetting.selection import Forgetting
from perdure.values.changes import Actor
from perdure.values.erasures import ErasureReceipt
from perdure.values.feedback import LateFeedbackCall, LateVerdict
from perdure.values.holds import Decided, Hold
from perdure.values.inbox import PersonAnswer, PersonQuestion
from perdure.values.jobs import Batch, Receipt, WritePlan
from perdure.values.lessons import LessonRequest, LessonSet
from perdure.values.memberships import Enrolment, MemberRequest
from perdure.values.questions import Question, TakenAnswer
from perdure.values.requests import (
    ConsentRequest,
    Consents,
    ConsolidateRequest,
    ConsolidateResult,
    ForgetResult,
    PromoteRequest,
    PromoteResult,
    RecallRequest,
    ReconcileResult,
    RedateResult,
    Reference,
    RememberRequest,
    UndoResult,
)
from perdure.values.tasks import TaskResult
from perdure.values.updates import Updated, UpdateRequest
from perdure.values.webhooks import Notice, NoticeFate
from workflows import options
from workflows.ask_person import AskPerson
from workflows.check_task import CheckTask
from workflows.consolidate_memory import ConsolidateMemory
from workflows.credit_memories import CreditMemories
from workflows.deliver_notice import DeliverNotice
from workflows.erase_memory import EraseMemory, ErasingRun
from workflows.flush_accesses import FlushAccesses
from workflows.forget_memory import ForgetMemory, ForgetRun
from workflows.hold_memory import HoldMemory
from workflows.ingest_memory import IngestMemory
from workflows.judge_task import JudgeTask
from workflows.keep_claims import KeepClaims
from workflows.plan_runner import PlanRunner
from workflows.promote_episodes import PromoteEpisodes
from workflows.reconcile_memory import ReconcileMemory, ReconcileRun
from workflows.redate_memory import RedateMemory, RedateRun
from workflows.requests import RecallMemory, RememberItems, SetConsent, SetMember, UpdateMemory
from workflows.resumable_agent import ResumableAgent
from workflows.set_lesson import SetLesson
from workflows.undo_forgetting import UndoForgetting, UndoRun


class _Silent(PlanRunner):
    async def announce(self, question: Question, answer: TakenAnswer | None = None, *, lapsed: bool = False) -> None:
        pass


@workflow.defn(name="ResumableAgent", sandboxed=False)
class NoAnnouncement(ResumableAgent):
    """An activity taken out."""

    @workflow.init
    def __init__(self, task: TaskRun | None = None) -> None:
        super().__init__(task)

    @workflow.run
    async def run(self, task: TaskRun | None = None) -> TaskResult:
        return await super().run(task)

    def runner(self) -> PlanRunner:
        return _Silent(self._running, self.plan())


@workflow.defn(name="IngestMemory", sandboxed=False)
class SecondThought(IngestMemory):
    """An activity more."""

    @workflow.init
    def __init__(self, batch: Batch | None = None) -> None:
        super().__init__(batch)

    @workflow.run
    async def run(self, batch: Batch | None = None) -> Receipt:
        return await super().run(batch)

    async def _plan(self, batch: Batch) -> WritePlan:
        await super()._plan(batch)
        return await super()._plan(batch)


@workflow.defn(name="HoldMemory", sandboxed=False)
class LateHold(HoldMemory):
    """A timer more."""

    @workflow.init
    def __init__(self, hold: Hold | None = None) -> None:
        super().__init__(hold)

    @workflow.run
    async def run(self, hold: Hold | None = None) -> Decided:
        await workflow.sleep(1)
        return await super().run(hold)


@workflow.defn(name="ForgetMemory", sandboxed=False)
class AnyOrder(ForgetMemory):
    """An order that comes from a set: the one of the recording in some processes, another one in others."""

    @workflow.init
    def __init__(self, request: ForgetRun | None = None) -> None:
        super().__init__(request)

    @workflow.run
    async def run(self, request: ForgetRun | None = None) -> ForgetResult:
        return await super().run(request)

    async def _forget(self, chosen: Forgetting, sweep: str, by: Actor) -> tuple[Tombstoned, int]:
        done: dict[str, Any] = {}
        types = {"tombstone": Tombstoned, "purge": int}
        for name in {"tombstone", "purge"}:  # noqa: PLC0208  the mistake that is made here
            done[name] = await workflow.execute_activity(
                name, ForgetCall(forgetting=chosen, sweep=sweep, by=by), result_type=types[name], **options.of_ingest()
            )
        return done["tombstone"], done["purge"]


@workflow.defn(name="UndoForgetting", sandboxed=False)
class Hesitant(UndoForgetting):
    """A timer more."""

    @workflow.init
    def __init__(self, undo: UndoRun | None = None) -> None:
        super().__init__(undo)

    @workflow.run
    async def run(self, undo: UndoRun | None = None) -> UndoResult:
        await workflow.sleep(1)
        return await super().run(undo)


@workflow.defn(name="ReconcileMemory", sandboxed=False)
class Overhasty(ReconcileMemory):
    """A timer before anything else."""

    @workflow.init
    def __init__(self, request: ReconcileRun | None = None) -> None:
        super().__init__(request)

    @workflow.run
    async def run(self, request: ReconcileRun | None = None) -> ReconcileResult:
        await workflow.sleep(1)
        return await super().run(request)


@workflow.defn(name="EraseMemory", sandboxed=False)
class LateErasure(EraseMemory):
    """A timer before anything else."""

    @workflow.init
    def __init__(self, request: ErasingRun | None = None) -> None:
        super().__init__(request)

    @workflow.run
    async def run(self, request: ErasingRun | None = None) -> ErasureReceipt:
        await workflow.sleep(1)
        return await super().run(request)


@workflow.defn(name="RedateMemory", sandboxed=False)
class LateRedating(RedateMemory):
    """A timer before anything else."""

    @workflow.init
    def __init__(self, request: RedateRun | None = None) -> None:
        super().__init__(request)

    @workflow.run
    async def run(self, request: RedateRun | None = None) -> RedateResult:
        await workflow.sleep(1)
        return await super().run(request)


@workflow.defn(name="UpdateMemory", sandboxed=False)
class LateUpdate(UpdateMemory):
    """A timer more."""

    @workflow.run
    async def run(self, request: UpdateRequest | None = None) -> Updated:
        await workflow.sleep(1)
        return await super().run(request)


@workflow.defn(name="SetConsent", sandboxed=False)
class LateConsent(SetConsent):
    """A timer more."""

    @workflow.run
    async def run(self, request: ConsentRequest | None = None) -> Consents:
        await workflow.sleep(1)
        return await super().run(request)


@workflow.defn(name="AskPerson", sandboxed=False)
class LateQuestion(AskPerson):
    """A timer more."""

    @workflow.init
    def __init__(self, asked: PersonQuestion | None = None) -> None:
        super().__init__(asked)

    @workflow.run
    async def run(self, asked: PersonQuestion | None = None) -> PersonAnswer:
        await workflow.sleep(1)
        return await super().run(asked)


@workflow.defn(name="DeliverNotice", sandboxed=False)
class LateNotice(DeliverNotice):
    """A timer more."""

    @workflow.run
    async def run(self, notice: Notice | None = None) -> NoticeFate:
        await workflow.sleep(1)
        return await super().run(notice)


@workflow.defn(name="SetMember", sandboxed=False)
class LateMember(SetMember):
    """A timer more."""

    @workflow.run
    async def run(self, request: MemberRequest | None = None) -> Enrolment:
        await workflow.sleep(1)
        return await super().run(request)


@workflow.defn(name="FlushAccesses", sandboxed=False)
class LateFlush(FlushAccesses):
    """A timer more."""

    @workflow.run
    async def run(self) -> Flushed:
        await workflow.sleep(1)
        return await super().run()


@workflow.defn(name="RecallMemory", sandboxed=False)
class LateRecall(RecallMemory):
    """A timer more."""

    @workflow.run
    async def run(self, request: RecallRequest | None = None) -> Reference:
        await workflow.sleep(1)
        return await super().run(request)


@workflow.defn(name="RememberItems", sandboxed=False)
class LateRemember(RememberItems):
    """A timer more."""

    @workflow.run
    async def run(self, request: RememberRequest | None = None) -> str:
        await workflow.sleep(1)
        return await super().run(request)


@workflow.defn(name="KeepClaims", sandboxed=False)
class LateKeeping(KeepClaims):
    """A timer more."""

    @workflow.run
    async def run(self, call: KeepCall | None = None) -> Kept:
        await workflow.sleep(1)
        return await super().run(call)


@workflow.defn(name="CreditMemories", sandboxed=False)
class LateCredit(CreditMemories):
    """A timer more."""

    @workflow.run
    async def run(self, call: CreditCall | None = None) -> int:
        await workflow.sleep(1)
        return await super().run(call)


@workflow.defn(name="CheckTask", sandboxed=False)
class LateCheck(CheckTask):
    """A timer more."""

    @workflow.run
    async def run(self, task: TaskRun | None = None) -> CheckedTask:
        await workflow.sleep(1)
        return await super().run(task)


@workflow.defn(name="JudgeTask", sandboxed=False)
class LateJudgement(JudgeTask):
    """A timer more."""

    @workflow.run
    async def run(self, call: LateFeedbackCall | None = None) -> LateVerdict:
        await workflow.sleep(1)
        return await super().run(call)


@workflow.defn(name="SetLesson", sandboxed=False)
class LateLesson(SetLesson):
    """A timer more."""

    @workflow.run
    async def run(self, request: LessonRequest | None = None) -> LessonSet:
        await workflow.sleep(1)
        return await super().run(request)


@workflow.defn(name="PromoteEpisodes", sandboxed=False)
class LatePromotion(PromoteEpisodes):
    """A timer before anything else."""

    @workflow.init
    def __init__(self, request: PromoteRequest | None = None) -> None:
        super().__init__(request)

    @workflow.run
    async def run(self, request: PromoteRequest | None = None) -> PromoteResult:
        await workflow.sleep(1)
        return await super().run(request)


@workflow.defn(name="ConsolidateMemory", sandboxed=False)
class LateConsolidation(ConsolidateMemory):
    """A timer before anything else."""

    @workflow.init
    def __init__(self, request: ConsolidateRequest | None = None) -> None:
        super().__init__(request)

    @workflow.run
    async def run(self, request: ConsolidateRequest | None = None) -> ConsolidateResult:
        await workflow.sleep(1)
        return await super().run(request)


CHANGED = (
    NoAnnouncement,
    SecondThought,
    LateHold,
    AnyOrder,
    Hesitant,
    Overhasty,
    LateErasure,
    LateRedating,
    LateUpdate,
    LateQuestion,
    LateNotice,
    LateMember,
    LateConsent,
    LateFlush,
    LateRecall,
    LateRemember,
    LateKeeping,
    LateCredit,
    LateCheck,
    LateJudgement,
    LateLesson,
    LatePromotion,
    LateConsolidation,
)
