"""How the load asks: through the gateway in this process, or over HTTP, as a program elsewhere does."""

from collections.abc import Sequence
from typing import Protocol

from perdure import AgentTask
from perdure.client import Client
from perdure.values.changes import Actor, ActorKind
from perdure.values.jobs import Receipt
from perdure.values.questions import Answer, Question
from perdure.values.requests import RecallRequest, RememberRequest
from perdure.values.tasks import TaskResult
from worker.gateway import Gateway

BY = Actor(kind=ActorKind.SYSTEM, id="chaos")
PERSON = Actor(kind=ActorKind.PERSON, id="chaos")
"""Answers, as only people are asked."""


class Door(Protocol):
    """What the load needs. Each call says the same thing again when it is repeated."""

    async def start(self, task: AgentTask) -> str:
        """Start a task; returns its workflow's id."""
        ...

    async def result(self, workflow_id: str, user: str) -> TaskResult:
        """Wait for a task's end."""
        ...

    async def asked(self, workflow_id: str, user: str) -> Sequence[Question]:
        """Return what a task asks."""
        ...

    async def answer(self, workflow_id: str, user: str, answer: Answer) -> None:
        """Answer a question of a task."""
        ...

    async def remember(self, request: RememberRequest) -> str:
        """Submit a batch; returns its job."""
        ...

    async def receipt(self, job: str, user: str) -> Receipt:
        """Wait for a job's receipt."""
        ...

    async def recall(self, request: RecallRequest) -> list[str]:
        """Return the texts that are recalled."""
        ...


class GatewayDoor:
    """The gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def start(self, task: AgentTask) -> str:
        """Start a task; returns its workflow's id."""
        return (await self._gateway.start(task, by=BY)).workflow_id

    async def result(self, workflow_id: str, user: str) -> TaskResult:
        """Wait for a task's end."""
        del user
        return await self._gateway.result(workflow_id, by=BY)

    async def asked(self, workflow_id: str, user: str) -> Sequence[Question]:
        """Return what a task asks."""
        del user
        progress = await self._gateway.progress(workflow_id, by=BY)
        return progress.questions if progress else ()

    async def answer(self, workflow_id: str, user: str, answer: Answer) -> None:
        """Answer a question of a task."""
        del user
        await self._gateway.answer(workflow_id, answer, by=PERSON)

    async def remember(self, request: RememberRequest) -> str:
        """Submit a batch; returns its job."""
        return await self._gateway.remember(request, by=BY)

    async def receipt(self, job: str, user: str) -> Receipt:
        """Wait for a job's receipt."""
        del user
        return await self._gateway.receipt(job, by=BY)

    async def recall(self, request: RecallRequest) -> list[str]:
        """Return the texts that are recalled."""
        return [item.text for item in (await self._gateway.recall(request, by=BY)).items]


class HttpDoor:
    """The HTTP service, by its client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def start(self, task: AgentTask) -> str:
        """Start a task; returns its workflow's id."""
        given = task.model_dump(mode="json", include={"skill", "inputs"})
        return (await self._client.start(task.task_id, user_id=task.user_id, **given)).workflow_id

    async def result(self, workflow_id: str, user: str) -> TaskResult:
        """Wait for a task's end."""
        return await self._client.result(workflow_id, user_id=user)

    async def asked(self, workflow_id: str, user: str) -> Sequence[Question]:
        """Return what a task asks."""
        progress = (await self._client.task(workflow_id, user_id=user)).progress
        return progress.questions if progress else ()

    async def answer(self, workflow_id: str, user: str, answer: Answer) -> None:
        """Answer a question of a task."""
        await self._client.answer(workflow_id, answer.question_id, answer.value, user_id=user)

    async def remember(self, request: RememberRequest) -> str:
        """Submit a batch; returns its job."""
        items = [one for one in request.items if isinstance(one, dict)]
        return await self._client.submit(items, key=request.key, user_id=request.user_id)

    async def receipt(self, job: str, user: str) -> Receipt:
        """Wait for a job's receipt."""
        return await self._client.receipt(job, user_id=user)

    async def recall(self, request: RecallRequest) -> list[str]:
        """Return the texts that are recalled."""
        found = await self._client.recall(request.text, user_id=request.user_id, limit=request.limit)
        return [item.text for item in found.items]
