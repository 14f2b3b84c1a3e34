"""What the commands about named definitions have in common: listing them, and showing one."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import typer
import yaml

from perdure.errors import InvalidInput
from perdure.plurals import counted
from perdure.policies.decision import SHORT
from perdure.registry.folders import Folders
from worker.exit_status import Exit
from worker.terminal.output import out, say, show_json


class Definition(Protocol):
    """A definition that can be listed."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def description(self) -> str:
        """What it is, for people."""
        ...

    @property
    def digest(self) -> str:
        """The version of its content."""
        ...


D = TypeVar("D", bound=Definition)


def list_all(
    library: Folders[D], kind: str, told: Callable[[D], Mapping[str, Any]], check: Callable[[D], None], *, as_json: bool
) -> None:
    """Show all definitions of a kind, with their versions; leaves with 1 if one cannot be used.

    Args:
        library: Where they are.
        kind: What one of them is called.
        told: Returns what is shown of one as JSON.
        check: Refuses one that could not be used here.
        as_json: Whether a script reads it.
    """
    found, wrong = list[dict[str, object]](), 0
    for name in library.names():
        try:
            one = library.get(name)
            check(one)
        except InvalidInput as problem:
            wrong += 1
            found.append({"name": name, "problem": str(problem)})
            if not as_json:
                out.print(f"{name}: {problem}", markup=False)
            continue
        found.append({"version": one.digest, **told(one)})
        if not as_json:
            about = " ".join(one.description.split()) or "no description"
            out.print(f"{one.digest[:SHORT]}  {name}: {about}", markup=False)
    if as_json:
        show_json(found)
    else:
        say(counted(len(found), kind) + (f", {wrong} of them cannot be used" if wrong else ""))
    if wrong:
        raise typer.Exit(Exit.FAILED)


def show_one(one: Definition, place: Path, told: Mapping[str, Any], problem: str, *, as_json: bool) -> None:
    """Show a definition as it counts, with its version and where it is; leaves with 1 if there is a problem with it."""
    if as_json:
        show_json({"version": one.digest, "place": str(place), "problem": problem, **told})
    else:
        out.print(f"{one.digest[:SHORT]}  {one.name}\nplace: {place}", markup=False)
        shown = yaml.safe_dump(dict(told), sort_keys=False, allow_unicode=True, width=120)
        out.print(shown.rstrip(), markup=False)
        if problem:
            out.print(f"problem: {problem}", markup=False)
    if problem:
        raise typer.Exit(Exit.FAILED)
