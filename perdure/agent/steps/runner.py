"""One step, from its expressions to its outcome. Decides what a step does; when it runs is decided by its workflow."""

import asyncio
import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from perdure.agent.steps.calls import (
    ITEMS_LIMIT,
    LIST_LIMIT,
    EvaluateCall,
    Evaluated,
    ExpandCall,
    Expanded,
    RecallCall,
    RecallWish,
    RememberCall,
    Result,
    StepCall,
    StepContext,
    StepOutcome,
    Value,
)
from perdure.agent.steps.items import items_of
from perdure.agent.steps.once import Happened, OnceRunner, Unknown, Verdict, failed
from perdure.agent.steps.values import Values
from perdure.errors import ExpectationFailed, InvalidExpression, InvalidItem, PerdureError, ResultTooLarge
from perdure.expressions.evaluation import evaluate, holds, written
from perdure.identity import digest
from perdure.questions import Question, QuestionKind
from perdure.skills.shape import RecallTemplate
from perdure.stores.redis.claims import Claims
from perdure.tasks import Evaluation, MemoryMode, StepStatus
from perdure.tools import Effect, Tool, Toolbox, ToolCall

OUTPUT_LIMIT = 1_800_000
"""Bytes of JSON that a task may give back: what Temporal takes in one payload, less the lists of its result."""

QUESTION_LIMIT = 2_000
"""Characters of a question: it is in the history several times, and in what the UI shows."""

_SKIPPED = StepOutcome(result=Result(status=StepStatus.SKIPPED))


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One attempt at a step."""

    run: str
    """The id of the task's workflow."""
    owner: str
    """This attempt; unique among all."""
    number: int


def idempotency_key(tenant: str, task_id: str, path: str) -> str:
    """Return the key of a step's effect: no run id in it, so it survives retry, reset and continue-as-new."""
    return digest("effect/1", tenant, task_id, path)


class StepRunner:
    """Runs steps with the tools of one worker."""

    def __init__(self, toolbox: Toolbox, claims: Claims, values: Values) -> None:
        self._toolbox = toolbox
        self._once = OnceRunner(claims)
        self._values = values

    async def act(self, call: StepCall, attempt: Attempt) -> StepOutcome:
        """Run a tool step: resolve, ask, act, check, render what is to be remembered.

        Raises:
            PerdureError: When it fails; the class says whether trying again makes sense.
        """
        step, given = call.step, call.given
        names = await self._values.names(call.tenant, call.scope)
        if given.acted is not None:
            output = await self._values.get(call.tenant, given.acted)
        else:
            if step.when is not None and not holds(step.when, names, f"{call.path}.when"):
                return _SKIPPED
            tool = self._toolbox.get(step.tool, f"{call.path}.tool")
            arguments = {name: evaluate(value, names, f"{call.path}.args.{name}") for name, value in step.args.items()}
            keywords = tool.validate(arguments, f"{call.path}.args")
            if step.approve is not None and not given.approved:
                text = written(evaluate(step.approve, names, f"{call.path}.approve"))
                return _asking(call, QuestionKind.APPROVAL, text, ("yes", "no"))
            acted = await self._perform(tool, keywords, call, attempt)
            if isinstance(acted, Unknown):
                text = f"An attempt died around {tool.name}. Did its effect happen?"
                return _asking(call, QuestionKind.UNKNOWN_EFFECT, text, ("done", "not_done"), claim=acted.claim)
            output = acted.output
        return await self._concluded(call, names, output, attempt)

    async def remember(self, call: RememberCall, attempt: Attempt) -> StepOutcome:
        """Run a step that only remembers."""
        names = await self._values.names(call.tenant, call.scope)
        if call.step.when is not None and not holds(call.step.when, names, f"{call.path}.when"):
            return _SKIPPED
        items, refused = items_of(call.step.remember, names, call, attempt.run)
        _refuse_if_critical(refused, call, critical=call.step.critical)
        return StepOutcome(result=Result(status=StepStatus.DONE), items=items, refused=refused)

    async def wish(self, call: RecallCall) -> RecallWish | None:
        """Give what a recall step asks for; None when its ``when`` is false."""
        step = call.step
        names = await self._values.names(call.tenant, call.scope)
        if step.when is not None and not holds(step.when, names, f"{call.path}.when"):
            return None
        template = step.recall
        return RecallWish(
            text=written(evaluate(template.text, names, f"{call.path}.recall.text")),
            lane=template.lane,
            keys=_keys(template, names, f"{call.path}.recall"),
            memory_types=template.memory_types,
            enough=template.enough,
            limit=template.limit,
        )

    async def keep(self, call: StepContext, parts: Mapping[str, JsonValue]) -> dict[str, Value]:
        """Make the parts of a result fit for the history."""
        return {name: await self._values.keep(call.tenant, value) for name, value in parts.items()}

    async def expand(self, call: ExpandCall) -> Expanded:
        """Make the list of a ``for_each``.

        Raises:
            InvalidExpression: When it is not a list.
            ResultTooLarge: When it is too long to be walked.
        """
        field = f"{call.path}.for_each"
        names = await self._values.names(call.tenant, call.scope)
        if call.block.when is not None and not holds(call.block.when, names, f"{call.path}.when"):
            return Expanded(elements=())
        elements = evaluate(call.block.for_each, names, field)
        if not isinstance(elements, list):
            raise InvalidExpression(field, f"gives {type(elements).__name__}, not a list")
        size = len(json.dumps(elements).encode())
        if len(elements) > ITEMS_LIMIT or size > LIST_LIMIT:
            raise ResultTooLarge(
                f"{field} gives {len(elements):,} elements in {size:,} bytes; "
                f"at most {ITEMS_LIMIT:,} and {LIST_LIMIT:,} can be walked (give shorter elements, or split the task)"
            )
        return Expanded(elements=tuple(elements))

    async def evaluate(self, call: EvaluateCall) -> Evaluated:
        """Give a task's output, and whether it is what its skill promises.

        Raises:
            ResultTooLarge: When the output is more than a task can give back.
        """
        names = await self._values.names(call.tenant, call.scope)
        output = evaluate(call.output, names, "output")
        size = len(json.dumps(output, ensure_ascii=False).encode())
        if size > OUTPUT_LIMIT:
            raise ResultTooLarge(
                f"output: has {size:,} bytes, and a task gives back at most {OUTPUT_LIMIT:,} (give a reference to it)"
            )
        if call.expect is None:
            return Evaluated(output=output, evaluation=None)
        passed = holds(call.expect, {**names, "output": output}, "expect")
        return Evaluated(output=output, evaluation=Evaluation(passed=passed, reason=call.expect))

    async def _perform(
        self, tool: Tool[..., Any], keywords: Mapping[str, Any], call: StepCall, attempt: Attempt
    ) -> Happened | Unknown:
        tool_call = ToolCall(
            idempotency_key=idempotency_key(call.tenant, call.task_id, call.path),
            task_id=call.task_id,
            step=call.path,
            attempt=attempt.number,
            deadline=datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=tool.timeout),
        )
        if tool.effect is Effect.ONCE:
            given = call.given
            verdict = None if given.happened is None else Verdict(claim=given.claim, happened=given.happened)
            return await self._once.run(call.tenant, tool, tool_call, keywords, attempt.owner, verdict=verdict)
        try:
            async with asyncio.timeout(tool.timeout):
                returned = await tool.call(tool_call, keywords)
        except PerdureError:
            raise
        except Exception as problem:
            raise failed(tool, problem) from problem
        return Happened(output=tool.jsonable(returned))

    async def _concluded(
        self, call: StepCall, names: dict[str, JsonValue], output: JsonValue, attempt: Attempt
    ) -> StepOutcome:
        step, answer = call.step, call.given.answer
        names = {**names, "output": output, "answer": answer}
        if step.expect is not None and answer is None and not holds(step.expect, names, f"{call.path}.expect"):
            if step.ask is None:
                raise ExpectationFailed(f"{call.path}: the result is not what is expected: {step.expect}")
            text = written(evaluate(step.ask, names, f"{call.path}.ask"))
            kept = await self._values.keep(call.tenant, output)
            return _asking(call, QuestionKind.INPUT, text, (), acted=kept)
        items, refused = items_of(step.remember, names, call, attempt.run) if call.memory is MemoryMode.ON else ((), ())
        _refuse_if_critical(refused, call, critical=step.critical)
        parts = await self.keep(call, {"output": output} if answer is None else {"output": output, "answer": answer})
        return StepOutcome(result=Result(status=StepStatus.DONE, parts=parts), items=items, refused=refused)


def _asking(
    call: StepContext,
    kind: QuestionKind,
    text: str,
    choices: tuple[str, ...],
    *,
    acted: Value | None = None,
    claim: str = "",
) -> StepOutcome:
    if not text.strip():
        text = f"{call.path} asks, but its question is empty"
    elif len(text) > QUESTION_LIMIT:
        text = text[: QUESTION_LIMIT - 1] + "…"
    question = Question(id=call.path, kind=kind, text=text, choices=choices)
    return StepOutcome(question=question, acted=acted, claim=claim)


def _refuse_if_critical(refused: tuple[str, ...], call: StepContext, *, critical: bool) -> None:
    if refused and critical:
        raise InvalidItem(f"{call.path}.remember", refused[0])


def _keys(template: RecallTemplate, names: Mapping[str, JsonValue], field: str) -> tuple[str, ...]:
    keys: list[JsonValue] = [] if template.key is None else [evaluate(template.key, names, f"{field}.key")]
    if isinstance(template.keys, str):
        found = evaluate(template.keys, names, f"{field}.keys")
        if not isinstance(found, list):
            raise InvalidExpression(f"{field}.keys", f"gives {type(found).__name__}, not a list of keys")
        keys.extend(found)
    else:
        keys.extend(evaluate(key, names, f"{field}.keys[{index}]") for index, key in enumerate(template.keys))
    return tuple(written(key) for key in keys)
