"""The tools of the manifest: a line that is there is known, and one of another file is not taken for it."""

import hashlib
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
