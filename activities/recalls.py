"""A task's recalls, as activities."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pydantic import JsonValue
from temporalio import activity

from activities.remote_memory import RemoteMemory, beside
from activities.steps import given_of, made, this_attempt
from perdure.agent.steps.calls import Ended, RecallCall, Result
from perdure.agent.steps.evaluator import SKIPPED
from perdure.agent.steps.memory_guard import MemoryGuard
from perdure.agent.steps.runner import StepRunner
from perdure.agent.tool_specs import MemoryTool
from perdure.errors import StoreUnavailable
from perdure.memory.membership import MemberBook
from perdure.memory.recall.query import Query, RecallResult
from perdure.memory.recall.service import Recall
from perdure.names import Activity
from perdure.stores.redis.recalls import TaskRecalls
from perdure.together import together
from perdure.tools import Effect
from perdure.values.changes import Actor, ActorKind
from perdure.values.explanations import RecallSummary
from perdure.values.tasks import StepStatus

NAMED = 20
"""How many items a summary names, so that the history of a task with many recalls stays small."""


class RecallStepActivities:
    """Recalls for steps.

    Args:
        runner: Works out what a step asks, and keeps what it gets.
        recall: This installation's memory.
        members: Knows whose memory a user may ask for.
        recalls: Notes what a task recalled, for when it ends.
        guard: Asks the policies about what a model asks.
        elsewhere: The memory that tasks use, if it is not this installation's.
    """

    def __init__(
        self,
        *,
        runner: StepRunner,
        recall: Recall,
        members: MemberBook,
        recalls: TaskRecalls,
        guard: MemoryGuard,
        elsewhere: RemoteMemory | None = None,
    ) -> None:
        self._elsewhere = elsewhere
        self._guard = guard
        self._runner = runner
        self._recall = recall
        self._members = members
        self._recalls = recalls

    @activity.defn(name=Activity.RECALL_STEP)
    async def recall_step(self, call: RecallCall) -> Ended:
        """Recall what a step asks for.

        Raises:
            Blocked: A policy does not let the model ask that.
            UnknownOwner: The task's user does not belong to the owner that the step names, or there is no such owner.
            ApplicationError: A person is asked first; see ``asking``.
        """
        how: dict[str, Any] = {"tool": MemoryTool.RECALL.value, "effect": Effect.READ, "arguments": given_of(call)}
        return made(await self._guard.guarded(call, this_attempt(), lambda: self._recalled(call), **how), call.path)

    async def _recalled(self, call: RecallCall) -> Ended:
        terms = await self._runner.terms(call)
        if terms is None:
            return SKIPPED
        info = activity.info()
        # Checked with each step: a user removed from a team while their task runs reads no more of its memory.
        tenant = call.tenant if self._elsewhere else await self._members.reached(call.tenant, terms.of)
        query = Query.of(
            terms,
            f"{call.path}.recall",
            tenant=tenant,
            session=call.session,
            in_session=terms.text if call.in_session else "",
            now=call.now,
            only_reads=not call.memory.remembers,
            tell_left_out=True,
            shows_ids=call.shows_ids,
            by=Actor(kind=ActorKind.AGENT, id=info.workflow_id or ""),
            operation=f"recall:{info.workflow_run_id}:{info.activity_id}",
        )
        if self._elsewhere:
            # What happens in a task's session is known here.
            elsewhere = self._elsewhere.recall(query, user_id=call.user_id, of=terms.of)
            session = self._recall.recall(query.changed(text="", keys=(), lane=None))
            found = beside(*await together(elsewhere, session), query.context_characters)
        else:
            found = await self._recall.recall(query)
        if call.memory.remembers and not self._elsewhere:
            memories = [item.id for item in found.items if item.kind == "memory"]
            # Without Redis the task goes on, but these are not credited with how it ends.
            with suppress(StoreUnavailable):
                await self._recalls.add(call.tenant, call.task_id, memories, of=terms.of, epoch=call.epoch)
        parts = await self._runner.keep(call, _parts(found, terms.keys))
        return Ended(
            result=Result(status=StepStatus.DONE, parts=parts),
            recall=_summary(call.path, found),
        )


def _parts(found: RecallResult, asked: Sequence[str]) -> dict[str, JsonValue]:
    records = (item for item in found.items if item.kind == "record")
    newest_last = sorted(records, key=lambda item: (item.last_seen, item.recorded_at or item.last_seen))
    payloads = {item.key: item.payload for item in newest_last}
    # A skill looks a record up by the key as it wrote it.
    spelled = {key: payloads[normal] for key in asked if (normal := unicodedata.normalize("NFC", key)) in payloads}
    return {
        "items": [item.model_dump(mode="json") for item in found.items],
        "records": payloads | spelled,
        "context": found.context,
    }


def _summary(step: str, found: RecallResult) -> RecallSummary:
    how = [item.found_by for item in found.items]
    counted = ", ".join(f"{how.count(one)} {one}" for one in dict.fromkeys(how)) or "nothing"
    searched = f"; {found.trigger.told}" if found.trigger.told else ""
    if found.found_in_session:
        searched += f"; {len(found.found_in_session)} of the session by words"
    return RecallSummary(
        step=step,
        recalled=len(found.items),
        ids=tuple(item.id for item in found.items[:NAMED]),
        scores=tuple(round(item.score, 4) for item in found.items[:NAMED]),
        why=f"{counted}{searched}" + (f"; no answer from {', '.join(found.degraded)}" if found.degraded else ""),
        degraded=bool(found.degraded),
        milliseconds=found.milliseconds,
        left_out=dict(Counter(one.reason for one in found.left_out)),
        withheld=found.withheld,
    )
