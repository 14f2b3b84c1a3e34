"""Checks of what people write for an installation: tools, rules, policies and skills. Reads files; asks no server.

Each check returns whether all is well, what was found, and what to do otherwise.
"""

import asyncio

from perdure.agent.steps.validation import check_linked
from perdure.errors import InvalidInput, InvalidPolicy
from perdure.policies.decision import SHORT
from perdure.policies.library import PolicyLibrary
from perdure.registry.agents import AgentLibrary
from perdure.registry.prompts import PromptLibrary
from perdure.settings import Settings
from perdure.skills.library import SkillLibrary
from worker.policies import policies_of, rules_of
from worker.wiring.registries import known_tools_of, prompts_of, secrets_of, skills_of


def require_folders(settings: Settings) -> None:
    """Check that the folders are there that the settings name: what is in them would be missing without a word.

    Raises:
        InvalidInput: One is not.
    """
    for name in ("skills", "agents", "prompts", "mcp_servers"):
        for folder in getattr(settings, name):
            if not folder.is_dir():
                fix = f"make it, or correct PERDURE_{name.upper()}"
                raise InvalidInput(name, f"{folder} is not a folder", fix=fix)


def require_usable(settings: Settings) -> None:
    """Check what would keep a worker with these settings from starting, as far as files can tell.

    Raises:
        InvalidInput: Naming what cannot be used, and the fix.
    """
    require_folders(settings)
    known_tools_of(settings)
    secrets_of(settings)
    policies_of(settings)
    rules_of(settings)
    PolicyLibrary(settings.policies).read()


async def tools(settings: Settings) -> tuple[bool, str, str]:
    """Return the tools that can be loaded."""
    toolbox = await asyncio.to_thread(known_tools_of, settings)
    return True, f"{len(toolbox)} from {', '.join(settings.tools)}", ""


async def rules(settings: Settings) -> tuple[bool, str, str]:
    """Return the rules of writing and forgetting."""
    names, rules = sorted(policies_of(settings)), rules_of(settings)
    return True, f"write policies {', '.join(names)}; retention rules {rules.version}", ""


async def policies(settings: Settings) -> tuple[bool, str, str]:
    """Return the policies, or what is wrong with one."""
    try:
        found = await asyncio.to_thread(PolicyLibrary(settings.policies).read)
    except InvalidPolicy as error:
        fix = "correct it: no worker starts with it, and those that run keep the policies that they read before"
        return False, str(error), fix
    names = ", ".join(f"{one.name}{' (deprecated)' if one.deprecated else ''}" for one in found.policies)
    return True, f"{names}; version {found.version[:SHORT]}" if names else "none", ""


async def agents(settings: Settings) -> tuple[bool, str, str]:
    """Return the agents and the prompts that can be used, or what is wrong with others."""
    require_folders(settings)
    libraries = (AgentLibrary(settings.agents, prompts=prompts_of(settings)), PromptLibrary(settings.prompts))
    usable: list[str] = []
    bad: list[str] = []
    for library in libraries:
        for name in library.names():
            try:
                library.get(name)
                usable.append(name)
            except InvalidInput as error:
                bad.append(str(error))
    return not bad, "; ".join(bad) or ", ".join(usable) or "none", "correct them: perdure check names the line"


async def skills(settings: Settings) -> tuple[bool, str, str]:
    """Return the skills that can be run, or what is wrong with others."""
    require_folders(settings)
    library, own = skills_of(settings), SkillLibrary(settings.skills).names()
    try:
        toolbox = await asyncio.to_thread(known_tools_of, settings)
    except InvalidInput:
        # That is a finding of its own; what does not depend on tools can still be judged.
        toolbox = None
    usable: list[str] = []
    bad: list[str] = []
    for name in library.names():
        try:
            skill = library.linked(name)
            if toolbox is not None:
                check_linked(skill, toolbox)
            usable.append(name)
        except InvalidInput as error:
            # A packaged skill is of no use where the tools that come with it were replaced by others.
            if name in own:
                bad.append(f"{error.code} {name}: {str(error).removeprefix(f'{error.code} ')}")
    return not bad, "; ".join(bad) or ", ".join(usable) or "none", "correct the skills"
