"""The review's tools: find, read, run, propose, report. What they write is in the repository's folder ``.review``."""

import asyncio
import difflib
import os
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from perdure import InvalidInput, Model, ToolCall, tool
from playbooks.repository_review import repository

_LISTED = 500
_FOUND = 100
_LINES = 400
_SHOWN = 20_000
"""Characters of a command's output that are returned: a choice."""


class Match(Model):
    """A line that has what was looked for."""

    path: str
    line: int
    text: str


class Output(Model):
    """What a command printed, and its exit code."""

    code: int
    text: str


@tool(effect="read", timeout=30)
async def list_files(pattern: str = "**/*") -> list[str]:
    """List files of the repository by a pattern such as ``src/**/*.py``; the first 500."""
    return await asyncio.to_thread(lambda: list(islice(repository.files(pattern), _LISTED)))


@tool(effect="read", timeout=30)
async def find_text(text: str, pattern: str = "**/*") -> list[Match]:
    """Find the lines that contain a text, upper or lower case, in files that match a pattern; the first 100."""
    return await asyncio.to_thread(_found, text, pattern)


@tool(effect="read", timeout=30)
async def read_file(path: str, first: int = 1, last: int = 1_000_000) -> str:
    """Read lines of a file, numbered; 400 at most in one call."""
    lines = await asyncio.to_thread(repository.lines_of, path)
    numbered = list(enumerate(lines, 1))[max(0, first - 1) : min(last, first + _LINES - 1)]
    return "\n".join(f"{number}: {line}" for number, line in numbered)


@tool(effect="once", timeout=120)
async def run_command(command: list[str]) -> Output:
    """Run a program with its arguments in the repository, without a shell. What it may be, a policy says.

    A program may do anything, hence ``once``: if its worker is killed, a person says whether it ran.
    """
    if not command:
        raise InvalidInput("command", "is empty", fix='write ["git", "log", "--oneline"]')
    environment = {"PATH": os.environ.get("PATH", os.defpath), "GIT_PAGER": "cat", "LC_ALL": "C.UTF-8"}
    # A repository around the folder is not under review.
    environment |= {"GIT_CEILING_DIRECTORIES": str(repository.root().parent), "GIT_OPTIONAL_LOCKS": "0"}
    # Nor is a bare one in it, whose settings could name a program that git runs.
    environment |= {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.bareRepository",
        "GIT_CONFIG_VALUE_0": "explicit",
    }
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=repository.root(),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    except (OSError, ValueError) as error:
        raise InvalidInput("command", f"{command[0]!r} cannot be run: {error}") from error
    try:
        printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text = printed.decode(errors="replace")
    return Output(code=process.returncode or 0, text=text[:_SHOWN])


@tool(effect="idempotent", timeout=30)
async def propose_change(path: str, old: str, new: str, why: str, call: ToolCall) -> str:
    """Propose to replace a text, which stands once in a file, by another; the file itself is not changed."""
    before = "\n".join(await asyncio.to_thread(repository.lines_of, path)) + "\n"
    if before.count(old) != 1:
        raise InvalidInput("old", f"stands {before.count(old)} times in {path!r}", fix="quote more of its lines")
    one, other = (text.splitlines(keepends=True) for text in (before, before.replace(old, new)))
    diff = "".join(difflib.unified_diff(one, other, f"a/{path}", f"b/{path}"))
    return await asyncio.to_thread(_written, f"{call.idempotency_key[:12]}.diff", f"{why}\n\n{diff}")


@tool(effect="idempotent", timeout=30)
async def write_report(text: str) -> str:
    """Write the report of the review, in Markdown; one that is there already is replaced."""
    return await asyncio.to_thread(_written, "report.md", text)


def _found(text: str, pattern: str) -> list[Match]:
    return list(islice(_matches(text.casefold(), pattern), _FOUND))


def _matches(wanted: str, pattern: str) -> Iterator[Match]:
    for path in repository.files(pattern):
        try:
            lines = repository.lines_of(path)
        except InvalidInput:
            # Too large, or no text.
            continue
        for number, line in enumerate(lines, 1):
            if wanted in line.casefold():
                yield Match(path=path, line=number, text=line.strip()[:300])


def _written(name: str, text: str) -> str:
    folder = repository.root() / ".review"
    folder.mkdir(exist_ok=True)
    if folder.is_symlink():
        raise InvalidInput(".review", "is a symbolic link in this repository", fix="remove it")
    # A name of its own: the repository may have a link to elsewhere under any other.
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, delete=False) as file:
        file.write(text)
    # As a whole, or not at all.
    Path(file.name).replace(folder / name)
    return Path(".review", name).as_posix()
