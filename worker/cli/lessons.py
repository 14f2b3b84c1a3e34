"""``perdure lessons``: what tasks have learned from failures. Anyone who can run it is an administrator."""

import sys
from typing import Annotated

import typer

from perdure.documents import validated
from perdure.errors import InvalidInput
from perdure.memory.updates.id_prefixes import identified, is_whole
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.entries import Memory, headline_of
from perdure.values.lessons import LessonRequest
from worker.cli.memories import show_versions
from worker.cli.reach import gateway, person
from worker.cli.tasks import AsJson
from worker.terminal.output import out, say, show_json

Id = Annotated[str, typer.Argument(help="The lesson's id, as 'lessons list' shows it, or its beginning.")]


async def list_(
    *,
    user: Annotated[
        str,
        typer.Option(
            "--user", help="Only this user's lessons; default: those that count for everybody.", show_default=False
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List what a user's tasks have learned from failures; without a user, what counts for everybody.

    Example: perdure lessons list --user ada
    """
    async with gateway(Settings()) as installation:
        found = await installation.lessons(user or None, by=person())
    if as_json:
        show_json([one.model_dump(mode="json") for one in found])
        return
    for one in found:
        out.print(f"{one.id}  seen {counted(one.seen, 'time')}, last {one.last_seen:%Y-%m-%d %H:%M:%S}", markup=False)
        out.print(f"    {headline_of(one.text)}", markup=False)
    say(counted(len(found), "lesson"))


async def promote(
    identifier: Id,
    *,
    user: Annotated[str, typer.Option("--user", help="Whose lesson it is.", show_default=False)],
    text: Annotated[str, typer.Option(help="What it says to everybody, instead of what it says to the user.")] = "",
    by: Annotated[str, typer.Option(help="Who promotes it; your account's name if left out.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask: the text has been read.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let a lesson of one user count for everybody. Its text is shown first: it may name what others must not see.

    Example: perdure lessons promote mem_4a1f --user ada
    """
    if not user.strip():
        raise InvalidInput("--user", "is empty", fix="say whose lesson")
    async with gateway(Settings()) as installation:
        lesson = _one(await installation.lessons(user, by=person(by)), identifier)
        told = text or headline_of(lesson.text)
        _confirm(told, yes=yes)
        asked = {"id": lesson.id, "user_id": user, "text": told}
        done = await installation.set_lesson(validated(LessonRequest, asked, ""), by=person(by))
        [item] = (await installation.receipt(done.job, by=person(by))).items
    if as_json:
        show_json({"promoted": item.id, "fate": item.fate, "reason": item.reason})
    else:
        say(f"{item.fate.value}: {item.id} {item.reason}".rstrip())


async def history(identifier: Id, *, as_json: AsJson = False) -> None:
    """Show the versions of a lesson that counts for everybody: who promoted or withdrew it, and when.

    Example: perdure lessons history mem_4a1f
    """
    async with gateway(Settings()) as installation:
        known = [] if is_whole(identifier) else [one.id for one in await installation.lessons(None, by=person())]
        found = await installation.lesson_history(identified(identifier, known), by=person())
    show_versions(found, as_json=as_json)


async def withdraw(
    identifier: Id,
    *,
    by: Annotated[str, typer.Option(help="Who withdraws it; your account's name if left out.")] = "",
    as_json: AsJson = False,
) -> None:
    """Withdraw a lesson of the installation: it no longer counts for everybody. The user's own stays.

    Example: perdure lessons withdraw mem_4a1f
    """
    request = validated(LessonRequest, {"id": identifier}, "")
    async with gateway(Settings()) as installation:
        if not is_whole(identifier):
            known = await installation.lessons(None, by=person(by))
            identifier = identified(identifier, [one.id for one in known])
            request = request.changed(id=identifier)
        await installation.set_lesson(request, by=person(by))
    if as_json:
        show_json({"withdrawn": identifier})
    else:
        say(f"withdrawn: {identifier}")


def _one(lessons: list[Memory], identifier: str) -> Memory:
    meant = identified(identifier, [one.id for one in lessons])
    found = next((one for one in lessons if one.id == meant), None)
    if found is None:
        fix = "perdure lessons list --user USER shows the ids"
        raise InvalidInput("id", f"this user has no lesson {identifier!r}", fix=fix)
    return found


def _confirm(told: str, *, yes: bool) -> None:
    """Show a text, and go on once a person has agreed to it.

    Raises:
        InvalidInput: Nobody can be asked, or does not agree.
    """
    say(f"to everybody: {told}")
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInput("--yes", "is missing, and nobody can be asked here", fix="read the text, and add --yes")
    if not typer.confirm("Promote it?", err=True):
        raise InvalidInput(
            "--yes", "is not confirmed: nothing is promoted", fix="run it again, with --text for other words"
        )
