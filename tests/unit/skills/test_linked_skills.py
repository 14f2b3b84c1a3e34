"""Skills that run other skills: all read in one version, and none that would never end."""

from pathlib import Path

import pytest

from perdure.agent.steps.validation import check_linked
from perdure.errors import InvalidInput, InvalidSkill
from perdure.skills.library import SkillLibrary, read_skill
from perdure.skills.linked_skills import DEEPEST, LinkedSkill, linked
from perdure.skills.shape import Skill
from perdure.toolbox import Toolbox

STEP = "{{id: {id}, skill: {skill}}}"


def skill(name: str, *runs: str, more: str = "") -> Skill:
    steps = ", ".join(STEP.format(id=f"s{place}", skill=one) for place, one in enumerate(runs))
    return read_skill(f"name: {name}\n{more}steps: [{{id: first, tool: who}}{', ' if steps else ''}{steps}]\n")


def link(*skills: Skill) -> Skill:
    known = {one.name: one for one in skills}
    found = linked(skills[0], known.__getitem__)
    assert set(found.inner) == known.keys() - {skills[0].name}
    return found.skill


def test_all_that_is_run_is_found_once() -> None:
    link(skill("a", "b", "c", "b"), skill("b", "c"), skill("c"))


@pytest.mark.parametrize(
    ("skills", "field", "problem"),
    [
        ([skill("a", "a")], "steps[1].skill", "a skill cannot run itself: 'a' runs 'a'"),
        ([skill("a", "b"), skill("b", "a")], "b: steps[1].skill", "'a' runs 'b' runs 'a'"),
        ([skill("a", "b"), skill("b", "c"), skill("c", "b")], "c: steps[1].skill", "itself: 'b' runs 'c' runs 'b'"),
    ],
)
def test_a_skill_that_runs_itself_is_refused_with_the_chain(skills: list[Skill], field: str, problem: str) -> None:
    with pytest.raises(InvalidSkill) as caught:
        link(*skills)
    assert (caught.value.field, problem in caught.value.problem) == (field, True)


def test_too_many_within_one_another_are_refused_also_where_one_was_seen_before() -> None:
    names = [f"n{place}" for place in range(DEEPEST)]
    skills = [skill(name, *names[place + 1 : place + 2]) for place, name in enumerate(names)]
    link(*skills)
    deep = skill("deep", "n1", "n0")
    with pytest.raises(InvalidSkill, match=f"{DEEPEST + 1} skills are within one another") as caught:
        link(deep, *skills)
    assert caught.value.field == "n0: steps[1].skill"
    # Each is read once, however many ways lead to it.
    wide = [skill(f"w{place}", *[f"w{place + 1}"] * 200) for place in range(DEEPEST - 1)]
    link(*wide, skill(f"w{DEEPEST - 1}"))


def test_the_version_is_that_of_everything_that_is_run() -> None:
    inner, outer = skill("b"), skill("a", "b")
    known = linked(outer, lambda _: inner)
    changed = linked(outer, lambda _: skill("b", more="inputs: {n: {type: integer, default: 1}}\n"))
    described = linked(outer, lambda _: skill("b", more="description: The same.\n"))
    assert known.version == described.version != changed.version
    assert linked(inner, lambda _: inner).version == inner.digest


def test_together_they_are_no_larger_than_one_may_be() -> None:
    text = "x" * 7_000
    steps = ", ".join(f"{{id: t{place}, tool: echo, args: {{value: {text}}}}}" for place in range(50))
    large = read_skill(f"name: large\nsteps: [{steps}]")
    larger = read_skill(f"name: larger\nsteps: [{{id: s, skill: large}}, {steps}]")
    with pytest.raises(InvalidSkill, match="bytes as JSON, with those of the skills"):
        linked(larger, lambda _: large)


def test_a_mistake_in_a_skill_that_is_run_says_in_which(tmp_path: Path) -> None:
    (tmp_path / "outer.yaml").write_text("name: outer\nsteps: [{id: x, skill: inner}]", encoding="utf-8")
    library = SkillLibrary([tmp_path])
    with pytest.raises(InvalidInput) as caught:
        library.linked("outer")
    assert (caught.value.place, caught.value.field) == (f"{tmp_path / 'outer.yaml'}:2", "steps[0].skill")
    assert "there is no skill 'inner'" in caught.value.problem
    (tmp_path / "inner.yaml").write_text("name: inner\nsteps: [{id: x, tol: who}]", encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        library.linked("outer")
    assert (caught.value.place, caught.value.field) == (f"{tmp_path / 'inner.yaml'}:2", "steps[0]")
    (tmp_path / "inner.yaml").write_text("name: inner\nsteps: [{id: x, tool: who}]", encoding="utf-8")
    assert [one.name for one in library.linked("outer").every] == ["outer", "inner"]


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ("{id: x, skill: b, on_failure: ask}", "on_failure: cannot be ask"),
        ("{id: x, skill: b, tool: who}", "skill"),
        ("{id: x, skill: b, retry: 2}", "retry: belongs to the steps of the skill that it runs .write it there"),
        ("{id: x, skill: b, input: {}}", "did you mean 'inputs'"),
        ("{skill: b}", "id"),
    ],
)
def test_a_step_that_runs_a_skill_is_read_strictly(step: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read_skill(f"name: a\nsteps: [{step}]")


def test_a_skill_that_is_no_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    for name in ("outer", "inner"):
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}\nsteps: [{{id: x, skill: inner}}]\n", encoding="utf-8")
    (tmp_path / "inner.yaml").write_text("name: inner\nsteps: [\n", encoding="utf-8")
    for name in ("inner", "outer"):
        with pytest.raises(InvalidInput, match=r"PRD102 .*/inner.yaml:3: is not YAML"):
            SkillLibrary([tmp_path]).linked(name)


def test_what_a_tool_refuses_is_placed_in_the_file_of_the_skill_that_calls_it(tmp_path: Path) -> None:
    (tmp_path / "outer.yaml").write_text("name: outer\nsteps:\n  - {id: x, skill: inner}\n", encoding="utf-8")
    (tmp_path / "inner.yaml").write_text("name: inner\nsteps:\n  - id: x\n    tool: who\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="there is no tool 'who'") as caught:
        check_linked(SkillLibrary([tmp_path]).linked("outer"), Toolbox())
    assert (caught.value.place, caught.value.field) == (f"{tmp_path / 'inner.yaml'}:4", "steps[0].tool")
    assert "inner.yaml:4: steps[0].tool: there is no tool 'who'" in str(caught.value)


def test_the_version_of_skills_that_run_others_stays_what_it_is_for_ever() -> None:
    known = {"a": skill("a", "b"), "b": skill("b")}
    assert linked(known["a"], known.__getitem__).version == (
        "14d04afda96bd69ac19f72470425b906ab5d20d0a3db17885ae5efc761491377"
    )


def test_a_linked_skill_is_read_back_from_its_document() -> None:
    inner = skill("b", more="inputs: {n: {type: integer, default: 1}}\n")
    known = linked(skill("a", "b"), lambda _: inner)
    assert LinkedSkill.of_document(known.document) == LinkedSkill(skill=known.skill, inner=known.inner)
