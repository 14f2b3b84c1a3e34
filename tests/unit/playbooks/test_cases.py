from pathlib import Path

import pytest

from perdure.agent.rehearsal import differences, rehearsed
from perdure.skills.cases import read_cases
from perdure.skills.library import SkillLibrary
from perdure.toolbox import Toolbox

FOLDER = Path("playbooks")
CASES = {file.name: file.read_text(encoding="utf-8") for file in sorted((FOLDER / "cases").glob("*.yaml"))}


@pytest.mark.parametrize("name", CASES)
async def test_the_skills_of_the_playbooks_end_as_their_cases_say(name: str) -> None:
    read = read_cases(CASES[name], name)
    skill, tools = SkillLibrary([FOLDER / "skills"]).get(read.skill), Toolbox.load(["playbooks.dependency_audit.tools"])
    for case in read.cases:
        ended = await rehearsed(skill, case, tools)
        assert differences(case, ended) == [], ended
