"""Plays a page of the documentation as its reader does: writes its files, runs its commands, compares what it shows.

A block whose first line is ``# name`` is a file of that name. A ``bash`` block is run, and a ``text`` block behind it
has lines that come in this order among what was printed; ``…`` stands for anything. A command that only looks is run
again until it shows that, as its reader would.
"""

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Self

_END = "--- end of block"

_LOOKS = re.compile(r"(perdure (inbox|status) ?.*\n)+")
_LOOKS_AT_MOST = 15


class Block(NamedTuple):
    """A block of code on a page."""

    language: str
    text: str

    @property
    def file(self) -> str:
        """The file that it is; empty where it is none."""
        named = re.match(r"# ([\w./-]+\.(?:py|yaml|toml))\n", self.text)
        return named[1] if named else ""


def blocks(page: Path) -> list[Block]:
    """Return the blocks of code on a page, in their order."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [Block(language, text) for language, text in found]


def differences(expected: str, printed: str) -> list[str]:
    """Return the lines that are expected and did not come, in this order."""
    came, missing = iter(printed.splitlines()), list[str]()
    for line in expected.splitlines():
        pattern = ".*".join(re.escape(part) for part in line.split("…"))
        if not any(re.fullmatch(pattern, one.rstrip()) for one in came):
            missing.append(line)
    return missing


class Shell:
    """A shell in a folder, which keeps what blocks set."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        with self._process:
            assert self._process.stdin
            self._process.stdin.close()

    def run(self, text: str) -> str:
        """Run lines as they are typed, and return what they print; each has to succeed."""
        assert self._process.stdin
        assert self._process.stdout
        # What is run must not read the lines that follow it.
        self._process.stdin.write(f"set -e\n{{\n{text}\n}} </dev/null\necho '{_END}'\n")
        self._process.stdin.flush()
        printed = list[str]()
        for line in self._process.stdout:
            if line.strip() == _END:
                return "".join(printed)
            printed.append(line)
        raise AssertionError(f"failed:\n{text}\nprinted:\n{''.join(printed)}")


def play(
    page: Path, folder: Path, environment: Mapping[str, str], *, but: Callable[[Block], bool] = lambda _: False
) -> Iterator[Block]:
    """Play a page in a folder, and return each block that was run or compared, once it is.

    Args:
        page: The page.
        folder: Where its reader is.
        environment: All variables that there are.
        but: Says which blocks are left out.

    Raises:
        AssertionError: A command failed, or printed something else.
    """
    printed, looking = "", ""
    with Shell(folder, environment) as shell:
        for block in blocks(page):
            if but(block):
                continue
            if block.file:
                path = folder / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            elif block.language == "bash":
                printed, looking = shell.run(block.text), block.text if _LOOKS.fullmatch(block.text) else ""
            elif block.language == "text":
                missing = differences(block.text, printed)
                for _ in range(_LOOKS_AT_MOST if looking else 0):
                    if missing:
                        missing = differences(block.text, shell.run(looking))
                assert not missing, f"{page} shows, and did not come: {missing}; printed:\n{printed}"
            else:
                raise AssertionError(f"{page} has a block that is neither a file nor a command:\n{block.text}")
            yield block


def clean_environment(home: Path, cache: Path) -> dict[str, str]:
    """Return the variables of somebody who has nothing yet but the servers' binaries."""
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PERDURE_CACHE": str(cache),
        "NO_COLOR": "1",
    }
