"""``perdure agents``: list them and show one. Asks no server and no model."""

from typing import Annotated, Any

import typer

from perdure.errors import InvalidAgent, InvalidInput
from perdure.registry.agents import Agent
from perdure.settings import Settings
from perdure.toolbox import Toolbox
from worker.cli.definitions import list_all, show_one
from worker.cli.tasks import AsJson
from worker.wiring.registries import agents_of, known_tools_of

AgentName = Annotated[str, typer.Argument(metavar="NAME", help="The agent's name.")]


def list_(*, as_json: AsJson = False) -> None:
    """Show the agents, with their versions; exits with 1 if one cannot be used."""
    toolbox = known_tools_of(Settings())
    list_all(agents_of(Settings()), "agent", _told, lambda one: _require_tools(one, toolbox), as_json=as_json)


def show(name: AgentName, *, as_json: AsJson = False) -> None:
    """Show an agent as it counts, its version, and where it is; exits with 1 if a tool of it is missing."""
    library, problem = agents_of(Settings()), ""
    one = library.get(name)
    try:
        _require_tools(one, known_tools_of(Settings()))
    except InvalidInput as found:
        problem = str(found)
    show_one(one, library.place(name), _told(one), problem, as_json=as_json)


def _require_tools(agent: Agent, toolbox: Toolbox) -> None:
    for place, name in enumerate(agent.tools):
        toolbox.get(name, f"tools[{place}]", InvalidAgent)


def _told(agent: Agent) -> dict[str, Any]:
    return agent.model_dump(mode="json")
