"""Follows an audit task while its workers are killed, and answers its questions."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from rich.progress import Progress as Bar

from perdure.changes import Actor, ActorKind
from perdure.questions import Answer, Question
from perdure.tasks import Progress, TaskResult
from worker.cli.following import how_to_answer, progress_bar
from worker.gateway import Gateway, TaskHandle

SHOWN_BY = Actor(kind=ActorKind.PERSON, id="perdure demo")

_PERIOD = 0.1

ANSWERS = {"nodeenv": "BSD-3-Clause", "prompt-toolkit": "BSD-3-Clause"}
"""What a person finds in the licence files of two packages whose metadata says only "BSD"."""


@dataclass
class Watched:
    """What was observed while a task ran."""

    result: TaskResult | None = None
    questions: list[Question] = field(default_factory=list[Question])
    resumed_after: list[float] = field(default_factory=list[float])
    """Seconds from each kill to the next completed step."""


class Watcher:
    """Follows a task across the deaths of its workers."""

    def __init__(self, gateway: Gateway, handle: TaskHandle, label: str) -> None:
        self._gateway = gateway
        self._handle = handle
        self._label = label
        self._killed: tuple[float, int] | None = None
        self.seen = Watched()
        self.done = 0

    def killed(self) -> None:
        """Record that the worker has just died."""
        self._killed = (time.monotonic(), self.done)

    async def follow(self, on_progress: Callable[[Progress], Awaitable[None]]) -> TaskResult:
        """Follow the task to its end, answering its questions.

        Args:
            on_progress: Called with each state of the task; it may kill a worker.
        """
        result = asyncio.create_task(self._handle.result())
        with progress_bar(transient=True) as bar:
            line = bar.add_task(self._label, total=None, step="")
            while not result.done():
                progress = await self._gateway.progress(self._handle.id)
                if progress is not None:
                    bar.update(line, completed=progress.done, total=progress.total or None, step=progress.step)
                    self._note(progress)
                    await on_progress(progress)
                    await self._answer(progress, bar)
                await asyncio.wait([result], timeout=_PERIOD)
        self.seen.result = result.result()
        return self.seen.result

    def _note(self, progress: Progress) -> None:
        self.done = progress.done
        if self._killed and progress.done > self._killed[1]:
            self.seen.resumed_after.append(time.monotonic() - self._killed[0])
            self._killed = None

    async def _answer(self, progress: Progress, bar: Bar) -> None:
        for question in progress.questions:
            if question.id in {asked.id for asked in self.seen.questions}:
                continue
            self.seen.questions.append(question)
            bar.console.print(how_to_answer(self._handle.id, question), markup=False)
            words = question.text.split()
            licence = next((ANSWERS[word] for word in words if word in ANSWERS), "LicenseRef-Proprietary")
            await self._gateway.answer(self._handle.id, Answer(question_id=question.id, value=licence), by=SHOWN_BY)
            bar.console.print(f"  answered through the same update: {licence}", markup=False)
