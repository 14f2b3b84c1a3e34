"""Checks of an installation that ask none of its servers: what people write for it, its model, room on its disk.

Each check returns whether all is well, what was found, and what to do otherwise.
"""

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout, suppress
from typing import TypeVar

from perdure.agent.steps.validation import check_linked
from perdure.agent.tool_specs import MemoryTool
from perdure.errors import InvalidInput, InvalidPolicy, StoreUnavailable
from perdure.policies.decision import SHORT
from perdure.policies.library import PolicyLibrary
from perdure.policies.named_tools import strangers
from perdure.policies.shape import Policy
from perdure.registry.agents import AgentLibrary
from perdure.registry.prompts import PromptLibrary
from perdure.settings import Settings
from perdure.skills.foreign import ForeignStep
from perdure.toolbox import Toolbox
from perdure.values.losses import Store
from worker.policies import policies_of, rules_of
from worker.wiring.registries import known_tools_of, modules_of, prompts_of, secrets_of, skills_of

A = TypeVar("A")

ENOUGH_DISK = 1_000_000_000
"""Free bytes below which the journal and the local servers may soon be unable to write."""

_FOLDERS = ("skills", "agents", "prompts", "mcp_servers")


def require_folders(settings: Settings) -> None:
    """Check that the folders are there that the settings name: what is in them would be missing without a word.

    Raises:
        InvalidInput: One is not.
    """
    for problem in _missing_folders(settings, *_FOLDERS):
        raise problem


def _missing_folders(settings: Settings, *names: str) -> list[InvalidInput]:
    return [
        InvalidInput(name, f"{folder} is not a folder", fix=f"make it, or correct PERDURE_{name.upper()}")
        for name in names
        for folder in getattr(settings, name)
        if not folder.is_dir()
    ]


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


def require_readable(settings: Settings) -> None:
    """Check what would keep a process with these settings from reading memory, but for the tenant key.

    Raises:
        InvalidInput: Naming what cannot be used, and the fix.
    """
    from worker.wiring.parts import embedder_of  # noqa: PLC0415  see ``embedding``

    policies_of(settings)
    rules_of(settings)
    embedder_of(settings)


async def embedding(settings: Settings) -> tuple[bool, str, str]:
    """Return the model that embeds, and how many numbers a vector of its has.

    Raises:
        InvalidInput: It cannot be used; with what to install or to set.
    """
    from worker.wiring.parts import embedder_of  # noqa: PLC0415  it loads the stores' clients, which checks of files need not

    embedder = await asyncio.to_thread(embedder_of, settings)
    return True, f"{embedder.name}, {embedder.dimension} numbers", ""


async def room(settings: Settings) -> tuple[bool, str, str]:
    """Return how much is free on the disk of the journal.

    Raises:
        StoreUnavailable: Nothing can be written there.
    """
    folder = settings.journal_folder
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK)):
        raise StoreUnavailable(Store.JOURNAL, f"{existing} is not a folder that can be written")
    free = shutil.disk_usage(existing).free
    return free > ENOUGH_DISK, f"{free / 1e9:.1f} GB free for {folder}", "free some space"


async def tools(settings: Settings) -> tuple[bool, str, str]:
    """Return the tools that can be loaded, or what is wrong with each module that cannot."""
    modules, bad = modules_of(settings), [*map(str, _missing_folders(settings, "mcp_servers"))]
    try:
        toolbox = await asyncio.to_thread(known_tools_of, settings)
    except InvalidInput as error:
        of_modules = [await asyncio.to_thread(_problem, Toolbox.load, (one,)) for one in modules]
        bad += [*filter(None, of_modules)] or [str(error)]
    else:
        if not bad:
            return True, f"{len(toolbox)} from {', '.join(modules) or 'no module'}", ""
    return False, "; ".join(bad), "correct the tools"


async def rules(settings: Settings) -> tuple[bool, str, str]:
    """Return the rules of writing and forgetting, or what is wrong with either."""
    if bad := [problem for read in (policies_of, rules_of) if (problem := _problem(read, settings))]:
        return False, "; ".join(bad), "correct the rules"
    names, rules = sorted(policies_of(settings)), rules_of(settings)
    return True, f"write policies {', '.join(names)}; retention rules {rules.version}", ""


def _problem(read: Callable[[A], object], given: A) -> str:
    """Return why something cannot be read; empty: it can."""
    try:
        read(given)
    except InvalidInput as error:
        return str(error)
    return ""


async def policies(settings: Settings) -> tuple[bool, str, str]:
    """Return the policies, or what is wrong with each that cannot be used."""
    library = PolicyLibrary(settings.policies)
    try:
        found = await asyncio.to_thread(library.read)
    except InvalidPolicy as error:
        bad = await asyncio.to_thread(library.problems) or [error]
        fix = "correct it: no worker starts with it, and those that run keep the policies that they read before"
        return False, "; ".join(map(str, bad)), fix
    names = ", ".join(f"{one.name}{' (deprecated)' if one.deprecated else ''}" for one in found.policies)
    doubts = await asyncio.to_thread(unguarded, found.policies, settings)
    told = "".join(f"; note: {one}" for one in doubts)
    return True, f"{names}; version {found.version[:SHORT]}{told}" if names else "none", ""


def unguarded(policies: Iterable[Policy], settings: Settings) -> list[str]:
    """Return what policies name that nothing here is called by, so that they may guard nothing; nothing is refused.

    Known are the tools, the skills, which an agent calls as tools, what skills call of others, and a model's memory but
    for its notes, about which no policy is asked.
    """
    try:
        # What modules print as they are loaded is no result of whatever is called.
        with redirect_stdout(sys.stderr):
            toolbox = known_tools_of(settings)
    except InvalidInput:
        # That is a finding of its own: then nobody can say which tools there are.
        return []
    if not len(toolbox):
        # Policies that are kept apart from any tools are looked at where there are some.
        return []
    library = skills_of(settings)
    known = {*(tool.name for tool in toolbox), *library.names(), *MemoryTool} - {MemoryTool.NOTE}
    for name in library.names():
        with suppress(InvalidInput):
            known |= {step.called for step in library.linked(name).steps if isinstance(step, ForeignStep)}
    why = "which no tool, and nothing that a skill calls, is named here"
    return [
        f"policy {policy.name!r} is about {name!r}, {why} ({meant})"
        for policy, name, meant in strangers(policies, known)
        # Of an MCP server, it may be a tool that is not declared.
        if not _may_have(toolbox, name)
    ]


def _may_have(toolbox: Toolbox, name: str) -> bool:
    try:
        toolbox.get(name)
    except InvalidInput:
        return False
    return True


async def agents(settings: Settings) -> tuple[bool, str, str]:
    """Return the agents and the prompts that can be used, or what is wrong with others."""
    libraries = (AgentLibrary(settings.agents, prompts=prompts_of(settings)), PromptLibrary(settings.prompts))
    usable: list[str] = []
    bad = [*map(str, _missing_folders(settings, "agents", "prompts"))]
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
    library = skills_of(settings)
    try:
        toolbox = await asyncio.to_thread(known_tools_of, settings)
    except InvalidInput:
        # That is a finding of its own; what does not depend on tools can still be judged.
        toolbox = None
    usable: list[str] = []
    bad = [*map(str, _missing_folders(settings, "skills"))]
    for name in library.names():
        try:
            skill = library.linked(name)
            if toolbox is not None:
                check_linked(skill, toolbox)
            usable.append(name)
        except InvalidInput as error:
            bad.append(f"{error.code} {name}: {str(error).removeprefix(f'{error.code} ')}")
    return not bad, "; ".join(bad) or ", ".join(usable) or "none", "correct the skills"
