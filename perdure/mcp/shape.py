"""MCP servers as people configure them: how one is reached, and what its tools do. Read from YAML; starts nothing."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import Field

from perdure.documents import kind_of, mapping, validated
from perdure.errors import InvalidInput
from perdure.model import Model, Name
from perdure.registry.folders import Folders
from perdure.tools import LONGEST_TIMEOUT, Effect
from perdure.values.call_limits import CallLimit, require_distinct
from perdure.yaml_text import read_document

DEFAULT_SECONDS = 30.0
"""Seconds that a call may take which no one has declared: servers answer from elsewhere; a choice."""


class SecretName(Model):
    """A value that is a secret, by its name."""

    secret: Name


Given = str | SecretName
"""A value for a server: as it is written, or a secret."""


class ServerTool(Model):
    """What a tool of a server does, as the operator knows it."""

    effect: Effect = Effect.ONCE
    timeout: Annotated[float, Field(gt=0, le=LONGEST_TIMEOUT)] | None = None
    """Seconds that a call may take; None: as the server says."""
    limits: tuple[CallLimit, ...] = ()
    """How often it may be called, by all workers together."""


class McpServer(Model):
    """An MCP server, as its YAML says. It is started by ``command``, or reached at ``url``."""

    name: Name
    description: str = ""
    command: str = ""
    """The program, which speaks over its standard input and output and ends with the worker."""
    args: tuple[str, ...] = ()
    env: dict[str, Given] = Field(default_factory=dict[str, Given])
    """Its environment besides PATH, HOME and the like: nothing else of the worker's is handed on."""
    folder: str = ""
    """Where it is started; empty: where the worker is."""
    url: str = ""
    """Its address, for streamable HTTP."""
    headers: dict[str, Given] = Field(default_factory=dict[str, Given])
    timeout: Annotated[float, Field(gt=0, le=LONGEST_TIMEOUT)] = DEFAULT_SECONDS
    """Seconds that a call of a tool may take that has no time of its own."""
    tools: dict[str, ServerTool] = Field(default_factory=dict[str, ServerTool])
    """What its tools do, by their names on the server. One that is not here counts as ``once``."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the secrets that it needs."""
        given = (*self.env.values(), *self.headers.values())
        return tuple(dict.fromkeys(one.secret for one in given if isinstance(one, SecretName)))

    def declared(self, tool: str) -> tuple[Effect, float, tuple[CallLimit, ...]]:
        """Return what a tool does, how many seconds a call may take, and how often it may be called."""
        found = self.tools.get(tool, ServerTool())
        return found.effect, found.timeout or self.timeout, found.limits

    def prefixed(self, tool: str) -> str:
        """Return what skills and agents call a tool of it."""
        return f"{self.name}.{tool}"

    def without_content(self) -> Self:
        """Return the server without values that may be private."""
        hidden = {name: one if isinstance(one, SecretName) else "…" for name, one in self.env.items()}
        headers = {name: one if isinstance(one, SecretName) else "…" for name, one in self.headers.items()}
        return self.changed(env=hidden, headers=headers)


def read_server(text: str, where: str = "server") -> McpServer:
    """Read an MCP server from YAML.

    Args:
        text: The document.
        where: What it is, for messages about the document as a whole.

    Raises:
        InvalidInput: Naming the field, and the nearest name where one is unknown.
    """
    data = dict(read_document(text, where))
    for field in ("env", "headers"):
        if field in data:
            data[field] = {name: _given(value, f"{field}.{name}") for name, value in _mapping(data, field).items()}
    if "tools" in data:
        data["tools"] = {name: _tool(value, f"tools.{name}") for name, value in _mapping(data, "tools").items()}
    server = validated(McpServer, data, "")
    if bool(server.command) == bool(server.url):
        problem = "is given together with a url" if server.url else "is missing"
        raise InvalidInput("command", problem, fix="give one of the two: command or url")
    for field, other in (("args", "url"), ("env", "url"), ("folder", "url"), ("headers", "command")):
        if getattr(server, field) and getattr(server, other):
            raise InvalidInput(field, f"does not go with {other}", fix="leave it out")
    if server.url and urlsplit(server.url).scheme not in ("http", "https"):
        raise InvalidInput("url", f"is {server.url!r}", fix="write http://… or https://…")
    return server


class ServerLibrary(Folders[McpServer]):
    """The MCP servers in some folders."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        super().__init__(folders, kind="MCP server", read=read_server, error=InvalidInput)

    def all(self) -> list[McpServer]:
        """Return all of them.

        Raises:
            InvalidInput: One cannot be used; naming the file.
        """
        found = list[McpServer]()
        for name in self.names():
            try:
                found.append(self.get(name))
            except InvalidInput as problem:
                field = f"MCP server {name!r}: {problem.field}" if problem.place != problem.field else problem.field
                raise InvalidInput(field, problem.problem, fix=problem.fix, place=problem.place) from problem
        return found


def _mapping(data: dict[str, Any], field: str) -> dict[str, Any]:
    return mapping({} if data[field] is None else data[field], field, InvalidInput)


def _given(value: object, path: str) -> Given:
    if isinstance(value, str):
        return value
    if kind_of(value) != "a mapping":
        raise InvalidInput(path, f"is {kind_of(value)}", fix="write text in quotes, or {secret: its name}")
    return validated(SecretName, mapping(value, path, InvalidInput), path)


def _tool(value: object, path: str) -> ServerTool:
    # The short form is name: effect.
    if value is not None and kind_of(value) == "text":
        value = {"effect": value}
    tool = validated(ServerTool, mapping(value, path, InvalidInput), path)
    require_distinct(tool.limits, path)
    return tool
