"""Reading what this or another build has stored or sent: the bounds of this one are no reason to refuse it.

Bounds are for what people write, and are checked there. A newer build may have wider ones.
"""

import functools
from contextlib import suppress
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

from perdure.model import field_type, without_bounds

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

_BOUNDS = frozenset({"max_length", "le", "lt"})
"""The upper bounds that a schema may have; those of validators are lifted by ``without_bounds``."""


class Tolerant(Generic[T]):
    """Reads values of one type from JSON.

    What is refused with this build's bounds is read again without them. Pydantic's errors do not say whether a bound is
    all that is wrong: those of a union are about every one of its types, and a list without what is too long in it may
    be too short.

    Args:
        kind: A model, a type that is made of models, or what pydantic made of one.
    """

    def __init__(self, kind: Any) -> None:
        self._adapter: TypeAdapter[T] = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)

    def read(self, data: str | bytes) -> T:
        """Return the value, also where it is beyond this build's bounds.

        Raises:
            ValidationError: It is none of this type.
        """
        try:
            return self._adapter.validate_json(data)
        except ValidationError:
            with suppress(ValidationError), without_bounds():
                return self._unbounded.validate_json(data)
            raise

    def take(self, value: object) -> T:
        """Return the value of what JSON has become, or of a model; see ``read``."""
        try:
            return self._adapter.validate_python(value)
        except ValidationError:
            with suppress(ValidationError), without_bounds():
                return self._unbounded.validate_python(value)
            raise

    @functools.cached_property
    def _unbounded(self) -> SchemaValidator:
        # The models' own validators have the bounds, so none of them can be used again.
        self._adapter.rebuild(force=True)
        return SchemaValidator(_without_bounds(self._adapter.core_schema), _use_prebuilt=False)


def bounds_crossed(model: type[BaseModel], name: str, value: object) -> ValidationError | None:
    """Return what a field's type says of a value that is beyond its bounds; None for every other value."""
    try:
        field_type(model, name).validate_python(value)
    except ValidationError as problem:
        with suppress(ValidationError):
            _of_field(model, name).take(value)
            return problem
    return None


def read_back(kind: type[M], data: str | bytes) -> M:
    """Return a model that this or another build has written as JSON; raises ValidationError as ``Tolerant`` does."""
    return tolerant(kind).read(data)


def taken_back(kind: type[M], value: object) -> M:
    """Return a model from its JSON value, or as it is; see ``read_back``."""
    return tolerant(kind).take(value)


def changed_back(value: M, /, **changes: object) -> M:
    """Return a copy of what was read back with some fields changed, to what may be beyond bounds as well.

    Raises:
        ValidationError: A value is not what its field holds, whatever its bounds.
    """
    kind = type(value)
    return value.model_copy(update={name: _of_field(kind, name).take(new) for name, new in changes.items()})


@functools.cache
def tolerant(kind: Any) -> Tolerant[Any]:
    """Return the tolerant form of a type: a validator takes time to build."""
    return Tolerant(kind)


@functools.cache
def _of_field(model: type[BaseModel], name: str) -> Tolerant[Any]:
    return Tolerant(field_type(model, name))


def _without_bounds(schema: Any) -> Any:
    if isinstance(schema, dict):
        parts = cast("dict[Any, Any]", schema)
        bounds = _BOUNDS if "type" in parts else frozenset[str]()
        return {name: _without_bounds(part) for name, part in parts.items() if name not in bounds}
    if isinstance(schema, list | tuple):
        several = cast("list[Any]", schema)
        return type(several)(_without_bounds(part) for part in several)
    return schema
