"""What a run of chaos publishes, and which runs publish nothing."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import chaos.__main__ as running
from chaos.load import Load
from chaos.table import COLUMNS, markdown, publish
from chaos.verdict import Verdict


def test_a_run_is_written_to_the_results_and_to_the_readme(tmp_path: Path) -> None:
    results, readme = tmp_path / "results.json", tmp_path / "README.md"
    results.write_text('{"step.ms": 1.0, "chaos.kills": 7.0}')
    readme.write_text("a\n\n<!-- chaos: by a run -->\n\nold\n\n<!-- end of chaos -->\n\nz\n")
    publish("http_chaos", dict.fromkeys(COLUMNS, 1200.0), results=results, readme=readme)
    figures = json.loads(results.read_text())
    assert (figures["step.ms"], figures["chaos.kills"], figures["http_chaos.kills"]) == (1, 7, 1200)
    [row] = markdown(figures).splitlines()[2:]
    assert row.startswith("| HTTP | 1,200 | 1200 | 1,200 |")
    assert readme.read_text() == f"a\n\n<!-- chaos: by a run -->\n\n{markdown(figures)}\n\n<!-- end of chaos -->\n\nz\n"


SERVERS = 5
"""How often servers were killed."""


@pytest.mark.parametrize(
    ("door", "asked", "lasted", "kills", "lost", "status", "published"),
    [
        ("", "10", 10, 70, 0, 0, "chaos"),
        ("", "", 10, 70, 0, 0, "chaos"),
        ("", "2", 2, 70, 0, 0, ""),
        ("", "10", 10, 70, 1, 1, ""),
        ("", "10", 10, 3, 0, 1, ""),
        ("http", "", 45, 500, 0, 0, "http_chaos"),
        ("http", "90", 45, 500, 0, 0, "http_chaos"),
        ("http", "", 45, 500, 1, 1, ""),
        ("http", "", 60, 499, 0, 1, ""),
        ("http", "10", 10, 70, 0, 0, ""),
    ],
    ids=[
        "whole",
        "whole by default",
        "short",
        "failed",
        "too few kills",
        "whole over HTTP",
        "whole over HTTP, with a bound",
        "failed over HTTP",
        "too few kills over HTTP",
        "a trial over HTTP",
    ],
)
def test_only_a_whole_run_that_went_well_is_published(
    monkeypatch: pytest.MonkeyPatch,
    door: str,
    asked: str,
    lasted: int,
    kills: int,
    lost: int,
    status: int,
    published: str,
) -> None:
    bounds: list[float] = []

    async def run(minutes: float, *_: Any) -> tuple[Counter[str], Load, Verdict]:
        bounds.append(minutes)
        counts = Counter(kills=kills + SERVERS, process_kills=kills, seconds=60 * lasted)
        return counts, Load(*[None] * 4), Verdict(lost=lost)  # pyright: ignore[reportArgumentType]

    calls: list[tuple[str, float]] = []

    def publish(section: str, measured: Mapping[str, float]) -> None:
        calls.append((section, measured["kills"]))

    monkeypatch.setattr(running, "run", run)
    monkeypatch.setattr(running, "publish", publish)
    monkeypatch.setattr("sys.argv", ["chaos"])
    monkeypatch.setenv("MINUTES", asked)
    monkeypatch.setenv("DOOR", door)
    assert running.main() == status
    # Over HTTP, those of servers are not what it was to reach.
    assert calls == ([(published, kills if door else kills + SERVERS)] if published else [])
    assert bounds == [float(asked or running.MINUTES[door or "gateway"])]


def test_make_leaves_it_to_the_door_how_long_a_run_lasts() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in {"MINUTES", "MAKEFLAGS"}}
    printed = [
        subprocess.run(
            ["make", "--dry-run", "--assume-old=setup", "chaos", "DOOR=http", *more],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for more in ((), ("MINUTES=2",))
    ]
    assert ['MINUTES=""' in printed[0], 'MINUTES="2"' in printed[1]] == [True, True]
