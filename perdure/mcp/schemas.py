"""Arguments against the JSON Schema that a server gives for a tool. Fetches nothing, and quotes no value. Pure."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema import exceptions as problems
from jsonschema.validators import validator_for
from pydantic import JsonValue
from referencing import Registry
from referencing.exceptions import Unresolvable

from perdure.documents import join
from perdure.errors import InvalidArguments, InvalidInput
from perdure.model import json_size
from perdure.suggestions import nearest

LARGEST_SCHEMA = 100_000
"""Bytes of a schema: a choice. A model is shown it with each turn."""

_SHOWN = 120


class ArgumentSchema:
    """The schema of a tool's arguments.

    Args:
        schema: The schema, as the server gives it.

    Raises:
        InvalidInput: It is none, or too large.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema: dict[str, Any] = dict(schema)
        if (size := json_size(self.schema)) > LARGEST_SCHEMA:
            raise InvalidInput("inputSchema", f"has {size:,} bytes", fix=f"at most {LARGEST_SCHEMA:,}")
        kind: Any = validator_for(self.schema, default=Draft202012Validator)
        try:
            kind.check_schema(self.schema)
        except (problems.SchemaError, RecursionError) as problem:
            raise InvalidInput("inputSchema", f"is no JSON Schema: {type(problem).__name__}") from None
        # An empty registry resolves what is in the schema itself, and fetches no other.
        self._validator: Any = kind(self.schema, registry=cast("Any", Registry)())

    @property
    def properties(self) -> dict[str, Any]:
        """The arguments that it names."""
        found: Any = self.schema.get("properties")
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}

    @property
    def required(self) -> frozenset[str]:
        """The arguments that have to be given."""
        return frozenset(one for one in self.schema.get("required", ()) if isinstance(one, str))

    def require_names(self, given: Iterable[str], path: str) -> None:
        """Refuse arguments that it excludes, and require those that it needs, before their values are known.

        Raises:
            InvalidArguments: Naming the argument.
        """
        names = set(given)
        if self.schema.get("additionalProperties") is False and not self.schema.get("patternProperties"):
            for name in sorted(names - self.properties.keys()):
                raise InvalidArguments(
                    join(path, name), "is no argument of the tool", fix=nearest(name, self.properties)
                )
        for name in sorted(self.required - names):
            raise InvalidArguments(join(path, name), "is missing")

    def check(self, arguments: Mapping[str, JsonValue], path: str, *, partial: bool = False) -> None:
        """Check arguments.

        Args:
            arguments: The values.
            path: Where they are written, for the error.
            partial: Whether more arguments follow: each is then checked by itself.

        Raises:
            InvalidArguments: Naming the argument, and what it has to fit; not its value.
        """
        try:
            if partial:
                for name, value in arguments.items():
                    if name in self.properties:
                        self._refuse(self._validator.descend(value, self.properties[name]), join(path, name))
            else:
                self.require_names(arguments, path)
                self._refuse(self._validator.iter_errors(dict(arguments)), path)
        except (Unresolvable, RecursionError) as problem:
            told = f"the tool's schema cannot be used: {type(problem).__name__}"
            raise InvalidArguments(path, told, fix="the server has to give one without references elsewhere") from None

    def _refuse(self, errors: Any, path: str) -> None:
        found = cast("Any", problems).best_match(errors)
        if found is None:
            return
        wanted = json.dumps(found.validator_value, ensure_ascii=False, default=str)
        shown = wanted if len(wanted) <= _SHOWN else f"{wanted[: _SHOWN - 1]}…"
        raise InvalidArguments(
            join(path, *found.absolute_path), f"does not fit the tool's schema: {found.validator} {shown}"
        )
