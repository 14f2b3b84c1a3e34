"""The page about JSON is what the types say now, and each command on it is one that there is."""

import re

from worker.cli.commands import COMMANDS, TASKS
from worker.cli.json_output import PAGE, PRINTED, printed_page


def test_the_page_is_as_the_types_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == printed_page(), "make reference writes it anew"


def test_each_link_on_it_leads_to_a_section() -> None:
    page = printed_page()
    sections = {title.lower() for title in re.findall(r"^## (.*)$", page, re.M)}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= sections


def test_each_command_is_one_that_there_is() -> None:
    for command in PRINTED:
        name, *more = command.split()
        assert (TASKS if name == "tasks" else COMMANDS).get(more[0] if name == "tasks" else name), command
