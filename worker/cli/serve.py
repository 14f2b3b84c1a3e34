"""The command that serves HTTP in the foreground."""

from typing import Annotated

import typer

from perdure.settings import Settings


def serve(
    *,
    host: Annotated[
        str | None,
        typer.Option(help="Where to listen; default: as configured (127.0.0.1).", show_default=False),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="The port; default: as configured (8321); 0: any.", show_default=False),
    ] = None,
) -> None:
    """Answer HTTP requests in this process until Ctrl-C: memory and tasks, for whoever has a token.

    Example: perdure serve --port 8321
    """
    from worker.http import server  # noqa: PLC0415  it loads FastAPI, which no other command needs

    given = {"http_host": host, "http_port": port}
    server.serve(Settings().changed(**{name: value for name, value in given.items() if value is not None}))
