"""``perdure skills``: list them, show their headers, and test them on cases. Asks no server."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from perdure.agent.rehearsal import differences, rehearsed
from perdure.agent.steps.validation import check_linked
from perdure.errors import InvalidInput, InvalidSkill
from perdure.plurals import counted
from perdure.policies.decision import SHORT
from perdure.registry.folders import text_of
from perdure.settings import Settings
from perdure.skills.cases import SkillCase, read_cases
from perdure.skills.foreign import ForeignStep
from perdure.skills.header import SkillHeader
from perdure.skills.linked_skills import LinkedSkill
from perdure.skills.shape import Skill
from perdure.skills.steps import SkillStep, Step, ToolStep
from perdure.toolbox import Toolbox
from perdure.yaml_text import placing
from worker.cli.tasks import AsJson
from worker.configuration_checks import require_folders
from worker.exit_status import Exit
from worker.terminal.output import out, say, show_json
from worker.wiring.registries import known_tools_of, skills_of


def list_(*, as_json: AsJson = False) -> None:
    """Show the available skills, with their versions; exits with 1 if one cannot be used.

    Example: perdure skills list
    """
    require_folders(settings := Settings())
    library, toolbox = skills_of(settings), known_tools_of(settings)
    found, wrong = list[dict[str, object]](), 0
    for name in library.names():
        try:
            linked = library.linked(name)
            check_linked(linked, toolbox)
        except InvalidInput as problem:
            wrong += 1
            found.append({"name": name, "problem": str(problem)})
            if not as_json:
                out.print(f"{name}: {problem}", markup=False)
            continue
        skill = linked.skill
        found.append({"version": linked.version, **_said(skill)})
        if not as_json:
            going = f" ({skill.going})" if skill.deprecated else ""
            about = " ".join(skill.description.split()) or "no description"
            out.print(f"{linked.version[:SHORT]}  {name}: {about}{going}", markup=False)
            for line in _chosen_by(skill):
                out.print(f"    {line}", markup=False)
    if as_json:
        show_json(found)
    else:
        say(counted(len(found), "skill") + (f", {wrong} of them cannot be used" if wrong else ""))
    if wrong:
        raise typer.Exit(Exit.FAILED)


def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The skill's name.")], *, as_json: AsJson = False
) -> None:
    """Show a skill's header, its steps, and where it is; exits with 1 if the tools here do not fit it.

    Example: perdure skills show dependency-audit
    """
    library, toolbox = skills_of(Settings()), known_tools_of(Settings())
    skill, place, problem = library.get(name), library.place(name), ""
    version = skill.digest
    try:
        linked = library.linked(name)
        version = linked.version
        check_linked(linked, toolbox)
    except InvalidInput as found:
        problem = str(found)
    if as_json:
        steps = [_told(path, step) for path, step, _ in skill.walk()]
        about = {"version": version, "place": str(place), "problem": problem}
        show_json({**about, **_said(skill), "steps": steps})
    else:
        for line in _shown(skill, version, place):
            out.print(line, markup=False)
        if problem:
            out.print(f"problem: {problem}", markup=False)
    if problem:
        raise typer.Exit(Exit.FAILED)


def _shown(skill: Skill, version: str, place: Path) -> Iterator[str]:
    """Yield the lines that describe a skill to a person."""
    yield f"{version[:SHORT]}  {skill.name}"
    if skill.description:
        yield " ".join(skill.description.split())
    if skill.deprecated:
        yield skill.going
    yield f"place: {place}"
    yield from _chosen_by(skill)
    for name, spec in skill.inputs.items():
        needed = "required" if spec.required and spec.default is None else f"otherwise {json.dumps(spec.default)}"
        yield f"input {name}: {spec.type.value}, {needed}" + (f"; {spec.description}" if spec.description else "")
    if skill.requires:
        yield f"requires the tools {', '.join(skill.requires.tools)}"
    for check in skill.checks:
        yield f"check {check.check}, otherwise: {check.otherwise}"
    for path, step, _ in skill.walk():
        told = _told(path, step)
        yield " ".join(
            (
                f"{path} {told['id']}: {told['kind']}",
                *(told[name] for name in ("tool", "skill", "called") if name in told),
            )
        )
    for example in skill.examples:
        inputs = json.dumps(example.inputs, ensure_ascii=False)
        yield f"example {inputs}" + (f": {' '.join(example.note.split())}" if example.note else "")
    for change in skill.changelog:
        yield f"{change.date}: {change.change}"


def _said(skill: Skill) -> dict[str, object]:
    """Return the header as JSON, with the fields that the skill leaves out."""
    return {**_LEFT_OUT, **skill.model_dump(mode="json", include={*SkillHeader.model_fields, "inputs"})}


def _chosen_by(skill: Skill) -> Iterator[str]:
    if skill.when_to_use:
        yield f"when to use: {' '.join(skill.when_to_use.split())}"
    if skill.triggers:
        yield f"triggers: {'; '.join(skill.triggers)}"


def _told(path: str, step: Step) -> dict[str, str]:
    """Return what is shown of a step: its place, its id, what it does, and the tool or skill that it calls."""
    told = {"path": path, "id": step.id, "kind": step.kind}
    match step:
        case ToolStep(tool=tool):
            return {**told, "tool": tool}
        case SkillStep(skill=skill):
            return {**told, "skill": skill}
        case ForeignStep():
            return {**told, "called": step.called, "queue": step.queue}
        case _:
            return told


async def try_(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="CASES.yaml...", help="What tools return, what people answer, and the outcome."),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Run skills as the cases say, calling no tool; exits with 1 if one does not end as expected.

    Example: perdure skills test cases.yaml
    """
    for file in files:
        if not file.is_file():
            told = f"{file} is no file" if file.exists() else f"there is no file {file}"
            raise InvalidInput("CASES.yaml", told, fix="give the path of a file with cases")
    settings, shown = Settings(), list[dict[str, object]]()
    skills, toolbox = skills_of(settings), known_tools_of(settings)
    for file in files:
        text = text_of(file, InvalidSkill)
        with placing(file, text):
            read = read_cases(text, file.name)
        linked = skills.linked(read.skill)
        check_linked(linked, toolbox)
        for place, case in enumerate(read.cases):
            called = case.name or f"cases[{place}]"
            tried = await _tried(linked, case, toolbox)
            shown.append({"skill": linked.skill.name, "version": linked.version, "case": called, **tried})
            if not as_json:
                _show(called, tried)
    _finish(shown, as_json=as_json)


async def _tried(linked: LinkedSkill, case: SkillCase, toolbox: Toolbox) -> dict[str, Any]:
    """Return how a case ended, how that differs from what was expected, and what is wrong with the case itself."""
    tried: dict[str, Any] = {"differences": [], "problem": "", "ended": None}
    try:
        ended = await rehearsed(linked.skill, case, toolbox, linked.inner)
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


_LEFT_OUT: dict[str, object] = {
    **{name: [] for name in ("triggers", "checks", "examples", "changelog")},
    **{"deprecated": "", "successor": None, "requires": None},
}
