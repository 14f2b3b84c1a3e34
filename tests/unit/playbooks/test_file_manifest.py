"""The tools of the manifest: a line that is there is known, and one of another file is not taken for it."""

import hashlib
import os
import resource
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from perdure import InvalidInput, NotDone, ToolCall
from perdure.toolbox import Toolbox

CALL = ToolCall(idempotency_key="k", task_id="t", step="here", attempt=1, deadline=datetime.now(UTC))
TOOLS = Toolbox.load(["playbooks.file_manifest.tools"])


async def called(name: str, **arguments: Any) -> Any:
    return await TOOLS.get(name).call(CALL, arguments)


async def test_files_are_listed_in_order_digested_and_written_as_sha256sum_reads_them(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/two", "one", "three"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    assert await called("list_folder", folder=str(tmp_path), most=2) == ["b/two", "one"]
    digest = await called("digest_file", folder=str(tmp_path), path="b/two")
    assert digest == hashlib.sha256(b"b/two").hexdigest()
    line = {"manifest": str(tmp_path / "manifest"), "path": "b/two", "digest": digest}
    append = TOOLS.get("append_digest")
    assert (await append.run_check(CALL, line)) == (False, None)
    await append.call(CALL, line)
    assert (tmp_path / "manifest").read_text(encoding="utf-8") == f"{digest}  b/two\n"
    assert (await append.run_check(CALL, line)) == (True, digest)
    assert (await append.run_check(CALL, line | {"path": "two"}))[0] is False


async def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no folder"):
        await called("list_folder", folder=str(tmp_path / "none"), most=2)
    with pytest.raises(InvalidInput, match="FileNotFoundError"):
        await called("digest_file", folder=str(tmp_path), path="none")
    with pytest.raises(NotDone):
        await called("append_digest", manifest=str(tmp_path / "none" / "manifest"), path="a", digest="d")


def checked(manifest: Path, folder: Path) -> str:
    command = ["sha256sum", "--check", "--strict", str(manifest)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


async def test_odd_names_are_written_as_sha256sum_reads_them(tmp_path: Path) -> None:
    manifest, folder = tmp_path / "manifest", tmp_path / "folder"
    folder.mkdir()
    for name in ("a\nb", "back\\slash", "line\rfeed", " plain name"):
        (folder / name).write_text(name, encoding="utf-8")
    for path in await called("list_folder", folder=str(folder), most=9):
        digest = await called("digest_file", folder=str(folder), path=path)
        await called("append_digest", manifest=str(manifest), path=path, digest=digest)
    assert checked(manifest, folder).count(": OK") == 4


async def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff")).write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"not UTF-8.*rename it"):
        await called("list_folder", folder=str(tmp_path), most=2)


async def test_a_line_that_a_full_disk_cut_hides_no_other(tmp_path: Path) -> None:
    manifest, digest = tmp_path / "manifest", hashlib.sha256(b"x").hexdigest()
    (tmp_path / "x").write_text("x", encoding="utf-8")
    line = {"manifest": str(manifest), "path": "x", "digest": digest}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30, before[1]))
    try:
        with pytest.raises(OSError, match="has no room"):
            await called("append_digest", **line)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (await TOOLS.get("append_digest").run_check(CALL, line))[0] is False
    await called("append_digest", **line)
    assert manifest.read_text(encoding="utf-8").splitlines() == [digest[:30], f"{digest}  x"]
