"""Reading what this or another build has stored or sent: the bounds of this one are no reason to refuse it.

Bounds are for what people write, and are checked there. A newer build may have wider ones.
"""

import functools
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

from perdure.model import field_type

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

_BOUNDS = {
    "max_length": {"string_too_long", "too_long"},
    "le": {"less_than_equal"},
    "lt": {"less_than"},
}
"""The upper bounds that a schema may have, with the types of pydantic's errors about each."""

_BEYOND = set[str]().union(*_BOUNDS.values())


class Tolerant(Generic[T]):
    """Reads values of one type from JSON.

    Args:
        kind: A model, or a type that is made of models.
    """

    def __init__(self, kind: Any) -> None:
        self._adapter: TypeAdapter[T] = TypeAdapter(kind)

    def read(self, data: str | bytes) -> T:
        """Return the value, also where it is beyond this build's bounds.

        Raises:
            ValidationError: It is none of this type.
        """
        try:
            return self._adapter.validate_json(data)
        except ValidationError as problem:
            if not is_beyond(problem):
                raise
            return self._unbounded.validate_json(data)

    def take(self, value: object) -> T:
        """Return the value of what JSON has become, or of a model; see ``read``."""
        try:
            return self._adapter.validate_python(value)
        except ValidationError as problem:
            if not is_beyond(problem):
                raise
            return self._unbounded.validate_python(value)

    @functools.cached_property
    def _unbounded(self) -> SchemaValidator:
        # The models' own validators have the bounds, so none of them can be used again.
        self._adapter.rebuild(force=True)
        return SchemaValidator(_without_bounds(self._adapter.core_schema), _use_prebuilt=False)


def is_beyond(problem: ValidationError) -> bool:
    """Return whether a value is wrong in nothing but that it is too large or too long."""
    return all(error["type"] in _BEYOND for error in problem.errors())


def bounds_crossed(model: type[BaseModel], name: str, value: object) -> ValidationError | None:
    """Return what a field's type says of a value that is beyond its bounds; None for every other value."""
    try:
        field_type(model, name).validate_python(value)
    except ValidationError as problem:
        return problem if is_beyond(problem) else None
    return None


def read_back(kind: type[M], data: str | bytes) -> M:
    """Return a model that this or another build has written as JSON; raises ValidationError as ``Tolerant`` does."""
    return tolerant(kind).read(data)


def taken_back(kind: type[M], value: object) -> M:
    """Return a model from its JSON value, or as it is; see ``read_back``."""
    return tolerant(kind).take(value)


@functools.cache
def tolerant(kind: Any) -> Tolerant[Any]:
    """Return the tolerant form of a type: a validator takes time to build."""
    return Tolerant(kind)


def _without_bounds(schema: Any) -> Any:
    if isinstance(schema, dict):
        parts = cast("dict[Any, Any]", schema)
        bounds = _BOUNDS if "type" in parts else {}
        return {name: _without_bounds(part) for name, part in parts.items() if name not in bounds}
    if isinstance(schema, list | tuple):
        several = cast("list[Any]", schema)
        return type(several)(_without_bounds(part) for part in several)
    return schema
