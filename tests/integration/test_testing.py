"""What others test their tools with, used from outside the project as its page shows."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.pages import blocks

PAGE = Path("docs/testing.md")


def project(folder: Path, changes: Mapping[str, str] | None = None) -> None:
    """Write the files of the page into a folder of their own, with some changes."""
    for block in blocks(PAGE):
        text = block.text
        for before, after in (changes or {}).items():
            text = text.replace(before, after)
        path = folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def ran(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", *arguments]
    return subprocess.run(command, cwd=folder, env=os.environ | variables, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_tests_of_the_page_pass_and_reach_no_server_that_is_configured(tmp_path: Path) -> None:
    project(tmp_path)
    ended = ran(tmp_path, TEMPORAL_ADDRESS="127.0.0.1:9", PERDURE_REDIS_URL="redis://127.0.0.1:9")
    assert "2 passed" in ended.stdout, ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"orders() if order.endswith": "() if order.endswith"}, "an effect was repeated after the kill: 'bolts "),
        ({'effect="once"': 'effect="idempotent"', ", check=find_order": ""}, "no worker was killed"),
        ({"effects=shop.orders": "effects=list"}, "effects() returns none"),
        ({', "sku[1].order": "yes"': ""}, "'sku[1].order' asks, and nothing in answers is for it: Order nuts?"),
    ],
    ids=["repeated", "not killed", "not seen", "not answered"],
)
def test_what_would_prove_nothing_or_is_done_twice_fails(tmp_path: Path, changes: dict[str, str], said: str) -> None:
    project(tmp_path, changes)
    ended = ran(tmp_path, "-k", "dies")
    assert "1 failed" in ended.stdout, ended.stdout
    assert said in ended.stdout
