"""The command that serves tasks in the foreground."""

from typing import Annotated

import typer

from worker.loading import loaded


def worker(
    *,
    reload: Annotated[
        bool,
        typer.Option("--reload", help="Begin anew whenever your own code has changed; to write tools with."),
    ] = False,
) -> None:
    """Serve tasks in this process until Ctrl-C.

    Example: perdure worker --reload
    """
    loaded("worker.process").main(reload=reload)
