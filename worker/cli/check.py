"""``perdure check``: whether what somebody wrote in YAML can be used. Asks no server."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from perdure.agent.steps.input_types import argument_doubts, type_doubts
from perdure.agent.steps.validation import check_linked, checked_inputs
from perdure.errors import InvalidAgent, InvalidInput, InvalidTask
from perdure.mcp.shape import read_server
from perdure.plurals import counted
from perdure.policies.library import policies_in
from perdure.registry.agents import AgentLibrary
from perdure.registry.folders import text_of
from perdure.registry.prompts import PromptLibrary
from perdure.settings import Settings
from perdure.skills.library import SkillLibrary
from perdure.suggestions import nearest
from perdure.values.tasks import AgentTask
from perdure.yaml_text import line_of, placing, read_document
from worker.cli.task_files import read_task
from worker.cli.tasks import AsJson
from worker.configuration_checks import require_folders, unguarded
from worker.exit_status import Exit
from worker.terminal.output import out, say, show_json
from worker.wiring.registries import agents_of, known_tools_of, prompts_of, skills_of

_KINDS = {
    "task_id": "task",
    "rationale": "policy",
    "template": "prompt",
    "steps": "skill",
    "command": "MCP server",
    "url": "MCP server",
}
"""The key by which each kind is known; an agent has none of its own."""

_CLOSE = 0.75
"""How alike a key and that of a kind are at least for the one to be meant by the other: "cases" is not "steps"."""

_NOTHING = "is not a skill, task, agent, policy, prompt or MCP server"

_OF_FOLDERS = {"skills": "skill", "agents": "agent", "prompts": "prompt", "mcp_servers": "MCP server"}
"""What each file is in the folders of a setting; beside policies lie their cases."""

_LIKE_AN_EXPRESSION = re.compile(
    r"\{\{\s*((?:inputs|steps|task)\.[\w.]+)[^}]*\}\}|(?<![\w$\\])\$((?:inputs|steps|task)\.\w[\w.]*)"
)
"""How expressions are written elsewhere; the part that names something is a group."""

_OF_AGENTS = frozenset({"instructions", "tools", "skills", "turns", "tokens", "approve"})


def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE.yaml...",
            help="Skills, tasks, agents, policies, prompts or MCP servers; of a folder, those in it.",
        ),
    ],
    *,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 where something is noted, or passed over.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check what was written in YAML without a server; exits with 2 at the first mistake.

    What they name is looked for among the tools, skills and prompts of this installation's settings, and beside the
    file.

    Example: perdure check skills/restock.yaml task.yaml
    """
    settings, found, is_noted = Settings(), list[dict[str, JsonValue]](), False
    require_folders(settings)
    if not all(file.strip() for file in files):
        raise InvalidInput("FILE.yaml", "is empty", fix="name a file, or a folder: '.' is this one")
    for file, is_named in _all(map(Path, files)):
        try:
            kind, notes = _checked(file, settings)
        except InvalidInput as problem:
            if is_named or problem.problem != _NOTHING:
                raise
            # Cases of policies and much else lie beside what can be checked.
            meant = f" ({problem.fix})" if problem.fix.startswith("did you mean") else ""
            say(f"note: {file}: {problem.problem}, and is passed over{meant}")
            is_noted = True
            continue
        is_noted = is_noted or bool(notes)
        found.append({"file": str(file), "kind": kind, "notes": [*notes]})
        if not as_json:
            noted = f", with {counted(len(notes), 'note')}" if notes else ""
            out.print(f"{file}: {'an' if kind[0] in 'aM' else 'a'} {kind} that can be used{noted}", markup=False)
            for note in notes:
                say(f"note: {file}:{note}")
    if as_json:
        show_json(found)
    else:
        say(counted(len(found), "file"))
    if strict and is_noted:
        raise typer.Exit(Exit.FAILED)


def kind_of(text: str, file: Path, settings: Settings) -> str:
    """Return what a document describes, by its keys, otherwise by the setting that names its folder.

    Raises:
        InvalidInput: It is no YAML, or none of the kinds.
    """
    with placing(file, text):
        keys = read_document(text, file.name).keys()
    if (kind := next((kind for key, kind in _KINDS.items() if key in keys), None)) is not None:
        return kind
    if keys & _OF_AGENTS:
        return "agent"
    if (configured := _kind_by_folder(file, settings)) is not None:
        return configured
    for key in keys:
        if meant := get_close_matches(key, _KINDS, n=1, cutoff=_CLOSE):
            fix = f"did you mean {meant[0]!r} by {key!r} in line {line_of(text, key)}?"
            raise InvalidInput(str(file), _NOTHING, fix=fix)
    fix = "a skill has steps, a task a task_id, an agent instructions, a policy a rationale, a prompt a template"
    raise InvalidInput(str(file), _NOTHING, fix=fix)


def _kind_by_folder(file: Path, settings: Settings) -> str | None:
    """Return what a worker takes a file for, as its folder is among those of a setting."""
    if file.suffix != ".yaml":
        return None
    folder = file.parent.resolve()
    return next(
        (kind for name, kind in _OF_FOLDERS.items() if folder in map(Path.resolve, getattr(settings, name))), None
    )


def _all(files: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Yield the files that are meant, and whether each was named itself: of a folder, the YAML files in it.

    Raises:
        InvalidInput: A folder has none.
    """
    for file in files:
        if not file.is_dir():
            yield file, True
            continue
        below = sorted(one.name for one in file.iterdir() if one.is_dir() and _yaml_in(one))
        inside = _yaml_in(file)
        if not inside:
            fix = f"name a folder in it: {', '.join(below)}" if below else ""
            raise InvalidInput("FILE.yaml", f"there is no YAML file in {file}", fix=fix)
        yield from ((one, False) for one in inside)
        if below:
            say(f"note: not looked into: {', '.join(str(file / one) for one in below)}")


def _yaml_in(folder: Path) -> list[Path]:
    return sorted((*folder.glob("*.yaml"), *folder.glob("*.yml")))


def _checked(file: Path, settings: Settings) -> tuple[str, list[str]]:
    """Return what a file describes, and what is worth a second look in it, each with the line.

    Raises:
        InvalidInput: It cannot be used.
    """
    if not file.is_file():
        raise InvalidInput("FILE.yaml", f"there is no file {file}", fix="give the path of a skill or a task")
    text = text_of(file, InvalidInput)
    kind, notes = kind_of(text, file, settings), _like_expressions(text)
    match kind:
        case "task":
            check_task(file, settings)
        case "policy":
            notes += [
                f"{line_of(text, 'when')}: {doubt}" for doubt in unguarded(policies_in({file: text}).policies, settings)
            ]
        case "MCP server":
            with placing(file, text):
                read_server(text, file.name)
        case "prompt":
            PromptLibrary([file.parent]).get(file.stem)
        case "agent":
            _check_agent(file, settings)
        case _:
            linked = (library := _skills_beside(file, settings)).linked(file.stem)
            check_linked(linked, toolbox := known_tools_of(settings))
            doubts = (*type_doubts(linked.skill), *argument_doubts(linked.skill, toolbox))
            notes += [f"{line_of(text, field)}: {field}: {problem}" for field, problem in doubts]
            if (successor := linked.skill.successor) and successor not in (names := library.names()):
                # What is deprecated runs without it.
                said = f"there is no skill {successor!r} ({nearest(successor, names)})"
                notes.append(f"{line_of(text, 'successor')}: successor: {said}")
    return kind, notes


def _like_expressions(text: str) -> list[str]:
    """Return what is read as text and looks like an expression of another language, with the line."""
    return [
        f"{number}: {found[0]!r} is text here; an expression is ${{{found[1] or found[2]}}}"
        for number, line in enumerate(text.splitlines(), 1)
        for found in _LIKE_AN_EXPRESSION.finditer(line)
    ]


def _skills_beside(file: Path, settings: Settings) -> SkillLibrary:
    """Return the configured skills, with those in the folder of a file."""
    known = prompts_of(settings)
    folder = file.parent.absolute()
    if folder in settings.skills:
        return skills_of(settings)
    return SkillLibrary([folder, *settings.skills], prompts=known)


def check_task(file: Path, settings: Settings) -> None:
    """Check that a task's skill, inputs and tools, or its agent, are among what the settings name.

    Raises:
        InvalidInput: It cannot be run, with the line.
    """
    task: AgentTask = read_task(file)
    with placing(file, text_of(file, InvalidInput)):
        if task.skill:
            linked = skills_of(settings).linked(task.skill)
            check_linked(linked, known_tools_of(settings))
            checked_inputs(linked.skill, task.inputs)
        elif task.agent not in (agents := agents_of(settings)).names():
            agents.get(task.agent)
            raise InvalidTask("agent", f"there is no agent {task.agent!r}")


def _check_agent(file: Path, settings: Settings) -> None:
    library = AgentLibrary([file.parent], prompts=prompts_of(settings))
    agent, toolbox, skills = library.get(file.stem), known_tools_of(settings), skills_of(settings)
    with library.placing(agent.name):
        for place, name in enumerate(agent.tools):
            toolbox.get(name, f"tools[{place}]", InvalidAgent)
        for place, name in enumerate(agent.skills):
            _require_skill(skills, name, f"skills[{place}]")
            check_linked(skills.linked(name), toolbox)


def _require_skill(skills: SkillLibrary, name: str, field: str) -> None:
    try:
        skills.place(name)
    except InvalidInput as problem:
        raise InvalidAgent(field, problem.problem, fix=problem.fix) from None
