"""The branches of a running task: an asyncio task for each busy one, and what it does. Decides nothing."""

import asyncio
from collections.abc import Callable, Coroutine

from temporalio import workflow

from perdure.values.tasks import Phase

_BUSIEST_FIRST = (Phase.RUNNING, Phase.REMEMBERING, Phase.WAITING, Phase.PAUSED)


class Branches:
    """The work under way."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._doing: dict[str, Phase] = {}
        self.ending = False
        """Whether the task is ending: work under way is waited for, and nothing new begins."""
        self.awaiting: set[str] = set()
        """Branches that only wait, for an answer, a moment or an event: a rollover loses nothing of theirs."""

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def phase(self) -> Phase:
        """What the busiest branch does."""
        doing = self._doing.values()
        return next((phase for phase in _BUSIEST_FIRST if phase in doing), Phase.RUNNING)

    @property
    def can_roll(self) -> bool:
        """Whether nothing but questions and waits is under way."""
        return self.awaiting == self._tasks.keys()

    def start(self, branch: str, work: Coroutine[None, None, None]) -> None:
        """Start a branch's work.

        Raises:
            ValueError: The branch is busy.
        """
        if branch in self._tasks:
            work.close()
            raise ValueError(f"branch {branch!r} is busy")
        self._tasks[branch] = asyncio.create_task(work)

    def do(self, branch: str, phase: Phase) -> None:
        """Note what a branch does."""
        self._doing[branch] = phase

    async def changed(self, otherwise: Callable[[], bool]) -> None:
        """Wait until the work of a branch has ended, or a condition holds; raises what the work raised."""
        await workflow.wait_condition(lambda: otherwise() or any(task.done() for task in self._tasks.values()))
        for branch, task in list(self._tasks.items()):
            if task.done():
                del self._tasks[branch]
                self._doing.pop(branch, None)
                task.result()

    async def cancel(self) -> None:
        """Cancel the work under way, and wait until it has ended; an effect that has begun is not cut off."""
        self.ending = True
        # What ended in the same moment as the task was cancelled counts: a task that is cancelled before it takes up a
        # result loses it, and with it what undoes the effect. A condition is looked at once all that can go on has.
        await workflow.wait_condition(lambda: True)
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
