"""For tests of your own tools and skills: real servers, a worker with what you wrote, and a kill right after an effect.

Nothing is simulated, and nothing that is configured is reached: the servers are local ones that the tests of one
process share, and that end with it. Nothing else in ``perdure`` imports this.
"""

import asyncio
import atexit
import functools
import inspect
import os
import secrets
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import JsonValue

from localservers import ensure, stop
from localservers.fleet import start_worker, worker_environment
from localservers.processes import Child
from perdure.crashpoints import VARIABLE, CrashPoint
from perdure.settings import Addresses, Settings
from perdure.values.changes import Actor, ActorKind
from perdure.values.questions import Answer
from perdure.values.tasks import AgentTask, Progress, TaskResult
from worker.gateway import Gateway

__all__ = ["TESTER", "Effects", "LocalInstallation"]

Effects = Callable[[], Iterable[Hashable] | Awaitable[Iterable[Hashable]]]
"""Returns the effects that have happened, wherever they are: lines of a file, orders of a service. Each is told from
the others by what it is."""

TESTER = Actor(kind=ActorKind.PERSON, id="tester")
"""Who starts tasks and answers their questions in tests."""

_LOOK_AGAIN = 0.05
_STOPS_WITHIN = 15.0
"""Seconds that a worker may take to finish its activities."""

_KEPT = ("PERDURE_CACHE", "PERDURE_SECRET_")
"""Variables that tests share with the installation: where binaries of servers are, and secrets of tools."""

_NO_SCHEDULES = {f"{name}_cron": "off" for name in ("forgetting", "accesses", "promotion", "consolidation", "redating")}


class LocalInstallation:
    """A worker with your tools and skills, on servers of its own, and a user whom no other test has.

        async with LocalInstallation(tools=["shop.py"], skills=["skills"]) as installation:
            result = await installation.run("restock", {"sku": "bolts"})

    Args:
        tools: Modules with your tools: their files, or their import paths.
        skills: Folders with skills.
        **settings: More settings, by name: ``policies``, ``agents`` and so on.
    """

    def __init__(self, *, tools: Sequence[str | Path], skills: Sequence[str | Path] = (), **settings: Any) -> None:
        self._more = {"tools": [str(one) for one in tools], "skills": list(skills), **settings}
        self._worker: Child | None = None
        self.user = f"tester-{secrets.token_hex(4)}"

    async def __aenter__(self) -> Self:
        """Start the servers, unless an earlier test of this process has."""
        home, self._addresses = await asyncio.to_thread(_servers)
        queue = f"test-{secrets.token_hex(6)}"
        fixed = {"home": home, "task_queue": queue, "reconciling_cron": "off", **_NO_SCHEDULES}
        self._settings = Settings(**{**fixed, **self._more})
        self.gateway = Gateway(self._settings, self._addresses)
        """Everything that an installation can be asked: ``await installation.gateway.recall(…, by=TESTER)``."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Stop the worker."""
        await self.gateway.__aexit__(*exception)
        await self._end()

    async def run(
        self,
        skill: str,
        inputs: Mapping[str, JsonValue] | None = None,
        *,
        answers: Mapping[str, str] | None = None,
        within: float = 60,
    ) -> TaskResult:
        """Run a task, and return how it ended: ``completed``, ``failed`` or ``cancelled``.

        Args:
            skill: The skill that it runs.
            inputs: What the skill is given.
            answers: What a person answers, by the path of the step that asks.
            within: Seconds after which the test fails.

        Raises:
            AssertionError: It asks what nothing answers, or takes too long.
        """
        if self._worker is None:
            await self._serve()
        task = await self._started(skill, inputs)
        await self._follow(task, answers or {}, within)
        return await self._result(task)

    async def run_killed(
        self,
        skill: str,
        inputs: Mapping[str, JsonValue] | None = None,
        *,
        effects: Effects,
        at: int = 1,
        answers: Mapping[str, str] | None = None,
        within: float = 60,
    ) -> TaskResult:
        """Run a task whose worker is killed right after an effect, before anything is recorded; another one goes on.

        ``effects`` returns the effects that have happened, and is asked at the kill and at the end. ``at`` says after
        which effect of a ``once`` tool the worker is killed. The other arguments are those of ``run``.

        Returns:
            How the task ended.

        Raises:
            AssertionError: An effect happened twice; or nobody was killed, or none was seen, so nothing is proved.
        """
        await self._end()
        doomed = await self._serve(crash_at=f"{CrashPoint.TOOL_ACTED}:{at}")
        task = await self._started(skill, inputs)
        if not await self._killed(doomed, self._follow(task, answers or {}, within)):
            raise AssertionError(f"no worker was killed: the task ended with fewer than {at} effects of once tools")
        before = await _counted(effects)
        if not before:
            raise AssertionError("the worker was killed after an effect, and effects() returns none")
        await self._serve()
        await self._follow(task, answers or {}, within)
        after = await _counted(effects)
        again = [f"{one!r} {after[one]} times" for one in before if after[one] > before[one]]
        if again:
            raise AssertionError(f"an effect was repeated after the kill: {', '.join(again)}")
        return await self._result(task)

    async def _serve(self, crash_at: str = "") -> Child:
        environment = worker_environment(self._settings, self._addresses) | {VARIABLE: crash_at}
        log = self._settings.home / "logs" / f"{self._settings.task_queue}.log"
        self._worker = await start_worker(environment, self._addresses, log)
        return self._worker

    async def _end(self) -> None:
        if self._worker is not None:
            await self._worker.stop(_STOPS_WITHIN)
            self._worker = None

    async def _started(self, skill: str, inputs: Mapping[str, JsonValue] | None) -> str:
        task = AgentTask(
            task_id=f"test-{secrets.token_hex(4)}", user_id=self.user, skill=skill, inputs=dict(inputs or {})
        )
        return (await self.gateway.start(task, by=TESTER)).workflow_id

    async def _killed(self, doomed: Child, following: Coroutine[None, None, None]) -> bool:
        """Follow a task until its worker has ended; returns whether it has."""
        follows, dies = asyncio.create_task(following), asyncio.create_task(doomed.wait())
        # What is asked of a worker that dies meanwhile is answered by none.
        await asyncio.wait({follows, dies}, return_when=asyncio.FIRST_COMPLETED)
        for one in (follows, dies):
            one.cancel()
        await asyncio.gather(follows, dies, return_exceptions=True)
        if not doomed.ended:
            follows.result()
        elif (status := await doomed.wait()) != -signal.SIGKILL:
            raise AssertionError(f"the worker has ended by itself, with status {status}; {self._log()}")
        return doomed.ended

    async def _follow(self, task: str, answers: Mapping[str, str], within: float) -> None:
        """Answer what a task asks, until it has ended."""
        worker = self._worker
        seen: Progress | None = None
        try:
            async with asyncio.timeout(within):
                while await self.gateway.is_running(task, by=TESTER):
                    if worker is None or worker.ended:
                        raise AssertionError(f"the worker has ended; {self._log()}")
                    now = await self.gateway.progress(task, by=TESTER)
                    seen = now or seen
                    for question in now.questions if now else ():
                        if question.id not in answers:
                            raise AssertionError(
                                f"{question.id!r} asks, and nothing in answers is for it: {question.text}"
                            )
                        given = Answer(question_id=question.id, value=answers[question.id])
                        await self.gateway.answer(task, given, by=TESTER)
                    await asyncio.sleep(_LOOK_AGAIN)
        except TimeoutError:
            where = f"{seen.phase} at {seen.step!r}" if seen else "not begun"
            raise AssertionError(f"the task is {where} after {within:g} s; {self._log()}") from None

    async def _result(self, task: str) -> TaskResult:
        ended = await self.gateway.ended(task, by=TESTER)
        if ended is None:
            raise AssertionError(f"the task left no result; {self._log()}")
        return ended

    def _log(self) -> str:
        return f"the end of the worker's log:\n{self._worker.last_lines(20)}" if self._worker else "no worker ran"


async def _counted(effects: Effects) -> Counter[Hashable]:
    found = effects()
    return Counter(await found if inspect.isawaitable(found) else found)


@functools.cache
def _servers() -> tuple[Path, Addresses]:
    """Start the servers of this process's tests; they and their data are gone when it ends."""
    _forget_configuration()
    home = Path(tempfile.mkdtemp(prefix="perdure-testing-"))
    settings = Settings(home=home)

    def end() -> None:
        stop(settings)
        shutil.rmtree(home, ignore_errors=True)

    atexit.register(end)
    return home, ensure(settings, worker=False)


def _forget_configuration() -> None:
    """Have this process, and those that it starts, know of no server that is configured: a test must not reach one."""
    for variable in list(os.environ):
        ours = variable.startswith("PERDURE_") and not variable.startswith(_KEPT)
        if ours or variable.startswith("TEMPORAL_"):
            del os.environ[variable]
    os.environ.update({"PERDURE_CONFIG": os.devnull, "TEMPORAL_CONFIG_FILE": os.devnull})
