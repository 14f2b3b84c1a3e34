"""The commands ``up``, ``restart`` and ``down``: start the local servers and a worker, and stop them."""

import asyncio
import time
from typing import Annotated

import typer

from localservers import ensure, state, stop
from localservers import restart as restart_worker
from perdure.settings import Settings
from worker.terminal.output import out, program, say, show_json


def up(
    *,
    worker: Annotated[bool, typer.Option(help="Start a worker next to the servers.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the addresses as JSON.")] = False,
) -> None:
    """Start the local servers and a worker, or attach to those that run.

    Example: perdure up
    """
    started = time.monotonic()
    settings = Settings()
    addresses = ensure(settings, worker=worker, progress=say)
    if worker and state(settings):
        _await_worker(settings)
    current = state(settings)
    if as_json:
        shown = {"redis_url": _without_password(addresses.redis_url)}
        show_json(addresses.model_dump(mode="json", exclude={"weaviate_api_key"}) | shown)
        return
    out.print(f"up after {time.monotonic() - started:.1f} s; data in {settings.home}")
    if addresses.temporal_ui:
        out.print(f"  Temporal UI  {addresses.temporal_ui}")
    out.print(f"  Temporal     {addresses.temporal}")
    out.print(f"  Weaviate     {addresses.weaviate_url}, gRPC port {addresses.weaviate_grpc_port}")
    out.print(f"  Redis        {_without_password(addresses.redis_url)}")
    if current:
        if current.foreground and not current.worker:
            out.print(f"  worker       running in a terminal, process {current.foreground[0].pid}")
        else:
            out.print(f"  worker       {'running' if current.worker else 'not started'}")
        out.print(f"stop them with: {program()} down")


def restart(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print whether a worker ran before as JSON.")] = False
) -> None:
    """Restart the worker alone, with the settings, tools and skills of now; its tasks go on."""
    settings = Settings()
    restarted = restart_worker(settings, say)
    _await_worker(settings)
    if as_json:
        show_json({"restarted": restarted})
    else:
        out.print("restarted" if restarted else "started")


def down(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print whether anything ran as JSON.")] = False
) -> None:
    """Stop the local servers and the worker; their data stays."""
    settings = Settings()
    stopped = stop(settings, say)
    if as_json:
        show_json({"stopped": stopped})
    else:
        out.print("stopped" if stopped else f"nothing runs in {settings.home}")


def _await_worker(settings: Settings) -> None:
    # Imported here: Temporal's client takes a second, which "down" need not wait for.
    from worker import local_worker  # noqa: PLC0415
    from worker.cli.reach import gateway  # noqa: PLC0415

    say("waiting for the worker to serve")
    installation = gateway(settings)
    if not asyncio.run(local_worker.served(settings, lambda pid: installation.workers(pid=pid))):
        say(local_worker.problem(settings) or f"it does not serve yet; see {settings.home}/logs/worker.log")


def _without_password(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
