"""Recall for whoever asks outside a task. How it is answered is the recall room's."""

from datetime import UTC, datetime

from pydantic import Field
from temporalio import activity

from perdure.documents import validated
from perdure.entries import Lane
from perdure.errors import ResultTooLarge
from perdure.memory.recall.query import Query, RecallResult
from perdure.memory.recall.service import Recall
from perdure.model import Passed
from perdure.stores.tenant_key import TenantKey
from perdure.tools import RESULT_LIMIT


class RecallRequest(Passed):
    """A question to memory, from somebody who knows the user and not the tenant."""

    user_id: str = Field(min_length=1)
    text: str = ""
    lane: Lane | None = None
    keys: tuple[str, ...] = ()
    limit: int = 10
    session: str = ""
    """The session whose episodes count; empty: none."""


class RecallActivities:
    """Recall outside of tasks.

    Args:
        recall: The worker's one recall service.
        key: Turns user ids into tenants.
    """

    def __init__(self, recall: Recall, key: TenantKey) -> None:
        self._recall = recall
        self._key = key

    @activity.defn(name="recall_memory")
    async def recall_memory(self, request: RecallRequest) -> RecallResult:
        """Answer from every tier; a store that is down makes the answer degraded, not a failure.

        Raises:
            ResultTooLarge: When there is more under the keys than Temporal carries.
        """
        question = request.model_dump(exclude={"user_id"})
        tenant = self._key.tenant_of(request.user_id)
        query = validated(Query, {**question, "tenant": tenant, "now": datetime.now(UTC)}, "")
        found = await self._recall.recall(query)
        # Temporal would refuse it with words of its own, and try again.
        if (size := len(found.model_dump_json().encode())) > RESULT_LIMIT:
            raise ResultTooLarge(
                f"the answer has {size:,} bytes, and at most {RESULT_LIMIT:,} can be given back (ask for fewer keys)"
            )
        return found
