"""A caller's own converter beside Perdure's."""

from collections.abc import Sequence
from typing import Any, Self

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    DataConverter,
    DefaultPayloadConverter,
    SerializationContext,
    WithSerializationContext,
    WorkflowSerializationContext,
)

from perdure import AgentTask
from perdure.temporal.converter import composed


class Keyed(DefaultPayloadConverter, WithSerializationContext):
    """A converter that keys each value by its workflow."""

    workflow = "none"

    def with_context(self, context: SerializationContext) -> Self:
        copy = type(self)()
        copy.workflow = context.workflow_id if isinstance(context, WorkflowSerializationContext) else "none"
        return copy

    def to_payloads(self, values: Sequence[Any]) -> list[Payload]:
        payloads = super().to_payloads(values)
        for payload in payloads:
            payload.metadata["key"] = self.workflow.encode()
        return payloads


async def test_a_callers_converter_gets_its_context_and_perdures_values_their_own() -> None:
    theirs = composed(DataConverter(payload_converter_class=Keyed))
    context = WorkflowSerializationContext(namespace="default", workflow_id="w-1")
    task = AgentTask(task_id="t", user_id="u", skill="s")
    value, ours = await theirs.with_context(context).encode(["theirs", task])
    assert value.metadata["key"] == b"w-1"
    assert "key" not in ours.metadata
