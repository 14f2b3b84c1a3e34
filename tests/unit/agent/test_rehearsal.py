"""A skill gone through with given results and answers."""

from typing import Any

import pytest

from perdure.agent.rehearsal import differences, rehearsed
from perdure.errors import InvalidInput, InvalidSkill
from perdure.skills.cases import Rehearsed, SkillCase, read_cases
from perdure.skills.library import read_skill
from perdure.toolbox import Toolbox
from perdure.values.tasks import Phase
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


async def test_a_step_may_fail_some_times_and_each_question_takes_its_answer() -> None:
    answers = {"write": "yes", "look": ["retry", "retry"]}
    ended = await gone_through(failures={"name[0].look": ["gone", "still gone"]}, answers=answers)
    assert ended.output == ["done", 2, 0]
    assert ended.asked == ("name[0].look", "name[0].look#2", "write")
    assert [call["step"] for call in ended.called].count("name[0].look") == 3
    with pytest.raises(InvalidSkill, match="has none for question 2 at name") as caught:
        await gone_through(failures={"look": "gone"}, answers={"write": "yes", "look": "retry"})
    assert caught.value.field == "answers.look"


async def test_a_step_that_asks_twice_takes_two_answers() -> None:
    text = """
name: paying
steps:
  - {id: pay, tool: look, args: {name: x}, approve: "Pay?", expect: "${false}", ask: "How much?", answer: integer}
output: "${steps.pay.answer}"
"""
    case = {"inputs": {}, "results": {"pay": 1}, "answers": {"pay": ["yes", 7]}}
    ended = await gone_through(text, **case)
    assert (ended.output, ended.asked) == (7, ("pay", "pay#2"))
    with pytest.raises(InvalidSkill, match="question 2 at pay"):
        await gone_through(text, **{**case, "answers": {"pay": "yes"}})


@pytest.mark.parametrize(("fate", "calls"), [("done", 1), ("not_done", 2)])
async def test_of_an_effect_that_failed_a_person_is_asked_what_became_of_it(fate: str, calls: int) -> None:
    text = "name: sending\nsteps: [{id: send, tool: append_blindly, args: {ledger: l, line: x}}]\n"
    case = SkillCase.model_validate(
        {"results": {"send": {}}, "failures": {"send": ["gone"]}, "answers": {"send": fate}}
    )
    ended = await rehearsed(read_skill(text), case, Toolbox([tools.append_blindly]))
    assert (ended.status, ended.asked, len(ended.called)) == (Phase.COMPLETED, ("send",), calls)
    once = text.replace("line: x}", "line: x}, retry: 1")
    ended = await rehearsed(read_skill(once), case.model_copy(update={"answers": {}}), Toolbox([tools.append_blindly]))
    assert (ended.status, len(ended.called)) == (Phase.FAILED, 1)


async def test_why_it_failed_is_told_as_a_task_tells_it() -> None:
    ended = await gone_through(failures={"look": "no route"}, answers={"write": "yes", "look": "stop"})
    assert ended.problem == "step name[0].look: PRD112 tool 'look' raised Failure: no route"
    ended = await gone_through(failures={"sum_up": "declined"})
    assert ended.problem == "step sum_up: PRD111 sum_up: declined"


async def test_each_wait_begins_when_its_own_branch_comes_to_it() -> None:
    text = """
name: waiting
inputs: {at: string}
steps:
  - parallel:
      - [{id: long, wait: 300d}, {id: one, tool: echo, args: {value: 1}}]
      - [{id: two, tool: echo, args: {value: 2}}, {id: moment, wait: "${inputs.at}"}]
      - [{id: short, wait: 1d}, {id: three, tool: echo, args: {value: 3}}]
output: "${steps.one.output}"
"""
    case = {"results": {"one": 1, "two": 2, "three": 3}, "answers": {}}
    ended = await gone_through(text, inputs={"at": "2026-06-01T00:00:00Z"}, **case)
    assert [call["step"].rpartition(".")[2] for call in ended.called if isinstance(call["step"], str)] == [
        "two",
        "three",
        "one",
    ]
    ended = await gone_through(text, inputs={"at": "2027-06-01T00:00:00Z"}, **case)
    assert "moment.wait: is further away than 366 days" in ended.problem


@pytest.mark.slow
async def test_no_more_steps_are_gone_through_than_a_task_may_run() -> None:
    text = """
name: long
inputs: {names: list}
steps:
  - for_each: "${inputs.names}"
    as: n
    steps: [{id: a, tool: echo, args: {value: 1}}, {id: b, tool: echo, args: {value: 1}}, {id: c, wait: 1s}]
"""
    case = {"results": {"a": 1, "b": 1}, "answers": {}}
    assert (await gone_through(text, inputs={"names": [1] * 40}, **case)).status is Phase.COMPLETED
    ended = await gone_through(text, inputs={"names": [1] * 4_000}, **case)
    assert "the task may run 10000 steps" in ended.problem


async def test_what_cannot_be_remembered_and_what_is_on_its_way_out_is_said() -> None:
    text = """
name: learning
deprecated: it learns nothing
steps: [{id: a, remember: [{lane: pattern, key: "${''}", payload: 1}, {memory: "Rooms are blue.", of: "team:ops"}]}]
"""
    ended = await gone_through(text, inputs={}, results={}, answers={})
    assert [one["of"] for one in ended.remembered] == ["team:ops"]
    assert len(ended.refused) == 1
    assert ended.warnings == ("skill learning is deprecated: it learns nothing",)


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
        ({"results": {**FULL["results"], "sum_up": "text"}}, "results.sum_up"),
        ({"results": {**FULL["results"], "known": "text"}}, "results.known"),
        ({"results": {**FULL["results"], "known": {"records": []}}}, "results.known.records"),
        ({"results": {**FULL["results"], "name[7].look": {}}}, "results.name[7].look"),
        ({"results": {**FULL["results"], "x.look": {}}}, "results.x.look"),
    ],
)
async def test_a_case_that_says_too_little_or_too_much_is_refused_by_its_field(
    changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        await gone_through(**changes)
    assert caught.value.field == field


async def test_what_is_wrong_with_a_case_is_no_failure_of_the_task() -> None:
    text = SKILL.replace("output: {text: string}}", "output: {text: string}, on_failure: continue}")
    with pytest.raises(InvalidSkill, match=r"results\.sum_up"):
        await gone_through(text, results={**FULL["results"], "sum_up": "text"}, expect="${status == 'failed'}")
    plain = SKILL.replace(", output: {text: string}}", "}").replace("output.text", "output")
    with pytest.raises(InvalidSkill, match=r"results\.sum_up: is a mapping"):
        await gone_through(plain)
    assert (await gone_through(plain, results={**FULL["results"], "sum_up": " Two. "})).called[-1]["arguments"] == {
        "ledger": "alpha",
        "line": "Two.",
    }


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


@pytest.mark.parametrize(("judged", "found"), [(None, []), (False, ["what the skill expects does not hold"])])
async def test_the_judge_says_what_the_case_says(judged: bool | None, found: list[str]) -> None:
    case = SkillCase.model_validate(FULL | {"judged": judged})
    ended = await rehearsed(read_skill(f"{SKILL}judge: It names ${{inputs.names[0]}}."), case, TOOLS)
    assert differences(case, ended) == found


async def test_a_skill_without_a_judge_is_not_judged() -> None:
    with pytest.raises(InvalidSkill, match="judged: belongs to a skill with a judge"):
        await gone_through(judged=True)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("skill: x\ncases: []", "cases"),
        ("skill: x\ncases: [{anwers: {}}]", "cases[0].anwers"),
        ("skill: x\ncases: [{expect: '${outputs}'}]", "cases[0].expect"),
        ("- skill: x", "cases.yaml"),
        ("skill: [", "cases.yaml:1"),
    ],
)
def test_cases_are_refused_by_their_field(text: str, field: str) -> None:
    with pytest.raises(InvalidSkill) as caught:
        read_cases(text, "cases.yaml")
    assert caught.value.field == field


EXPECTING = """
name: expecting
steps:
  - parallel:
      - {id: paid, wait: {event: "paid ${task.id}", deadline: 3d, otherwise: "${[task.date]}"}}
      - [{id: sent, wait: {event: sent, deadline: 2d}}, {id: say, tool: echo, args: {value: "${steps.sent.output.by}"}}]
  - {id: open, wait: {event: open}, when: "${steps.paid.output != null}"}
output: "${[steps.paid.output, steps.say.output, steps.open.status]}"
"""


async def test_events_come_as_the_case_says_and_of_others_the_deadline_passes() -> None:
    case: dict[str, Any] = {"inputs": {}, "results": {"say": "said"}, "answers": {}}
    events = {"paid rehearsal": {"amount": 7}, "sent": {"by": "train"}, "open": None}
    ended = await gone_through(EXPECTING, **case, events=events)
    assert (ended.status, ended.output) == (Phase.COMPLETED, [{"amount": 7}, "said", "done"])
    assert ended.called[0]["arguments"] == {"value": "train"}
    late = await gone_through(EXPECTING, **case, events={"sent": {"by": "train"}, "open": 1})
    assert late.output == [["2026-01-01"], "said", "done"]
    nothing = await gone_through(EXPECTING, **{**case, "results": {}}, events={})
    assert nothing.problem == "step sent: the event 'sent' did not come until 2026-01-03 00:00:00 UTC"
    skipped = {"paid rehearsal": None, "sent": {"by": "train"}}
    assert (await gone_through(EXPECTING, **case, events=skipped)).output == [None, "said", "skipped"]


@pytest.mark.parametrize(
    ("events", "field", "message"),
    [
        ({}, "open", "open waits for it without a deadline, and the case does not say that it comes"),
        ({"open": 1, "paid": 1}, "paid", "is no event that was waited for .there are: open, paid rehearsal, sent"),
        ({"open": "x" * 20_000}, "open", "has 20,002 bytes"),
    ],
)
async def test_a_case_that_says_too_little_or_too_much_of_events_is_refused(
    events: dict[str, Any], field: str, message: str
) -> None:
    case: dict[str, Any] = {"inputs": {}, "results": {"say": 1}, "answers": {}}
    with pytest.raises(InvalidInput, match=message) as caught:
        await gone_through(EXPECTING, **case, events={"sent": {"by": "x"}, **events})
    assert caught.value.field == f"events.{field}"
