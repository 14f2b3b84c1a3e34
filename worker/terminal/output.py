"""Output of the CLI: results on stdout, everything else on stderr, and exit codes that mean something."""

import json
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any, NoReturn

import typer
from pydantic import BaseModel
from rich.console import Console

from perdure.errors import InvalidInput, PerdureError, StoreRefused, Unavailable
from perdure.models.errors import ModelRefused

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


class Exit(IntEnum):
    """What an exit status means."""

    DONE = 0
    FAILED = 1
    """It ran, and it failed: a task, a check, a sweep."""
    REFUSED = 2
    """The input or a login is wrong; the message names the field and the fix."""
    UNAVAILABLE = 3
    """A server does not answer; nothing is wrong with the input."""
    DETACHED = 130
    """Ctrl-C: what was started goes on."""


def program() -> str:
    """Return the name under which this command can be called again: its path where it is not on PATH."""
    called = Path(sys.argv[0])
    if called.name != "perdure" or shutil.which("perdure"):
        return "perdure"
    here = Path.cwd()
    return str(called.relative_to(here) if called.is_relative_to(here) else called)


def show_json(value: BaseModel | dict[str, Any] | list[Any]) -> None:
    """Print a value for a script: JSON, and nothing else, on stdout."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    sys.stdout.write(json.dumps(plain, indent=2, ensure_ascii=False, default=str) + "\n")


def say(text: str) -> None:
    """Print a line for a person on stderr, where it does not disturb what a script reads."""
    err.print(text, markup=False)


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun: ``1 item``, ``2 items``, ``2 entries``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def fail(message: str, status: Exit) -> NoReturn:
    """Print an error, and exit."""
    err.print(f"error: {message}", style="red", markup=False)
    raise typer.Exit(status)


@contextmanager
def explained() -> Generator[None]:
    """Turn every expected error into one line and an exit status; a traceback means a bug in Perdure."""
    try:
        yield
    except PerdureError as error:
        fail(str(error), status_of(error))
    except KeyboardInterrupt:
        raise typer.Exit(Exit.DETACHED) from None


def status_of(error: PerdureError) -> Exit:
    """Return the exit status for an error: wrong input or login, a server that does not answer, or just a failure."""
    if isinstance(error, Unavailable):
        return Exit.UNAVAILABLE
    return Exit.REFUSED if isinstance(error, InvalidInput | StoreRefused | ModelRefused) else Exit.FAILED
