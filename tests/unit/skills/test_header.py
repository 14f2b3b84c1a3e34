"""A skill's header: what it says of itself, which of it makes a version, and what of it is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import InvalidInput, InvalidSkill
from perdure.skills.header import DESCRIBING, GOING, SkillHeader, same_phrase
from perdure.skills.library import SkillLibrary, read_skill
from perdure.skills.shape import Skill

STEPS = """
steps:
  - {id: look, tool: look, args: {name: "${inputs.thing}"}}
"""

WHOLE = f"""
name: looking
description: Looks at a thing.
when_to_use: Somebody asks what a thing is.
triggers: [look at it, "What is that?"]
inputs:
  thing: string
  times: {{type: integer, default: 1}}
requires: {{tools: [measure]}}
checks:
  - {{check: "${{inputs.times < 10}}", otherwise: it looks ten times at most}}
  - {{check: "${{inputs.thing != ''}}", otherwise: name a thing}}
examples:
  - {{inputs: {{thing: a bolt}}, note: the usual one}}
  - {{inputs: {{thing: a nut, times: 9}}}}
changelog:
  - {{date: 2026-03-01, change: Looks several times.}}
  - {{date: 2026-01-15, change: First version.}}
{STEPS}
"""


def test_a_whole_header_is_read_and_comes_back() -> None:
    skill = read_skill(WHOLE)
    assert skill.triggers == ("look at it", "What is that?")
    assert skill.requires
    assert skill.requires.tools == ("measure",)
    assert [one.otherwise for one in skill.checks] == ["it looks ten times at most", "name a thing"]
    assert [one.note for one in skill.examples] == ["the usual one", ""]
    assert [f"{one.date}" for one in skill.changelog] == ["2026-03-01", "2026-01-15"]
    assert Skill.model_validate_json(skill.model_dump_json()) == skill


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Looks at a thing.", "Sees a thing."),
        ("Somebody asks", "A person asks"),
        ("[look at it, ", "[have a look, "),
        ("note: the usual one", "note: one"),
        ("  - {inputs: {thing: a nut, times: 9}}\n", ""),
        ("Looks several times.", "Looks more than once."),
        ("inputs:\n", "deprecated: it is slow\nsuccessor: seeing\ninputs:\n"),
    ],
)
def test_what_only_describes_a_skill_makes_no_version(before: str, after: str) -> None:
    assert before in WHOLE
    assert read_skill(WHOLE).digest == read_skill(WHOLE.replace(before, after)).digest


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("default: 1", "default: 2"),
        ("[measure]", "[weigh]"),
        ("times < 10", "times < 11"),
        ("name a thing", "give a thing"),
        ("id: look", "id: see"),
        ("name: looking", "name: seeing"),
    ],
)
def test_what_it_does_makes_its_version(before: str, after: str) -> None:
    assert before in WHOLE
    assert read_skill(WHOLE).digest != read_skill(WHOLE.replace(before, after)).digest


def test_a_task_carries_what_runs_and_no_more() -> None:
    skill = read_skill(WHOLE)
    carried = skill.running
    assert carried.digest == skill.digest
    assert (carried.checks, carried.requires, carried.steps) == (skill.checks, skill.requires, skill.steps)
    assert not any(getattr(carried, name) for name in DESCRIBING)
    assert {*DESCRIBING, *GOING} < {*SkillHeader.model_fields}


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("when_to_use:", "when_to_used:", "did you mean 'when_to_use'"),
        ("[look at it, ", "['?!', ", r"triggers\[0\]: has no letter and no digit"),
        ("[look at it, ", "['what is that', ", r"triggers\[1\]: 'What is that\?' says the same as triggers\[0\]"),
        ("[measure]", "[measure, measure]", r"requires.tools\[1\]: 'measure' is there already"),
        ("{tools:", "{tool:", "requires.tool: is not a field here.*did you mean 'tools'"),
        ("inputs.times < 10", "inputs.time < 10", r"PRD103 checks\[0\].check: there is no input 'time'.*'times'"),
        ("inputs.times < 10", "steps.look < 10", r"PRD103 checks\[0\].check: there is no name 'steps'"),
        ("inputs.times < 10", "inputs.size() < 10", r"PRD103 checks\[0\].check: names all inputs at once"),
        ("inputs.times < 10", "inputs.times <", r"PRD103 checks\[0\].check: .*does not parse"),
        ("inputs.times < 10", "inputs.times.sise() < 10", r"PRD103 checks\[0\].check: .*sise\(\).*did you mean 'size'"),
        ("${inputs.times < 10}", "inputs.times < 10", r"checks\[0\].check: holds no expression"),
        ("otherwise: it looks", "otherwis: it looks", r"checks\[0\].otherwis: is not a field here"),
        ("{thing: a bolt}", "{thin: a bolt}", r"PRD102 examples\[0\].inputs.thin: .*did you mean 'thing'"),
        ("{thing: a bolt}", "{thing: 3}", r"PRD102 examples\[0\].inputs.thing: is a number"),
        ("{thing: a bolt}", "{}", r"PRD102 examples\[0\].inputs.thing: is missing"),
        ("times: 9", "times: 10", r"PRD102 examples\[1\]: checks\[0\]: .*it looks ten times at most"),
        ("2026-01-15", "2026-03-02", r"changelog\[1\].date: 2026-03-02 is later than 2026-03-01 before it"),
        ("2026-01-15", "someday", r"changelog\[1\].date: "),
    ],
)
def test_a_mistake_in_a_header_is_named(before: str, after: str, message: str) -> None:
    assert before in WHOLE
    with pytest.raises(InvalidInput, match=message):
        read_skill(WHOLE.replace(before, after))


def test_what_is_no_mapping_in_a_header_is_found_where_it_stands() -> None:
    for name in ("checks", "examples", "changelog"):
        with pytest.raises(InvalidSkill) as caught:
            read_skill(WHOLE.replace(f"\n{name}:", f"\n{name}:\n  - x"))
        assert caught.value.field == f"{name}[0]"


def test_two_changes_may_be_of_one_day() -> None:
    dates = [one.date for one in read_skill(WHOLE.replace("2026-01-15", "2026-03-01")).changelog]
    assert len(dates) == 2
    assert dates[0] == dates[1]


@given(st.text(max_size=40), st.sampled_from(["", " ", "...", "\t", "!"]))
def test_case_spaces_and_punctuation_make_no_other_phrase(phrase: str, around: str) -> None:
    normal = same_phrase(phrase)
    assert same_phrase(normal) == normal
    assert same_phrase(f"{around}{normal}{around}") == normal


class Folders:
    """Two folders of skills."""

    def __init__(self, root: Path) -> None:
        self.folders = [root / "one", root / "two"]
        for folder in self.folders:
            folder.mkdir()

    def library(self) -> SkillLibrary:
        return SkillLibrary(self.folders)

    @staticmethod
    def write(folder: Path, name: str, more: str) -> Path:
        file = folder / f"{name}.yaml"
        file.write_text(f"name: {name}\n{more}\nsteps: [{{id: a, tool: t}}]\n", encoding="utf-8")
        return file


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def test_a_phrase_of_two_skills_is_refused_with_both_places(folders: Folders) -> None:
    one = folders.write(folders.folders[0], "looking", "triggers: [see it, Look at  the thing!]")
    two = folders.write(folders.folders[1], "seeing", "triggers: [look at the THING]")
    library = folders.library()
    for name, place in (("looking", 1), ("seeing", 0)):
        with pytest.raises(InvalidSkill) as caught:
            library.get(name)
        message = str(caught.value)
        assert caught.value.field == f"triggers[{place}]"
        assert str(one) in message
        assert str(two) in message
        assert "look at" in message.lower()
    folders.write(folders.folders[1], "seeing", "triggers: [look at a thing]")
    assert [library.get(name).name for name in ("looking", "seeing")] == ["looking", "seeing"], "an edit counts at once"


@pytest.mark.parametrize(
    "other", ["triggers: [look\n", "deprecated: slow\ntriggers: [look]", "triggers: look", "description: triggers"]
)
def test_a_skill_that_nobody_chooses_takes_no_phrase(folders: Folders, other: str) -> None:
    folders.write(folders.folders[0], "looking", "triggers: [look]")
    folders.write(folders.folders[0], "seeing", other)
    assert folders.library().get("looking").triggers == ("look",)


def test_a_file_that_cannot_be_read_takes_no_phrase(folders: Folders) -> None:
    folders.write(folders.folders[0], "looking", "triggers: [look]")
    (folders.folders[0] / "seeing.yaml").write_bytes(b"name: seeing\ntriggers: [look, \xff]\n")
    assert folders.library().get("looking").triggers == ("look",)


def test_one_on_its_way_out_may_share_its_phrases_with_its_successor(folders: Folders) -> None:
    folders.write(folders.folders[0], "looking", "deprecated: slow\nsuccessor: seeing\ntriggers: [look]")
    folders.write(folders.folders[0], "seeing", "triggers: [look]")
    library = folders.library()
    assert [library.get(name).triggers for name in ("looking", "seeing")] == [("look",)] * 2
