"""The reference page is what the models say now."""

import re
from pathlib import Path

from perdure.reference.__main__ import PAGE
from perdure.reference.page import TITLES, skills_page
from perdure.reference.schema import schema_of


def test_the_page_is_as_the_models_are() -> None:
    assert Path(PAGE).read_text(encoding="utf-8") == skills_page(), "make reference writes it anew"


def test_each_link_on_it_leads_to_a_section() -> None:
    page = skills_page()
    sections = {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^## (.*)$", page, re.M)
    }
    assert len(sections) == len(re.findall(r"^## ", page, re.M)), "two sections have the same title"
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= sections


def test_every_model_has_a_section() -> None:
    schema = schema_of("skill")
    assert {*TITLES} == {"Skill", *(name for name, one in schema["$defs"].items() if "properties" in one)}


def test_what_was_nowhere_is_on_it() -> None:
    page = skills_page()
    for name in ("`enough`", "`task.date`", "`critical`", "`keys`", "`at_once`", "`parallel`", "`as`"):
        assert f"| {name} |" in page
    assert "`kind`" not in page
