"""The delivery of one question to the installation's webhook, until it accepts it, or the question's deadline."""

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from perdure.names import Activity, Workflow
from perdure.values.webhooks import Notice, NoticeFate
from workflows import options
from workflows.failures import required


@workflow.defn(name=Workflow.DELIVER_NOTICE, sandboxed=False)
class DeliverNotice:
    """Tells the webhook of one question, at least once. Nothing waits for it."""

    @workflow.run
    async def run(self, notice: Notice | None = None) -> NoticeFate:
        """Return what became of the notice."""
        notice = required(notice, "give a Notice")
        left = notice.until - workflow.now()
        fate = NoticeFate.EXPIRED
        if left > timedelta():
            try:
                fate = await workflow.execute_activity(
                    Activity.DELIVER_NOTICE,
                    notice,
                    result_type=NoticeFate,
                    summary=notice.event,
                    **options.of_delivery(left),
                )
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
        workflow.set_current_details(f"**{fate}**")
        return fate
