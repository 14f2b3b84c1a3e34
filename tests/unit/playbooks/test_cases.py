from pathlib import Path

import pytest

from perdure.agent.rehearsal import differences, rehearsed
from perdure.policies.cases import read_cases as read_policy_cases
from perdure.policies.cases import tried
from perdure.policies.shape import PolicySet, read_policy
from perdure.settings import Settings
from perdure.skills.cases import read_cases
from perdure.skills.library import SkillLibrary
from worker.wiring.registries import toolbox_of

FOLDER = Path("playbooks")
CASES = {file.name: file.read_text(encoding="utf-8") for file in sorted((FOLDER / "cases").glob("*.yaml"))}
OF_SKILLS = [name for name, text in CASES.items() if "\nskill:" in f"\n{text}"]


@pytest.mark.parametrize("name", OF_SKILLS)
async def test_the_skills_of_the_playbooks_end_as_their_cases_say(name: str) -> None:
    read = read_cases(CASES[name], name)
    skill, tools = (
        SkillLibrary([FOLDER / "skills"]).get(read.skill),
        toolbox_of(Settings(examples=True)),
    )
    for case in read.cases:
        ended = await rehearsed(skill, case, tools)
        assert differences(case, ended) == [], ended


@pytest.mark.parametrize("name", sorted(CASES.keys() - set(OF_SKILLS)))
def test_the_policies_of_the_playbooks_decide_as_their_cases_say(name: str) -> None:
    policy = read_policy((FOLDER / "repository_review" / "policies" / name).read_text(encoding="utf-8"))
    for case in read_policy_cases(CASES[name], name):
        assert case.differences(tried(PolicySet(policies=(policy,)), case)) == [], case.name
