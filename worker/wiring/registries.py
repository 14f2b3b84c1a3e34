"""What people write for an installation by name: tools, skills and agents, with those that come with Perdure."""

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

_PACKAGED = Path(playbooks.__file__).parent


def toolbox_of(settings: Settings) -> Toolbox:
    """Load the tools.

    Raises:
        InvalidInput: A module with tools is not there, or cannot be used.
    """
    return Toolbox.load(settings.tools, reserved=RESERVED_TOOLS)


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
    modules = ", ".join(settings.tools) or "no module"
    whose = f"these are those of {modules}, by {SettingsOrigin.of(settings).told}"
    return toolbox_of(settings).extended(servers.tools, servers.find, whose)


def secrets_of(settings: Settings) -> SecretKeeper:
    """Return where this process finds the secrets of tools.

    Raises:
        InvalidInput: What the installation plugs in cannot be used.
    """
    return SecretKeeper.of(settings.secrets, settings.secrets_from)


def prompts_of(settings: Settings) -> PromptLibrary:
    """Return the library of the configured prompts and of those that come with Perdure."""
    return PromptLibrary(settings.prompts, packaged=_PACKAGED / "prompts")


def skills_of(settings: Settings) -> SkillLibrary:
    """Return the library of the configured skills and of those that come with Perdure."""
    return SkillLibrary(settings.skills, packaged=_PACKAGED / "skills", prompts=prompts_of(settings))


def agents_of(settings: Settings) -> AgentLibrary:
    """Return the library of the configured agents and of those that come with Perdure."""
    return AgentLibrary(settings.agents, packaged=_PACKAGED / "agents", prompts=prompts_of(settings))
