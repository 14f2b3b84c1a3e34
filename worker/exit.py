"""How a process that has used Temporal's client exits: with its status, but without finalising the interpreter.

The client has threads that cannot be stopped. If one of them releases a Python object during finalisation, the process
crashes after its work is done: 6 of 60 runs of a small client and worker ended with SIGABRT and one with SIGSEGV
(measured; temporalio/sdk-python issue 300).
"""

import os
import sys
from collections.abc import Callable
from typing import NoReturn


def leave(status: int) -> NoReturn:
    """Flush what was written, and exit at once."""
    # A stream that was already closed (``>&-``) is None.
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    os._exit(status)


def leave_after(main: Callable[[], int | None]) -> NoReturn:
    """Run a program, and exit with the status that it returns or raises."""
    try:
        status = main()
    except SystemExit as left:
        if isinstance(left.code, str):
            sys.stderr.write(f"{left.code}\n")
            leave(1)
        status = left.code
    leave(status or 0)
