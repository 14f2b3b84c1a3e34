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
from temporalio.client import (
    ActivityFailureError,
    WorkflowFailureError,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
)
from temporalio.exceptions import ApplicationError, CancelledError, FailureError, TimeoutError
from temporalio.service import RPCError, RPCStatusCode

from perdure import errors
from perdure.errors import InvalidInput, PerdureError, Unavailable

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


class Exit(IntEnum):
    """What an exit status means."""

    DONE = 0
    FAILED = 1
    """It ran, and it failed: a task, a check, a sweep."""
    REFUSED = 2
    """The input is wrong; the message names the field and the fix."""
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
        fail(str(error), _status_of_class(type(error)))
    except (ActivityFailureError, WorkflowFailureError, WorkflowUpdateFailedError) as error:
        fail(reason_of(error), status_of(error))
    except WorkflowQueryFailedError as error:
        fail(str(error), Exit.FAILED)
    except RPCError as error:
        if error.status in (RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT):
            fail(f"Temporal: {error.message}", Exit.REFUSED)
        fail(f"Temporal: {error.status.name.lower()}: {error.message}", Exit.UNAVAILABLE)
    except KeyboardInterrupt:
        raise typer.Exit(Exit.DETACHED) from None


def reason_of(error: BaseException) -> str:
    """Return the innermost message of a failure, which is the cause; the outer ones only pass it on."""
    inner = _innermost(error)
    if isinstance(inner, CancelledError):
        return "it was cancelled"
    if isinstance(inner, TimeoutError):
        return "no worker answered in time: is one running? (perdure worker)"
    return inner.message if isinstance(inner, FailureError) else str(inner)


def status_of(error: BaseException) -> Exit:
    """Return the exit status for a failure's type: wrong input, a server that does not answer, or just a failure."""
    inner = _innermost(error)
    if isinstance(inner, TimeoutError):
        return Exit.UNAVAILABLE
    kind = getattr(errors, inner.type or "", None) if isinstance(inner, ApplicationError) else None
    return _status_of_class(kind) if isinstance(kind, type) else Exit.FAILED


def _status_of_class(kind: type) -> Exit:
    if issubclass(kind, Unavailable):
        return Exit.UNAVAILABLE
    return Exit.REFUSED if issubclass(kind, InvalidInput) else Exit.FAILED


def _innermost(error: BaseException) -> BaseException:
    inner = error
    while isinstance(inner, (ActivityFailureError, WorkflowFailureError, WorkflowUpdateFailedError, FailureError)) and (
        inner.cause
    ):
        inner = inner.cause
    return inner
