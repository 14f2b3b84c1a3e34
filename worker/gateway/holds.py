"""Requests about memories on hold: listing, approving and rejecting them."""

from contextlib import suppress

from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from perdure.documents import validated
from perdure.errors import InvalidAnswer, InvalidInput, InvalidTask
from perdure.identity import content_digest
from perdure.names import DEFAULT_POLICY, QUESTIONS, Attribute, Workflow
from perdure.refusals import UnknownThing
from perdure.values.changes import Actor
from perdure.values.holds import QUESTION, Decided, Held, HeldAnswer, HoldOutcome, is_of, tenant_of
from perdure.values.questions import Approval, Question
from worker.gateway.base import ANSWERED_WITHIN, call, require_person
from worker.gateway.memories import MemoriesCalls
from worker.gateway.tasks import TaskCalls
from worker.worker_wait import waiting


class HoldCalls(TaskCalls, MemoriesCalls):
    """Looking at what waits for a person's approval, and deciding on it.

    It needs the tenant key in this process, which shows whose a hold is. With its id alone, use ``answer``.
    """

    @call
    async def held(self, user_id: str, *, of: str | None = None, limit: int = 50, by: Actor) -> list[Held]:
        """Return what waits for a person, with its text: the oldest first.

        Raises:
            UnknownOwner: The user does not belong to the owner, or there is no such owner.
            TenantKeyMissing: This process has no tenant key.
            WorkerUnavailable: No worker serves the task queue, and only a worker knows.
        """
        reader, client = await self._keyed_reader(), await self.client()
        tenant = await reader.tenant(user_id, of)
        await self.served()
        query = f"WorkflowType = '{Workflow.HOLD_MEMORY}' AND {Attribute.TENANT} = '{tenant}'"
        waiting = [run async for run in client.list_workflows(f"{query} AND ExecutionStatus = 'Running'")]
        found: list[Held] = []
        # A page of the list is one call, and each hold another one. It asks when it starts.
        for run in sorted(waiting, key=lambda one: (one.start_time, one.id)):
            if len(found) >= limit:
                break
            handle = client.get_workflow_handle(run.id, run_id=run.run_id)
            try:
                asked = await handle.query(QUESTIONS, result_type=tuple[Question, ...], rpc_timeout=ANSWERED_WITHIN)
            except RPCError as error:
                # The list lags behind.
                if error.status is RPCStatusCode.NOT_FOUND:
                    continue
                raise
            found += [Held(id=run.id, question=one) for one in asked]
        await reader.audited(tenant, [one.id for one in found], "held", by)
        return found

    @call
    async def decide(
        self,
        user_id: str | None,
        hold: str,
        *,
        of: str | None = None,
        approve: bool,
        note: str = "",
        text: str = "",
        by: Actor,
    ) -> Decided:
        """Approve or reject what is on hold, and return what became of it; the same decision again returns the same.

        Args:
            user_id: Who decides; a hold that is not theirs, or their team's or agent's, counts as nonexistent. None:
                whoever's it is.
            hold: Its id.
            of: The team or agent whose memory it is for; None: the user's own.
            approve: Whether it is to be remembered.
            note: Why, for its history.
            text: What is to be remembered instead of what was offered, without private data and secrets.
            by: Who decides.

        Raises:
            InvalidInput: There is no such hold of the user, or something else was decided already; or the text cannot
                be kept; or an actor other than a person decides.
            TenantKeyMissing: A user is given, and this process has no tenant key.
        """
        from perdure.memory.extraction.screening import screen  # noqa: PLC0415  it loads libraries
        from perdure.memory.updates.screened_updates import screened_text  # noqa: PLC0415  the same
        from worker.policies import policies_of  # noqa: PLC0415  the same

        require_person(by)
        await self._require_theirs(user_id, of, hold)
        if text and not approve:
            raise InvalidInput("text", "cannot be given when rejecting", fix="leave it out, or approve")
        if text:
            text = screened_text(text, policies_of(self._settings)[DEFAULT_POLICY], "text")
        given: dict[str, str | None] = {
            "question_id": QUESTION,
            "value": Approval.YES.value if approve else Approval.NO.value,
        }
        answer = validated(
            HeldAnswer, given | {"note": screen(note).text if note else "", "text": text or None}, "", InvalidAnswer
        )
        # If it was answered before, or has ended, the recorded decision is the answer.
        with suppress(InvalidAnswer, InvalidTask):
            await self.answer(hold, answer, by=by)
        async with waiting(self._notify, f"settle {hold}", afterwards="it goes on", within=None):
            handle = (await self.client()).get_workflow_handle(hold, result_type=Decided)
            decided = await handle.result()
        wanted = HoldOutcome.APPROVED if approve else HoldOutcome.REJECTED
        if decided.outcome is not wanted:
            told = decided.reason or f"{decided.by.id or 'a person'} approved it"
            problem = f"it was {decided.outcome} on {decided.at:%Y-%m-%d %H:%M:%S %Z}: {told}"
            raise InvalidInput("id", problem, fix="remember it again" if approve else "perdure memories forget")
        if text and decided.digest != content_digest(text):
            raise InvalidInput("text", "it was approved in other words already", fix="perdure memories correct")
        return decided

    async def _require_theirs(self, user_id: str | None, of: str | None, hold: str) -> None:
        tenant = tenant_of(hold) if user_id is None else await (await self._keyed_reader()).tenant(user_id, of)
        client = await self.client()
        unknown = UnknownThing("id", f"there is no {hold!r} of this user", fix="perdure memories held shows the ids")
        if not (tenant and is_of(tenant, hold)):
            raise unknown
        try:
            found = await client.get_workflow_handle(hold).describe()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            raise unknown from error
        is_ours = (found.workflow_type, found.task_queue) == (Workflow.HOLD_MEMORY, self._settings.task_queue)
        if not is_ours or found.status is WorkflowExecutionStatus.CANCELED:
            raise unknown
