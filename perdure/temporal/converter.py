"""The data converter: pydantic's, except that a malformed payload is refused instead of being retried for ever."""

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Self, cast, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.contrib.pydantic import PydanticJSONPlainPayloadConverter
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultPayloadConverter,
    JSONPlainPayloadConverter,
    PayloadConverter,
    SerializationContext,
    WithSerializationContext,
)

from perdure.documents import refused
from perdure.errors import InvalidInput, InvalidTask
from perdure.model import Model, Request
from perdure.temporal.errors import failure_of
from perdure.tolerance import tolerant
from perdure.values.tasks import AgentTask


class _Json(PydanticJSONPlainPayloadConverter):
    """Names the wrong field in a failure that ends the workflow; any other exception only ends the workflow task."""

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        try:
            return super().from_payload(payload, type_hint)
        except ValidationError as problem:
            model = next(_models(type_hint), BaseModel)
            if _is_newer(problem, model):
                # A worker of the build that wrote it can go on: the task is left to it.
                raise
            if not _is_asked_now(model, payload):
                with suppress(ValidationError):
                    return tolerant(type_hint).read(payload.data)
            data = None
            with suppress(ValueError):
                data = from_json(payload.data)
            raise failure_of(refused(problem, model, "", _error_of(model), data=data)) from None
        except InvalidInput as refusal:
            raise failure_of(refusal) from None


_JSON = _Json()
_CONVERTERS = tuple(
    _JSON if isinstance(one, JSONPlainPayloadConverter) else one
    for one in DefaultPayloadConverter.default_encoding_payload_converters
)
# The SDK (1.35) makes a converter for each activation of a workflow: without these, each would have to build anew what
# it knows of every type that it has read.


class PerdureConverter(CompositePayloadConverter):
    """Reads and writes every value as JSON, by pydantic."""

    def __init__(self) -> None:
        super().__init__(*_CONVERTERS)

    def with_context(self, context: SerializationContext) -> Self:
        """Return this converter: it does the same in every workflow and activity."""
        return self

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        """Decode values. Parameters typed as our models must be ``json/plain``; the Temporal UI offers other encodings.

        An encoding that no converter here knows is left to be retried: a worker without its codec must not end the
        tasks of workers that have it.
        """
        for payload, type_hint in zip(payloads, type_hints or (), strict=False):
            model, encoding = next(_models(type_hint), None), payload.metadata.get("encoding", b"")
            absent = encoding == b"binary/null" and type(None) in get_args(type_hint)
            known = not encoding or encoding in self.converters
            if model is not None and known and encoding != b"json/plain" and not absent:
                problem = f"is encoded as {encoding.decode() or 'nothing'}"
                raise failure_of(_error_of(model)("input", problem, fix="send it as json/plain"))
        return super().from_payloads(payloads, type_hints)


def _is_newer(problem: ValidationError, model: type) -> bool:
    """Return whether a value has a kind of something that only a newer build knows, and that no person wrote."""
    kinds = (error["loc"] for error in problem.errors() if error["type"] == "union_tag_invalid")
    return any("carried" in loc or not issubclass(model, Request) for loc in kinds)


def _is_asked_now(model: type[BaseModel], payload: Payload) -> bool:
    """Return whether a person asks for something, who is told at once what is beyond bounds.

    Not so where a rollover carries on what was accepted, or for an update: its validator refuses what is beyond bounds,
    and is not run when the workflow is replayed, perhaps by another build than the one that accepted it.
    """
    if not issubclass(model, Request) or workflow.current_update_info() is not None:
        return False
    if "carried" not in model.model_fields:
        return True
    try:
        fields = from_json(payload.data)
    except ValueError:
        return True
    return not isinstance(fields, dict) or cast("dict[str, Any]", fields).get("carried") is None


def composed(theirs: DataConverter | None) -> DataConverter:
    """Return a data converter that reads and writes Perdure's values, and leaves all others to the given one.

    Its codec, failure converter and external storage stay as they are.
    """
    theirs = theirs or DataConverter.default
    mine = theirs.payload_converter_class
    if issubclass(mine, PerdureConverter | _Composed):
        return theirs
    chosen = PerdureConverter if mine is DefaultPayloadConverter else _composed(mine)
    return dataclasses.replace(theirs, payload_converter_class=chosen)


class _Composed(PayloadConverter, WithSerializationContext):
    """Two converters: Perdure's for its own models and for what holds them, another one for the rest."""

    other: type[PayloadConverter]

    def __init__(self) -> None:
        self._ours: PayloadConverter = PerdureConverter()
        self._theirs = self.other()

    def with_context(self, context: SerializationContext) -> Self:
        """Return the same two converters in the context of one workflow or activity, as the SDK asks for."""
        copy = type(self)()
        if isinstance(copy._theirs, WithSerializationContext):
            copy._theirs = copy._theirs.with_context(context)
        return copy

    def to_payloads(self, values: Sequence[Any]) -> list[Payload]:
        return [self._of(value).to_payloads([value])[0] for value in values]

    def _of(self, value: object) -> PayloadConverter:
        # What is encoded already stays as it is, which not every converter knows.
        return self._ours if isinstance(value, RawValue) or holds_ours(value) else self._theirs

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        hints: list[Any] = list(type_hints or ()) + [None] * (len(payloads) - len(type_hints or ()))
        return [
            (self._ours if any(issubclass(model, Model) for model in _models(hint)) else self._theirs).from_payloads(
                [payload], [hint] if hint is not None else None
            )[0]
            for payload, hint in zip(payloads, hints, strict=True)
        ]


def holds_ours(value: object) -> bool:
    """Return whether a value is one of Perdure's, or a list, tuple, set or dict that holds one."""
    if isinstance(value, dict):
        return any(map(holds_ours, cast("dict[object, object]", value).values()))
    if isinstance(value, list | tuple | set | frozenset):
        return any(map(holds_ours, cast("Iterable[object]", value)))
    return isinstance(value, Model)


@functools.cache
def _composed(theirs: type[PayloadConverter]) -> type[PayloadConverter]:
    # Temporal makes a converter by its class alone.
    return type("ComposedConverter", (_Composed,), {"other": theirs})


def _models(type_hint: object) -> Iterator[type[BaseModel]]:
    """Find the models that a type hint names, also where one is optional or in a container."""
    if isinstance(type_hint, type) and issubclass(type_hint, BaseModel):
        yield type_hint
    for part in get_args(type_hint):
        yield from _models(part)


def _error_of(model: type[BaseModel]) -> type[InvalidInput]:
    return InvalidTask if issubclass(model, AgentTask) else InvalidInput
