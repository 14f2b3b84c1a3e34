"""What a restart of the local worker would take away from tasks that are open. Stops and starts nothing."""

from localservers import SettingsOrigin, state
from perdure.errors import InvalidInput
from perdure.settings import Settings
from perdure.toolbox import Toolbox
from perdure.values.changes import Actor
from worker.gateway import Gateway
from worker.wiring.registries import known_tools_of


async def require_tools_kept(settings: Settings, installation: Gateway, *, by: Actor) -> None:
    """Refuse to restart the local worker with settings that lack tools of its while tasks are open.

    Args:
        settings: What it would be started with.
        installation: The gateway to it.
        by: Who restarts it.

    Raises:
        InvalidInput: Naming the tools, and where the worker has its settings from.
    """
    current = state(settings)
    if current is None or current.worker is None:
        return
    before, here = current.worker.origin, SettingsOrigin.of(settings)
    lost = lost_tools(before, settings)
    if not lost or not (number := await installation.open_tasks(by=by)):
        return
    where = f"{before.how_to_use(here)}, or " if before.difference(here) else ""
    different = f" ({told})" if (told := before.difference(here)) else ""
    raise InvalidInput(
        "settings",
        f"lack tools that the running worker has: {', '.join(lost)}{different}; "
        f"{'1 task is' if number == 1 else f'{number} tasks are'} open, and stands still at a step that calls one",
        fix=f"{where}add them to the tools of these settings; to go on without them, --yes",
    )


def lost_tools(before: SettingsOrigin, settings: Settings) -> list[str]:
    """Return what tools a worker with settings from there has, and one with these would lack.

    A module that cannot be loaded any more is named itself, and so is a folder of MCP servers: they alone know their
    tools.

    Args:
        before: Where the worker has its settings from.
        settings: The others.

    Raises:
        InvalidInput: The tools of these settings cannot be used.
    """
    here = SettingsOrigin.of(settings)
    known = known_tools_of(settings)
    lost: list[str] = []
    for module in before.tools:
        if module in here.tools:
            continue
        try:
            lost += [one.name for one in Toolbox.load([module]) if one.name not in known]
        except InvalidInput:
            lost.append(f"those of {module}")
    for folder in before.mcp_servers:
        if folder not in here.mcp_servers:
            lost.append(f"those of the MCP servers in {folder}")
    return lost
