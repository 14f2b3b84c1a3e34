"""A caller's own converter beside Perdure's."""

from collections.abc import Sequence
from typing import Any, Self

import pytest
from pydantic import ValidationError
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.converter import (
    DataConverter,
    DefaultPayloadConverter,
    SerializationContext,
    WithSerializationContext,
    WorkflowSerializationContext,
)
from temporalio.exceptions import ApplicationError

from perdure import AgentTask, UpdateRequest
from perdure.agent.steps.calls import StepOutcome
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


async def test_what_is_encoded_already_stays_as_it_is() -> None:
    foreign = Payload(metadata={"encoding": b"binary/foreign"}, data=b"\xff")
    for theirs in (None, DataConverter(payload_converter_class=Keyed)):
        assert composed(theirs).payload_converter.to_payloads([RawValue(foreign)]) == [foreign]


async def test_a_kind_that_only_a_newer_build_knows_is_left_to_it() -> None:
    converter = composed(None).payload_converter
    [payload] = converter.to_payloads([{"kind": "hands over", "to": "ada"}])
    with pytest.raises(ValidationError):
        converter.from_payloads([payload], [StepOutcome])  # pyright: ignore[reportArgumentType]
    update = {"user_id": "u", "id": "m", "update": {"kind": "hands over"}}
    [payload] = converter.to_payloads([update])
    with pytest.raises(ApplicationError, match="update"):
        converter.from_payloads([payload], [UpdateRequest])
