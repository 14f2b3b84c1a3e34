"""Writes the reference pages: ``python -m perdure.reference`` in the project's folder."""

from pathlib import Path

from perdure.reference.page import skills_page

PAGE = Path("docs/reference/skills.md")

if __name__ == "__main__":
    PAGE.write_text(skills_page(), encoding="utf-8")
