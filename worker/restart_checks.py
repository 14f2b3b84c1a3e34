"""What a restart of the local worker would take away from tasks that are open. Stops and starts nothing."""

from collections.abc import Iterable, Mapping

from localservers import SettingsOrigin, state
from localservers.loaded import loaded_tools
from perdure.errors import InvalidInput
from perdure.mcp.tools import McpTool
from perdure.settings import Settings
from perdure.toolbox import Toolbox
from perdure.values.changes import Actor
from worker.gateway import Gateway
from worker.wiring.registries import known_tools_of


async def require_tools_kept(settings: Settings, installation: Gateway, *, by: Actor) -> None:
    """Refuse to restart the local worker without tools that it has, or with other arguments, while tasks are open.

    Args:
        settings: What it would be started with.
        installation: The gateway to it.
        by: Who restarts it.

    Raises:
        InvalidInput: Naming the tools, and where the worker has its settings from; or its tools cannot be used.
    """
    current = state(settings)
    if current is None or current.worker is None:
        return
    before, here = current.worker.origin, SettingsOrigin.here()
    lost, changed = differing_tools(loaded_tools(settings.home, current.worker.pid), known_tools_of(settings))
    if not (lost or changed) or not (number := await installation.open_tasks(by=by)):
        return
    where = f"{before.how_to_use(here)}, or " if before.difference(here) else ""
    different = f" ({told})" if (told := before.difference(here)) else ""
    problems = [f"lack tools that the running worker has: {', '.join(lost)}{different}"] if lost else []
    problems += [f"change the arguments of the running worker's tools: {'; '.join(changed)}"] if changed else []
    stands = "stands still at a step that calls one" if lost else "fails at a step that calls one with those of before"
    raise InvalidInput(
        "settings",
        f"{', and '.join(problems)}; {'1 task is' if number == 1 else f'{number} tasks are'} open, and {stands}",
        fix=f"{where}bring them back; to go on without them, --yes",
    )


def differing_tools(before: Mapping[str, Iterable[str]], now: Toolbox) -> tuple[list[str], list[str]]:
    """Return the tools that are gone, and those that a step of before can no longer call, each with why.

    Args:
        before: The names of each tool's arguments, by the tool's name.
        now: The tools that there would be.
    """
    lost, changed = list[str](), list[str]()
    for name, arguments in sorted(before.items()):
        try:
            tool = now.get(name)
        except InvalidInput:
            lost.append(name)
            continue
        if isinstance(tool, McpTool) and not tool.is_known:
            # Its server alone knows what it takes.
            continue
        known, had = tool.parameters, {*arguments}
        gone = [f"{one} is gone" for one in sorted(had - known.keys())]
        if differs := [*gone, *(f"{one} is needed" for one, required in known.items() if required and one not in had)]:
            changed.append(f"{name} ({', '.join(differs)})")
    return lost, changed
