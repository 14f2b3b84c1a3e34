"""The memory of another installation, which this worker's tasks use through its service (``PERDURE_MEMORY_URL``)."""

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from perdure.client.client import Client
from perdure.client.problems import is_passing
from perdure.errors import JobFailed, PerdureError, StoreRefused, StoreUnavailable, WorkerUnavailable
from perdure.identity import digest
from perdure.memory.recall.context import render
from perdure.memory.recall.query import Query, RecallResult
from perdure.refusals import (
    AnswerUnusable,
    NoSuchPath,
    NotAuthenticated,
    NotPermitted,
    RequestRefused,
    TooManyRequests,
    UnknownThing,
)
from perdure.values.jobs import ELSEWHERE, Receipt, SubmitCall, UnusableItem, WaitIngestCall
from perdure.values.task_status import JobStatus

STORE = "memory elsewhere"
"""What it is called among the stores."""

_ASKED = {
    "text",
    "lane",
    "keys",
    "limit",
    "strategy",
    "profile",
    "memory_types",
    "tags",
    "scopes",
    "since",
    "until",
    "task",
    "min_confidence",
}
"""What a service is told of a question: the rest is about this installation."""

_ON_THE_WAY = 1.0
"""Seconds more than its stores may take in which a service's answer is waited for: one that is degraded comes late."""

_FIX = "set PERDURE_MEMORY_TOKEN to a token of that installation with the scopes read and write, for all its users"


class RemoteMemory:
    """Another installation's memory: its users have the same ids, and their consents there hold.

    Args:
        client: A client of its service.
        seconds: How long the service may ask its stores for a recall.
    """

    def __init__(self, client: Client, seconds: float) -> None:
        self._client = client
        self._seconds = seconds

    async def recall(self, query: Query, *, user_id: str, of: str | None) -> RecallResult:
        """Recall; where the service is overloaded or too slow, the result names it among the degraded stores.

        Raises:
            InvalidInput: The question is malformed, or there is no such owner of whom the user is a member.
            StoreRefused: The service refuses this worker's token.
        """
        asked, began = query.model_dump(mode="json", include=_ASKED, exclude_defaults=True), time.monotonic()
        try:
            with _taken():
                async with asyncio.timeout(self._seconds + _ON_THE_WAY):
                    return await self._client.recall(**asked, user_id=user_id, of=of)
        except (PerdureError, TimeoutError) as error:
            if isinstance(error, PerdureError) and not (is_passing(error) or isinstance(error, AnswerUnusable)):
                raise
            lasted = 1_000 * (time.monotonic() - began)
            return RecallResult(degraded=(STORE,), milliseconds=lasted, context="")

    async def submit(self, call: SubmitCall) -> str:
        """Submit a batch, which is one job however often it is submitted; returns the job's id.

        Raises:
            InvalidInput: There is no such owner of whom the user is a member, or no such policy, or none of the items
                can be used there.
            StoreUnavailable: The service does not answer: items that a task has learned wait for it.
            WorkerUnavailable: It refuses this worker's token: they wait as well.
        """
        batch = call.batch
        usable = {place: one for place, one in enumerate(batch.items) if not isinstance(one, UnusableItem)}
        items, recorded = [*usable.values()], [batch.recorded[place] for place in usable if batch.recorded]
        how: dict[str, Any] = {"agent": batch.agent, "policy": batch.policy, "recorded": recorded}
        # Under one key the service takes one body: a task that is run again offers other items in the same place.
        said = [one.model_dump(mode="json") for one in items]
        key = digest("elsewhere/1", batch.key, *map(str, recorded), *said)
        with _waiting(), _taken():
            job = await self._client.submit(items, key=key, user_id=call.user_id, of=batch.of, **how)
        return f"{ELSEWHERE}{job}"

    async def receipt(self, call: WaitIngestCall, *, wait: float) -> Receipt | None:
        """Return what became of each item of a job; None: it has not ended within some seconds.

        Raises:
            JobFailed: It failed, with the reason.
            InvalidInput: The service knows no such job.
            StoreUnavailable: It does not answer; the job goes on.
            WorkerUnavailable: It refuses this worker's token; the job goes on.
        """
        job = call.job.removeprefix(ELSEWHERE)
        with _waiting(), _taken():
            state = await self._client.job(job, user_id=call.user_id, of=call.of, wait=wait)
        if state.status is JobStatus.FAILED:
            raise JobFailed(f"{job}: {state.problem}")
        return state.receipt


def beside(found: RecallResult, here: RecallResult, characters: int) -> RecallResult:
    """Return what another installation remembers, and what happened in the session, which this one knows.

    Args:
        found: What is remembered there.
        here: What this installation recalls: its episodes count, and no memory of its own.
        characters: How long the block of what happened may be.
    """
    if not (here.episodes or here.found_in_session):
        return found
    how: dict[str, Any] = {"episodes": here.episodes, "found": here.found_in_session, "characters": characters}
    happened = render(working=(), items=(), degraded=(), **how).text
    context = "\n".join(filter(None, (found.context, happened)))
    return found.changed(episodes=here.episodes, found_in_session=here.found_in_session, context=context)


@contextmanager
def _taken() -> Generator[None]:
    """Raise the errors of a service as those of a store; a token that it refuses is a mistake in the settings.

    Raises:
        StoreRefused: The token does not count, or not for this user.
        StoreUnavailable: What answers is no service that can be used.
    """
    try:
        yield
    except (NotAuthenticated, NotPermitted) as error:
        raise StoreRefused(STORE, str(error), fix=_FIX) from error
    except UnknownThing as error:
        if error.field == "user_id":
            raise StoreRefused(STORE, "the token is another user's", fix=_FIX) from error
        raise
    except RequestRefused as error:
        # What stands in front of a service answers so while there is none: by a status alone, or with a page.
        if type(error) in {RequestRefused, NoSuchPath}:
            raise StoreUnavailable(STORE, str(error)) from error
        raise


@contextmanager
def _waiting() -> Generator[None]:
    """Raise what is refused, and may be taken later, as an outage: what was learned waits until the settings are right.

    Raises:
        StoreUnavailable: In place of a refusal that ends by itself.
        WorkerUnavailable: In place of a refusal of this worker.
    """
    try:
        yield
    except StoreRefused as error:
        raise WorkerUnavailable(f"this worker is refused, and another may not be: {error}") from error
    except (TooManyRequests, AnswerUnusable) as error:
        raise StoreUnavailable(STORE, str(error)) from error
