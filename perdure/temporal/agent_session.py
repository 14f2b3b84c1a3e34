"""A session of the OpenAI Agents SDK in a workflow, kept in its user's memory."""

from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy

from perdure.names import TASK_QUEUE, Activity
from perdure.values.session_items import SessionAdd, SessionItems, SessionRead, SessionRemove

R = TypeVar("R")

_RETRY = RetryPolicy(initial_interval=timedelta(seconds=0.2), maximum_interval=timedelta(seconds=30))


class AgentSession:
    """What was said in a conversation, for ``Runner.run(agent, text, session=AgentSession("trip-7", "ada"))``.

    It is a ``Session`` of the SDK for use inside workflows: each of its calls is an activity on Perdure's workers, made
    once however often it is attempted, and waits while no worker or store answers. What it reads and adds stands in
    the workflow's history, as the calls of models do.

    Args:
        session_id: The conversation, the same for every workflow that goes on with it.
        user_id: Whose memory it is in.
        of: The team or agent whose memory it is in instead.
        limit: How many items a model is given, the latest ones; None: all, at most 2 MB.
        task_queue: Where Perdure's workers listen.

    Raises:
        ActivityError: By each call, where an item has a secret, or the user does not consent to keeping what they give.
    """

    session_settings: Any = None
    """The SDK's own settings of a session; there are none."""

    def __init__(
        self,
        session_id: str,
        user_id: str,
        *,
        of: str | None = None,
        limit: int | None = None,
        task_queue: str = TASK_QUEUE,
    ) -> None:
        self.session_id = session_id
        self._limit = limit
        self._queue = task_queue
        self._about = {"user_id": user_id, "of": of, "session": session_id}

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the items in their order, or only the latest ones."""
        most = self._limit if limit is None else limit
        if most is not None and most < 1:
            return []
        call = SessionRead.model_validate({**self._about, "limit": most})
        return list((await self._called(Activity.READ_SESSION, call, SessionItems)).items)

    async def add_items(self, items: list[Any]) -> None:
        """Add items at the end."""
        if items:
            call = SessionAdd.model_validate({**self._about, "items": items, "addition": str(workflow.uuid4())})
            await self._called(Activity.ADD_TO_SESSION, call, type(None))

    async def pop_item(self) -> Any | None:
        """Remove the last item, and return it; None where there is none."""
        removed = await self._removed(everything=False)
        return removed.items[0] if removed.items else None

    async def clear_session(self) -> None:
        """Remove all items."""
        await self._removed(everything=True)

    async def _removed(self, *, everything: bool) -> SessionItems:
        how = {"removal": str(workflow.uuid4()), "everything": everything}
        call = SessionRemove.model_validate(self._about | how)
        return await self._called(Activity.REMOVE_FROM_SESSION, call, SessionItems)

    async def _called(self, name: str, call: object, kind: type[R]) -> R:
        return await workflow.execute_activity(
            name,
            call,
            result_type=kind,
            task_queue=self._queue,
            summary="session",
            start_to_close_timeout=timedelta(seconds=60),
            heartbeat_timeout=timedelta(seconds=4),
            retry_policy=_RETRY,
        )
