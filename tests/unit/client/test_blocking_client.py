"""The blocking client is the asynchronous one, and never written twice."""

import pytest

from tests.blocking_client import FOLDER, WRITTEN, written


@pytest.mark.parametrize("name", WRITTEN)
def test_it_is_written_from_the_asynchronous_one(name: str) -> None:
    assert (FOLDER / WRITTEN[name]).read_text(encoding="utf-8") == written(name), "run make reference"
