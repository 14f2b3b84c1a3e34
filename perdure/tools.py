"""Tools: typed functions that a task's steps call. Never runs a step.

A tool declares its effect, which decides how a step around it recovers. There is no registry behind the
decorator: it returns a ``Tool``, and a ``Toolbox`` collects those that a module holds.
"""

import inspect
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Generic, Literal, ParamSpec, Protocol, TypeVar, overload

from pydantic import BaseModel, JsonValue, SecretStr, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from perdure.documents import refused, validated
from perdure.errors import InvalidArguments, InvalidInput, ResultTooLarge
from perdure.function_calls import Within, awaited, run
from perdure.model import DEEPEST_VALUE, Model, Name, OpenEnum, depth
from perdure.secrets.redaction import KNOWN
from perdure.signatures import (
    CHECK_RETURNS,
    ToolCall,
    arguments_of,
    hints_of,
    require_check,
    require_function,
    secrets_of,
    taking,
)
from perdure.suggestions import nearest
from perdure.values.call_limits import CallLimit, limits_of

P = ParamSpec("P")
R = TypeVar("R")

RESULT_LIMIT = 2_000_000
"""Bytes of JSON that a tool may return: what Temporal takes in one payload, less its envelope."""

_PLAIN = f"return JSON of at most {DEEPEST_VALUE} lists and mappings within one another, or a reference to it"

DEFAULT_TIMEOUT = 30.0
"""Seconds that a read or idempotent tool may take."""
DEFAULT_ONCE_TIMEOUT = 4.0
"""Seconds that a once tool may take; a resumed task, to go on within 6 s, waits out what is left of it."""


LONGEST_TIMEOUT = 86_400.0
"""Seconds that a tool may declare: a day. An attempt at a once tool may take three times that, which fits the week for
which a step is tried at all."""


class Effect(OpenEnum):
    """What happens when a tool is called twice. An unknown effect counts as ``once``."""

    READ = "read"
    """Nothing: it only looks."""
    IDEMPOTENT = "idempotent"
    """The same as when it is called once."""
    ONCE = "once"
    """Harm: so it is called under a claim, and never again if it may have happened."""

    @property
    def is_once(self) -> bool:
        """Whether a call must not be repeated."""
        return self not in (Effect.READ, Effect.IDEMPOTENT)


class Tool(Generic[P, R]):
    """A typed function with its effect; calling it calls the function, in a thread where it is a plain one."""

    def __init__(
        self,
        function: Callable[P, Awaitable[R] | R],
        *,
        effect: Effect,
        timeout: float,
        check: Callable[..., Any] | None,
        name: str,
        quick: bool = False,
        limits: Sequence[CallLimit] = (),
    ) -> None:
        self.function = function
        self.effect = effect
        self.timeout = timeout
        """Seconds that one call may take."""
        self.check = check
        """For a once tool: finds out whether the effect happened, and gives its result, or None."""
        self.name = name
        self.quick = quick
        """Whether a call takes milliseconds: its step then runs inside a worker, without a round trip to Temporal."""
        self.limits = tuple(limits)
        """How often it may be called."""
        self.description = inspect.getdoc(function) or ""
        self.arguments: type[BaseModel] = arguments_of(function, name)
        self.secrets = secrets_of(function, name)
        """What its function takes besides its arguments, of which no skill and no model knows."""
        if check is not None:
            require_check(check, self.arguments, name)
        self.check_secrets = () if check is None else secrets_of(check, name)

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, as a test of the tool would."""
        return await run(self.function, awaited, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<Tool {self.name} {self.effect}>"

    @property
    def parameters(self) -> dict[str, bool]:
        """The names of its arguments, and whether each is required."""
        return {name: field.is_required() for name, field in self.arguments.model_fields.items()}

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return self.arguments.model_json_schema()

    @property
    def place(self) -> str:
        """Where it is declared, for people: its file and the line."""
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        return f"{code.co_filename}:{code.co_firstlineno}" if code else f"the module {self.function.__module__}"

    def require_names(self, given: Collection[str], path: str) -> None:
        """Refuse arguments that it does not have, and require those that it needs, before their values are known.

        Raises:
            InvalidArguments: Naming the argument, and the nearest one that there is.
        """
        for name in given:
            if name not in self.parameters:
                told = f"tool {self.name!r} takes no such argument"
                raise InvalidArguments(f"{path}.{name}", told, fix=nearest(name, self.parameters))
        for name, required in self.parameters.items():
            if required and name not in given:
                raise InvalidArguments(f"{path}.{name}", f"tool {self.name!r} needs it", fix="add it")

    def validate(
        self, arguments: Mapping[str, JsonValue], path: str = "args", *, partial: bool = False
    ) -> dict[str, Any]:
        """Check arguments against the function's signature; nothing is coerced from one type to another.

        Args:
            arguments: The values, as JSON.
            path: Where they are written, for the error.
            partial: Whether more arguments follow, so that none counts as missing yet.

        Returns:
            Keyword arguments for the function and its check, defaults included; nothing to call them with when partial.

        Raises:
            InvalidArguments: Naming the argument.
        """
        try:
            checked = self.arguments.model_validate_json(json.dumps(dict(arguments)), strict=True)
        except ValidationError as problem:
            if partial and all(error["type"] == "missing" and len(error["loc"]) == 1 for error in problem.errors()):
                return {}
            raise refused(
                problem, self.arguments, path, InvalidArguments, data=arguments, ignore_missing=partial
            ) from None
        return {name: getattr(checked, name) for name in type(checked).model_fields}

    async def call(
        self,
        call: ToolCall,
        keywords: Mapping[str, Any],
        secrets: Mapping[str, SecretStr | None] | None = None,
        within: Within = awaited,
    ) -> R:
        """Call the function.

        Args:
            call: The call.
            keywords: Validated arguments.
            secrets: Its secrets, by their names.
            within: Awaits what runs in the worker's loop.
        """
        kept = {one.parameter: (secrets or {}).get(one.secret) for one in self.secrets}
        return await run(self.function, within, **keywords, **kept, **taking(self.function, call))

    async def run_check(
        self, call: ToolCall, keywords: Mapping[str, Any], secrets: Mapping[str, SecretStr | None] | None = None
    ) -> tuple[bool, JsonValue]:
        """Ask the tool's own check whether the effect happened.

        Args:
            call: The call.
            keywords: Validated arguments.
            secrets: The check's secrets, by their names.

        Returns:
            Whether it happened, and its result if it did.

        Raises:
            InvalidInput: The check returns False without having declared what it returns: it may mean
                that nothing happened, and then the effect would be skipped.
        """
        if self.check is None:
            raise InvalidInput(f"tool {self.name}", "has no check")
        kept = {one.parameter: (secrets or {}).get(one.secret) for one in self.check_secrets}
        found = await run(self.check, awaited, **keywords, **kept, **taking(self.check, call))
        if found is False and "return" not in hints_of(self.check):
            raise InvalidInput(f"tool {self.name}", "has a check that returned False", fix=CHECK_RETURNS)
        return (False, None) if found is None else (True, self.jsonable(found))

    def jsonable(self, result: object) -> JsonValue:
        """Turn a result into JSON, in which each secret that this process knows is replaced by its name.

        Raises:
            InvalidInput: When it is not JSON, or too much of it is nested.
            ResultTooLarge: When it is more than a step may carry.
        """
        try:
            encoded = to_json(result, inf_nan_mode="constants")
            self._require_fitting(len(encoded))
            found = json.loads(encoded, parse_constant=_refuse_constant)
        except (PydanticSerializationError, UnicodeEncodeError, ValueError) as problem:
            kind = type(result).__name__
            raise InvalidInput(f"tool {self.name}", f"returned {kind} that is not JSON", fix=_PLAIN) from problem
        if (levels := depth(found)) > DEEPEST_VALUE:
            raise InvalidInput(f"tool {self.name}", f"returned what is nested {levels} deep", fix=_PLAIN)
        if (clean := KNOWN.value(found)) != found:
            self._require_fitting(len(to_json(clean)))
        return clean

    def _require_fitting(self, size: int) -> None:
        if size > RESULT_LIMIT:
            most = f"a step carries at most {RESULT_LIMIT:,} (return a reference to it)"
            raise ResultTooLarge(f"tool {self.name!r} returned {size:,} bytes, and {most}")


class _Decorator(Protocol):
    """Turns an async or a plain function into a tool."""

    @overload
    def __call__(self, function: Callable[P, Awaitable[R]]) -> Tool[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R]) -> Tool[P, R]: ...


def tool(
    *,
    effect: Literal["read", "idempotent", "once"],
    timeout: float | None = None,
    check: Callable[..., Any] | None = None,
    name: str | None = None,
    quick: bool = False,
    limits: Sequence[CallLimit] = (),
) -> _Decorator:
    """Turn a typed function into a tool: an async one, or a plain one, which runs in a thread.

    Args:
        effect: What happens when it is called twice: ``read``, ``idempotent`` or ``once``.
        timeout: Seconds that one call may take, a day at most. For a once tool it is also how long a task that was
            killed in the middle waits before it looks, so keep it as short as the effect allows.
            A thread cannot be cut off: while work that the call started in threads of the worker's own executor
            goes on (plain functions, ``asyncio.to_thread``), nobody repeats the effect. What nobody can see are
            other threads (``threading.Thread``), child processes, and requests that a server still
            works on after the client gave up: have those end before ``ToolCall.deadline``, or have the service
            refuse a second call with the same ``ToolCall.idempotency_key``.
        check: For a once tool: a function with the same arguments (and a ``ToolCall``, if it wants one)
            that finds out whether the effect happened, and returns its result, or None if it did not happen.
            Without it, a person is asked.
        name: What skills call it; by default the function's name.
        quick: For a read or idempotent tool, an async one, whose calls take some milliseconds. Up to 20 of its steps
            run in the worker that has the task before Temporal has its turn, and are recorded together. If the worker
            is killed in between, they run again, each with what those before it return then. A call that fails or takes
            longer than 0.5 s is made again, as any other.
        limits: How many calls all workers make at once, and in a minute; for everybody, or for each user. A step that
            finds no place waits for its turn, without a worker's time and without an attempt that counts.

    Returns:
        A decorator. What it makes can still be called like the function itself, and awaited.

    Raises:
        InvalidInput: By the decorator, for a signature that no skill could call, and a check that does not fit.

    >>> @tool(effect="read")
    ... async def add(one: int, other: int = 1) -> int:
    ...     return one + other
    >>> add.parameters
    {'one': True, 'other': False}
    """

    def decorate(function: Callable[..., Any]) -> Tool[..., Any]:
        named = name or getattr(function, "__name__", "")
        require_function(function, f"tool {named}")
        kind = Effect(str(effect))
        if not kind.known:
            fix = nearest(str(effect or ""), [one.value for one in Effect])
            raise InvalidInput(f"tool {named}", f"has the effect {effect!r}, which is not one of the choices", fix=fix)
        if check is not None and kind is not Effect.ONCE:
            raise InvalidInput(f"tool {named}", "has a check, which only a once tool needs")
        if quick and kind.is_once:
            fix = "declare it read or idempotent, or leave quick out"
            raise InvalidInput(f"tool {named}", "is quick, and a quick call may run again", fix=fix)
        if quick and not inspect.iscoroutinefunction(function):
            is_decorated = inspect.iscoroutinefunction(inspect.unwrap(function))
            fix = "make the wrapper around it async as well" if is_decorated else "write it with async def"
            fix = f"{fix}, or leave quick out"
            raise InvalidInput(f"tool {named}", "is quick, and a thread cannot be cut off", fix=fix)
        if quick and limits:
            fix = "leave one of the two out"
            raise InvalidInput(f"tool {named}", "is quick, and a quick call waits for no turn", fix=fix)
        seconds = timeout if timeout is not None else DEFAULT_ONCE_TIMEOUT if kind is Effect.ONCE else DEFAULT_TIMEOUT
        _require_seconds(seconds, f"tool {named}")
        return Tool(
            function,
            effect=kind,
            timeout=seconds,
            check=check,
            name=tool_name(named),
            quick=quick,
            limits=limits_of(limits, f"tool {named}"),
        )

    return decorate


def _require_seconds(seconds: object, field: str) -> None:
    """Refuse what no attempt could be cut off after, as nothing on the way to it says so in words that help."""
    # Nothing is true of nan.
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 < seconds <= LONGEST_TIMEOUT:
        fix = f"give the seconds, as a number above zero, and at most {LONGEST_TIMEOUT:,.0f}: a day"
        raise InvalidInput(field, f"has the timeout {seconds!r}", fix=fix)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class _Named(Model):
    name: Name


def tool_name(name: str) -> str:
    """Return a name that a tool may have.

    Raises:
        InvalidInput: It may not.
    """
    return validated(_Named, {"name": name}, f"tool {name}").name
