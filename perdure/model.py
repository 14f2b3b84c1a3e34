"""The bases of all values: what people write is read strictly, what another build may have written tolerantly.

Model       frozen and strict: a field that it does not know is an error
└── Passed  crosses between builds (through Temporal, say): keeps and ignores fields that it does not know
    ├── Request what a person asks for; sent as it was written
    └── Stored  is kept by a store, with the version of its form
"""

import functools
import json
import re
import unicodedata
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self, cast

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    PlainValidator,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    WrapValidator,
    model_serializer,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

LONGEST_QUESTION = 8_000
"""Characters of a question to memory."""

LONGEST_PATH = 1_000
"""Characters of a step's path, as questions bear it: five skills within one another, each with three blocks around its
step, and 46 characters at most for a name of 40 and its number."""

LONGEST_TEXT = 8_000
"""Characters of a text, which keep a plan for a batch of 100 well under Temporal's 2 MB."""

DEEPEST_VALUE = 128
"""Lists and mappings within one another in a value of a task. Parsers stop at 200, and it travels inside others'
messages: a choice that leaves these 72."""


_lifted: ContextVar[bool] = ContextVar("lifted", default=False)


@contextmanager
def without_bounds() -> Generator[None]:
    """Let the block read what a build has written: the bounds that validators state do not count."""
    before = _lifted.set(True)
    try:
        yield
    finally:
        _lifted.reset(before)


def refuse_beyond(problem: str) -> None:
    """Refuse a value that a validator finds too large, unless bounds do not count.

    Raises:
        ValueError: With the problem.
    """
    if not _lifted.get():
        raise ValueError(problem)


def depth(value: object) -> int:
    """Return how many lists and mappings of a JSON value are within one another: 0 for a text or a number."""
    found, level = 0, [value]
    while inner := [cast("list[Any] | dict[str, Any]", one) for one in level if isinstance(one, list | dict)]:
        found += 1
        level = [each for one in inner for each in (one.values() if isinstance(one, dict) else one)]
    return found


def json_size(value: object) -> int:
    """Return the bytes of a JSON value as text, in UTF-8."""
    return len(json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass"))


def _shallow(value: JsonValue) -> JsonValue:
    if (levels := depth(value)) > DEEPEST_VALUE:
        refuse_beyond(f"is nested {levels} deep (at most {DEEPEST_VALUE})")
    return value


ShallowJson = Annotated[JsonValue, AfterValidator(_shallow)]
"""A JSON value that a task can carry: nested no deeper than ``DEEPEST_VALUE``."""


class Model(BaseModel):
    """A value: two with the same fields are equal, and none ever changes."""

    # A process uses few of some 300 models: building each at its first use makes a command .4 s faster.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    def changed(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, each checked against its field's type, bounds and validators.

        Validators of the model as a whole are not run.

        Raises:
            TypeError: A name is not a field.
            ValidationError: A value is not what its field holds.
        """
        return self.model_copy(
            update={name: field_type(type(self), name).validate_python(changes[name]) for name in changes}
        )


class Passed(Model):
    """A value that may come from another build: fields that this one does not know are kept, and go on with it."""

    model_config = ConfigDict(extra="allow")

    by_hand: ClassVar[bool] = True
    """Whether a person may have written it, so that an unknown field may be a mistake; see ``Request``."""


class Request(Passed):
    """A person's request.

    It travels as it was written, without defaults: its first reader refuses unknown fields, and must not mistake a
    newer build's default for a person's mistake.
    """

    @model_serializer(mode="wrap")
    def _as_written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        return {name: value for name, value in fields.items() if name in self.model_fields_set}


class Stored(Passed):
    """A value that a store keeps."""

    format: int = 1
    """The version of its stored form."""


class OpenEnum(StrEnum):
    """An enumeration whose unknown values are kept, since a newer build may have written them.

    Each enumeration says what an unknown value means; ``known`` distinguishes it from the others.
    """

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        kept = str.__new__(cls, value)
        kept._name_ = kept._value_ = value
        return kept

    @property
    def known(self) -> bool:
        """Whether this build knows the value."""
        return self._value_ in type(self)._value2member_map_


_VALIDATORS = {"after": AfterValidator, "before": BeforeValidator, "plain": PlainValidator, "wrap": WrapValidator}


@functools.cache
def field_type(model: type[BaseModel], name: str) -> TypeAdapter[Any]:
    """Return the type of a model's field, with its bounds and validators.

    Raises:
        TypeError: There is no field of this name.
    """
    if name not in model.model_fields:
        raise TypeError(f"{model.__name__} has no field {name!r}")
    field: Any = model.model_fields[name]
    annotation: Any = Annotated[field.annotation, field] if field.metadata else field.annotation
    for method, validator in model.__pydantic_decorators__.field_validators.items():
        if name in validator.info.fields:
            annotation = Annotated[annotation, _VALIDATORS[validator.info.mode](getattr(model, method))]
    return TypeAdapter(annotation)


def _readable(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty (write some text)")
    if any(ord(character) < 32 and character not in "\t\n" for character in text):
        raise ValueError("contains control characters (leave them out)")
    return text


def _one_line(text: str) -> str:
    if any(unicodedata.category(character) == "Cc" for character in text):
        raise ValueError("contains control characters (write one line of plain text)")
    return text


def is_whole(text: str) -> bool:
    """Return whether a text has no half of a surrogate pair, which can be neither stored nor sent."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _question(text: str) -> str:
    if not is_whole(text):
        raise ValueError("has half of a surrogate pair (send whole characters)")
    if len(text) > LONGEST_QUESTION:
        refuse_beyond(f"has {len(text):,} characters (ask in at most {LONGEST_QUESTION:,})")
    return text


@dataclass(frozen=True, slots=True)
class _Spelled(AfterValidator):
    """A validator whose pattern is in the JSON Schema too."""

    pattern: str

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(core_schema) | {"pattern": f"^{self.pattern}$"}


def spelled(pattern: str, what: str, rule: str) -> AfterValidator:
    """Return a validator for text that a pattern must match as a whole.

    Args:
        pattern: The regular expression. How often its parts may be repeated at most is a bound.
        what: What such a text is, for the message: ``name``.
        rule: The same in words, for the message to somebody who wrote something else.
    """
    wider = re.sub(r"\{(\d+),\d+\}", r"{\1,}", pattern)

    def check(text: str) -> str:
        problem = f"{text[:80]!r} is not a valid {what} ({rule})"
        if not re.fullmatch(wider, text):
            raise ValueError(problem)
        if not re.fullmatch(pattern, text):
            refuse_beyond(problem)
        return text

    return _Spelled(check, pattern)


Name = Annotated[
    str,
    spelled(
        r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}",
        "name",
        "letters, digits, '.', '_', '-'; start with a letter or digit; at most 80",
    ),
]
"""A name that is safe in workflow ids, keys and file names: letters, digits, dot, dash, underscore."""

TenantId = Annotated[
    str,
    spelled(r"[A-Za-z0-9_-]{1,64}", "tenant", "a worker derives it from a user id; give the user id to a task"),
]
"""A tenant, as it stands in keys and file names."""

readable = AfterValidator(_readable)
"""Refuses text without a word, or with control characters other than line breaks and tabs."""

Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT), readable]
"""A text of at most ``LONGEST_TEXT`` characters."""

one_line = AfterValidator(_one_line)
"""Refuses text with control characters, line breaks and tabs among them."""

QueryText = Annotated[str, AfterValidator(_question)]
"""A question to memory of at most ``LONGEST_QUESTION`` characters."""

Unit = Annotated[float, Field(ge=0.0, le=1.0)]
"""A number from 0 to 1."""

Instant = AwareDatetime
"""A moment with its time zone."""

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


def _not_before_1970(moment: datetime) -> datetime:
    if moment < EARLIEST:
        raise ValueError("is before 1970 (give the moment at which it was observed)")
    return moment


ObservedAt = Annotated[Instant, AfterValidator(_not_before_1970)]
"""When something was observed or said."""
