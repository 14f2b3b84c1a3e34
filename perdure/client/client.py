"""The client of a service: remembering, recalling, running tasks."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Any, Self, TypeVar
from urllib.parse import quote
from uuid import uuid4

from pydantic import JsonValue, SecretStr

from perdure.client.answers import listed, recalled
from perdure.client.problems import SERVICE, is_passing
from perdure.client.transport import WITHIN, ServiceConnection
from perdure.errors import InvalidInput, JobFailed, PerdureError, TaskFailed, WorkflowCancelled
from perdure.memory.recall.query import RecallResult
from perdure.model import Model
from perdure.refusals import AnswerUnusable
from perdure.tolerance import tolerant
from perdure.values.entries import Entry, Lane
from perdure.values.inbox import OpenQuestion
from perdure.values.items import Item
from perdure.values.jobs import Receipt
from perdure.values.task_status import JobState, JobStatus, StartedTask, TaskStanding
from perdure.values.tasks import Phase, TaskResult
from perdure.values.updates import Updated

T = TypeVar("T")

POLLS = 4
POLL_SECONDS = 0.15
"""A job is looked at four times, 150 ms apart (R3); most have ended by then."""

LOOKS = 30.0
"""Seconds that the service waits for an end each time after that; it may wait for 60."""

_AWAY = 1.0
"""Seconds until a service that is away is asked again how what it has accepted goes on, unless it says; a choice."""

_AWAY_AT_MOST = 600.0
"""Seconds after which it is not asked any more; a choice, longer than a restart."""

_MEMORIES = "/v2/control/memories"

Given = str | Item | Mapping[str, Any]
"""What may be remembered: a statement, an item, or one as JSON."""


class Client:
    """Another installation's memory and tasks.

    Every method raises what the installation would: ``InvalidInput`` with the field and the fix, ``NotPermitted``,
    ``StoreUnavailable`` where it cannot be reached. What was cut off on the way is sent again, and has its effect once.

    Args:
        url: Where its service is, such as ``https://memory.example.org``.
        token: A token that ``perdure tokens create`` made there, or one of its OpenID provider.
        user_id: For whom is asked, unless a call says so; None: the user whose token it is.
        within: Seconds that an answer may take.

    >>> client = Client("http://127.0.0.1:8321", "a token", user_id="ada")
    """

    def __init__(self, url: str, token: str | SecretStr, *, user_id: str | None = None, within: float = WITHIN) -> None:
        secret = (token.get_secret_value() if isinstance(token, SecretStr) else token).strip()
        if not secret.isascii() or not secret.isprintable():
            raise InvalidInput("token", "is no token", fix="give the text that perdure tokens create has shown")
        self._service = ServiceConnection(url, secret, within=within)
        self._user = user_id
        self._keys: dict[str, str] = {}
        """Under which key each endpoint's answer had its list."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection."""
        await self._service.aclose()

    async def submit(
        self,
        items: Given | Sequence[Given],
        *,
        lane: Lane | str | None = None,
        key: str = "",
        user_id: str | None = None,
        of: str | None = None,
        **more: Any,
    ) -> str:
        """Submit what is to be remembered; returns the id of its job once it is on the installation's disk.

        Args:
            items: Statements, items, or items as JSON, at most 100; or a single one.
            lane: Items as JSON that say nothing of their kind are records of this lane.
            key: The batch's own key: the same items under it are the same job. Empty: each call is a batch of its own.
            user_id: For whom; None: the client's user.
            of: The team or agent whose memory it is for; None: the user's own.
            **more: Further fields of the request: ``agent``, ``policy`` and ``recorded``.
        """
        body = {"items": [_sent(one, lane) for one in _several(items)], "of": of, "key": key or uuid4().hex, **more}
        answer = await self._service.post("/v2/control/ingest", self._for(user_id, body))
        return _text(answer, "job_id")

    async def remember(
        self,
        items: Given | Sequence[Given],
        *,
        lane: Lane | str | None = None,
        key: str = "",
        user_id: str | None = None,
        of: str | None = None,
        **more: Any,
    ) -> Receipt:
        """Remember, and return what became of each item once that is certain; the arguments are those of ``submit``.

        Raises:
            JobFailed: The job failed, with the reason. One that is slow is waited for.
        """
        job = await self.submit(items, lane=lane, key=key, user_id=user_id, of=of, **more)
        return await self.receipt(job, user_id=user_id, of=of)

    async def job(self, job: str, *, user_id: str | None = None, of: str | None = None, wait: float = 0.0) -> JobState:
        """Return where a job is, waiting up to 60 seconds for its end."""
        asked = {"user_id": user_id or self._user, "of": of, "wait": wait}
        path = f"/v2/control/ingest/jobs/{quote(job, safe='')}"
        return _read(JobState, await self._service.get(path, asked, waits=wait))

    async def receipt(self, job: str, *, user_id: str | None = None, of: str | None = None) -> Receipt:
        """Wait for a job's receipt, however long it takes, also while the service is away for some minutes.

        Raises:
            JobFailed: The job failed, with the reason.
            Unavailable, TooManyRequests: The service was away or overloaded for ten minutes; the job goes on.
        """
        looked = 0
        while True:
            wait = 0.0 if looked < POLLS else LOOKS
            looked += 1
            state = await self._patiently(partial(self.job, job, user_id=user_id, of=of, wait=wait))
            if state.status is JobStatus.FAILED:
                raise JobFailed(f"{job}: {state.problem}")
            if state.receipt is not None:
                return state.receipt
            if state.status is JobStatus.DONE:
                raise AnswerUnusable(f"the {SERVICE} says that {job} is done, and not what became of it")
            await asyncio.sleep(POLL_SECONDS)

    async def recall(
        self, text: str = "", *, user_id: str | None = None, of: str | None = None, **more: Any
    ) -> RecallResult:
        """Recall from every tier of memory.

        Args:
            text: The question.
            user_id: For whom; None: the client's user.
            of: The team or agent whose memory is asked; None: the user's own.
            **more: Further fields of ``RecallRequest``, such as ``limit``, ``session`` or ``strategy``.
        """
        body = self._for(user_id, {"text": text, "of": of, **more})
        return self._recalled("query", await self._service.post("/v2/control/query", body))

    async def activity(
        self,
        lane: Lane | str,
        keys: str | Sequence[str],
        *,
        user_id: str | None = None,
        of: str | None = None,
    ) -> RecallResult:
        """Return the records of a log under exactly these keys, or this one, the newest first; see ``recall``."""
        asked = {
            "user_id": user_id or self._user,
            "of": of,
            "lane": str(lane),
            "key": [keys] if isinstance(keys, str) else list(keys),
        }
        return self._recalled("activity", await self._service.get("/v2/control/activity", asked))

    async def memories(
        self, *, user_id: str | None = None, of: str | None = None, everything: bool = False
    ) -> list[Entry]:
        """Return what is believed of a user, the newest first.

        Args:
            user_id: Who asks; None: the client's user.
            of: The team or agent whose memory it is; None: the user's own.
            everything: Also what was replaced or forgotten, and records and turns.
        """
        asked = {"user_id": user_id or self._user, "of": of, "everything": everything}
        return [_read(Entry, one) for one in self._listed("memories", await self._service.get(_MEMORIES, asked))]

    async def forget(
        self, memory_id: str, *, user_id: str | None = None, of: str | None = None, note: str = ""
    ) -> Updated:
        """Forget one memory, record or turn; ``undo`` in the answer is the id by which that can be undone."""
        body = self._for(user_id, {"of": of, "note": note})
        return _read(Updated, await self._service.post(f"{_MEMORIES}/{quote(memory_id, safe='')}/forget", body))

    async def start(self, task_id: str, *, user_id: str | None = None, again: bool = False, **task: Any) -> StartedTask:
        """Start a task, or attach to the one that there is under its id.

        Args:
            task_id: Its id: a user and a ``task_id`` are one task.
            user_id: For whom; None: the client's user.
            again: Whether to run a completed task once more; its recorded effects are not repeated.
            **task: Its ``skill`` or ``goal``, its ``inputs``, and further fields of ``AgentTask``.
        """
        body = self._for(user_id, {"task_id": task_id, "again": again, **task})
        return _read(StartedTask, await self._service.post("/v2/control/tasks", body))

    async def task(self, workflow_id: str, *, user_id: str | None = None, wait: float = 0.0) -> TaskStanding:
        """Return where a task is, what it asks and how it ended, waiting up to 60 seconds for its end."""
        asked = {"user_id": user_id or self._user, "wait": wait}
        return _read(TaskStanding, await self._service.get(_at(workflow_id), asked, waits=wait))

    async def result(self, workflow_id: str, *, user_id: str | None = None) -> TaskResult:
        """Wait for a task's end, however long it takes, also while the service is away for a while.

        Raises:
            TaskFailed: It failed.
            WorkflowCancelled: It was cancelled.
        """
        async for state in self.followed(workflow_id, user_id=user_id):
            if state.is_open:
                continue
            ended = state.result
            if ended is not None and ended.status is Phase.COMPLETED:
                return ended
            if state.phase == Phase.CANCELLED or (ended is not None and ended.status is Phase.CANCELLED):
                raise WorkflowCancelled(f"{workflow_id} was cancelled")
            raise TaskFailed(f"{workflow_id}: {ended.problem if ended else 'it left no result'}")
        raise AssertionError("a task is followed to its end")

    async def followed(self, workflow_id: str, *, user_id: str | None = None) -> AsyncGenerator[TaskStanding]:
        """Yield where a task is, whenever that was looked at anew, until it has ended; the last one says how.

        Raises:
            Unavailable, TooManyRequests: The service was away or overloaded for ten minutes; the task goes on.
        """
        wait = 0.0
        while True:
            state = await self._patiently(partial(self.task, workflow_id, user_id=user_id, wait=wait))
            yield state
            if not state.is_open:
                return
            await asyncio.sleep(POLL_SECONDS)
            # What it asks is told soon: a question may come at any time.
            wait = 2.0

    async def questions(self, *, user_id: str | None = None, limit: int = 50) -> list[OpenQuestion]:
        """Return what waits for a person to answer, what waits longest first."""
        answer = await self._service.get("/v2/control/questions", {"user_id": user_id or self._user, "limit": limit})
        return [_read(OpenQuestion, one) for one in self._listed("questions", answer)]

    async def answer(
        self, workflow_id: str, question_id: str, value: JsonValue, *, user_id: str | None = None, note: str = ""
    ) -> None:
        """Answer a question. The token has to be a person's."""
        body = {"question_id": question_id, "value": value, "note": note}
        await self._steered(workflow_id, "answer", user_id, body)

    async def deliver(
        self, workflow_id: str, name: str, value: JsonValue = None, *, user_id: str | None = None, id_: str = ""
    ) -> None:
        """Deliver an event that a step waits for, or will wait for; ``id_`` is its sender's own, taken once."""
        body = {"name": name, "value": value} | ({"id": id_} if id_ else {})
        await self._steered(workflow_id, "deliver", user_id, body)

    async def message(self, workflow_id: str, text: str, *, user_id: str | None = None) -> None:
        """Send a message to the model of a task with a goal."""
        await self._steered(workflow_id, "message", user_id, {"text": text})

    async def pause(self, workflow_id: str, *, user_id: str | None = None, because: str = "") -> None:
        """Pause a task: what is under way ends, and nothing new begins."""
        await self._steered(workflow_id, "pause", user_id, {"because": because})

    async def resume(self, workflow_id: str, *, user_id: str | None = None, because: str = "") -> None:
        """Let a paused task go on."""
        await self._steered(workflow_id, "resume", user_id, {"because": because})

    async def cancel(self, workflow_id: str, *, user_id: str | None = None, because: str = "") -> None:
        """Ask a task to stop; it finishes what it must not leave half done."""
        await self._steered(workflow_id, "cancel", user_id, {"because": because})

    async def _patiently(self, look: Callable[[], Awaitable[T]]) -> T:
        """Return what a look at something accepted says: that goes on while the service is away or overloaded."""
        end = monotonic() + _AWAY_AT_MOST
        while True:
            try:
                return await look()
            except PerdureError as error:
                pause = max(_AWAY, error.retry_after or 0.0)
                if not is_passing(error) or monotonic() + pause > end:
                    raise
                await asyncio.sleep(pause)

    async def _steered(self, workflow_id: str, how: str, user_id: str | None, body: Mapping[str, Any]) -> None:
        await self._service.post(f"{_at(workflow_id)}/{how}", self._for(user_id, body))

    def _for(self, user_id: str | None, body: Mapping[str, Any]) -> dict[str, Any]:
        sent = {"user_id": user_id or self._user, **body}
        return {name: value for name, value in sent.items() if value is not None or name == "value"}

    def _listed(self, endpoint: str, answer: object) -> list[object]:
        self._keys[endpoint], found = listed(answer, self._keys.get(endpoint, ""))
        return found

    def _recalled(self, endpoint: str, answer: object) -> RecallResult:
        self._keys[endpoint], result = recalled(answer, self._keys.get(endpoint, ""), now=datetime.now(UTC))
        return result


def _at(workflow_id: str) -> str:
    return f"/v2/control/tasks/{quote(workflow_id, safe='')}"


def _several(items: Given | Sequence[Given]) -> Sequence[Given]:
    """Return items as a list: a text, a mapping and a model are one each, not the letters or fields in them."""
    return [items] if isinstance(items, str | Mapping | Model) else items


def _sent(given: Given, lane: Lane | str | None) -> JsonValue:
    if isinstance(given, str):
        return {"kind": "memory", "content": given}
    if isinstance(given, Mapping):
        record = {} if lane is None or "kind" in given else {"kind": "record", "lane": str(lane)}
        return {**record, **given}
    return given.model_dump(mode="json", exclude_unset=True) | {"kind": given.kind}


def _text(answer: object, name: str) -> str:
    found = answer.get(name) if isinstance(answer, dict) else None  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(found, str):
        raise AnswerUnusable(f"the {SERVICE} answers without {name}")
    return found


def _read(kind: Any, answer: object) -> Any:
    try:
        return tolerant(kind).take(answer)
    except ValueError as error:
        name = getattr(kind, "__name__", "memory")
        raise AnswerUnusable(f"the {SERVICE} answers something that is no {name}") from error
