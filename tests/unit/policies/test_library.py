"""Policies in folders: all of them count, what cannot be used is named with its place, and the last good ones stay."""

import asyncio
import re
import threading
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from perdure.errors import InvalidPolicy
from perdure.policies import library as library_module
from perdure.policies.library import PolicyLibrary, policies_in

POLICY = "name: {name}\nrationale: r\nlevel: {level}\nwhen: \"${{tool == '{tool}'}}\"\n"


def write(folder: Path, name: str, *, tool: str = "send", level: str = "hard") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(POLICY.format(name=name, level=level, tool=tool), encoding="utf-8")
    return path


def test_all_folders_count_in_whichever_order(tmp_path: Path) -> None:
    first, second = write(tmp_path / "one", "b"), write(tmp_path / "two", "a", tool="look")
    found = PolicyLibrary([first.parent, second.parent]).read()
    assert [policy.name for policy in found.policies] == ["a", "b"]
    assert found == PolicyLibrary([second.parent, first.parent]).read()


def test_without_folders_there_is_none() -> None:
    assert PolicyLibrary([]).current().policies == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name: p\nlevel: [\n", "p.yaml:3: is not YAML: .*, in column 1"),
        ("name: q\nrationale: r\nlevel: hard\nwhen: ${true}\n", "p.yaml:1: name: is 'q' .call it 'p'"),
        ("name: p\nrationale: r\nlevel: hart\nwhen: ${true}\n", "p.yaml:3: level: 'hart'"),
        (
            "name: p\nrationale: r\nlevel: hard\nwhen: ${true}\nunless:\n  - ${true\n",
            "p.yaml:6: unless.0.: has a",
        ),
        ("name: p\nrationale: r\nlevel: hard\nwhen: ${user ==}\n", "p.yaml:4: when: .* does not parse"),
        ("", "p.yaml: is empty"),
    ],
)
def test_what_cannot_be_used_is_named_with_file_line_and_field(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidPolicy, match=problem):
        PolicyLibrary([tmp_path]).current()


def test_of_a_contradiction_both_places_are_named(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", "same"), write(tmp_path / "two", "same", tool="look")
    with pytest.raises(InvalidPolicy, match=re.escape(f"{one}:4 and {other}:4: have the same name")):
        PolicyLibrary([one.parent, other.parent]).read()
    other.unlink()
    other = write(tmp_path / "two", "weaker", level="soft")
    places = re.escape(f"{one}:4 and {other}:4: ")
    with pytest.raises(InvalidPolicy, match=f"{places}.*'weaker' never decides"):
        PolicyLibrary([one.parent, other.parent]).read()


def test_a_file_that_would_not_be_read_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "p").rename(tmp_path / "p.yml")
    with pytest.raises(InvalidPolicy, match=r"call it p\.yaml"):
        PolicyLibrary([tmp_path]).read()


def test_more_policies_than_can_be_asked_are_refused(tmp_path: Path) -> None:
    texts = {
        Path(f"p{number}.yaml"): POLICY.format(name=f"p{number}", level="hard", tool=number) for number in range(201)
    }
    with pytest.raises(InvalidPolicy, match="are 201"):
        policies_in(texts)
    assert len(policies_in(dict(list(texts.items())[:200])).policies) == 200


def test_an_edit_counts_at_once(tmp_path: Path) -> None:
    library = PolicyLibrary([tmp_path])
    write(tmp_path, "q", tool="look")
    assert [policy.name for policy in library.current().policies] == ["q"]
    path = write(tmp_path, "p")
    before = library.current()
    assert [policy.name for policy in before.policies] == ["p", "q"]
    assert library.current() is before, "it was read again"
    write(tmp_path, "p", tool="tell")
    assert library.current().version != before.version
    path.unlink()
    assert [policy.name for policy in library.current().policies] == ["q"]


def test_a_folder_without_any_is_one_that_is_not_mounted(tmp_path: Path) -> None:
    library = PolicyLibrary([tmp_path])
    with pytest.raises(InvalidPolicy, match=r"has no policy .mount it"):
        library.current()
    path = write(tmp_path, "p")
    good = library.current()
    path.unlink()
    assert library.current() is good


def test_files_that_are_being_changed_do_not_count_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "p")
    write(tmp_path, "q", tool="look")
    library = PolicyLibrary([tmp_path])
    good = library.current()
    (tmp_path / "p.yaml").unlink()

    # A checkout removes a file, and writes it anew a moment later.
    def writing(seconds: float) -> None:
        write(tmp_path, "p", tool=f"tell{seconds}")

    monkeypatch.setattr(library_module.time, "sleep", writing)
    assert library.current() is good
    assert [policy.name for policy in library.current().policies] == ["p", "q"]


async def test_calls_wait_for_changed_files_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "p")
    library = PolicyLibrary([tmp_path])
    before = library.current()
    write(tmp_path, "p", tool="tell")
    both = threading.Barrier(2)

    # Where one waited for the other, the barrier would break.
    def waiting(_: float) -> None:
        both.wait(timeout=5)

    monkeypatch.setattr(library_module.time, "sleep", waiting)
    first, second = await asyncio.gather(*(asyncio.to_thread(library.current) for _ in range(2)))
    assert first is second, "it was read twice"
    assert first.version != before.version


async def test_a_call_that_sees_no_change_waits_for_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "p")
    old = path.read_text(encoding="utf-8")
    library = PolicyLibrary([tmp_path])
    before = library.current()
    write(tmp_path, "p", tool="tell")
    waits, goes_on = threading.Event(), threading.Event()

    def waiting(_: float) -> None:
        waits.set()
        assert goes_on.wait(timeout=10)

    monkeypatch.setattr(library_module.time, "sleep", waiting)
    changing = asyncio.create_task(asyncio.to_thread(library.current))
    await asyncio.to_thread(waits.wait)
    path.write_text(old, encoding="utf-8")
    try:
        assert await asyncio.wait_for(asyncio.to_thread(library.current), 5) is before
    finally:
        goes_on.set()
    assert await changing is before, "what was taken back counts"


@pytest.mark.parametrize("name", ["p.yml", "p.YAML"])
def test_what_looks_like_a_policy_and_is_not_read_as_one_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("name: p\n", encoding="utf-8")
    with pytest.raises(InvalidPolicy, match=r"is not read as a policy .call it p\.yaml"):
        PolicyLibrary([tmp_path]).read()


def test_the_last_good_ones_stay_with_one_warning_for_each_content(tmp_path: Path) -> None:
    folder = tmp_path / "policies"
    path = write(folder, "p")
    library = PolicyLibrary([folder])
    good = library.current()
    with capture_logs() as logs:
        for text, warned in (("name: p\n", 1), ("name: p\n", 1), ("name: [\n", 2)):
            path.write_text(text, encoding="utf-8")
            assert library.current() is good
            assert len(logs) == warned
        folder.rename(tmp_path / "unmounted")
        for _ in range(2):
            assert library.current() is good
        assert [str(path) in logs[0]["problem"], str(folder) in logs[2]["problem"], len(logs)] == [True, True, 3]
        (tmp_path / "unmounted").rename(folder)
        write(folder, "p", tool="tell")
        assert library.current().version != good.version
        path.write_text("name: [\n", encoding="utf-8")
        library.current()
        assert len(logs) == 4, "what was mended is told of anew"


def test_a_folder_that_is_not_there_is_refused_at_first(tmp_path: Path) -> None:
    with pytest.raises(InvalidPolicy, match="is not a folder"):
        PolicyLibrary([tmp_path / "nowhere"]).current()
