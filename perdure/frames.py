"""What an exception says, and where it was raised, as its author wants to read it: their own lines first. Pure."""

import site
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Annotated, cast

from pydantic import Field

from perdure.model import Passed
from perdure.packages import PACKAGES
from perdure.plurals import counted

FRAMES_KEPT = 12
"""Frames that are kept of an exception: one's own first, the innermost of each kind first."""

_OURS = PACKAGES - {"playbooks"}


class Frame(Passed):
    """One line of a program that was being executed when an exception was raised."""

    file: Annotated[str, Field(max_length=500)]
    """Its path below the folder that it is imported from; of a file that was named as such, below the worker's own
    folder."""
    line: int
    function: Annotated[str, Field(max_length=200)]
    library: bool = False
    """Whether it is a line of Python, of an installed package or of Perdure itself."""

    @property
    def told(self) -> str:
        """The line as editors and terminals take it.

        >>> Frame(file="shop.py", line=12, function="order").told
        'shop.py:12 in order'
        """
        return f"{self.file}:{self.line} in {self.function}"


def frames_of(error: BaseException | None) -> tuple[Frame, ...]:
    """Return where an exception was raised, one's own lines first, each kind from the innermost line outwards.

    A timeout was raised by whoever measured the time: what it cut off is what its cause shows. Where a function let
    ``StopIteration`` out, Python raised another error outside of it (PEP 479), and the cause shows the function. Of a
    group, the lines of its first exception come before those that waited for it.
    """
    if error is None:
        return ()
    first = _alone(error)[0]
    walked, cause = list(_walked(first)), first.__cause__
    has_ended = isinstance(first, RuntimeError) and isinstance(cause, StopIteration | StopAsyncIteration)
    if cause is not None and (isinstance(first, TimeoutError) or has_ended):
        walked = [*_walked(cause), *walked]
    if first is not error:
        walked += _walked(error)
    frames = [_frame(frame, line) for frame, line in walked]
    return tuple(sorted(frames, key=lambda frame: frame.library)[:FRAMES_KEPT])


def said_by(error: BaseException) -> str:
    """Return the text of an exception, whoever wrote its class; of a group, that of its first one.

    >>> said_by(ExceptionGroup("unhandled", [ValueError("no such shop"), OSError()]))
    'no such shop (and 1 more exception)'
    """
    first, *others = _alone(error)
    try:
        text = str(first)
    except Exception as problem:  # noqa: BLE001  whatever the exception's own code raises
        text = f"its text is not known: its __str__ raised {type(problem).__name__}"
    return f"{text} (and {counted(len(others), 'more exception')})".lstrip() if others else text


def class_of(error: BaseException) -> str:
    """Return the name of an exception's class; of a group, that of its first one."""
    return type(_alone(error)[0]).__name__


def own(frames: Iterable[Frame]) -> tuple[Frame, ...]:
    """Return the frames that are no library's."""
    return tuple(frame for frame in frames if not frame.library)


def place_of(frames: Iterable[Frame]) -> str:
    """Return one's own innermost line in brackets, as it follows a message; empty: none of the lines is one's own.

    >>> place_of([Frame(file="shop.py", line=12, function="order")])
    ' (shop.py:12 in order)'
    """
    return "".join(f" ({frame.told})" for frame in own(frames)[:1])


def is_perdures(error: BaseException) -> bool:
    """Return whether it is Perdure's own line that raised an exception, and not a tool's or a library's."""
    innermost = next(_walked(error), None)
    return innermost is not None and _module(innermost[0]).partition(".")[0] in _OURS


def is_library(path: Path, module: str) -> bool:
    """Return whether a file is one of Python's, of an installed package or of Perdure itself, by its module's name."""
    return module.partition(".")[0] in _OURS or any(path.is_relative_to(folder) for folder in _libraries())


def _alone(error: BaseException) -> list[BaseException]:
    """Return the exceptions of a group, which may hold others, in their order; any other exception by itself."""
    found: list[BaseException] = []
    left = [error]
    while left:
        one = left.pop()
        if isinstance(one, BaseExceptionGroup):
            left += reversed(cast("BaseExceptionGroup[BaseException]", one).exceptions)
        else:
            found.append(one)
    return found


def _walked(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    found: list[tuple[FrameType, int]] = []
    at = error.__traceback__
    while at is not None:
        found.append((at.tb_frame, at.tb_lineno))
        at = at.tb_next
    return reversed(found)


def _frame(frame: FrameType, line: int) -> Frame:
    path = Path(frame.f_code.co_filename)
    module = _module(frame)
    # A name that is not UTF-8 has surrogates in it, which no history can carry.
    file = str(_shown(path, module)).encode(errors="replace").decode()[-500:]
    function = frame.f_code.co_qualname[-200:]
    return Frame(file=file, line=line, function=function, library=is_library(path, module))


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _shown(path: Path, module: str) -> Path:
    """Return a file's path as its module's name gives it: it says nothing about the machine, or whose it is."""
    parts = module.split(".")
    of_module = Path(*path.parts[-len(parts) - (path.stem == "__init__") :])
    # Code that was compiled from a text may have no file name at all.
    if of_module.name and of_module.with_suffix("").parts[: len(parts)] == tuple(parts):
        return of_module
    # The folder that the worker was started in may be gone.
    with suppress(OSError):
        if path.is_relative_to(here := Path.cwd()):
            return path.relative_to(here)
    return Path(path.name)


@cache
def _libraries() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = [sysconfig.get_paths()[name] for name in names] + [site.getusersitepackages()]
    return tuple(Path(path) for path in dict.fromkeys(paths))
