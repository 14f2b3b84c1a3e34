"""A memory on hold: a person is asked, until a deadline, and an approved memory becomes a job of its own.

Only its input has the memory's text: no batch, no journal and no job has it before it is approved.
"""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.holds import HoldActivities, RejectCall
from activities.notifications import NotificationActivities, NotifyCall
from perdure.errors import InvalidAnswer
from perdure.identity import content_digest
from perdure.model import Instant
from perdure.names import ANSWER, QUESTIONS, Activity, Workflow
from perdure.temporal.errors import failure_of
from perdure.values.changes import Actor, ActorKind
from perdure.values.holds import Decided, HeldAnswer, Hold, HoldOutcome, Silence
from perdure.values.jobs import Approved, Receipt, WaitIngestCall
from perdure.values.questions import Approval, Question
from workflows import options
from workflows.failures import is_erased, problem_of, required
from workflows.one_question import OneQuestion, asking

_SILENCE = Actor(kind=ActorKind.SYSTEM, id="deadline")
"""The actor that decides if nobody answers in time."""


@workflow.defn(name=Workflow.HOLD_MEMORY, sandboxed=False)
class HoldMemory:
    """Has a person approve a memory before it is believed, once."""

    @workflow.init
    def __init__(self, hold: Hold | None = None) -> None:
        self._hold = hold
        self._text: str | None = None
        self._question = OneQuestion(hold.question, over="offer the memory again") if hold is not None else None

    @workflow.run
    async def run(self, hold: Hold | None = None) -> Decided:
        """Return how it ended, without the memory's text."""
        hold, question = required(hold, "give a Hold"), asking(self._question)
        workflow.set_current_details(f"**waits for a person** ({hold.reason}) until {hold.until:%Y-%m-%d %H:%M:%S %Z}")
        try:
            epoch = await options.change(HoldActivities.check, hold.batch, "Look whether it was erased")
        except ActivityError as error:
            if not is_erased(error):
                raise
            question.end(problem_of(error))
            return Decided(outcome=HoldOutcome.REJECTED, by=_SILENCE, at=workflow.now(), reason=problem_of(error))
        hold = hold.changed(batch=hold.batch.changed(epoch=epoch))
        call = NotifyCall(tenant=hold.batch.tenant, question=question.asked)
        telling = asyncio.create_task(options.change(NotificationActivities.notify, call, "Notify the webhook"))
        try:
            left = max(hold.until - workflow.now(), timedelta(0))
            silent = f"nobody answered by the deadline, {hold.until:%Y-%m-%d %H:%M:%S %Z}"
            answer = await question.answer_within(left, silent)
        finally:
            telling.cancel()
        by = Actor(kind=ActorKind.PERSON, id=answer.by) if answer else _SILENCE
        at = answer.at if answer else workflow.now()
        approved = answer.value == Approval.YES if answer else hold.silence is Silence.APPROVE
        decided = await self._decided(hold, by, at, answer.note if answer else "", approved=approved)
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.set_current_details(f"**{decided.outcome}**")
        return decided

    @workflow.query(name=QUESTIONS)
    def questions(self) -> tuple[Question, ...]:
        """Return what it waits for."""
        return self._question.open if self._question else ()

    @workflow.update(name=ANSWER)
    async def answer(self, answer: HeldAnswer) -> None:
        """Answer its question."""
        question = asking(self._question)
        if not question.is_answered:
            self._text = answer.text
        question.answer(answer)

    @answer.validator
    def _refuse_answer(self, answer: HeldAnswer) -> None:
        asking(self._question).check(answer)
        try:
            if answer.text and self._hold is not None:
                self._hold.reworded(answer.text)
        except InvalidAnswer as error:
            raise failure_of(error) from None
        if answer.text and answer.value != Approval.YES:
            raise failure_of(InvalidAnswer("text", "cannot be given when rejecting", fix="leave it out, or approve"))

    async def _decided(self, hold: Hold, by: Actor, at: Instant, note: str, *, approved: bool) -> Decided:
        if not approved:
            # A member's own id would stay in their team's journal once they are erased.
            person = "a member" if hold.batch.stated_by else by.id or "a person"
            who = f"{person} rejected it" if by != _SILENCE else asking(self._question).ended
            return await self._rejected(hold, by, at, who, note)
        approval = Approved(at=at, doubt=hold.doubt, note=note, reworded=bool(self._text))
        if self._text:
            hold = hold.reworded(self._text)
        try:
            job = await options.change(
                HoldActivities.approve, hold.batch.changed(by=by, approved=approval), "Submit what was approved"
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if is_erased(error):
                return Decided(outcome=HoldOutcome.REJECTED, by=by, at=at, reason=problem_of(error))
            return await self._rejected(hold, by, at, problem_of(error), "")
        receipt = await workflow.execute_activity(
            Activity.WAIT_INGEST,
            WaitIngestCall(job=job),
            result_type=Receipt,
            summary="until it is searchable",
            **options.of_ingest(),
        )
        digest = content_digest(self._text) if self._text else ""
        return Decided(outcome=HoldOutcome.APPROVED, by=by, at=at, receipt=receipt, digest=digest)

    async def _rejected(self, hold: Hold, by: Actor, at: Instant, who: str, note: str) -> Decided:
        call = RejectCall(
            tenant=hold.batch.tenant,
            epoch=hold.batch.epoch,
            hold=workflow.info().workflow_id,
            reason=f"{who} ({hold.reason})",
            note=note,
        )
        reason = await options.change(HoldActivities.reject, call, "Record that it was rejected")
        return Decided(outcome=HoldOutcome.REJECTED, by=by, at=at, reason=reason)
