"""The command that serves tasks in the foreground."""

import typer

from worker import process


def worker() -> None:
    """Serve tasks in this process until Ctrl-C."""
    raise typer.Exit(process.main())
