"""What a run of chaos publishes, and which runs publish nothing."""

import json
from collections import Counter
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


@pytest.mark.parametrize(
    ("minutes", "kills", "lost", "status", "published"),
    [("10", 70, 0, 0, 1), ("2", 70, 0, 0, 0), ("10", 70, 1, 1, 0), ("10", 3, 0, 1, 0)],
    ids=["whole", "short", "failed", "too few kills"],
)
def test_only_ten_minutes_that_went_well_are_published(
    monkeypatch: pytest.MonkeyPatch, minutes: str, kills: int, lost: int, status: int, published: int
) -> None:
    async def run(*_: Any) -> tuple[Counter[str], Load, Verdict]:
        return Counter(kills=kills, seconds=60 * int(minutes)), Load(*[None] * 4), Verdict(lost=lost)  # pyright: ignore[reportArgumentType]

    calls: list[str] = []
    monkeypatch.setattr(running, "run", run)
    monkeypatch.setattr(running, "publish", lambda section, _: calls.append(section))  # pyright: ignore
    monkeypatch.setattr("sys.argv", ["chaos"])
    monkeypatch.setenv("MINUTES", minutes)
    monkeypatch.delenv("DOOR", raising=False)
    assert running.main() == status
    assert calls == ["chaos"] * published
