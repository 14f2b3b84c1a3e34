"""A question of anybody's workflow to a person, which is asked until a deadline."""

import asyncio
from contextlib import suppress

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.notifications import NotificationActivities, NotifyCall
from activities.tenants import AskedTenantCall, TenantActivities
from perdure.documents import refuse_unknown
from perdure.errors import InvalidInput
from perdure.names import ANSWER, QUESTIONS, Workflow
from perdure.temporal.attributes import TENANT
from perdure.temporal.errors import failure_of
from perdure.values.inbox import PersonAnswer, PersonQuestion
from perdure.values.questions import Answer, Question
from workflows import options
from workflows.failures import required
from workflows.one_question import OneQuestion, asking


@workflow.defn(name=Workflow.ASK_PERSON, sandboxed=False)
class AskPerson:
    """Asks a person one question, once."""

    @workflow.init
    def __init__(self, asked: PersonQuestion | None = None) -> None:
        self._question: OneQuestion | None = None
        self._refused: InvalidInput | None = None
        if asked is not None:
            try:
                refuse_unknown(asked)
                self._default = asked.default
                self._question = OneQuestion(asked.asked(workflow.now()))
            except InvalidInput as error:
                # Raised here, it would be retried for ever.
                self._refused = error

    @workflow.run
    async def run(self, asked: PersonQuestion | None = None) -> PersonAnswer:
        """Return the answer, or the default once the time has passed."""
        asked = required(asked, "give a PersonQuestion")
        if self._refused is not None:
            raise failure_of(self._refused)
        question = asking(self._question)
        until = workflow.now() + asked.lasts
        workflow.set_current_details(f"**waits for a person** until {until:%Y-%m-%d %H:%M:%S %Z}")
        # The deadline holds in any case; only the end of the run waits for its label, by which an erasure finds it.
        labelling = asyncio.create_task(self._label(asked))
        telling = asyncio.create_task(self._tell(labelling, question.asked))
        try:
            taken = await question.answer_within(asked.lasts, "nobody answered in time")
            at = taken.at if taken else workflow.now()
        finally:
            telling.cancel()
            await asyncio.shield(labelling)
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.set_current_details("**answered**" if taken else "**nobody answered in time**")
        if taken is None:
            return PersonAnswer(answered=False, value=self._default, at=at)
        return PersonAnswer(answered=True, value=taken.value, by=taken.by, note=taken.note, at=at)

    @workflow.query(name=QUESTIONS)
    def questions(self) -> tuple[Question, ...]:
        """Return what it waits for."""
        return self._question.open if self._question else ()

    @workflow.update(name=ANSWER)
    async def answer(self, answer: Answer) -> None:
        """Answer its question."""
        asking(self._question).answer(answer)

    @answer.validator
    def _refuse_answer(self, answer: Answer) -> None:
        asking(self._question).check(answer)

    async def _label(self, asked: PersonQuestion) -> str:
        """Make it findable by its user, for the inbox and an erasure; returns the user's tenant."""
        asking = AskedTenantCall(user_id=asked.user_id)
        tenant = await options.change(TenantActivities.asked_tenant, asking, "Find the user's tenant")
        workflow.upsert_search_attributes([TENANT.value_set(tenant)])
        return tenant

    async def _tell(self, labelling: asyncio.Task[str], question: Question) -> None:
        """Notify the webhook."""
        with suppress(ActivityError):  # It is tried until it succeeds, or nothing is asked any more.
            call = NotifyCall(tenant=await asyncio.shield(labelling), question=question)
            await options.change(NotificationActivities.notify, call, "Notify the webhook")
