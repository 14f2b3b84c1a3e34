"""The worker process: it polls until it is stopped, and then finishes what it holds."""

import asyncio
import contextlib
import importlib.metadata
import io
import signal
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import structlog
from temporalio.client import Client
from temporalio.worker import Worker

from localservers import HomeUnusable, state
from localservers.foreground import announce, hand_over
from localservers.loaded import begin_loading, tell_loaded
from localservers.origin import SettingsOrigin
from localservers.state import HomeLock
from perdure.agent.steps.threads import count_threads
from perdure.errors import PerdureError, StoreLost, StoreUnavailable, TenantKeyMismatch
from perdure.settings import Addresses, Settings
from perdure.stores import disk
from perdure.stores.journal.marks import known_fingerprint
from perdure.stores.redis.connection import connect
from perdure.stores.redis.installation import Installation
from perdure.temporal import namespace
from perdure.temporal.connection import connected
from perdure.together import together
from perdure.toolbox import Toolbox
from perdure.values.losses import Store
from worker.configuration_checks import require_folders
from worker.eviction import EvictingRunner
from worker.exit import leave
from worker.exit_status import Exit, status_of
from worker.local_worker import reachable
from worker.loop_watch import watched_loop
from worker.plugin import WorkerPlugin
from worker.reload import begin_anew, changed, sources
from worker.schedules import ensure_schedules, start_reconciling
from worker.slots import tuner
from worker.telemetry import Telemetry, configure_logging
from worker.upkeep import (
    bring_episodes,
    keep_checked,
    keep_compared,
    keep_looking,
    keep_up,
    keep_watching,
    warn_of_settings,
)
from worker.value_cleanup import keep_clean
from worker.wiring.activities import activities
from worker.wiring.registries import modules_of, read_once
from worker.wiring.services import Services, open_services

GRACE = timedelta(seconds=10)
"""How long running activities may take to finish when the worker is stopped; more than a once tool takes."""

_log = structlog.get_logger(__name__)


async def run(settings: Settings, addresses: Addresses, stop: asyncio.Event, *, reloads: bool = False) -> None:
    """Serve tasks until ``stop`` is set.

    A store that is down does not keep a worker from starting, once it has its tenant key: tasks go on without it as far
    as they can.

    Args:
        settings: The worker's settings.
        addresses: Where the servers are.
        stop: Has it finish what it holds, and return.
        reloads: Whether this process begins anew by itself when code has changed.

    Raises:
        EmbeddingMismatch: The collections were made with another model.
        SchemaMismatch: Their words are stemmed in another language.
        TenantKeyMismatch: The data was written under another tenant key.
        JournalMismatch: The other workers share another journal.
        StoreLost: The journal's folder does not hold it.
        NamespaceUnusable: Temporal's namespace lacks what tasks need, and this worker may not register it.
        StoreRefused: A server refuses this worker's login.
        StoreUnavailable: Temporal does not answer.
    """
    configure_logging()
    # Loading takes seconds, in which one in a terminal would look as if it hung.
    _log.info("worker starting", task_queue=settings.task_queue)
    began = begin_loading(settings.home)
    telemetry = Telemetry.start(settings)
    try:
        client = await connected(addresses.temporal, plugins=[telemetry.plugin])
        await _may_make_key(settings, addresses)
        async with open_services(settings, addresses) as services, contextlib.AsyncExitStack() as stack:

            async def checked() -> list[Callable[[], Awaitable[None]]]:
                unanswered = await _unanswered(services)
                await namespace.prepare(client)
                await ensure_schedules(client, settings)
                return unanswered

            unanswered, _ = await together(checked(), _warm_up(services))
            stack.enter_context(watched_loop())
            async with make_worker(client, services, settings):

                async def kept_up() -> None:
                    await together(
                        warn_of_settings(addresses.redis_url),
                        keep_up(unanswered, lambda: bringing(services), services.session.waiting),
                        keep_checked(services.repair),
                        keep_looking(services.longterm),
                        keep_watching(services.longterm, services.checks, services.whole),
                        keep_compared(services.whole, services.tenant_key, lambda: start_reconciling(client, settings)),
                        keep_clean(services.outputs),
                    )

                upkeep = asyncio.create_task(kept_up())
                stopped = asyncio.create_task(stop.wait())
                _tell_loaded(settings, services.toolbox, began, reloads=reloads)
                _log.info("worker ready", task_queue=settings.task_queue, tools=len(services.toolbox))
                try:
                    await asyncio.wait({upkeep, stopped}, return_when=asyncio.FIRST_COMPLETED)
                    _log.info("worker stopping")
                    if upkeep.done():
                        upkeep.result()
                finally:
                    upkeep.cancel()
                    stopped.cancel()
    finally:
        telemetry.stop()


def _tell_loaded(settings: Settings, toolbox: Toolbox, began: int, *, reloads: bool) -> None:
    """Write down what this worker has read, for those who start tasks on this machine."""
    try:
        # Only beside servers of this machine does anybody look; a container may be unable to write its data folder.
        if HomeLock(settings.home).holder() is not None:
            code = () if reloads else sources(modules_of(settings))
            tools = {tool.name: tool.parameters for tool in toolbox}
            tell_loaded(settings.home, [*code, *read_once(settings)], began, tools)
    except (HomeUnusable, OSError, ValueError) as problem:
        _log.warning("nobody can see which files this worker has read", problem=str(problem))


async def bringing(services: Services) -> int:
    """Bring what waits in this machine's spool to Redis; return the number of episodes."""
    now = datetime.now(UTC)
    return await bring_episodes(services.spool, services.episodes, services.erasures, services.consents, now=now)


def make_worker(
    client: Client, services: Services, settings: Settings, plugin: WorkerPlugin | None = None, **more: object
) -> Worker:
    """Make a worker with everything that it serves.

    Args:
        client: A client with ``perdure.temporal.Plugin``.
        services: What the activities use.
        settings: The task queue, and how soon a dead worker is noticed.
        plugin: What is registered, if not what the services offer.
        **more: Options of Temporal's worker.
    """
    count_threads()
    runner = EvictingRunner()
    options: dict[str, object] = {
        "task_queue": settings.task_queue,
        # By itself the SDK reads and hashes the code of all modules, which holds the loop up for .2 s, or a second on a
        # busy machine (measured).
        "build_id": f"perdure-{importlib.metadata.version('perdure')}",
        "plugins": [plugin or WorkerPlugin(activities(services, client, settings), content=settings.trace_content)],
        "sticky_queue_schedule_to_start_timeout": timedelta(seconds=settings.sticky_timeout),
        "graceful_shutdown_timeout": GRACE,
        # By itself the SDK holds heartbeats back for up to 1.6 s of a 2 s time-out, which is thin under load.
        "max_heartbeat_throttle_interval": timedelta(seconds=settings.heartbeat_timeout / 4),
        "tuner": tuner(),
        "unsandboxed_workflow_runner": runner,
    } | more
    worker = Worker(client, **options)  # pyright: ignore[reportArgumentType]  the mapping is of any options
    runner.serve(worker)
    return worker


async def _may_make_key(settings: Settings, addresses: Addresses) -> None:
    """Refuse to make a tenant key while there may be one: tasks would run under tenants that nobody else can find.

    Raises:
        TenantKeyMismatch: There is one, and it is not here.
        StoreUnavailable: Redis, which knows, does not answer.
    """
    path = settings.tenant_key_file
    if not path.exists():
        folder = settings.journal_folder
        if found := await disk.in_thread(Store.JOURNAL, lambda: known_fingerprint(folder)):
            raise TenantKeyMismatch(
                f"the journal was written under the tenant key {found}, and {path} is missing: "
                "copy it from another worker of this installation, or restore its backup"
            )
        async with contextlib.aclosing(connect(addresses.redis_url)) as redis:
            try:
                await Installation(redis).require_none(path)
            except StoreUnavailable as error:
                problem = f"does not answer, and only it knows whether there is a tenant key: {path} is missing"
                raise StoreUnavailable("redis", problem) from error


async def _unanswered(services: Services) -> list[Callable[[], Awaitable[None]]]:
    """Refuse data that this worker would damage; return the checks that a store did not answer yet."""
    unanswered: list[Callable[[], Awaitable[None]]] = []
    for check in (services.belongs, services.prepare):
        try:
            await check()
        except StoreUnavailable as error:
            if isinstance(error, StoreLost):
                raise
            _log.warning("not checked yet", problem=str(error))
            unanswered.append(check)
    return unanswered


async def _warm_up(services: Services) -> None:
    with contextlib.suppress(StoreUnavailable):
        # The model's first text takes 0.3 s (measured); no recall should have to wait for that.
        await services.embedder.embed(["warm"])


async def _main(*, reload: bool) -> None:
    configure_logging()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    # Closing the loop would wait for tools that still run in threads, with nobody left to renew their claims.
    leave(await (_reloading(stop) if reload else _served(stop, _Announced(), reloads=False)))


class _Announced:
    """That this process is a worker in a terminal, told to those that look for one before they start another."""

    def __init__(self) -> None:
        self._held: int | None = None

    def announce(self, settings: Settings, addresses: Addresses) -> None:
        """Announce it, and warn of a worker that is there already: tasks go to either."""
        # Where every address is configured, nobody starts workers but people, and supervisors, which know their own.
        if settings.configured_addresses():
            return
        if (current := state(settings)) and current.worker:
            _log.warning("another worker runs in the background, and takes tasks too", pid=current.worker.pid)
        known = {"settings": settings.fingerprint, "temporal": addresses.temporal}
        self._held = announce(settings.home, **known, origin=SettingsOrigin.here())

    def hand_over(self) -> None:
        """Keep it announced while this process begins anew."""
        if self._held is not None:
            hand_over(self._held)


async def _served(stop: asyncio.Event, announced: _Announced, *, reloads: bool) -> int:
    """Run a worker; returns the status that this process is to exit with."""
    try:
        settings = Settings()
        require_folders(settings)
        addresses = reachable(settings)
        announced.announce(settings, addresses)
        await run(settings, addresses, stop, reloads=reloads)
    except PerdureError as error:
        sys.stderr.write(f"error: {error}\n")
        return status_of(error)
    return Exit.DONE


async def _reloading(stop: asyncio.Event) -> int:
    """Run a worker until it is stopped, or code has changed: then this process begins anew, and does not return.

    What cannot be loaded is told, and waited for to change.
    """
    tools, ended, announced = Settings().tools, asyncio.Event(), _Announced()
    watching = asyncio.create_task(changed(tools, sources(tools)))
    watching.add_done_callback(lambda _: ended.set())
    stopping = asyncio.create_task(stop.wait())
    stopping.add_done_callback(lambda _: ended.set())
    status = await _served(ended, announced, reloads=True)
    await asyncio.wait({watching, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if stop.is_set():
        return status
    _log.info("worker begins anew", changed=str(watching.result()))
    announced.hand_over()
    begin_anew()


def main(*, reload: bool = False) -> None:
    """Run a worker until SIGTERM or Ctrl-C, or until it must not go on, and exit.

    Args:
        reload: Whether to begin anew whenever code of one's own has changed, and to wait for that where it must not
            go on.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What a tool prints is of use while it runs; to a file or a pipe it would come in blocks of some kilobytes.
        sys.stdout.reconfigure(line_buffering=True)
    asyncio.run(_main(reload=reload))
