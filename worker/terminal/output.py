"""Output of the CLI: results on stdout, everything else on stderr."""

import json
import re
import shutil
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from perdure.documents import refused
from perdure.errors import InvalidInput, PerdureError, StoreLost, StoreUnavailable
from worker.exit_status import Exit, status_of

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """Return a text without what moves a terminal's cursor or clears it, which could fake a question."""
    return _CONTROLS.sub("\ufffd", text)


class PlainConsole(Console):
    """A console that shows no control characters of what it prints: tools, models and web pages wrote some of it."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of something, without what would act on the terminal."""
        for one in super().render(renderable, options):
            yield one if one.control else one._replace(text=plain(one.text))


out = PlainConsole(highlight=False, soft_wrap=True)
err = PlainConsole(stderr=True, highlight=False, soft_wrap=True)


_Misused: type[Any] = typer.BadParameter.__mro__[1]
"""What Typer raises about options and arguments that are missing, unknown or wrong; it exports the last alone."""


_ADDRESSES = {
    "temporal": "TEMPORAL_ADDRESS",
    "redis": "PERDURE_REDIS_URL",
    "weaviate": "PERDURE_WEAVIATE_URL",
    "openai": "PERDURE_OPENAI_BASE_URL",
}
"""Where the address of each server is set."""


_AWAY = re.compile(r": \w+$|does not answer|no answer within")
"""How it is told that a server does not answer: by an exception's class, or in words."""


_SUGGESTED = re.compile(r"(.+?) \(((?:did you mean|there are|Possible options).+)\)", re.DOTALL)
"""What is wrong with a command line, and what else there is; other brackets are part of the problem."""


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
    try:
        text = json.dumps(plain, indent=2, ensure_ascii=False, default=str, allow_nan=False)
    except ValueError:
        # JSON has no infinite numbers, which the schema of a tool may have: they are text.
        finite = from_json(to_json(plain, inf_nan_mode="strings", fallback=str))
        text = json.dumps(finite, indent=2, ensure_ascii=False)
    sys.stdout.write(text + "\n")


def say(text: str) -> None:
    """Print a line for a person on stderr, where it does not disturb what a script reads."""
    err.print(text, markup=False)


def draw(drawing: RenderableType) -> None:
    """Draw something for a person on stderr, wider than a narrow terminal: a line that wraps tells more than a cut one.

    A width that is given to ``print`` only makes a console narrower, so this is a wider one.
    """
    PlainConsole(stderr=True, highlight=False, width=max(err.width, 200)).print(drawing, crop=False)


def fail(message: str, status: Exit) -> NoReturn:
    """Print an error, and exit."""
    err.print(f"error: {message}", style="red", markup=False)
    raise typer.Exit(status)


@contextmanager
def explained(*, as_json: bool = False) -> Generator[None]:
    """Turn every expected error into one line and an exit status; a traceback means a bug in Perdure.

    Args:
        as_json: Whether a script reads it: then the error is one JSON object on stdout, in place of a result.
    """
    try:
        yield
    except PerdureError as error:
        _end(error, as_json=as_json)
    except typer.TyperException as error:
        if isinstance(problem := error.__cause__, ValidationError):
            _end(refused(problem, BaseModel, _name(error)), as_json=as_json)
        # The command line itself is wrong, which has no code of its own.
        if not (as_json and isinstance(error, _Misused)):
            raise
        show_json({"error": told(_misuse(error))})
        raise typer.Exit(Exit.REFUSED) from None
    except KeyboardInterrupt:
        raise typer.Exit(Exit.DETACHED) from None


def _end(error: PerdureError, *, as_json: bool) -> NoReturn:
    if not as_json:
        fix = how_to_reach(error)
        fail(_from_here(str(error), error) + (f" ({fix})" if fix else ""), status_of(error))
    show_json({"error": told(error)})
    raise typer.Exit(status_of(error)) from None


def how_to_reach(error: PerdureError) -> str:
    """Return what to do about a server that does not answer; empty: it is none, or its address is not a setting."""
    # One that answers has something else wrong with it.
    if not isinstance(error, StoreUnavailable) or isinstance(error, StoreLost) or not _AWAY.search(str(error)):
        return ""
    address = _ADDRESSES.get(error.store)
    return f"start it, or correct {address}; 'perdure doctor' looks at each server" if address else ""


def _from_here(text: str, error: PerdureError) -> str:
    """Return a text with the place that an error names as a person who is in this folder would type it."""
    place: str = getattr(error, "place", "")
    shorter = place.removeprefix(f"{Path.cwd()}/")
    return text.replace(place, shorter, 1) if place else text


def _misuse(error: Any) -> InvalidInput:
    """Return what is wrong with a command line, with the example, the suggestion or its help as the fix."""
    text: str = error.format_message()
    problem, _, fix = text.partition(" For example: ")
    if not fix and (both := _SUGGESTED.fullmatch(text)):
        problem, fix = both[1], both[2]
    if not fix and error.ctx is not None:
        fix = f"'{error.ctx.command_path} {error.ctx.help_option_names[0]}' says what it takes"
    return InvalidInput("arguments", problem, fix=fix)


def _name(error: Any) -> str:
    """Return what a person calls the option or the argument that Typer complains of."""
    parameter = getattr(error, "param", None)
    names = [name for name in getattr(parameter, "opts", ()) if name.startswith("--")]
    return next(iter(names), str(getattr(parameter, "human_readable_name", "arguments")))


def told(error: PerdureError) -> dict[str, str]:
    """Return an error for a script: its code, its message, and the field and the fix where it names them."""
    parts = {name: str(getattr(error, name, "")) for name in ("field", "problem", "fix", "place")}
    message = error.message
    parts["problem"] = parts["problem"] or message
    if fix := how_to_reach(error):
        parts["fix"], message = fix, f"{message} ({fix})"
    return {"code": error.code, "message": message, **parts}
