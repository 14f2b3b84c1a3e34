"""The command that serves tasks in the foreground."""

from worker import process


def worker() -> None:
    """Serve tasks in this process until Ctrl-C.

    Example: perdure worker
    """
    process.main()
