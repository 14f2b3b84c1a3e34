"""How the CLI reaches an installation: its settings, its servers, and the gateway to it."""

import getpass
from pathlib import Path

from temporalio.client import Plugin

from localservers import ensure, running, state
from localservers.agreement import disagreements, named
from perdure.errors import InvalidInput
from perdure.settings import Addresses, Settings
from perdure.values.changes import Actor, ActorKind
from worker.gateway import Gateway
from worker.local_worker import reachable
from worker.terminal.output import say


def started(settings: Settings) -> Addresses:
    """Return the addresses of the servers; starts them and a worker where necessary, and says so."""
    configured = settings.configured_addresses()
    if configured:
        return configured
    if running(settings) is None:
        say("nothing runs yet: starting local servers and a worker (stop them with 'perdure down')")
    return ensure(settings, worker=True, progress=say)


def require_same_settings(settings: Settings) -> None:
    """Check that each worker of this machine was started with these settings, and has read its files as they are now.

    Raises:
        InvalidInput: One was started with others, or has read others: it may have other tools and skills.
    """
    for one in disagreements(state(settings), settings):
        if one.changed:
            others = f", and so did {named(one.changed[1:])}" if one.changed[1:] else ""
            problem = f"changed after {one.worker} had read it{others}; nothing was started"
            raise InvalidInput(str(one.changed[0]), problem, fix=one.fix)
        different = f" ({one.origin})" if one.origin else ""
        problem = f"are not those that {one.worker} was started with{different}; nothing was started"
        raise InvalidInput("settings", problem, fix=one.fix)


def check_here(settings: Settings, file: Path) -> None:
    """Check a task's file as a worker of this machine would; for servers elsewhere, nothing is checked.

    Args:
        settings: The settings of this process.
        file: The task's file. Workers elsewhere may have other tools and skills.

    Raises:
        InvalidInput: It cannot be run, with the line.
    """
    if settings.configured_addresses() is None:
        from worker.cli.check import check_task  # noqa: PLC0415  it loads tools and skills

        check_task(file, settings)


def note_other_settings(settings: Settings) -> None:
    """Report each worker of this machine that was started with other settings, or has read older files."""
    for one in disagreements(state(settings), settings):
        say(f"note: {one.told}")


def warn_of_other_settings(settings: Settings) -> None:
    """Warn where a worker of this machine does part of the work with other settings, or with older rules."""
    rules = {settings.write_policies, settings.retention_rules}
    for one in disagreements(state(settings), settings):
        if not one.changed or not rules.isdisjoint(one.changed):
            say(f"it may be decided otherwise than you expect: {one.told}")


def gateway(settings: Settings, addresses: Addresses | None = None, *plugins: Plugin) -> Gateway:
    """Return the gateway to the running servers.

    Raises:
        NothingRuns: None run.
    """
    return Gateway(settings, addresses or reachable(settings), notify=say, plugins=plugins)


def person(name: str = "") -> Actor:
    """Return the person at this terminal as an actor, under the given name or that of their account."""
    try:
        return Actor(kind=ActorKind.PERSON, id=name or getpass.getuser())
    except (KeyError, OSError):
        return Actor(kind=ActorKind.PERSON)
