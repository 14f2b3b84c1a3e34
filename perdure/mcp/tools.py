"""A tool of an MCP server, as steps call it: like any other one, with a schema from elsewhere."""

import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, JsonValue, SecretStr

from perdure.errors import InvalidArguments, InvalidInput
from perdure.function_calls import Within, awaited
from perdure.mcp.connection import AnsweredError, Refused, ServerConnection
from perdure.mcp.schemas import ArgumentSchema
from perdure.secrets.annotation import SecretParameter
from perdure.signatures import ToolCall
from perdure.tools import Tool

if TYPE_CHECKING:
    from mcp_types import CallToolResult

LONGEST_DESCRIPTION = 4_000
"""Characters of a description that a model is shown: a server may give any."""


class ToolReportedError(Exception):
    """A server's tool returned an error: whether it had an effect, only the tool knows."""


class _Unknown(BaseModel):
    """Arguments of which the server alone knows the schema."""


class McpTool(Tool[..., Any]):
    """A tool of an MCP server.

    Args:
        connection: The connection to the server.
        own: The tool's name there.
    """

    def __init__(self, connection: ServerConnection, own: str) -> None:
        server = connection.server
        self.server, self.own = server, own
        self._connection = connection
        self._schema: ArgumentSchema | None = None
        self.effect, self.timeout, self.limits = server.declared(own)
        self.check = None
        self.name = server.prefixed(own)
        self.quick = False
        self.description = ""
        self.arguments = _Unknown
        # Those of its server: without them it cannot be reached.
        self.secrets = tuple(SecretParameter("", secret) for secret in server.secrets)
        self.check_secrets = ()

    @property
    def place(self) -> str:
        """Where it is declared: with its server."""
        return f"the MCP server {self.server.name}"

    @property
    def is_known(self) -> bool:
        """Whether the server has told its schema."""
        return self._schema is not None

    def learn(self, description: str, schema: Mapping[str, Any]) -> None:
        """Take over what the server says of the tool.

        Raises:
            InvalidInput: Its schema cannot be used.
        """
        self._schema = ArgumentSchema(schema)
        self.description = description[:LONGEST_DESCRIPTION]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments; that of anything while the server has not answered."""
        return self._schema.schema if self._schema else {"type": "object"}

    @property
    def parameters(self) -> dict[str, bool]:
        """The names of its arguments, and whether each is required, as far as they are known."""
        found = self._schema
        return {name: name in found.required for name in found.properties} if found else {}

    def require_names(self, given: Collection[str], path: str) -> None:
        """Refuse arguments that it excludes, and require those that it needs."""
        if self._schema is not None:
            self._schema.require_names(given, path)

    def validate(
        self, arguments: Mapping[str, JsonValue], path: str = "args", *, partial: bool = False
    ) -> dict[str, Any]:
        """Check arguments against the server's schema; see ``Tool.validate``. The server itself checks them again."""
        if self._schema is not None:
            self._schema.check(arguments, path, partial=partial)
        return {} if partial else dict(arguments)

    async def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Never called: a step calls it with its call."""
        raise InvalidInput(f"tool {self.name}", "is called by a step alone")

    async def call(
        self,
        call: ToolCall,
        keywords: Mapping[str, Any],
        secrets: Mapping[str, SecretStr | None] | None = None,
        within: Within = awaited,
    ) -> Any:
        """Call it on its server.

        Raises:
            NotDone: The server does not answer; nothing was called.
            InvalidArguments: The server refuses the arguments; nothing was called.
            ToolReportedError: The tool reports an error, or its server answers with one.
            ConnectionError: The server ended in the middle of the call.
        """
        try:
            asking = self._connection.call(self.own, keywords, until=call.deadline, is_once=self.effect.is_once)
            found = await within(asking)
        except Refused:
            told = f"MCP server {self.server.name!r} knows no such tool, or does not take these arguments"
            raise InvalidArguments(call.step, told, fix=f"perdure tools show {self.name}") from None
        except AnsweredError as problem:
            raise ToolReportedError(str(problem)) from None
        returned = returned_by(found)
        if found.is_error:
            raise ToolReportedError(returned if isinstance(returned, str) else json.dumps(returned, ensure_ascii=False))
        return returned


def returned_by(result: "CallToolResult") -> JsonValue:
    """Return what a tool gave: its structured content, its text, or all of its parts."""
    if result.structured_content is not None:
        content = cast("JsonValue", result.structured_content)
        # What is no object is sent within one.
        return content["result"] if isinstance(content, dict) and content.keys() == {"result"} else content
    parts = [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in result.content]
    texts: list[JsonValue] = [part["text"] if part.get("type") == "text" else part for part in parts]
    return texts[0] if len(texts) == 1 else texts
