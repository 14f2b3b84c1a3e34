"""``perdure skills``: which there are, and cases that they are tried out on. Asks no server."""

from pathlib import Path
from typing import Annotated

import typer

from perdure.agent.rehearsal import differences, rehearsed
from perdure.errors import InvalidInput, InvalidSkill
from perdure.policies.decision import SHORT
from perdure.registry.folders import text_of
from perdure.settings import Settings
from perdure.skills.cases import read_cases
from perdure.skills.library import SkillLibrary
from perdure.toolbox import Toolbox
from worker.cli.tasks import AsJson
from worker.terminal.output import Exit, counted, out, say, show_json


def list_(*, as_json: AsJson = False) -> None:
    """Show the skills that are in the folders now, with their versions; exits with 1 where one cannot be used."""
    library, found, wrong = SkillLibrary(Settings().skills), list[dict[str, object]](), 0
    for name in library.names():
        try:
            skill = library.get(name)
        except InvalidInput as problem:
            wrong += 1
            found.append({"name": name, "problem": str(problem)})
            if not as_json:
                out.print(f"{name}: {problem}", markup=False)
            continue
        found.append({"version": skill.digest, **skill.model_dump(mode="json", include=_SHOWN)})
        if not as_json:
            going = f" ({skill.going})" if skill.deprecated else ""
            out.print(f"{skill.digest[:SHORT]}  {name}: {skill.description or 'no description'}{going}", markup=False)
    if as_json:
        show_json(found)
    else:
        say(counted(len(found), "skill") + (f", {wrong} of them cannot be used" if wrong else ""))
    if wrong:
        raise typer.Exit(Exit.FAILED)


async def try_(
    cases: Annotated[
        Path,
        typer.Argument(metavar="CASES.yaml", help="What tools return and people answer, and what should come of it."),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Go through a skill as its cases say, calling no tool; exits with 1 where one does not end as expected."""
    if not cases.is_file():
        raise InvalidInput("CASES.yaml", f"there is no file {cases}")
    settings, read = Settings(), read_cases(text_of(cases, InvalidSkill), cases.name)
    skill, toolbox = SkillLibrary(settings.skills).get(read.skill), Toolbox.load(settings.tools)
    shown: list[dict[str, object]] = []
    for place, case in enumerate(read.cases):
        called = case.name or f"cases[{place}]"
        try:
            ended = await rehearsed(skill, case, toolbox)
            wrong = differences(case, ended)
        except InvalidInput as problem:
            wrong, ended = [str(problem)], None
        shown.append({"case": called, "differences": wrong, "ended": ended.model_dump(mode="json") if ended else None})
        if wrong and not as_json:
            out.print(f"{called}: {'; '.join(wrong)}", markup=False)
            if ended is not None:
                out.print(f"    it ended so: {ended.model_dump_json(exclude_defaults=True)}", markup=False)
    differing = sum(bool(one["differences"]) for one in shown)
    if as_json:
        show_json({"skill": skill.name, "version": skill.digest, "cases": shown})
    else:
        differ = f"{differing} not as expected" if differing else "all as expected"
        say(f"{counted(len(shown), 'case')}, {differ}; skill {skill.name} {skill.digest[:SHORT]}")
    if differing:
        raise typer.Exit(Exit.FAILED)


_SHOWN = {"name", "description", "use_when", "deprecated", "successor", "inputs"}
