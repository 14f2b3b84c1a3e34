"""The quickstarts do what they say, from their first file on. ``make first-hour`` also installs them from a wheel."""

import subprocess
import sys
from pathlib import Path

import pytest

from perdure.settings import Settings
from tests.support.pages import clean_environment, play

PAGES = ("docs/quickstart-python.md", "docs/quickstart-skills.md")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.timeout(300)
def test_a_quickstart_does_what_it_says(page: str, tmp_path: Path) -> None:
    environment = clean_environment(tmp_path / "home", Settings().cache)
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    try:
        played = list(play(Path(page), tmp_path, environment, but=lambda block: "pip install" in block.text))
    finally:
        subprocess.run(["perdure", "down"], env=environment, cwd=tmp_path, check=True)
    assert len(played) > 10
