"""The standard streams and the width of a command, made usable before it runs; decides nothing of what is printed."""

import io
import os
import sys
from collections.abc import Callable
from typing import TextIO

_STDOUT, _STDERR = 1, 2


def prepare() -> Callable[[], str]:
    """Have writing to the standard streams never fail, and the width be one that something can be printed in.

    A stream that was closed (``>&-``) is ``/dev/null`` from then on: otherwise the next file or socket that is opened
    would take its place. Nor does the end of a pipe (``| head -1``) end the command, whose exit status is its own.

    Returns:
        Flushes stdout, and returns why some of it could not be written; empty: all was, or nobody read on.
    """
    for number in (_STDOUT, _STDERR):
        _open(number)
    # Rich takes a width of 0 as it is, and prints nothing in it; without these, it asks the terminal.
    for variable in ("COLUMNS", "LINES"):
        if not _is_size(os.environ.get(variable, "1")):
            del os.environ[variable]
    written, told = _Lenient(_STDOUT), _Lenient(_STDERR)
    sys.stdout, sys.stderr = _around(written, sys.stdout), _around(told, sys.stderr)

    def lost() -> str:
        sys.stdout.flush()
        return written.problem

    return lost


def reporting_loss(main: Callable[[], int | None], lost: Callable[[], str]) -> int | None:
    """Run a program, and say in one line on stderr if its output could not be written; its status is then not 0.

    Args:
        main: The program, which returns or raises its status.
        lost: Returns why some output could not be written; empty: all was.
    """
    try:
        status = main()
    except SystemExit as left:
        if not _report(lost()):
            raise
        raise SystemExit(left.code or 1) from None
    return (status or 1) if _report(lost()) else status


def _report(problem: str) -> bool:
    if problem:
        sys.stderr.write(f"error: the output could not be written: {problem} (make room, or send it elsewhere)\n")
    return bool(problem)


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text) > 0


def _open(number: int) -> None:
    """Open a standard stream to nowhere if it is closed."""
    try:
        os.fstat(number)
    except OSError:
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere == number:
            os.set_inheritable(number, True)
        else:
            os.dup2(nowhere, number)
            os.close(nowhere)


class _Lenient(io.FileIO):
    """A stream of which what cannot be written is lost; the first problem is kept, but for the end of a pipe."""

    problem = ""

    def __init__(self, number: int) -> None:
        super().__init__(number, "wb", closefd=False)

    def write(self, data: object, /) -> int | None:
        """Write bytes; what cannot be written counts as written, so that no buffer keeps it."""
        try:
            return super().write(data)  # pyright: ignore[reportArgumentType]
        except BlockingIOError:
            raise
        except BrokenPipeError:
            pass
        except OSError as error:
            self.problem = self.problem or error.strerror or type(error).__name__
        return memoryview(data).nbytes  # pyright: ignore[reportArgumentType]


def _around(raw: _Lenient, before: TextIO | None) -> TextIO:
    """Return a stream of text over another one, that encodes and buffers as the one before it does."""
    if not isinstance(before, io.TextIOWrapper):
        return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace")
    before.flush()
    # Python itself leaves the buffer out where nothing is to be buffered (PYTHONUNBUFFERED).
    buffer = raw if before.write_through else io.BufferedWriter(raw)
    return io.TextIOWrapper(
        buffer,
        encoding=before.encoding,
        errors=before.errors,
        line_buffering=before.line_buffering,
        write_through=before.write_through,
    )
