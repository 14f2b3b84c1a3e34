"""Follows an audit task while its workers are killed, and answers its questions."""

from collections.abc import Awaitable, Callable

from perdure.values.changes import Actor, ActorKind
from perdure.values.questions import Answer, Question
from perdure.values.tasks import Progress, TaskResult
from worker.gateway import Gateway
from worker.terminal.display import follow
from worker.terminal.output import say

SHOWN_BY = Actor(kind=ActorKind.PERSON, id="perdure demo")

_PERIOD = 0.1

ANSWERS = {
    "axe-playwright-python": "MIT",
    "colorama": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "nodeenv": "BSD-3-Clause",
    "prompt-toolkit": "BSD-3-Clause",
    "python-stdnum": "LGPL-2.1-or-later",
}
"""What a person finds in the licence files of packages whose metadata says only "BSD" or "LGPL", or nothing."""


class Watcher:
    """Follows a task across the deaths of its workers."""

    def __init__(self, gateway: Gateway, workflow_id: str) -> None:
        self._gateway = gateway
        self._workflow_id = workflow_id
        self.done = 0
        self.questions: list[Question] = []

    async def follow(self, on_progress: Callable[[Progress], Awaitable[None]] | None = None) -> TaskResult:
        """Follow the task to its end, answering its questions.

        Args:
            on_progress: Called with each state of the task; it may kill a worker.
        """

        async def handle(progress: Progress) -> None:
            self.done = progress.done
            if on_progress:
                await on_progress(progress)
            await self._answer(progress)

        return await follow(self._gateway, self._workflow_id, handle, by=SHOWN_BY, period=_PERIOD)

    async def _answer(self, progress: Progress) -> None:
        for question in progress.questions:
            if question.id in {asked.id for asked in self.questions}:
                continue
            self.questions.append(question)
            words = question.text.split()
            licence = next((ANSWERS[word] for word in words if word in ANSWERS), "LicenseRef-Proprietary")
            await self._gateway.answer(self._workflow_id, Answer(question_id=question.id, value=licence), by=SHOWN_BY)
            say(f"  answered through the same update: {licence}")
