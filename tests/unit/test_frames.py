"""Where an exception was raised: one's own lines first, then those of libraries, each from the innermost outwards."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from perdure.frames import FRAMES_KEPT, class_of, frames_of, own, said_by


def raised_in_a_library() -> None:
    json.loads("{")


def called() -> None:
    raised_in_a_library()


def test_ones_own_lines_come_first_and_a_librarys_after_them() -> None:
    with pytest.raises(ValueError, match="property name") as caught:
        called()
    frames = frames_of(caught.value)
    assert [frame.function for frame in own(frames)] == [
        "raised_in_a_library",
        "called",
        "test_ones_own_lines_come_first_and_a_librarys_after_them",
    ]
    assert own(frames)[0].told == f"tests/unit/test_frames.py:{raised_in_a_library.__code__.co_firstlineno + 1} in " + (
        "raised_in_a_library"
    )
    libraries = frames[len(own(frames)) :]
    assert libraries[0].file.endswith("json/decoder.py")
    assert all(frame.library for frame in libraries)


async def test_of_a_timeout_the_line_is_named_that_was_cut_off() -> None:
    async def hangs() -> None:
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError) as caught:
        async with asyncio.timeout(0):
            await hangs()
    assert own(frames_of(caught.value))[0].function.endswith("hangs")


async def test_of_a_group_the_first_exception_is_told_and_how_many_more_there_are() -> None:
    async def looks() -> None:
        raise KeyError("the real reason")

    async def waits(calls: int) -> None:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(calls):
                tasks.create_task(looks())

    raised: Any = await asyncio.gather(waits(1), waits(2), return_exceptions=True)
    alone, both = raised
    nested: Any = ExceptionGroup("all", [alone, both, ValueError("another")])
    assert (class_of(alone), said_by(alone)) == ("KeyError", "'the real reason'")
    assert (class_of(nested), said_by(nested)) == ("KeyError", "'the real reason' (and 3 more exceptions)")
    for one in (alone, nested):
        assert own(frames_of(one))[0].function.endswith("looks")
    assert own(frames_of(alone))[1].function.endswith("waits")
    assert said_by(ExceptionGroup("", [KeyError(1), KeyError(2)])) == "1 (and 1 more exception)"


def test_a_deep_recursion_keeps_the_innermost_lines() -> None:
    def dive(depth: int) -> None:
        if not depth:
            raise KeyError(depth)
        dive(depth - 1)

    with pytest.raises(KeyError) as caught:
        dive(50)
    frames = frames_of(caught.value)
    assert len(frames) == FRAMES_KEPT
    assert {frame.line for frame in frames[1:]} == {dive.__code__.co_firstlineno + 3}


def test_what_was_never_raised_has_no_lines() -> None:
    assert frames_of(None) == frames_of(KeyError()) == ()


def raised_by(file: str) -> BaseException:
    """Return what code raises that was compiled under a file's name."""
    space: dict[str, Any] = {"__name__": "tools"}
    exec(compile("def act():\n    raise KeyError(1)\n", file, "exec"), space)
    with pytest.raises(KeyError) as caught:
        space["act"]()
    return caught.value


@pytest.mark.parametrize("file", ["", "<string>", ".", "/", "/home/ada/caf\udce9.py"])
def test_whatever_a_file_is_called_its_line_is_told(file: str) -> None:
    frame = frames_of(raised_by(file))[0]
    assert (frame.line, frame.function) == (2, "act")
    assert frame.model_dump_json()


def test_a_line_is_told_where_the_workers_folder_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (gone := tmp_path / "release").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert own(frames_of(raised_by("/srv/shop.py")))[0].told == "shop.py:2 in act"
