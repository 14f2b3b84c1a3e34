"""Writes the reference pages: ``python -m perdure.reference`` in the project's folder."""

from collections.abc import Callable
from pathlib import Path

from perdure.reference.page import files_page, skills_page

PAGES: dict[Path, Callable[[], str]] = {
    Path("docs/reference/skills.md"): skills_page,
    Path("docs/reference/files.md"): files_page,
}
"""What makes the text of each page."""

if __name__ == "__main__":
    for place, written in PAGES.items():
        place.write_text(written(), encoding="utf-8")
