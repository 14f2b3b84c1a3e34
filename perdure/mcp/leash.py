"""Runs a program that ends with its parent, also where that is killed. Run as a file, by a plain interpreter."""

import ctypes
import os
import signal
import sys

_SET_PDEATHSIG = 1
"""Of Linux' ``prctl``; the setting outlives ``exec``."""


def main() -> None:
    """Replace this process by the program in its arguments."""
    parent, *command = sys.argv[1:]
    ctypes.CDLL(None).prctl(_SET_PDEATHSIG, signal.SIGKILL)
    # It may have ended before the line above.
    if os.getppid() != int(parent):
        sys.exit(1)
    try:
        os.execvp(command[0], command)
    except OSError as problem:
        sys.stderr.write(f"{command[0]}: {problem.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    main()
