"""The versions that a definition had, read from the git history of its folder. Changes nothing in the repository.

Besides the local servers and MCP servers this is the only place that starts a process: ``git``, for some milliseconds.
"""

import asyncio
import contextlib
import difflib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from perdure.errors import InvalidInput
from perdure.model import Passed
from perdure.registry.folders import text_of

MOST_COMMITS = 1_000
"""Commits of one file that are looked at, the newest ones; a choice."""

SHORTEST = 4
"""Characters by which a version or a commit can be named."""

PATIENCE = 30.0
"""Seconds that git may take; a choice."""

# Nothing that a repository configures is run, and nothing is asked at a terminal.
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "--no-pager", "--literal-pathspecs")
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8"}

_RECORD, _PART = "\x1e", "\x1f"


class HasDigest(Protocol):
    """A definition with a version."""

    @property
    def digest(self) -> str:
        """The version of its content."""
        ...


class Revision(Passed):
    """A version of a definition."""

    version: str = ""
    """The digest of its content; empty if it cannot be read."""
    commit: str = ""
    """The first commit that has it; empty: it is not committed."""
    date: str = ""
    """When that was committed, with its time zone."""
    author: str = ""
    subject: str = ""
    """The first line of the commit's message."""
    commits: int = 1
    """How many commits in a row have it: some change comments alone, or what does not count as content."""
    problem: str = ""
    """Why it cannot be read."""
    text: str = ""
    """The file, as it was last committed in this version."""

    @property
    def content(self) -> str:
        """What distinguishes it from the versions next to it."""
        return self.version or self.text

    @property
    def told(self) -> str:
        """By what a person knows it."""
        return self.version[:12] or self.commit[:12]


async def revisions_of(place: Path, read: Callable[[str, str], HasDigest]) -> tuple[Revision, ...]:
    """Return the versions that a definition had, newest first; what is not committed first of all.

    Args:
        place: Its file.
        read: Makes a definition of the file's text and its name.

    Raises:
        InvalidInput: The folder is in no git repository, or git cannot read it.
    """
    place, now = await asyncio.to_thread(_as_it_is, place)
    found = [_revision(place, read, now)]
    for commit, blob in await _commits(place):
        [hash_, date, author, subject] = commit
        text = await _git(place.parent, "cat-file", "blob", blob)
        how = {"commit": hash_, "date": date, "author": author, "subject": subject}
        one = _revision(place, read, text).changed(**how)
        last = found[-1]
        if one.content != last.content:
            found.append(one)
        elif last.commit:
            found[-1] = last.changed(**how, commits=last.commits + 1)
        else:
            # The file is as it was committed last; of a comment that was changed since, the text is the newer one.
            found[-1] = one.changed(text=last.text)
    return tuple(found)


def chosen(revisions: Sequence[Revision], wanted: str, field: str) -> Revision:
    """Return the version that a person names by the beginning of its digest, or of a commit's.

    Raises:
        InvalidInput: There is none, or there are several.
    """
    known = [one for one in revisions if one.version.startswith(wanted) or one.commit.startswith(wanted)]
    distinct = {one.version or one.commit: one for one in reversed(known)} if len(wanted) >= SHORTEST else {}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    problem = f"{wanted!r} names {len(distinct) or 'no'} version{'s' if len(distinct) > 1 else ''} of it"
    fix = f"give at least {SHORTEST} characters of one of: {', '.join(one.told for one in revisions[:8])}"
    raise InvalidInput(field, problem, fix=fix)


def difference(name: str, old: Revision, new: Revision) -> str:
    """Return what differs between the files of two versions, as a unified diff."""
    before, after = (one.text.splitlines(keepends=True) for one in (old, new))
    lines = difflib.unified_diff(before, after, f"{name} {old.told}", f"{name} {new.told}")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _as_it_is(place: Path) -> tuple[Path, str]:
    """Return a file's own place, which a link may hide, and its text."""
    place = place.resolve()
    return place, text_of(place, InvalidInput)


def _revision(place: Path, read: Callable[[str, str], HasDigest], text: str) -> Revision:
    try:
        return Revision(version=read(text, place.name).digest, text=text)
    except InvalidInput as problem:
        return Revision(problem=str(problem), text=text)


async def _commits(place: Path) -> list[tuple[list[str], str]]:
    """Return the commits of a file, newest first, each with the object that has its content; renames are followed."""
    folder = place.parent
    parts = "%x1e%H%x1f%cI%x1f%an%x1f%s"
    how = ("--follow", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", f"--max-count={MOST_COMMITS}")
    try:
        told = await _git(folder, "log", *how, f"--format={parts}", "--", place.name)
    except InvalidInput as problem:
        if "does not have any commits yet" in problem.problem:
            return []
        raise
    return list(_read_log(told))


def _read_log(told: str) -> Iterator[tuple[list[str], str]]:
    for record in told.split(_RECORD)[1:]:
        head, _, changes = record.partition("\n")
        changed = next((line for line in changes.splitlines() if line.startswith(":")), "")
        # A merge that changes nothing of its own names no object, and one that removes the file names that of nothing.
        blob = changed.split()[3] if changed else ""
        if blob.strip("0"):
            yield head.split(_PART), blob


async def _git(folder: Path, *arguments: str) -> str:
    """Return what git prints.

    Raises:
        InvalidInput: It is not installed, the folder is in no repository, or git cannot read it.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _QUIET
    try:
        process = await asyncio.create_subprocess_exec(
            *_GIT,
            "-C",
            str(folder),
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
        )
    except FileNotFoundError:
        raise InvalidInput(
            "git", "is not installed here", fix="install it, to read the history of definitions"
        ) from None
    try:
        async with asyncio.timeout(PATIENCE):
            told, problem = await process.communicate()
    except TimeoutError:
        raise InvalidInput("git", f"took longer than {PATIENCE:g} s in {folder}") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode == 0:
        return told.decode(errors="replace")
    first = next(iter(problem.decode(errors="replace").strip().splitlines()), "it says nothing")
    if "not a git repository" in first:
        raise InvalidInput(str(folder), "is in no git repository, so it has no history", fix="git init, and commit it")
    raise InvalidInput(str(folder), f"git cannot read its history: {first.removeprefix('fatal: ')}")
