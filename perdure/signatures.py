"""What a tool's function takes: its arguments, the call that it serves, and secrets. Calls nothing."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, get_type_hints

from pydantic import (
    BaseModel,
    ConfigDict,
    PydanticSchemaGenerationError,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic.fields import FieldInfo

from perdure.errors import InvalidInput
from perdure.model import Instant, Model
from perdure.secrets.annotation import SecretParameter, secret_parameter

CHECK_RETURNS = "return None if it did not happen, and otherwise the result: -> str | None"


class ToolCall(Model):
    """What a tool may know about the call it serves: annotate a parameter with it to get it."""

    idempotency_key: str
    """The same for every attempt at this step of this task; hand it to services that take one."""
    task_id: str
    step: str
    """The step's path."""
    attempt: int
    deadline: Instant
    """When the call is cut off."""
    lessons: tuple[str, ...] = ()
    """What earlier tasks learned about the failure after which a person had this step tried again."""


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function, with what is attached to them."""
    return get_type_hints(function, include_extras=True)


def taking(function: Callable[..., Any], call: ToolCall) -> dict[str, ToolCall]:
    """Return the call as a keyword argument, if the function has a parameter for it."""
    name = _call_parameter(function)
    return {name: call} if name else {}


def secrets_of(function: Callable[..., Any], name: str) -> tuple[SecretParameter, ...]:
    """Return the parameters of a function that take secrets.

    Args:
        function: The function of a tool, or its check.
        name: The tool's name.

    Raises:
        InvalidInput: One has a type that would show its secret.
    """
    hints, missing = hints_of(function), inspect.Parameter.empty
    found = [
        secret_parameter(one.name, hints.get(one.name), one.default, missing, f"tool {name}")
        for one in inspect.signature(function).parameters.values()
    ]
    return tuple(one for one in found if one is not None)


def require_function(function: object, field: str, what: str = "") -> None:
    """Refuse what is no function, or gives its results one by one, which no step could carry.

    Args:
        function: What is to be called.
        field: Whose it is, for errors.
        what: What it is there: ``has a check that``; empty: the tool itself.

    Raises:
        InvalidInput: Naming the tool, with the fix.
    """
    if not inspect.isroutine(function):
        kind = f"the class {function.__qualname__}" if isinstance(function, type) else repr(function)
        raise InvalidInput(
            field, f"{what} is {kind}, not a function".lstrip(), fix="give a function: def, or async def"
        )
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise InvalidInput(field, f"{what} yields its results one by one".lstrip(), fix="return a list of them")


def require_check(check: Callable[..., Any], arguments: type[BaseModel], name: str) -> None:
    """Refuse a check that could not be called like the tool, or whose answer would be misread.

    Raises:
        InvalidInput: Naming the tool, with the fix.
    """
    field = f"tool {name}"
    require_function(check, field, "has a check that")
    if hints_of(check).get("return") is bool:
        raise InvalidInput(field, "has a check that returns bool", fix=CHECK_RETURNS)
    own, kinds = set(arguments.model_fields), inspect.Parameter
    apart = {_call_parameter(check), *(one.parameter for one in secrets_of(check, name))}
    taken = [one for one in inspect.signature(check).parameters.values() if one.name not in apart]
    named = {one.name for one in taken if one.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)}
    missing = set[str]() if any(one.kind is kinds.VAR_KEYWORD for one in taken) else own - named
    if missing or named - own or any(one.kind in (kinds.POSITIONAL_ONLY, kinds.VAR_POSITIONAL) for one in taken):
        fix = f"give it the tool's: {', '.join(arguments.model_fields) or 'none'}"
        raise InvalidInput(field, "has a check whose parameters are not its own", fix=fix)


def arguments_of(function: Callable[..., Any], name: str) -> type[BaseModel]:
    """Return the model of a function's arguments, without the parameters that take the call and secrets.

    Raises:
        InvalidInput: No skill could call it.
    """
    apart = {_call_parameter(function), *(one.parameter for one in secrets_of(function, name))}
    hints = hints_of(function)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise InvalidInput(f"tool {name}", f"takes {parameter}", fix="name each argument")
        if parameter.name in apart:
            continue
        if parameter.name not in hints:
            raise InvalidInput(f"tool {name}", f"has no type for {parameter.name!r}", fix="annotate it")
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    for of_one, given in fields.items():
        # One by one, as what pydantic says of all names none.
        if (problem := _uncarried(f"{name}_{of_one}", {of_one: given})) is not None:
            kind = getattr(hints[of_one], "__qualname__", str(hints[of_one]))
            told = f"has the argument {of_one!r} of the type {kind}, which JSON cannot carry"
            fix = "annotate it with a type of JSON's, a dataclass or a pydantic model"
            raise InvalidInput(f"tool {name}", told, fix=fix) from problem
        _require_default(of_one, given[0], given[1], f"tool {name}")
    return create_model(f"{name}_arguments", __config__=ConfigDict(extra="forbid"), **fields)


def _require_default(argument: str, hint: Any, default: Any, field: str) -> None:
    """Refuse a default that is not of its argument's type: a function gets it as it is."""
    if default is ... or isinstance(default, FieldInfo):
        return
    try:
        TypeAdapter(hint).validate_python(default, strict=True)
    except ValidationError as problem:
        kind = getattr(hint, "__qualname__", str(hint))
        told = f"has the default {default!r} for {argument!r}, which is not {kind}"
        fix = f"annotate it with {kind} | None" if default is None else "give one that is, or annotate it otherwise"
        raise InvalidInput(field, told, fix=fix) from problem


def _uncarried(name: str, fields: dict[str, Any]) -> Exception | None:
    try:
        create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    except (PydanticSchemaGenerationError, NameError) as problem:
        return problem
    return None


@cache
def _call_parameter(function: Callable[..., Any]) -> str | None:
    hints = hints_of(function)
    return next((name for name in inspect.signature(function).parameters if hints.get(name) is ToolCall), None)
