"""How a task counts, for its skill and for the memories that it recalled: as it ended, or as people said afterwards."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from perdure.crashpoints import CrashPoint, reached
from perdure.errors import UnknownOwner
from perdure.memory.membership import MemberBook
from perdure.memory.updates.updater import Updater
from perdure.stores.redis.feedback import RedisFeedback
from perdure.stores.redis.recalls import TaskRecalls
from perdure.stores.redis.skill_trials import SkillTrials
from perdure.values.changes import Actor
from perdure.values.feedback import verdict

_AT_ONCE = 50
"""Memories that are credited under one lease: as many as one write to Weaviate takes."""


@dataclass(frozen=True, kw_only=True)
class EndedTask:
    """A task that has ended."""

    tenant: str
    task_id: str
    first_run: str
    """The first run of its workflow."""
    succeeded: bool
    """Whether it did what it was to do, as far as was known when it ended."""


@dataclass(frozen=True, kw_only=True)
class TaskOutcomes:
    """Counts tasks that have ended. All of it is absolute: whoever counts last, the same is counted."""

    updater: Updater
    recalls: TaskRecalls
    members: MemberBook
    trials: SkillTrials
    feedback: RedisFeedback

    async def tried(self, task: EndedTask, version: str) -> None:
        """Count a task as one with a version of its skill.

        Raises:
            StoreUnavailable: Redis does not answer.
        """

        async def count(succeeded: bool, _: str) -> None:
            await self.trials.record(version, task.tenant, task.task_id, succeeded=succeeded)

        await self._counted(task, count)

    async def credit(self, task: EndedTask, called: str, *, operation: str, by: Actor, again: bool = False) -> int:
        """Count a task as a trial of each memory that it recalled; returns how many there were.

        Args:
            task: The task.
            called: What it is called in the memories' trials: the same however often it runs.
            operation: The operation that counts.
            by: Who has it counted.
            again: Whether what is credited already is credited once more, with what holds now.

        Raises:
            LeaseLost: Another writer holds a tenant: call it again.
            StoreUnavailable: A store does not answer, or has lost data.
        """
        recalled = await self.recalls.of(task.tenant, task.task_id, credited=again)

        async def count(succeeded: bool, word: str) -> None:
            for of, memories in recalled.items():
                for start in range(0, len(memories), _AT_ONCE):
                    ids = memories[start : start + _AT_ONCE]
                    # Users do not credit memories that they may no longer write.
                    with suppress(UnknownOwner):
                        tenant = await self.members.reached(task.tenant, of)
                        how: dict[str, Any] = {"operation": f"{operation}{word}", "by": by}
                        await self.updater.credit(tenant, ids, task=called, succeeded=succeeded, **how)
                        reached(CrashPoint.CREDIT_WRITTEN)
                    await self.recalls.credited(task.tenant, task.task_id, ids, of=of)

        await self._counted(task, count)
        return sum(map(len, recalled.values()))

    async def _counted(self, task: EndedTask, count: Callable[[bool, str], Awaitable[None]]) -> None:
        """Count a task as it ended or, where people have said so since, as they say."""
        while True:
            said = await self.feedback.of(task.tenant, task.task_id, task.first_run)
            decided = verdict(said)
            # One operation counts once, and a word that came meanwhile makes it another one, also one of earlier.
            word = f":{len(said)}:{said[-1].id}" if said else ""
            await count(task.succeeded if decided is None else decided, word)
            if await self.feedback.of(task.tenant, task.task_id, task.first_run) == said:
                return
