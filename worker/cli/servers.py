"""The commands ``up``, ``restart`` and ``down``: local servers, a worker and the HTTP service, started and stopped."""

import asyncio
import contextlib
import socket
import time
from typing import Annotated

import typer

from localservers import ServerNotStarted, ensure, serve, state, stop
from localservers import restart as restart_worker
from localservers.files import wait_until
from perdure.settings import Settings
from worker.terminal.output import out, program, say, show_json

_SERVICE_WITHIN = 60.0
"""Seconds that the service may take until it answers, a choice: it loads for three on an idle machine."""

_RESTARTED_WITHIN = 30.0
"""Seconds that a worker may take to serve after a restart, a choice: it was told to stop first, and nothing is said of
one that "up" starts for the first time, which may have to load much."""


def up(
    *,
    worker: Annotated[bool, typer.Option(help="Start a worker next to the servers.")] = True,
    service: Annotated[bool, typer.Option(help="Start the HTTP service too.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the addresses as JSON.")] = False,
) -> None:
    """Start the local servers, a worker and the HTTP service, or attach to those that run.

    Example: perdure up
    """
    started = time.monotonic()
    settings = Settings()
    addresses = ensure(settings, worker=worker, progress=say)
    is_late = bool(worker and state(settings) and not _serves(settings))
    if is_late:
        say(_why_not(settings))
    # After the worker, which has little time to say what is wrong with it.
    url = serve(settings, say) if service and state(settings) else ""
    if url:
        _await_service(settings, url)
    current = state(settings)
    _note_other_settings(settings)
    if as_json:
        shown = {"http": url, "redis_url": _without_password(addresses.redis_url)}
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
            told = "; it does not serve yet" if is_late else ""
            out.print(f"  worker       running in a terminal, process {current.foreground[0].pid}{told}")
        else:
            told = "started; it does not serve yet" if is_late else "running"
            out.print(f"  worker       {told if current.worker else 'not started'}")
        if url:
            out.print(f"  HTTP         {url}, token in {settings.home / 'http.token'}")
        out.print(f"stop them with: {program()} down")


def restart(
    *,
    yes: Annotated[
        bool, typer.Option("--yes", help="Also where open tasks may call tools that these settings lack.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print whether a worker ran before as JSON.")] = False,
) -> None:
    """Restart the worker and the HTTP service, with the settings, tools and skills of now; tasks go on.

    What the worker could not start with is refused before anything is stopped. So is, without --yes, what would take
    tools away while tasks are open.

    Example: perdure restart
    """
    # Imported here: Temporal's client takes a second, which "down" need not wait for.
    from worker import configuration_checks, restart_checks  # noqa: PLC0415
    from worker.cli.reach import gateway, person  # noqa: PLC0415

    settings = Settings()
    if state(settings):
        configuration_checks.require_usable(settings)
        if not yes:
            asyncio.run(restart_checks.require_tools_kept(settings, gateway(settings), by=person()))
    restarted = restart_worker(settings, say)
    if not _serves(settings, _RESTARTED_WITHIN):
        raise ServerNotStarted(_why_not(settings))
    if as_json:
        show_json({"restarted": restarted})
    else:
        out.print("restarted" if restarted else "started")


def down(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print whether anything ran as JSON.")] = False
) -> None:
    """Stop the local servers, the worker and the HTTP service; their data stays.

    Example: perdure down
    """
    settings = Settings()
    stopped = stop(settings, say)
    if as_json:
        show_json({"stopped": stopped})
    else:
        out.print("stopped" if stopped else f"nothing runs in {settings.home}")


def _serves(settings: Settings, within: float | None = None) -> bool:
    """Return whether the worker serves, or comes to within some seconds.

    Raises:
        ServerNotStarted: It fails again and again; with what it says.
    """
    # Imported here: Temporal's client takes a second, which "down" need not wait for.
    from worker import local_worker  # noqa: PLC0415
    from worker.cli.reach import gateway  # noqa: PLC0415

    say("waiting for the worker to serve")
    installation = gateway(settings)
    serves = local_worker.served(settings, lambda pid: installation.workers(pid=pid), within or local_worker.WITHIN)
    return asyncio.run(serves)


def _note_other_settings(settings: Settings) -> None:
    from worker.cli.reach import note_other_settings  # noqa: PLC0415

    note_other_settings(settings)


def _why_not(settings: Settings) -> str:
    from worker import local_worker  # noqa: PLC0415

    return local_worker.problem(settings) or f"it does not serve yet; see {settings.home}/logs/worker.log"


def _await_service(settings: Settings, url: str) -> None:
    say("waiting for the HTTP service to answer")
    host, _, port = url.rpartition("/")[2].partition(":")

    def answers() -> bool:
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
            return True
        return False

    if not wait_until(answers, _SERVICE_WITHIN):
        say(f"it does not answer yet; see {settings.home}/logs/service.log")


def _without_password(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
