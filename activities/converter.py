"""The data converter: pydantic's, except that a malformed payload is refused instead of being retried for ever."""

import dataclasses
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from temporalio.api.common.v1 import Payload
from temporalio.contrib.pydantic import PydanticJSONPlainPayloadConverter, pydantic_data_converter
from temporalio.converter import CompositePayloadConverter, DefaultPayloadConverter, JSONPlainPayloadConverter
from temporalio.exceptions import ApplicationError

from perdure.documents import refused
from perdure.errors import InvalidInput, InvalidTask
from perdure.tasks import AgentTask


class _StrictJson(PydanticJSONPlainPayloadConverter):
    """Says which field is wrong, in a failure that ends a workflow; any other exception ends its task only."""

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        try:
            return super().from_payload(payload, type_hint)
        except ValidationError as problem:
            model = _model_of(type_hint)
            error = refused(problem, model, "", InvalidTask if issubclass(model, AgentTask) else InvalidInput)
            raise ApplicationError(str(error), type=type(error).__name__, non_retryable=True) from None


def _model_of(type_hint: object) -> type[BaseModel]:
    """Give the model that was asked for, also where it is optional."""
    candidates = [type_hint, *get_args(type_hint)]
    return next((one for one in candidates if isinstance(one, type) and issubclass(one, BaseModel)), BaseModel)


class _Converter(CompositePayloadConverter):
    def __init__(self) -> None:
        json = _StrictJson()
        super().__init__(
            *(
                json if isinstance(one, JSONPlainPayloadConverter) else one
                for one in DefaultPayloadConverter.default_encoding_payload_converters
            )
        )


DATA_CONVERTER = dataclasses.replace(pydantic_data_converter, payload_converter_class=_Converter)
"""What every client and worker of ours is given."""
