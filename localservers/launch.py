"""The first program of a child process: dies with its parent, and replaces itself with the program to run.

    python -I -S launch.py PARENT PROGRAM [ARGUMENT …]

It stands between ``fork`` and the program because Python code between the two (``preexec_fn``) forks with all that
other threads do: OpenBLAS waits then for its own threads, and for ever where another thread was multiplying.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Become the program, unless the parent has died meanwhile."""
    parent, program, *arguments = sys.argv[1:]
    # Only Linux can kill a process with its parent.
    if sys.platform == "linux" and ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
        sys.exit(126)
    if os.getppid() != int(parent):
        sys.exit(126)
    os.execvp(program, [program, *arguments])


if __name__ == "__main__":
    main()
