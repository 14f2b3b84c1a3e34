"""``perdure agents``: list them and show one. Asks no server and no model."""

from typing import Annotated, Any

import typer

from perdure.agent.steps.validation import check_linked
from perdure.errors import InvalidAgent, InvalidInput
from perdure.registry.agents import Agent
from perdure.settings import Settings
from perdure.skills.library import SkillLibrary
from perdure.toolbox import Toolbox
from worker.cli.definitions import list_all, show_one
from worker.cli.tasks import AsJson
from worker.configuration_checks import require_folders
from worker.wiring.registries import agents_of, known_tools_of, skills_of

AgentName = Annotated[str, typer.Argument(metavar="NAME", help="The agent's name.")]


def list_(*, as_json: AsJson = False) -> None:
    """Show the agents, with their versions; exits with 1 if one cannot be used.

    Example: perdure agents list
    """
    require_folders(settings := Settings())
    toolbox, skills, library = known_tools_of(settings), skills_of(settings), agents_of(settings)

    def check(one: Agent) -> None:
        with library.placing(one.name):
            _require_usable(one, toolbox, skills)

    list_all(library, "agent", _told, check, as_json=as_json)


def show(name: AgentName, *, as_json: AsJson = False) -> None:
    """Show an agent as tasks use it, its version, and where it is; exits with 1 if it lacks a tool or a skill.

    Example: perdure agents show helper
    """
    library, problem = agents_of(Settings()), ""
    one = library.get(name)
    try:
        with library.placing(name):
            _require_usable(one, known_tools_of(Settings()), skills_of(Settings()))
    except InvalidInput as found:
        problem = str(found)
    show_one(one, library.place(name), _told(one), problem, as_json=as_json)


def _require_usable(agent: Agent, toolbox: Toolbox, skills: SkillLibrary) -> None:
    for place, name in enumerate(agent.tools):
        toolbox.get(name, f"tools[{place}]", InvalidAgent)
    for name in agent.skills:
        check_linked(skills.linked(name), toolbox)


def _told(agent: Agent) -> dict[str, Any]:
    return agent.model_dump(mode="json")
