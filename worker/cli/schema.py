"""``perdure schema``: what people write in YAML, as JSON Schema for editors. Asks no server."""

from typing import Annotated

import typer

from perdure.reference.schema import WRITTEN, schema_of
from worker.terminal.output import show_json


def schema(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"What is written: {', '.join(WRITTEN)}.")],
) -> None:
    """Print the JSON Schema of a skill, a task, an agent, a policy or a prompt, for editors.

    Name it in the first line of a file: # yaml-language-server: $schema=skill.schema.json

    Example: perdure schema skill > skill.schema.json
    """
    show_json(schema_of(kind))
