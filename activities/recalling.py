"""A task's recall step as an activity: its expressions, then memory, then what later steps can read of the answer."""

from typing import Protocol

from pydantic import JsonValue
from temporalio import activity

from activities.heartbeats import beating
from perdure.documents import validated
from perdure.procedures.calls import RecallCall, RecallWish, Result, StepOutcome
from perdure.procedures.running import StepRunner
from perdure.recall import Query, RecallResult
from perdure.tasks import RecallSummary, StepStatus

NAMED = 20
"""How many items a summary names, so that the history of a task with many recalls stays small."""


class Memory(Protocol):
    """Whatever answers a query; it never fails because a store is down."""

    async def recall(self, query: Query) -> RecallResult:
        """Answer."""
        ...


class RecallStepActivities:
    """Recalls for steps."""

    def __init__(self, runner: StepRunner, memory: Memory) -> None:
        self._runner = runner
        self._memory = memory

    @activity.defn
    async def recall_step(self, call: RecallCall) -> StepOutcome:
        """Recall what a step asks for."""
        async with beating():
            wish = await self._runner.wish(call)
            if wish is None:
                return StepOutcome(result=Result(status=StepStatus.SKIPPED))
            found = await self._memory.recall(_query(call, wish))
            parts = await self._runner.keep(call, _parts(found))
        return StepOutcome(
            result=Result(status=StepStatus.DONE, parts=parts),
            recall=_summary(call.path, found),
            recalled=len(found.items),
        )


def _query(call: RecallCall, wish: RecallWish) -> Query:
    data = {"tenant": call.tenant, "session": call.session, "now": call.now, **wish.model_dump()}
    return validated(Query, data, f"{call.path}.recall")


def _parts(found: RecallResult) -> dict[str, JsonValue]:
    newest_last = sorted((item for item in found.items if item.kind == "record"), key=lambda item: item.last_seen)
    return {
        "items": [item.model_dump(mode="json") for item in found.items],
        "records": {item.key: item.payload for item in newest_last},
        "context": found.context,
    }


def _summary(step: str, found: RecallResult) -> RecallSummary:
    phases = [item.phase for item in found.items]
    counted = ", ".join(f"{phases.count(phase)} {phase}" for phase in dict.fromkeys(phases)) or "nothing"
    searched = f"; searched by meaning: {found.trigger}" if found.trigger else ""
    return RecallSummary(
        step=step,
        ids=tuple(item.id for item in found.items[:NAMED]),
        scores=tuple(round(item.score, 4) for item in found.items[:NAMED]),
        why=f"{counted}{searched}" + (f"; no answer from {', '.join(found.degraded)}" if found.degraded else ""),
        degraded=bool(found.degraded),
        milliseconds=found.milliseconds,
    )
