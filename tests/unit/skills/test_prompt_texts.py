"""Skills that name prompts: each carries the text and the version that its prompt had when it was read."""

from pathlib import Path

import pytest

from perdure.errors import InvalidInput, InvalidSkill
from perdure.registry.prompts import PromptLibrary
from perdure.skills.library import SkillLibrary
from perdure.skills.steps import PromptStep

SKILL = """
name: report
steps:
  - {id: look, tool: look}
  - {id: plain, prompt: Say more.}
  - parallel:
      - {id: other, tool: look}
      - {id: short, prompt: {name: brief, inputs: {text: a}}}
"""


def library(folder: Path, *, template: str = "Sum up ${inputs.text} in ${inputs.words} words.") -> SkillLibrary:
    (folder / "report.yaml").write_text(SKILL)
    (folder / "prompts").mkdir(exist_ok=True)
    inputs = "{text: What to read, words: {default: 50}}"
    (folder / "prompts" / "brief.yaml").write_text(f'name: brief\ninputs: {inputs}\ntemplate: "{template}"\n')
    return SkillLibrary((folder,), prompts=PromptLibrary((folder / "prompts",)))


def prompts_of(skills: SkillLibrary) -> dict[str, PromptStep]:
    return {step.id: step for _, step, _ in skills.get("report").walk() if isinstance(step, PromptStep)}


def test_a_step_has_the_text_the_version_and_the_defaults_of_the_prompt_that_it_names(tmp_path: Path) -> None:
    found = prompts_of(library(tmp_path))
    assert (found["plain"].prompt, found["plain"].uses) == ("Say more.", None)
    short = found["short"]
    assert short.prompt == "Sum up ${inputs.text} in ${inputs.words} words."
    assert short.uses is not None
    assert (short.uses.name, short.uses.inputs, short.uses.defaults) == ("brief", {"text": "a"}, {"words": 50})
    changed = prompts_of(library(tmp_path, template="Sum up ${inputs.text}."))["short"]
    assert changed.uses is not None
    assert len({"", short.uses.version, changed.uses.version}) == 3


def test_a_prompt_that_is_not_there_is_refused_where_its_step_names_it(tmp_path: Path) -> None:
    library(tmp_path)
    (tmp_path / "report.yaml").write_text(SKILL.replace("name: brief", "name: breif"))
    skills = SkillLibrary((tmp_path,), prompts=PromptLibrary((tmp_path / "prompts",)))
    with pytest.raises(InvalidSkill, match="did you mean 'brief'") as caught:
        skills.get("report")
    assert caught.value.field == "steps[2].parallel[1][0].prompt.name"


def test_without_prompts_a_skill_that_names_none_can_be_read(tmp_path: Path) -> None:
    library(tmp_path)
    skills = SkillLibrary((tmp_path,))
    with pytest.raises(InvalidInput, match="no prompt 'brief'"):
        skills.get("report")
    (tmp_path / "report.yaml").write_text(SKILL.replace("{name: brief, inputs: {text: a}}", "Sum up."))
    assert prompts_of(skills)["short"].prompt == "Sum up."
