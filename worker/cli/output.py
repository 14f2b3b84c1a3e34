"""How the CLI speaks: results to stdout, everything else to stderr, and exit codes that mean something."""

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, NoReturn

import typer
from pydantic import BaseModel
from rich.console import Console
from temporalio.client import WorkflowFailureError, WorkflowQueryFailedError, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError, FailureError
from temporalio.service import RPCError, RPCStatusCode

from perdure.errors import InvalidInput, PerdureError, StoreUnavailable

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


def show_json(value: BaseModel | dict[str, Any] | list[Any]) -> None:
    """Print a value for a script: JSON, and nothing else, on stdout."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    sys.stdout.write(json.dumps(plain, indent=2, ensure_ascii=False, default=str) + "\n")


def say(text: str) -> None:
    """Tell a person how things go, without disturbing what a script reads."""
    err.print(text, markup=False)


def fail(message: str, status: Exit) -> NoReturn:
    """Say what is wrong, and stop."""
    err.print(f"error: {message}", style="red", markup=False)
    raise typer.Exit(status)


@contextmanager
def explained() -> Generator[None]:
    """Turn every expected error into one line and an exit status; a traceback means a bug of ours."""
    try:
        yield
    except StoreUnavailable as error:
        fail(str(error), Exit.UNAVAILABLE)
    except InvalidInput as error:
        fail(str(error), Exit.REFUSED)
    except PerdureError as error:
        fail(str(error), Exit.FAILED)
    except (WorkflowFailureError, WorkflowUpdateFailedError) as error:
        fail(reason_of(error), Exit.REFUSED if _is_refusal(error) else Exit.FAILED)
    except WorkflowQueryFailedError as error:
        fail(str(error), Exit.FAILED)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            fail(f"Temporal knows nothing of it: {error.message}", Exit.REFUSED)
        fail(f"Temporal: {error.status.name.lower()}: {error.message}", Exit.UNAVAILABLE)
    except KeyboardInterrupt:
        raise typer.Exit(Exit.DETACHED) from None


def reason_of(error: BaseException) -> str:
    """Give the innermost message of a failure: what really went wrong, not who passed it on."""
    inner: BaseException = error
    while isinstance(inner, (WorkflowFailureError, WorkflowUpdateFailedError, FailureError)) and inner.cause:
        inner = inner.cause
    return inner.message if isinstance(inner, FailureError) else str(inner)


def _is_refusal(error: WorkflowFailureError | WorkflowUpdateFailedError) -> bool:
    cause: BaseException | None = error.cause
    while isinstance(cause, FailureError) and cause.cause:
        cause = cause.cause
    return isinstance(cause, ApplicationError) and (cause.type or "").startswith("Invalid")
