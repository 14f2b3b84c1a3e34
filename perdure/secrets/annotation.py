"""How a tool asks for a secret: by its name, in the annotation of a parameter. Knows no secret's value."""

from dataclasses import dataclass
from typing import Any, get_args

from pydantic import SecretStr, TypeAdapter, ValidationError

from perdure.errors import InvalidInput
from perdure.model import Name

_NAME = TypeAdapter[str](Name)


@dataclass(frozen=True)
class Secret:
    """Marks a parameter of a tool that takes a secret.

    The worker that makes the call fills it in: neither a skill nor a model knows of the parameter or can give it.

    >>> from typing import Annotated
    >>> from pydantic import SecretStr
    >>> async def tickets(token: Annotated[SecretStr, Secret("tracker-token")]) -> None: ...
    """

    name: str
    """What the installation calls it: letters, digits, dot, dash, underscore."""


@dataclass(frozen=True)
class SecretParameter:
    """A parameter that takes a secret."""

    parameter: str
    secret: str
    """The secret's name."""
    optional: bool = False
    """Whether the function is called with None if nobody has the secret."""


def secret_parameter(parameter: str, hint: Any, default: Any, missing: object, field: str) -> SecretParameter | None:
    """Return what secret a parameter takes; None if it takes none.

    Args:
        parameter: Its name.
        hint: Its annotation.
        default: Its default.
        missing: What stands for no default.
        field: What it belongs to, for the error.

    Raises:
        InvalidInput: Its type could not keep a secret, or its secret has no usable name.
    """
    marked = next((one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Secret)), None)
    if isinstance(hint, Secret) or hint is Secret:
        fix = f'write {parameter}: Annotated[SecretStr, Secret("its-name")]'
        raise InvalidInput(field, f"has {parameter!r} annotated with a secret and no type", fix=fix)
    if marked is None:
        return None
    try:
        _NAME.validate_python(marked.name)
    except ValidationError as problem:
        reason = problem.errors()[0]["msg"].removeprefix("Value error, ")
        raise InvalidInput(
            field, f"asks for the secret {marked.name!r}: {reason}", fix="give it another name"
        ) from None
    kinds = set(get_args(hint.__origin__)) or {hint.__origin__}
    optional = default is None
    if default is not missing and not optional:
        fix = "leave the default out, or make it None"
        raise InvalidInput(field, f"has a default for {parameter!r}, which takes a secret", fix=fix)
    if kinds != ({SecretStr, type(None)} if optional else {SecretStr}):
        wanted = "SecretStr | None" if optional else "SecretStr"
        fix = f"annotate it with Annotated[{wanted}, Secret({marked.name!r})]"
        raise InvalidInput(field, f"takes a secret in {parameter!r}, of a type that would show it", fix=fix)
    return SecretParameter(parameter, marked.name, optional)
