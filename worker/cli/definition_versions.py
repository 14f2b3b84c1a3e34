"""``log`` and ``diff`` of agents, skills, prompts and policies: which versions one had, and what changed in it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from perdure.errors import InvalidInput, InvalidPolicy
from perdure.plurals import counted
from perdure.policies.shape import read_policy
from perdure.registry.agents import read_agent
from perdure.registry.folders import Folders
from perdure.registry.prompts import read_prompt
from perdure.settings import Settings
from perdure.skills.library import read_skill
from worker.cli.tasks import AsJson
from worker.definition_versions import HasDigest, Revision, chosen, difference, revisions_of
from worker.terminal.output import out, say, show_json
from worker.wiring.registries import agents_of, prompts_of, skills_of

NameOfOne = Annotated[str, typer.Argument(metavar="NAME", help="Its name.")]
Old = Annotated[
    str,
    typer.Argument(
        metavar="[OLD]", help="The version or commit to compare from (a prefix is enough); default: the one before NEW."
    ),
]
New = Annotated[
    str,
    typer.Argument(
        metavar="[NEW]", help="The version or commit to compare with (a prefix is enough); default: the current file."
    ),
]
Limit = Annotated[int, typer.Option(min=1, help="How many versions to show, the newest ones.")]


@dataclass(frozen=True)
class DefinitionKind:
    """A kind of definitions that have versions."""

    place: Callable[[Settings, str], Path]
    read: Callable[[str, str], HasDigest]
    example: str
    """How the commands of this kind are typed, with ``{}`` for the command."""

    def with_example(self, command: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        """Return the command with an example of this kind in its help."""
        command.__doc__ = f"{command.__doc__}\n\nExample: perdure {self.example.format(command.__name__)}"
        return command

    async def revisions(self, name: str) -> tuple[Path, tuple[Revision, ...]]:
        """Return the file of a definition, and its versions."""
        place = self.place(Settings(), name)
        return place, await revisions_of(place, self.read)


def _policy(settings: Settings, name: str) -> Path:
    policies = Folders(settings.policies, kind="policy", read=read_policy, error=InvalidPolicy)
    return policies.place(name)


AGENT = DefinitionKind(lambda settings, name: agents_of(settings).place(name), read_agent, "agents {} helper")
SKILL = DefinitionKind(lambda settings, name: skills_of(settings).place(name), read_skill, "skills {} dependency-audit")
PROMPT = DefinitionKind(lambda settings, name: prompts_of(settings).place(name), read_prompt, "prompts {} review")
POLICY = DefinitionKind(_policy, read_policy, "policies {} no-payments")


def _log_of(kind: DefinitionKind) -> Callable[..., Awaitable[None]]:
    async def log(name: NameOfOne, *, limit: Limit = 20, as_json: AsJson = False) -> None:
        """Show the versions that it had, newest first, from the git history of its folder."""
        place, found = await kind.revisions(name)
        if as_json:
            versions = [one.model_dump(mode="json", exclude={"text"}) for one in found[:limit]]
            show_json({"name": name, "place": str(place), "versions": versions})
            return
        for one in found[:limit]:
            for line in _lines(one):
                out.print(line, markup=False)
        say(counted(len(found), "version") + (f", of which {limit} are shown" if len(found) > limit else ""))

    return kind.with_example(log)


def _diff_of(kind: DefinitionKind) -> Callable[..., Awaitable[None]]:
    async def diff(name: NameOfOne, old: Old = "", new: New = "", *, as_json: AsJson = False) -> None:
        """Show what changed between two versions of its file: by default the last change."""
        _, found = await kind.revisions(name)
        after = chosen(found, new, "NEW") if new else found[0]
        before = chosen(found, old, "OLD") if old else _before(found, after, name)
        told = difference(name, before, after)
        if as_json:
            sides: dict[str, Any] = {
                side: one.model_dump(mode="json") for side, one in (("old", before), ("new", after))
            }
            show_json({"name": name, **sides, "diff": told})
        elif told:
            out.print(told.rstrip("\n"), markup=False)
        else:
            say("nothing differs")

    return kind.with_example(diff)


def _before(found: tuple[Revision, ...], after: Revision, name: str) -> Revision:
    place = found.index(after) + 1
    if place >= len(found):
        problem = f"{name!r} has no version before {after.told or 'this one'}"
        raise InvalidInput("OLD", problem, fix="'log' shows which there are")
    return found[place]


def _lines(one: Revision) -> list[str]:
    version = one.version[:12] or "unreadable  "
    if not one.commit:
        told = [f"{version}  not committed"]
    else:
        more = f" (and {one.commits - 1} more that leave it so)" if one.commits > 1 else ""
        told = [f"{version}  {one.date[:16].replace('T', ' ')}  {one.commit[:10]}  {one.author}: {one.subject}{more}"]
    return told + ([f"              {one.problem}"] if one.problem else [])


agents_log, skills_log, prompts_log, policies_log = (_log_of(kind) for kind in (AGENT, SKILL, PROMPT, POLICY))
agents_diff, skills_diff, prompts_diff, policies_diff = (_diff_of(kind) for kind in (AGENT, SKILL, PROMPT, POLICY))
