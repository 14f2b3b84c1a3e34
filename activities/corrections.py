"""Correcting a memory for the model of a task, as an activity."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import Field
from temporalio import activity

from activities.steps import made, this_attempt
from perdure.agent.steps.calls import Ended, Result, Value
from perdure.agent.steps.memory_guard import MemoryGuard
from perdure.agent.steps.values import Values
from perdure.agent.tool_specs import MemoryTool
from perdure.agent.turns import CorrectCall
from perdure.documents import mapping, validated
from perdure.errors import InvalidArguments, InvalidInput
from perdure.identity import digest, short_id
from perdure.memory.updates.screened_updates import screened_update
from perdure.memory.updates.updater import Updater
from perdure.memory.write_policies import WritePolicy
from perdure.model import Model, Text
from perdure.names import Activity
from perdure.stores.redis.changed_tenants import ChangedTenants
from perdure.stores.weaviate.store import LongTerm
from perdure.tools import Effect
from perdure.values.changes import Actor, ActorKind
from perdure.values.tasks import StepStatus
from perdure.values.updates import Correction, MemoryUpdate

_ID = re.compile(r"mem_[0-9a-f]{8,64}")


class CorrectArguments(Model):
    """What a model says when it corrects a memory."""

    id: Annotated[str, Field(max_length=100)]
    """The memory's id, or the beginning of it that recall shows."""
    text: Text
    """What is right."""


@dataclass(frozen=True, kw_only=True)
class CorrectionActivities:
    """The activity that corrects, and what it needs."""

    updater: Updater
    longterm: LongTerm
    values: Values
    policy: WritePolicy
    changed: ChangedTenants
    guard: MemoryGuard
    is_elsewhere: bool = False
    """Whether tasks use the memory of another installation."""

    @activity.defn(name=Activity.CORRECT)
    async def correct(self, call: CorrectCall) -> Ended:
        """Correct a memory of the task's user in the name of the task, once for its place in the task's turns.

        Raises:
            Blocked: A policy does not let the model correct that.
            InvalidArguments: The model left an argument out, or gave an unknown one.
            InvalidInput: The user has no such memory, or the rules of memory or the user's consents refuse it.
            TenantErased: The user was erased since the task was prepared.
            StoreUnavailable: A store does not answer, or has lost data.
            ApplicationError: A person is asked first; see ``asking``.
        """
        how: dict[str, Any] = {
            "tool": MemoryTool.CORRECT.value,
            "effect": Effect.IDEMPOTENT,
            "arguments": call.arguments,
        }
        return made(await self.guard.guarded(call, this_attempt(), lambda: self._corrected(call), **how), call.path)

    async def _corrected(self, call: CorrectCall) -> Ended:
        if self.is_elsewhere:
            problem = "what this task recalls is another installation's, and cannot be corrected from here"
            raise InvalidInput("id", problem, fix="remember what is right: it replaces what it contradicts")
        given = await self.values.get(call.tenant, call.task_id, call.arguments)
        asked = validated(CorrectArguments, mapping(given, call.path, InvalidArguments), call.path, InvalidArguments)
        request = MemoryUpdate(
            id=await self._named(call.tenant, asked.id),
            update=Correction(content=asked.text),
            by=Actor(kind=ActorKind.AGENT, id=activity.info().workflow_id or ""),
        )
        updated = await self.updater.update(
            call.tenant,
            screened_update(request, self.policy),
            operation=_operation(call, asked),
            at=datetime.now(UTC),
            epoch=call.epoch,
        )
        await self.changed.add(call.tenant, datetime.now(UTC))
        told = Value(inline=f"corrected; the id of what holds now is {short_id(updated.id)}")
        return Ended(result=Result(status=StepStatus.DONE, parts={"output": told}))

    async def _named(self, tenant: str, beginning: str) -> str:
        """Return the id of the one memory whose id begins so; another user's memory counts as nonexistent."""
        found = await self.longterm.beginning(tenant, beginning, limit=2) if _ID.fullmatch(beginning) else []
        if not found:
            unknown = f"there is no memory {beginning!r}"
            raise InvalidInput("id", unknown, fix="recall it: its id stands behind it, as mem_1a2b3c4d")
        if len(found) > 1:
            raise InvalidInput("id", f"{beginning!r} begins the ids of two memories", fix="remember what is right")
        return found[0]


def _operation(call: CorrectCall, asked: CorrectArguments) -> str:
    """Return the id of a correction: the same in each attempt and each run of the task.

    A path in a model's turns is only a place: asked again, the model may want another correction there.
    """
    return f"correct:{digest('correct/1', call.tenant, call.task_id, call.path, asked.id, asked.text)[:32]}"
