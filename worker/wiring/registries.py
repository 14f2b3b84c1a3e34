"""What people write for an installation by name: tools, skills and agents, and the examples."""

from pathlib import Path

import playbooks
from localservers import SettingsOrigin
from perdure.mcp.servers import McpServers
from perdure.mcp.shape import McpServer, ServerLibrary
from perdure.names import RESERVED_TOOLS
from perdure.registry.agents import AgentLibrary
from perdure.registry.prompts import PromptLibrary
from perdure.secrets.sources import SecretKeeper
from perdure.settings import Settings
from perdure.skills.library import SkillLibrary
from perdure.toolbox import Toolbox

_EXAMPLE_SKILLS = Path(playbooks.__file__).parent / "skills"

_EXAMPLE_TOOLS = ("playbooks.dependency_audit.tools", "playbooks.file_manifest.tools")


def toolbox_of(settings: Settings) -> Toolbox:
    """Load the tools.

    Raises:
        InvalidInput: A module with tools is not there, or cannot be used.
    """
    return Toolbox.load(modules_of(settings), reserved=RESERVED_TOOLS)


def modules_of(settings: Settings) -> tuple[str, ...]:
    """Return the modules that the tools are in."""
    return (*settings.tools, *(_EXAMPLE_TOOLS if settings.examples else ()))


def servers_of(settings: Settings) -> list[McpServer]:
    """Return the configured MCP servers.

    Raises:
        InvalidInput: One cannot be used; naming its file and field.
    """
    return ServerLibrary(settings.mcp_servers).all()


def known_tools_of(settings: Settings) -> Toolbox:
    """Return the tools as far as they are known without asking an MCP server: of its tools, those that are declared.

    Raises:
        InvalidInput: A module with tools or an MCP server cannot be used.
    """
    servers = McpServers(servers_of(settings), SecretKeeper())
    modules = ", ".join(modules_of(settings)) or "no module"
    whose = f"these are those of {modules}, by {SettingsOrigin.here().told}"
    return toolbox_of(settings).extended(servers.tools, servers.find, whose)


def read_once(settings: Settings) -> list[Path]:
    """Return what a worker reads as it begins and not again, besides Python modules."""
    servers = [path for folder in settings.mcp_servers for path in (folder, *folder.glob("*.yaml"))]
    return [*servers, *filter(None, (settings.write_policies, settings.retention_rules))]


def secrets_of(settings: Settings) -> SecretKeeper:
    """Return where this process finds the secrets of tools.

    Raises:
        InvalidInput: What the installation plugs in cannot be used.
    """
    return SecretKeeper.of(settings.secrets, settings.secrets_from)


def prompts_of(settings: Settings) -> PromptLibrary:
    """Return the library of the configured prompts."""
    return PromptLibrary(settings.prompts)


def skills_of(settings: Settings) -> SkillLibrary:
    """Return the library of the configured skills and of the examples, where they are wanted."""
    examples = (_EXAMPLE_SKILLS,) if settings.examples else ()
    return SkillLibrary((*settings.skills, *examples), prompts=prompts_of(settings))


def agents_of(settings: Settings) -> AgentLibrary:
    """Return the library of the configured agents."""
    return AgentLibrary(settings.agents, prompts=prompts_of(settings))
