"""The page of what Python programs import says what there is now."""

import perdure.public
from worker.cli.python_page import PAGE, python_page


def test_the_page_is_as_the_code_is() -> None:
    assert PAGE.read_text(encoding="utf-8") == python_page(), "make reference writes it anew"


def test_every_exported_name_is_on_it() -> None:
    page = python_page()
    assert [name for name in perdure.public.__all__ if f"| `{name}" not in page] == []
