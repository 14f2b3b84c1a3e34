"""``perdure secrets``: what the tools here ask for, and whether it is there. Shows no secret, and asks no server."""

import typer

from perdure.errors import Unavailable
from perdure.plurals import counted
from perdure.secrets.sources import SecretKeeper, how_to_give
from perdure.settings import Settings
from worker.cli.tasks import AsJson
from worker.exit_status import Exit
from worker.terminal.output import out, say, show_json
from worker.wiring.registries import known_tools_of, secrets_of


async def secrets(*, as_json: AsJson = False) -> None:
    """Show which secrets the tools ask for, and whether this process finds them; exits with 1 if one is missing.

    Example: perdure secrets
    """
    settings = Settings()
    keeper, needed, optional = secrets_of(settings), dict[str, list[str]](), set[str]()
    for tool in known_tools_of(settings):
        for one in (*tool.secrets, *tool.check_secrets):
            tools = needed.setdefault(one.secret, [])
            if tool.name not in tools:
                tools.append(tool.name)
            if one.optional:
                optional.add(f"{tool.name} {one.secret}")
    found, missing = list[dict[str, object]](), 0
    for name, tools in sorted(needed.items()):
        is_needed = any(f"{tool} {name}" not in optional for tool in tools)
        there, problem = await _is_there(keeper, name)
        missing += is_needed and not there
        fix = "" if there else how_to_give(name)
        found.append(
            {"name": name, "tools": tools, "needed": is_needed, "found": there, "problem": problem, "fix": fix}
        )
        if not as_json:
            told = "found" if there else f"{problem or 'missing'} ({fix})"
            out.print(f"{name}: {told}; for {', '.join(tools)}" + ("" if is_needed else ", optional"), markup=False)
    if as_json:
        show_json(found)
    else:
        say(counted(len(found), "secret") + (f", {missing} of them missing" if missing else ""))
    if missing:
        raise typer.Exit(Exit.FAILED)


async def _is_there(keeper: SecretKeeper, name: str) -> tuple[bool, str]:
    try:
        return await keeper.has(name), ""
    except Unavailable as problem:
        return False, str(problem)
