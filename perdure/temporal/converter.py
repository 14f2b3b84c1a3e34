"""The data converter: pydantic's, except that a malformed payload is refused instead of being retried for ever."""

import dataclasses
from collections.abc import Sequence
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
            raise _failure(refused(problem, model, "", _error_of(model))) from None
        except InvalidInput as refusal:
            raise _failure(refusal) from None


def _model_of(type_hint: object) -> type[BaseModel]:
    """Give the model that was asked for, also where it is optional."""
    candidates = [type_hint, *get_args(type_hint)]
    return next((one for one in candidates if isinstance(one, type) and issubclass(one, BaseModel)), BaseModel)


def _error_of(model: type[BaseModel]) -> type[InvalidInput]:
    return InvalidTask if issubclass(model, AgentTask) else InvalidInput


def _failure(error: InvalidInput) -> ApplicationError:
    return ApplicationError(str(error), type=type(error).__name__, non_retryable=True)


class _Converter(CompositePayloadConverter):
    def __init__(self) -> None:
        json = _StrictJson()
        super().__init__(
            *(
                json if isinstance(one, JSONPlainPayloadConverter) else one
                for one in DefaultPayloadConverter.default_encoding_payload_converters
            )
        )

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        """Decode values; whatever stands for a model of ours has to be JSON, and the UI offers more than that.

        An encoding that nobody here knows is left to be tried again: a worker without its codec must not
        end the tasks of those that have it.
        """
        for payload, type_hint in zip(payloads, type_hints or (), strict=False):
            model, encoding = _model_of(type_hint), payload.metadata.get("encoding", b"")
            absent = encoding == b"binary/null" and type(None) in get_args(type_hint)
            known = not encoding or encoding in self.converters
            if model is not BaseModel and known and encoding != b"json/plain" and not absent:
                problem = f"is encoded as {encoding.decode() or 'nothing'}"
                raise _failure(_error_of(model)("input", problem, fix="send it as json/plain"))
        return super().from_payloads(payloads, type_hints)


DATA_CONVERTER = dataclasses.replace(pydantic_data_converter, payload_converter_class=_Converter)
"""What every client and worker of ours is given."""
