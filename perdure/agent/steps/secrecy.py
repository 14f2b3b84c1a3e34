"""The secrets of one call of a tool: fetched for it alone, and a call that lacks one is not made."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from perdure.agent.steps.gate import Gate, Stopped
from perdure.errors import InvalidArguments, InvalidInput, InvalidTask, Unavailable, WorkerUnavailable
from perdure.secrets.annotation import SecretParameter
from perdure.secrets.sources import SecretKeeper, how_to_give
from perdure.tools import Tool

LACKED_WITHIN = 5
"""Attempts, some 15 s, in which another worker may have the secret that one lacks; then the step fails. A choice."""


@dataclass(frozen=True, kw_only=True)
class CallSecrets:
    """The secrets of a call, as this worker has them."""

    tool: str
    path: str
    """The step's path."""
    attempt: int
    values: Mapping[str, SecretStr | None] = field(default_factory=dict[str, SecretStr | None], repr=False)
    lacking: str = ""
    """The secret that the function needs and this worker does not have; empty: none."""
    check_lacking: str = ""

    def require(self) -> None:
        """Refuse a call that lacks a secret. It is known that its effect has not happened.

        Raises:
            WorkerUnavailable: Another worker may have it.
            InvalidArguments: No attempt found it; with the fix.
        """
        if self.lacking:
            raise self._refused(self.lacking, InvalidArguments)

    def require_for_check(self) -> None:
        """Refuse a check that lacks a secret, which says nothing about the effect.

        Raises:
            WorkerUnavailable: Another worker may have it.
            InvalidInput: No attempt found it; with the fix.
        """
        if self.check_lacking:
            raise self._refused(self.check_lacking, InvalidInput)

    def _refused(self, name: str, error: type[InvalidInput]) -> WorkerUnavailable | InvalidInput:
        problem = lacks(self.tool, name)
        if self.attempt < LACKED_WITHIN:
            return WorkerUnavailable(f"{problem}; another one may have it")
        return error(f"{self.path}.tool", problem, fix=how_to_give(name))


async def secrets_for(tool: Tool[..., Any], keeper: SecretKeeper, path: str, attempt: int) -> CallSecrets:
    """Return the secrets of a call, fetched now.

    Raises:
        Unavailable: A source of secrets fails, or says itself that it cannot answer now.
    """
    values: dict[str, SecretStr | None] = {}
    for one in (*tool.secrets, *tool.check_secrets):
        if one.secret not in values:
            values[one.secret] = await keeper.get(one.secret)
    return CallSecrets(
        tool=tool.name,
        path=path,
        attempt=attempt,
        values=values,
        lacking=_lacking(tool.secrets, values),
        check_lacking=_lacking(tool.check_secrets, values),
    )


async def require_secrets(tools: Iterable[Tool[..., Any]], keeper: SecretKeeper) -> None:
    """Refuse a task before its first step if a tool that it may call needs a secret that this worker does not have.

    A source that does not answer says nothing: whether the secret is there is then known at the call.

    Raises:
        InvalidTask: Naming the tool, the secret and the fix.
    """
    for tool in tools:
        for one in (*tool.secrets, *tool.check_secrets):
            with suppress(Unavailable):
                if not one.optional and not await keeper.has(one.secret):
                    raise InvalidTask("secrets", lacks(tool.name, one.secret), fix=how_to_give(one.secret))


def lacks(tool: str, name: str) -> str:
    """Return what is wrong where a tool's secret is missing."""
    return f"tool {tool!r} needs the secret {name!r}, which this worker does not have"


class SecretGate:
    """What a call has to pass, after which it has its secrets too.

    Args:
        gate: What policies say of it. They block it first, as that is what they would do with the secret as well.
        secrets: Its secrets.
    """

    def __init__(self, gate: Gate, secrets: CallSecrets) -> None:
        self._gate = gate
        self._secrets = secrets

    async def would_stop(self) -> bool:
        """Return whether the call would not be made."""
        return bool(self._secrets.lacking) or await self._gate.would_stop()

    async def stopped(self) -> Stopped | None:
        """Return what stops the call; None: it is made now.

        Raises:
            WorkerUnavailable: This worker lacks a secret, and another may have it.
            InvalidArguments: No attempt found it.
            StoreUnavailable: What policies said cannot be written down.
        """
        if self._secrets.lacking and not await self._gate.would_stop():
            self._secrets.require()
        return await self._gate.stopped()


def _lacking(parameters: Iterable[SecretParameter], values: Mapping[str, SecretStr | None]) -> str:
    return next((one.secret for one in parameters if not one.optional and values[one.secret] is None), "")
