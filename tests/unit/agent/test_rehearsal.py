"""A skill gone through with given results and answers."""

from typing import Any

import pytest

from perdure.agent.rehearsal import differences, rehearsed
from perdure.errors import InvalidInput, InvalidSkill
from perdure.skills.cases import Rehearsed, SkillCase, read_cases
from perdure.skills.library import read_skill
from perdure.tasks import Phase
from perdure.toolbox import Toolbox
from tests.support import tools

TOOLS = Toolbox([tools.look, tools.echo, tools.append])

SKILL = """
name: licences
inputs: {names: list}
steps:
  - id: known
    recall: {lane: pattern, keys: "${inputs.names}"}
  - let: {first: "${inputs.names[0]}"}
  - for_each: "${inputs.names}"
    as: name
    at_once: 2
    steps:
      - id: look
        tool: look
        args: {name: "${name}"}
        when: "${!(name in steps.known.records)}"
        expect: "${output.licence != null}"
        ask: "What licence has ${name}?"
        on_failure: ask
        remember: [{lane: pattern, key: "${name}", payload: "${output}"}]
  - {id: pause, wait: 3d}
  - {id: sum_up, prompt: "Sum up ${first}.", output: {text: string}}
  - {id: write, tool: append, args: {ledger: "${first}", line: "${steps.sum_up.output.text}"}, approve: "Write it?"}
output: "${[steps.write.status, steps.name.done, steps.name.skipped]}"
expect: "${output[1] > 0}"
"""

FULL: dict[str, Any] = {
    "inputs": {"names": ["alpha", "beta"]},
    "results": {"look": {"licence": "MIT"}, "sum_up": {"text": "Two."}, "write": {"line": "Two."}},
    "answers": {"write": "yes"},
}


async def gone_through(text: str = SKILL, **changes: Any) -> Rehearsed:
    case = SkillCase.model_validate({**FULL, **changes})
    return await rehearsed(read_skill(text), case, TOOLS)


async def test_it_ends_as_its_results_and_answers_say() -> None:
    ended = await gone_through()
    assert (ended.status, ended.output, ended.passed) == (Phase.COMPLETED, ["done", 2, 0], True)
    assert ended.asked == ("write",)
    assert [call["step"] for call in ended.called] == ["name[0].look", "name[1].look", "write"]
    assert ended.called[-1]["arguments"] == {"ledger": "alpha", "line": "Two."}
    assert [one["key"] for one in ended.remembered] == ["alpha", "beta"]
    assert differences(SkillCase(), ended) == []


async def test_what_is_known_is_not_looked_up_and_no_is_an_answer() -> None:
    results = {**FULL["results"], "known": {"records": {"alpha": {"licence": "MIT"}}}}
    ended = await gone_through(results=results, answers={"write": "no"})
    assert ended.output == ["skipped", 1, 1]
    assert [call["step"] for call in ended.called] == ["name[1].look"]


async def test_a_path_goes_before_an_id_and_an_unexpected_result_is_asked_about() -> None:
    results = {**FULL["results"], "name[1].look": {"licence": None}}
    ended = await gone_through(results=results, answers={"write": "yes", "look": "GPL"})
    assert ended.asked == ("name[1].look", "write")
    assert ended.output == ["done", 2, 0]


@pytest.mark.parametrize(("answer", "output"), [("skip", ["done", 1, 1]), ("stop", None)])
async def test_a_failure_goes_where_the_skill_says(answer: str, output: object) -> None:
    ended = await gone_through(failures={"name[0].look": "gone"}, answers={"write": "yes", "look": answer})
    assert ended.output == output
    assert ended.status is (Phase.COMPLETED if output else Phase.FAILED)
    assert "name[0].look" in ended.problem or output
    assert bool(differences(SkillCase(), ended)) is (output is None)


async def test_one_that_fails_for_ever_is_given_up() -> None:
    with pytest.raises(InvalidSkill, match="does not end within"):
        await gone_through(failures={"look": "gone"}, answers={"write": "yes", "look": "retry"})


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"results": {}}, "results.look"),
        ({"answers": {}}, "answers.write"),
        ({"answers": {"write": "maybe"}}, "answers.write"),
        ({"results": {**FULL["results"], "lok": 1}}, "results.lok"),
        ({"answers": {**FULL["answers"], "known": 1}}, "answers.known"),
        ({"failures": {"known": "x"}}, "failures.known"),
        ({"results": {**FULL["results"], "sum_up": {"words": "x"}}}, "results.sum_up"),
        ({"results": {**FULL["results"], "sum_up": {"text": 1}}}, "results.sum_up.text"),
        ({"results": {**FULL["results"], "known": {"record": {}}}}, "results.known.record"),
        ({"inputs": {}}, "inputs.names"),
    ],
)
async def test_a_case_that_says_too_little_or_too_much_is_refused_by_its_field(
    changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        await gone_through(**changes)
    assert caught.value.field == field


async def test_arguments_are_checked_as_a_worker_checks_them() -> None:
    wrong = SKILL.replace('line: "${steps.sum_up.output.text}"', 'line: "${1}"')
    ended = await gone_through(wrong)
    assert ended.status is Phase.FAILED
    assert "write.args.line" in ended.problem


@pytest.mark.parametrize(
    ("expect", "found"),
    [
        ("${output[0] == 'done' && asked == ['write'] && called.size() == 3 && remembered.size() == 2}", []),
        ("${status == 'failed'}", ["does not hold: ${status == 'failed'}"]),
    ],
)
async def test_what_is_expected_is_asked_of_the_end(expect: str, found: list[str]) -> None:
    assert differences(SkillCase(expect=expect), await gone_through()) == found


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("skill: x\ncases: []", "cases"),
        ("skill: x\ncases: [{anwers: {}}]", "cases[0].anwers"),
        ("skill: x\ncases: [{expect: '${outputs}'}]", "cases[0].expect"),
    ],
)
def test_cases_are_refused_by_their_field(text: str, field: str) -> None:
    with pytest.raises(InvalidSkill) as caught:
        read_cases(text, "cases.yaml")
    assert caught.value.field == field
