"""How a process that has used Temporal's client ends: with its status, and without tidying up the interpreter.

The client runs threads of its own, which nothing can stop. One that lets go of a Python object while the interpreter
is being torn down kills the process after all was done: 6 of 60 runs of a small client and worker ended with
SIGABRT, one with SIGSEGV (measured; temporalio/sdk-python issue 300).
"""

import os
import sys
from collections.abc import Callable
from typing import NoReturn


def leave(status: int) -> NoReturn:
    """End the process now, with what it has written."""
    # A stream that was closed before we came (``>&-``) is None.
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    os._exit(status)


def leave_after(main: Callable[[], int | None]) -> NoReturn:
    """Run a program, and end the process with the status that it returns or exits with."""
    try:
        status = main()
    except SystemExit as left:
        if isinstance(left.code, str):
            sys.stderr.write(f"{left.code}\n")
            leave(1)
        status = left.code
    leave(status or 0)
