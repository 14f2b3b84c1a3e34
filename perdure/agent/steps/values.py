"""Values on their way between steps: inline while small, by digest when large, and as the names of expressions."""

import json

from pydantic import JsonValue

from perdure.agent.steps.calls import INLINE_LIMIT, Scope, Value
from perdure.errors import InvalidExpression, ResultTooLarge
from perdure.model import DEEPEST_VALUE, depth, json_size
from perdure.stores.redis.outputs import Outputs


class Values:
    """Keeps large values outside the history, and reads them back."""

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs

    async def keep(
        self, tenant: str, task_id: str, value: JsonValue, *, limit: int = INLINE_LIMIT, epoch: int | None = None
    ) -> Value:
        """Return a value in a form that fits the history.

        One of more bytes than the limit is kept elsewhere, for as long as its task lives.

        Raises:
            TenantErased: When it is too large for it, and the user was erased since the epoch that the task has.
            StoreUnavailable: When it is too large for it, and can be kept neither in Redis nor on disk.
        """
        encoded = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        if len(encoded.encode()) <= limit:
            return Value(inline=value)
        ref = await self._outputs.keep(tenant, encoded, task_id, epoch=epoch)
        return Value(ref=ref, size=len(encoded))

    async def get(self, tenant: str, task_id: str, value: Value) -> JsonValue:
        """Return a value of a task, from wherever it is kept."""
        return await self._outputs.get(tenant, value.ref, task_id) if value.ref else value.inline

    async def names(self, tenant: str, task_id: str, scope: Scope) -> dict[str, JsonValue]:
        """Return what expressions may refer to."""
        inputs = {name: await self.get(tenant, task_id, value) for name, value in scope.inputs.items()}
        steps: dict[str, JsonValue] = {}
        for step, parts in scope.steps.items():
            steps[step] = {part: await self.get(tenant, task_id, value) for part, value in parts.items()}
        named = {name: await self.get(tenant, task_id, value) for name, value in scope.names.items()}
        names: dict[str, JsonValue] = {"inputs": inputs, "steps": steps, **scope.elements, **named}
        if scope.task is not None:
            names["task"] = scope.task.model_dump(mode="json")
        return names


def require_fitting(value: JsonValue, field: str, most: int, what: str) -> int:
    """Return the bytes of a value as JSON, if a task can carry it.

    Args:
        value: What an expression gave.
        field: Where it stands.
        most: The bytes that it may have.
        what: What has at most so many.

    Raises:
        InvalidExpression: It is nested too deep.
        ResultTooLarge: It has more bytes.
    """
    if (levels := depth(value)) > DEEPEST_VALUE:
        raise InvalidExpression(field, f"is nested {levels} deep", fix=f"at most {DEEPEST_VALUE}")
    if (size := json_size(value)) > most:
        raise ResultTooLarge(f"{field} has {size:,} bytes, and {what} has at most {most:,}")
    return size
