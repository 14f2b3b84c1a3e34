"""``perdure skills``: which there are, and cases that they are tried out on. Asks no server."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from perdure.agent.rehearsal import differences, rehearsed
from perdure.agent.steps.validation import check_skill
from perdure.errors import InvalidInput, InvalidSkill
from perdure.policies.decision import SHORT
from perdure.registry.folders import text_of
from perdure.settings import Settings
from perdure.skills.cases import SkillCase, read_cases
from perdure.skills.shape import Skill
from perdure.toolbox import Toolbox
from worker.cli.tasks import AsJson
from worker.terminal.output import Exit, counted, out, say, show_json
from worker.wiring.registries import skills_of, toolbox_of


def list_(*, as_json: AsJson = False) -> None:
    """Show the skills that there are now, with their versions; exits with 1 where one cannot be used."""
    library, toolbox = skills_of(Settings()), toolbox_of(Settings())
    found, wrong = list[dict[str, object]](), 0
    for name in library.names():
        try:
            skill = library.get(name)
            check_skill(skill, toolbox)
        except InvalidInput as problem:
            wrong += 1
            found.append({"name": name, "problem": str(problem)})
            if not as_json:
                out.print(f"{name}: {problem}", markup=False)
            continue
        found.append({"version": skill.digest, **skill.model_dump(mode="json", include=_SHOWN)})
        if not as_json:
            going = f" ({skill.going})" if skill.deprecated else ""
            about = " ".join(skill.description.split()) or "no description"
            out.print(f"{skill.digest[:SHORT]}  {name}: {about}{going}", markup=False)
    if as_json:
        show_json(found)
    else:
        say(counted(len(found), "skill") + (f", {wrong} of them cannot be used" if wrong else ""))
    if wrong:
        raise typer.Exit(Exit.FAILED)


async def try_(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="CASES.yaml...", help="What tools return, people answer, and should come of it."),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Go through skills as cases say, calling no tool; exits with 1 where one does not end as expected."""
    for file in files:
        if not file.is_file():
            raise InvalidInput("CASES.yaml", f"{file} is no file" if file.exists() else f"there is no file {file}")
    settings, shown = Settings(), list[dict[str, object]]()
    skills, toolbox = skills_of(settings), toolbox_of(settings)
    for file in files:
        read = read_cases(text_of(file, InvalidSkill), file.name)
        skill = skills.get(read.skill)
        check_skill(skill, toolbox)
        for place, case in enumerate(read.cases):
            called = case.name or f"cases[{place}]"
            tried = await _tried(skill, case, toolbox)
            shown.append({"skill": skill.name, "version": skill.digest, "case": called, **tried})
            if not as_json:
                _show(called, tried)
    _finish(shown, as_json=as_json)


async def _tried(skill: Skill, case: SkillCase, toolbox: Toolbox) -> dict[str, Any]:
    """Return how a case ended, in which ways it is not as expected, and what is wrong with the case itself."""
    tried: dict[str, Any] = {"differences": [], "problem": "", "ended": None}
    try:
        ended = await rehearsed(skill, case, toolbox)
        tried["ended"] = ended.model_dump(mode="json")
        tried["differences"] = differences(case, ended)
    except InvalidInput as problem:
        tried["problem"] = str(problem)
    return tried


def _show(called: str, tried: dict[str, Any]) -> None:
    if wrong := [*tried["differences"], *([tried["problem"]] if tried["problem"] else [])]:
        out.print(f"{called}: {'; '.join(wrong)}", markup=False)
        if tried["ended"] is not None:
            told = {name: value for name, value in tried["ended"].items() if value}
            out.print(f"    it ended so: {json.dumps(told, ensure_ascii=False)}", markup=False)


def _finish(shown: list[dict[str, object]], *, as_json: bool) -> None:
    wrong, differing = (sum(bool(one[name]) for one in shown) for name in ("problem", "differences"))
    if as_json:
        show_json(shown)
    else:
        differ = f"{differing} not as expected" if differing else "all as expected"
        say(f"{counted(len(shown), 'case')}, " + (f"{wrong} of them cannot be tried, " if wrong else "") + differ)
    if wrong:
        raise typer.Exit(Exit.REFUSED)
    if differing:
        raise typer.Exit(Exit.FAILED)


_SHOWN = {"name", "description", "use_when", "deprecated", "successor", "inputs"}
