"""Telling the installation's webhook that a person is asked.

A question's delivery is a workflow of its own, so that nothing waits for the webhook: neither the task, nor its
rollover, nor its end. It is started once for each question, and delivers until the webhook accepts, or the question's
deadline.
"""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
from pydantic import SecretStr
from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowQueryFailedError
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from perdure.crashpoints import CrashPoint, reached
from perdure.errors import StoreUnavailable
from perdure.model import Passed
from perdure.names import QUESTIONS, Activity, Workflow
from perdure.temporal.attributes import TASK_TIMEOUT, tenant_attributes
from perdure.temporal.errors import of_call
from perdure.values.questions import Question
from perdure.values.webhooks import EVENT_ID, IDEMPOTENCY_KEY, SIGNATURE, Notice, NoticeFate, notice_of, signature

WITHIN = 10.0
"""Seconds that a webhook may take to answer; a choice. It should accept at once, and act later."""

MOST_AT_ONCE = 8
"""Deliveries of one worker at the same time; a choice. A webhook that never answers takes no more places than these
from the tasks of the worker."""

LONGEST_PAUSE = 300.0
"""Seconds between two attempts at most: a choice."""

STARTED_WITHIN = timedelta(seconds=5)
"""How long Temporal may take to start a delivery, or to say whether a question is still asked."""

_ENDED = {*WorkflowExecutionStatus} - {WorkflowExecutionStatus.RUNNING}

UNSAID = timedelta(days=7)
"""How long a question is delivered that has no deadline: a choice."""


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """Where questions are delivered, and how they are signed."""

    url: SecretStr
    secret: SecretStr
    content: bool
    """Whether a question's text may be sent."""


class NotifyCall(Passed):
    """The input of the activity that has a question delivered."""

    tenant: str
    question: Question


@dataclass(frozen=True, kw_only=True)
class Notifier:
    """Has questions delivered, each once, however often it is asked to."""

    client: Client
    task_queue: str
    webhook: Webhook | None
    """None: the installation has none, and nothing is done."""

    async def asked(self, tenant: str, question: Question) -> None:
        """Start the delivery of a question of this activity's workflow.

        Raises:
            StoreUnavailable: Temporal does not start it.
        """
        if self.webhook is None:
            return
        info = activity.info()
        until = question.until or (question.asked_at or datetime.now(UTC)) + UNSAID
        notice = notice_of(
            str(info.workflow_id), str(info.workflow_type), question, until, content=self.webhook.content
        )
        try:
            await self.client.start_workflow(
                Workflow.DELIVER_NOTICE,
                notice,
                id=f"notice-{notice.event}",
                task_queue=self.task_queue,
                # One that has ended was delivered, or is over.
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                task_timeout=TASK_TIMEOUT,
                search_attributes=tenant_attributes(tenant),
                static_summary="Tells the webhook that a person is asked",
                rpc_timeout=STARTED_WITHIN,
            )
        except WorkflowAlreadyStartedError:
            pass
        except RPCError as error:
            raise of_call(error) from error
        reached(CrashPoint.NOTICE_STARTED)


class NotificationActivities:
    """Delivers to the webhook.

    Args:
        notifier: Has questions delivered.
    """

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self._under_way = 0

    @activity.defn(name=Activity.NOTIFY)
    async def notify(self, call: NotifyCall) -> None:
        """Start the delivery of a question of this activity's workflow.

        Raises:
            StoreUnavailable: Temporal does not start it.
        """
        await self._notifier.asked(call.tenant, call.question)

    @activity.defn(name=Activity.DELIVER_NOTICE)
    async def deliver_notice(self, notice: Notice) -> NoticeFate:
        """Deliver a notice, unless its question is no longer asked.

        Raises:
            StoreUnavailable: The webhook does not accept it, or this worker delivers many already.
        """
        webhook, attempt = self._notifier.webhook, activity.info().attempt
        if webhook is None:
            return NoticeFate.UNCONFIGURED
        if attempt > 1 and not await self._is_asked(notice):
            return NoticeFate.ANSWERED
        if self._under_way >= MOST_AT_ONCE:
            raise _refused(f"{MOST_AT_ONCE} deliveries are under way on this worker", attempt)
        self._under_way += 1
        try:
            status = await _posted(webhook, notice)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError) as error:
            # Its message may have the address, which may hold a secret.
            raise _refused(type(error).__name__, attempt) from None
        finally:
            self._under_way -= 1
        if not 200 <= status < 300:
            raise _refused(f"it answered with status {status}", attempt)
        reached(CrashPoint.NOTICE_DELIVERED)
        return NoticeFate.DELIVERED

    async def _is_asked(self, notice: Notice) -> bool:
        """Return whether a question is still asked, as far as its workflow can say now."""
        asker = self._notifier.client.get_workflow_handle(notice.workflow_id)
        try:
            described = await asker.describe(rpc_timeout=STARTED_WITHIN)
            # One that was terminated withdrew nothing, and takes no answer.
            if described.status in _ENDED:
                return False
            asked = await asker.query(QUESTIONS, result_type=tuple[Question, ...], rpc_timeout=STARTED_WITHIN)
        except (RPCError, WorkflowQueryFailedError, ValueError) as error:
            # No worker of its version can tell, say, or it stands as this SDK does not know.
            return not (isinstance(error, RPCError) and error.status is RPCStatusCode.NOT_FOUND)
        return notice.question_id in [question.id for question in asked]


async def _posted(webhook: Webhook, notice: Notice) -> int:
    """Send a notice; returns the status of the answer, whose body is not read.

    A redirect is an answer like any other, and is not followed: it could lead to an address inside the network.
    """
    body = notice.body.encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "perdure",
        EVENT_ID: notice.event,
        IDEMPOTENCY_KEY: notice.event,
        SIGNATURE: signature(body, webhook.secret.get_secret_value(), datetime.now(UTC)),
    }
    # The client's own time-outs are for each part of the exchange; one that trickles would never end.
    async with asyncio.timeout(WITHIN), httpx.AsyncClient(timeout=WITHIN, follow_redirects=False) as client:
        url = webhook.url.get_secret_value()
        async with client.stream("POST", url, content=body, headers=headers) as response:
            return response.status_code


def _refused(problem: str, attempt: int) -> StoreUnavailable:
    error = StoreUnavailable("webhook", problem)
    error.retry_after = min(LONGEST_PAUSE, 2.0 ** min(attempt - 1, 10))
    return error
