"""Where a worker finds secrets: its environment, folders with a file for each, and what an installation plugs in."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from pydantic import SecretStr

from perdure.errors import InvalidInput, Unavailable
from perdure.modules import module_of, printing_aside
from perdure.secrets.redaction import KNOWN

R = TypeVar("R")

VARIABLE = "PERDURE_SECRET_"
"""How the environment variable of a secret begins."""

PATIENCE = 10.0
"""Seconds that a source may take to answer; a choice."""

LARGEST_SECRET = 100_000
"""Bytes of a secret's file: a choice, against a folder that was given by mistake."""


class SecretUnreadable(Unavailable):
    """A source of secrets fails, or has something that is none: its owner has to look, and it is read again."""

    code = "PRD236"


@runtime_checkable
class SecretSource(Protocol):
    """Where an installation keeps its secrets: a vault, say."""

    async def has(self, name: str) -> bool:
        """Return whether there is a secret of this name, without reading it."""
        ...

    async def get(self, name: str) -> str | None:
        """Return a secret; None if there is none of this name. It is asked with each call, and keeps what it likes."""
        ...


class EnvironmentSecrets:
    """Secrets in environment variables: that of ``tracker-token`` is ``PERDURE_SECRET_TRACKER_TOKEN``."""

    async def has(self, name: str) -> bool:
        """Return whether the variable is set to something."""
        return await self.get(name) is not None

    async def get(self, name: str) -> str | None:
        """Return the variable's value."""
        return os.environ.get(variable_of(name)) or None


class FolderSecrets:
    """Secrets in files, as container platforms mount them: the file bears the secret's name.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def has(self, name: str) -> bool:
        """Return whether there is such a file."""
        return await asyncio.to_thread((self._folder / name).is_file)

    async def get(self, name: str) -> str | None:
        """Return the file's content without the line break at its end; None if there is no such file.

        Raises:
            SecretUnreadable: It cannot be read.
        """
        return await asyncio.to_thread(self._read, name)

    def _read(self, name: str) -> str | None:
        path = self._folder / name
        try:
            if not path.is_file():
                return None
            if path.stat().st_size > LARGEST_SECRET:
                raise SecretUnreadable(f"the file of {name!r} has more than {LARGEST_SECRET:,} bytes")
            return path.read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r") or None
        except (OSError, UnicodeDecodeError) as problem:
            raise SecretUnreadable(f"cannot read {name!r}: {type(problem).__name__}") from None


class SecretKeeper:
    """The secrets of a worker: the first of its sources that has one is asked for it.

    Args:
        sources: Where secrets are.
    """

    def __init__(self, sources: Sequence[SecretSource] = ()) -> None:
        self._sources = tuple(sources)

    @classmethod
    def of(cls, folders: Iterable[Path], plugged_in: str = "") -> "SecretKeeper":
        """Return the secrets of the environment, of folders, and of a source that the installation plugs in.

        Args:
            folders: Folders with a file for each secret.
            plugged_in: ``module:name`` of a ``SecretSource``, or of a function without parameters that makes one; the
                module by its import path or by its file.

        Raises:
            InvalidInput: It cannot be imported or made, or is no such source.
        """
        sources: list[SecretSource] = [EnvironmentSecrets(), *map(FolderSecrets, folders)]
        if plugged_in:
            sources.append(_plugged_in(plugged_in))
        return cls(sources)

    async def has(self, name: str) -> bool:
        """Return whether a source has a secret.

        Raises:
            Unavailable: A source fails (``SecretUnreadable``), or says itself that it cannot answer now.
        """
        for source in self._sources:
            if await _asked(source.has(name)):
                return True
        return False

    async def get(self, name: str) -> SecretStr | None:
        """Return a secret, which is kept out of all that this process writes from now on; None if nobody has it.

        Raises:
            Unavailable: A source fails (``SecretUnreadable``), or says itself that it cannot answer now.
        """
        for source in self._sources:
            found = cast("object", await _asked(source.get(name)))
            if found is not None and not isinstance(found, str):
                raise SecretUnreadable(f"a source returned {type(found).__name__} for {name!r}, and no text")
            if found:
                KNOWN.learn(name, found)
                return SecretStr(found)
        return None


def variable_of(name: str) -> str:
    """Return the environment variable of a secret.

    >>> variable_of("tracker-token")
    'PERDURE_SECRET_TRACKER_TOKEN'
    """
    return VARIABLE + "".join(character if character.isalnum() else "_" for character in name).upper()


def how_to_give(name: str) -> str:
    """Return how an operator gives workers a secret."""
    return f"set {variable_of(name)} for the workers, or put a file {name!r} into a folder of PERDURE_SECRETS"


async def _asked(answer: Awaitable[R]) -> R:
    """Wait for a source's answer. What it raises may quote a secret, so only its class is passed on."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await answer
    except Unavailable:
        raise
    except Exception as problem:  # noqa: BLE001  whatever an installation's own source raises
        raise SecretUnreadable(f"a source raised {type(problem).__name__}") from None


def _plugged_in(place: str) -> SecretSource:
    field = "secrets_from"
    module, _, name = place.partition(":")
    if not (module and name):
        raise InvalidInput(field, f"is {place!r}", fix="write module:name")
    source = module_of(module, field)
    # A module may make what it is asked for.
    found: Any = _made(lambda: getattr(source, name, None), place)
    if found is None:
        raise InvalidInput(field, f"{module} has no {name}", fix="correct the name behind the colon")
    if isinstance(found, type) or (callable(found) and not isinstance(found, SecretSource)):
        found = _made(found, place)
    if not isinstance(found, SecretSource):
        fix = "give it two methods: async has(name) -> bool and async get(name) -> str | None"
        raise InvalidInput(field, f"{place!r} is no source of secrets", fix=fix)
    return found


def _made(make: Callable[[], object], place: str) -> object:
    """Return what makes itself a source. It may log in with a secret, so only the class of what it raises is told."""
    try:
        with printing_aside():
            return make()
    except (Exception, SystemExit) as problem:  # noqa: BLE001  whatever an installation's own code raises
        raise InvalidInput("secrets_from", f"{place!r} raised {type(problem).__name__} as it was made") from None
