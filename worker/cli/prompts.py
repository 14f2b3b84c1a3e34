"""``perdure prompts``: list them and show one. Asks no server and no model."""

from typing import Annotated, Any

import typer

from perdure.registry.prompts import Prompt
from perdure.settings import Settings
from worker.cli.definitions import list_all, show_one
from worker.cli.tasks import AsJson
from worker.wiring.registries import prompts_of

PromptName = Annotated[str, typer.Argument(metavar="NAME", help="The prompt's name.")]


def list_(*, as_json: AsJson = False) -> None:
    """Show the prompts, with their versions; exits with 1 if one cannot be used.

    Example: perdure prompts list
    """
    list_all(prompts_of(Settings()), "prompt", _told, lambda _: None, as_json=as_json)


def show(name: PromptName, *, as_json: AsJson = False) -> None:
    """Show a prompt: its inputs, its text, its version, and where it is.

    Example: perdure prompts show review
    """
    library = prompts_of(Settings())
    one = library.get(name)
    show_one(one, library.place(name), _told(one), "", as_json=as_json)


def _told(prompt: Prompt) -> dict[str, Any]:
    return prompt.model_dump(mode="json")
