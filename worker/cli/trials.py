"""``perdure skills trials`` and ``propose``: how skills have done, and new ones from what agents did."""

from typing import Annotated

import typer

from perdure.agent.steps.validation import check_linked
from perdure.errors import InvalidInput
from perdure.plurals import counted
from perdure.policies.decision import SHORT
from perdure.settings import Settings
from perdure.skills.library import SkillLibrary, read_skill
from perdure.skills.linked_skills import linked
from perdure.stores.disk import create_once
from perdure.toolbox import Toolbox
from worker.cli.reach import gateway, person
from worker.cli.task_files import workflow_id_of
from worker.cli.tasks import AsJson, TaskArgument
from worker.terminal.output import out, say, show_json
from worker.wiring.registries import known_tools_of, skills_of


async def trials(*, as_json: AsJson = False) -> None:
    """Show how tasks with the current version of each skill have ended, the most promising skill first.

    Example: perdure skills trials
    """
    library = skills_of(Settings())
    versions: dict[str, str] = {}
    for name in library.names():
        try:
            versions[name] = library.linked(name).version
        except InvalidInput as problem:
            say(f"{name}: {problem}")
    async with gateway(Settings()) as installation:
        found = await installation.trials(tuple(versions.values()), by=person())
    best = sorted(versions.items(), key=lambda one: (-found[one[1]].expected, one[0]))
    if as_json:
        show_json([{"name": name, "version": version, **found[version].model_dump()} for name, version in best])
        return
    for name, version in best:
        known = found[version]
        told = f"{known.successes} of the last {counted(known.tasks, 'task')} did what they should"
        out.print(f"{version[:SHORT]}  {name}: {told if known.tasks else 'no task yet'}", markup=False)


def _require_usable(text: str, library: SkillLibrary, toolbox: Toolbox) -> None:
    check_linked(linked(read_skill(text), library.get), toolbox)


async def propose(
    task: TaskArgument,
    *,
    name: Annotated[str, typer.Option(help="What the skill is to be called.")],
    approve: Annotated[
        bool, typer.Option("--approve", help="Write it into the first folder of PERDURE_SKILLS, if it can be used.")
    ] = False,
) -> None:
    """Draft a skill from what the model did in a completed task with a goal; with --approve, save it.

    Example: perdure skills propose task-audit-7-1fd90551848a --name weekly-audit
    """
    settings = Settings()
    library, toolbox = skills_of(settings), known_tools_of(settings)
    kinds = {one.name: "tool" for one in toolbox} | dict.fromkeys(library.names(), "skill")
    by = person()
    async with gateway(settings) as installation:
        draft = await installation.propose(workflow_id_of(task), name, kinds, by=by)
    if not approve:
        out.print(draft.rstrip(), markup=False, soft_wrap=True)
        say("this is a draft: read it, and write it with --approve or, changed, by yourself")
        return
    if not settings.skills:
        raise InvalidInput("PERDURE_SKILLS", "names no folder to write it to", fix="set it: '[\"/path/to/skills\"]'")
    if name in library.names():
        raise InvalidInput("--name", f"there is a skill {name!r} already", fix="choose another name")
    place = settings.skills[0] / f"{name}.yaml"
    approved = draft.replace("Drafted from", f"Approved by {by.id or 'a person'}; drafted from", 1)
    _require_usable(approved, library, toolbox)
    create_once(place, approved.encode())
    out.print(str(place), markup=False, soft_wrap=True)
