"""The reference pages are what the models say now."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from perdure.reference.__main__ import PAGES
from perdure.reference.page import FILE_TITLES, SKILL_TITLES, files_page, skills_page
from perdure.reference.schema import schema_of

EACH = pytest.mark.parametrize(("place", "written"), PAGES.items(), ids=lambda one: getattr(one, "stem", ""))


@EACH
def test_the_page_is_as_the_models_are(place: Path, written: Callable[[], str]) -> None:
    assert place.read_text(encoding="utf-8") == written(), "make reference writes it anew"


@EACH
def test_each_link_on_it_leads_to_a_section(place: Path, written: Callable[[], str]) -> None:
    page = written()
    sections = {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^## (.*)$", page, re.M)
    }
    assert len(sections) == len(re.findall(r"^## ", page, re.M)), f"{place}: two sections have the same title"
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= sections


def test_every_model_has_a_section() -> None:
    for titles, kinds in ((SKILL_TITLES, ["skill"]), (FILE_TITLES, ["task", "agent", "prompt", "policy"])):
        inner = {name: one for kind in kinds for name, one in schema_of(kind).get("$defs", {}).items()}
        named = {kind.capitalize() for kind in kinds} | {name for name, one in inner.items() if "properties" in one}
        assert {*titles} == named


def test_what_was_nowhere_is_on_it() -> None:
    page = skills_page()
    for name in ("`enough`", "`task.date`", "`critical`", "`keys`", "`at_once`", "`parallel`", "`as`"):
        assert f"| {name} |" in page
    for name in ("`answer_hours`", "`memory`", "`rationale`", "`turns`"):
        assert f"| {name} |" in files_page()
    assert "`kind`" not in page + files_page()
