"""What is done meanwhile: tasks, jobs, recalls and sweeps, as callers do them, who try again until it is accepted."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from pydantic import JsonValue

from chaos.doors import BY, Door
from chaos.ledger import read
from chaos.requests import Shown, Started, Submitted
from perdure import AgentTask
from perdure.errors import InvalidAnswer, InvalidTask, PerdureError
from perdure.values.items import MemoryItem
from perdure.values.questions import Answer, EffectFate, Question
from perdure.values.requests import ForgetRequest, RecallRequest, RememberRequest
from worker.gateway import Gateway

USERS = 6
TASKS_AT_ONCE = 8
JOBS_AT_ONCE = 4
MARKS = 6
ITEMS = 20

T = TypeVar("T")


@dataclass
class Load:
    """Everything that was asked for, and what was answered.

    Args:
        door: How it is asked for.
        gateway: How sweeps are, which no service offers.
        ledger: Where effects are noted.
        chance: Decides who asks for what.
    """

    door: Door
    gateway: Gateway
    ledger: Path
    chance: random.Random
    tasks: list[Started] = field(default_factory=list[Started])
    jobs: list[Submitted] = field(default_factory=list[Submitted])
    recalls: int = 0
    sweeps: int = 0
    unanswered: int = 0
    """Recalls and sweeps that have begun, and not ended yet."""
    shown: list[Shown] = field(default_factory=list[Shown])
    """What recalls gave, those of the tasks among them."""

    async def feed(self, stopping: asyncio.Event) -> None:
        """Ask for more until told to stop, and then wait until all of it has ended."""
        async with asyncio.TaskGroup() as group:
            for _ in range(TASKS_AT_ONCE):
                group.create_task(self._until(stopping, self._task))
            for _ in range(JOBS_AT_ONCE):
                group.create_task(self._until(stopping, self._job))
            group.create_task(self._until(stopping, self._recall))
            group.create_task(self._until(stopping, self._sweep))

    async def _until(self, stopping: asyncio.Event, ask: Callable[[], Awaitable[None]]) -> None:
        while not stopping.is_set():
            await ask()

    async def _task(self) -> None:
        user, number = self._user(), len(self.tasks)
        marks = [f"m{number}-{index}" for index in range(MARKS)]
        inputs: dict[str, JsonValue] = {"ledger": str(self.ledger), "user": user, "marks": [*marks]}
        one = Started(AgentTask(task_id=f"chaos-{number}", user_id=user, skill="chaos", inputs=inputs), marks)
        self.tasks.append(one)
        one.workflow_id = workflow_id = await insisting(lambda: self.door.start(one.task))
        # A group, so that a run ends with whatever refuses its answers.
        async with asyncio.TaskGroup() as group:
            answering = group.create_task(self._answer(workflow_id, user))
            try:
                result = await insisting(lambda: self.door.result(workflow_id, user))
                # A task does not wait for what it learned to be searchable; who judges it has to.
                for job in result.jobs:
                    await insisting(partial(self.door.receipt, job, user))
                one.result = result
            except PerdureError as failure:
                one.problem = str(failure)
            finally:
                answering.cancel()
        if one.result:
            known = one.result.output if isinstance(one.result.output, list) else []
            self.shown += [Shown(user, str(item)) for item in known]

    async def _answer(self, workflow_id: str, user: str) -> None:
        """Answer what is asked by what the ledger says; a question comes after the deadline, so nothing can follow."""
        while True:
            await asyncio.sleep(0.5)
            for question in await insisting(lambda: self.door.asked(workflow_id, user)):
                await self._answered(workflow_id, user, question)

    async def _answered(self, workflow_id: str, user: str, question: Question) -> None:
        happened = question.about is not None and read(self.ledger).done[question.about.idempotency_key] > 0
        answer = Answer(question_id=question.id, value=EffectFate.DONE if happened else EffectFate.NOT_DONE)
        try:
            await insisting(lambda: self.door.answer(workflow_id, user, answer))
        except (InvalidAnswer, InvalidTask):
            return  # It was answered by an earlier attempt whose answer got lost, or has ended.

    async def _job(self) -> None:
        user, number, now = self._user(), len(self.jobs), datetime.now(UTC)
        items = [
            MemoryItem(
                content=f"{user} noted {number * ITEMS + index} about {self.chance.choice(TOPICS)}.",
                confidence=0.9,
                occurrence=f"job {number} item {index}",
                occurred_at=now,
                # Some are soon to be forgotten, and what is forgotten meanwhile is not missed.
                valid_until=now + timedelta(seconds=5) if index % 10 == 0 else None,
            )
            for index in range(ITEMS)
        ]
        written = tuple(item.model_dump(mode="json") for item in items)
        one = Submitted(RememberRequest(user_id=user, key=f"job-{number}", items=written), items)
        self.jobs.append(one)
        one.job = job = await insisting(lambda: self.door.remember(one.request))
        one.receipt = await insisting(lambda: self.door.receipt(job, user))

    async def _recall(self) -> None:
        user = self._user()
        asked = RecallRequest(user_id=user, text=f"what about {self.chance.choice(TOPICS)}?", limit=20)
        self.unanswered += 1
        found = await insisting(lambda: self.door.recall(asked))
        self.unanswered -= 1
        self.recalls += 1
        self.shown += [Shown(user, text) for text in found]
        await asyncio.sleep(0.2)

    async def _sweep(self) -> None:
        user = self._user()
        self.unanswered += 1
        await insisting(lambda: self.gateway.forget(ForgetRequest(user_id=user, approved=True), by=BY))
        self.unanswered -= 1
        self.sweeps += 1
        await asyncio.sleep(2)

    def _user(self) -> str:
        return f"user-{self.chance.randrange(USERS)}"


TOPICS = ("deploys", "invoices", "licences", "on-call duty", "backups", "the office", "trains", "customers", "tests")


async def insisting(call: Callable[[], Awaitable[T]]) -> T:
    """Call until there is an answer: each of these calls says the same thing again when it is repeated."""
    while True:
        try:
            return await call()
        except PerdureError as error:
            if not error.retryable:
                raise
        except (OSError, TimeoutError):
            pass
        await asyncio.sleep(0.5)
