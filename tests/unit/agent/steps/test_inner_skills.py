"""Steps that run other skills, gone through on cases: scopes, failures, and what a case says of them."""

from typing import Any

import pytest

from perdure.agent.rehearsal import rehearsed
from perdure.errors import InvalidInput
from perdure.skills.cases import Rehearsed, SkillCase
from perdure.skills.library import read_skill
from perdure.toolbox import Toolbox
from perdure.values.tasks import Phase
from tests.support import tools

TOOLS = Toolbox([tools.look, tools.echo, tools.append])

PACK = """
name: pack
inputs: {order: string, heavy: {type: boolean, default: false}}
checks: [{check: "${inputs.order != 'bad'}", otherwise: a bad order is not packed}]
steps:
  - {id: look, tool: look, args: {name: "${inputs.order}"}}
  - let: {what: "${steps.look.output}"}
  - parallel:
      - {id: wrap, tool: echo, args: {value: "${what}"}}
      - {id: weigh, tool: echo, args: {value: "${inputs.heavy}"}, on_failure: ask}
output: "${what} ${steps.wrap.output}"
expect: "${output != 'nothing'}"
"""

SHOP = """
name: shop
inputs: {orders: list}
steps:
  - {id: look, tool: look, args: {name: first}}
  - for_each: "${inputs.orders}"
    as: order
    at_once: 2
    steps:
      - id: packed
        skill: pack
        inputs: {order: "${order}"}
        when: "${order != 'none'}"
        on_failure: continue
        remember: [{memory: "It holds ${output}."}]
      - id: tell
        tool: echo
        args: {value: "${steps.packed.output} ${steps.packed.status} ${steps.packed.problem}"}
output: "${steps.order.failed} failed ${steps.look.output}"
"""

GIVEN: dict[str, Any] = {
    "inputs": {"orders": ["a", "b"]},
    "results": {"look": "outer", "tell": "", "packed.look": "inner", "packed.wrap": "foil", "packed.weigh": 3},
}


async def gone_through(text: str = SHOP, inner: str = PACK, **changes: Any) -> Rehearsed:
    skill, case = read_skill(text), SkillCase.model_validate({**GIVEN, **changes})
    return await rehearsed(skill, case, TOOLS, {"pack": read_skill(inner)})


def told(ended: Rehearsed) -> list[Any]:
    return [call["arguments"] for call in ended.called if str(call["step"]).endswith(".tell")]


async def test_each_run_of_a_skill_has_its_own_steps_and_inputs() -> None:
    ended = await gone_through()
    assert (ended.status, ended.output) == (Phase.COMPLETED, "0 failed outer")
    called = {str(call["step"]): call["arguments"] for call in ended.called}
    assert called["order[0].packed.look"] == {"name": "a"}
    assert called["order[1].packed.look"] == {"name": "b"}
    assert called["order[1].packed.wrap"] == {"value": "inner"}
    assert [one["value"] for one in told(ended)] == ["inner foil done null"] * 2
    assert [one["content"] for one in ended.remembered] == ["It holds inner foil."] * 2


async def test_what_a_case_says_of_the_step_stands_for_its_skill() -> None:
    results = {"look": "outer", "tell": "", "order[0].packed": "a box", "order[1].packed": {"n": 1}}
    ended = await gone_through(results=results)
    assert {str(call["step"]).rpartition(".")[2] for call in ended.called} == {"look", "tell"}
    assert [one["value"].split(" ")[0] for one in told(ended)] == ["a", '{"n":']
    ended = await gone_through(failures={"packed": "no paper"})
    assert told(ended)[0]["value"] == "null failed PRD111 order[0].packed: no paper"


async def test_a_skill_that_is_skipped_or_refuses_its_inputs() -> None:
    ended = await gone_through(inputs={"orders": ["none", "bad"]}, results={"look": "o", "tell": ""})
    first, second = (str(one["value"]) for one in told(ended))
    assert first == "null skipped null"
    assert second.startswith("null failed PRD104 order[1].packed: checks[0]: skill 'pack' refuses these inputs")


async def test_a_failure_inside_ends_the_skill_and_not_the_task() -> None:
    failures = {"order[0].packed.wrap": "torn"}
    ended = await gone_through(failures=failures)
    assert ended.status is Phase.COMPLETED
    assert ended.output == "1 failed outer"
    assert "step order[0].packed.wrap: " in str(told(ended)[0]["value"])
    assert [one["content"] for one in ended.remembered] == ["It holds inner foil."]
    ended = await gone_through(SHOP.replace("on_failure: continue", "on_failure: fail"), failures=failures)
    assert (ended.status, "order[0].packed.wrap" in ended.problem) == (Phase.FAILED, True)


async def test_what_is_under_way_beside_a_failure_ends_and_nothing_new_begins() -> None:
    inner = PACK.replace("- {id: wrap, tool", "- - {id: wrap, tool").replace(
        "      - {id: weigh", "        - {id: seal, tool: echo, args: {value: 1}}\n      - {id: weigh"
    )
    # Both fail; the question of the second is not put any more, nor is there another step in its list.
    ended = await gone_through(
        inner=inner,
        inputs={"orders": ["a"]},
        results={**GIVEN["results"], "packed.seal": 1},
        failures={"packed.wrap": "torn", "packed.weigh": "broken"},
    )
    assert (ended.status, ended.output, ended.asked) == (Phase.COMPLETED, "2 failed outer", ())
    assert not [call for call in ended.called if str(call["step"]).endswith("seal")]


async def test_what_a_skill_promises_and_does_not_hold_fails_its_step() -> None:
    inner = PACK.replace("output != 'nothing'", "output.startsWith('x')")
    ended = await gone_through(inner=inner)
    assert ended.output == "0 failed outer", "its steps were done"
    assert "PRD111 order[0].packed: what the skill 'pack' expects does not hold" in str(told(ended)[0]["value"])


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"results": {"wrap": 1}}, "results.wrap"),
        ({"results": {"packed.wrp": 1}}, "results.packed.wrp: .*did you mean 'packed.wrap'"),
        ({"results": {"look.wrap": 1}}, "results.look.wrap"),
        ({"failures": {"packed.what": "x"}}, "failures.packed.what"),
        ({"answers": {"packed": "yes"}}, "answers.packed"),
        ({"results": {**GIVEN["results"], "order[9].packed.look": 1}}, r"order\[9\]"),
    ],
)
async def test_a_case_that_names_no_step_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        await gone_through(**changes)


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ("{}", r"steps\[1\].steps\[0\].inputs.order: is missing"),
        ("{order: 3}", r"inputs.order: is a number"),
        ("{ordr: x}", r"inputs.ordr: .*did you mean 'order'"),
        ("{order: x, heavy: '${steps.tell.output}'}", "no step before this one 'tell'"),
        ("{order: x, heavy: '${steps.wrap.output}'}", "no step before this one 'wrap'"),
    ],
)
async def test_inputs_are_checked_before_the_first_step(inputs: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        await gone_through(SHOP.replace('{order: "${order}"}', inputs))


async def test_what_is_wrong_in_a_skill_that_is_run_says_in_which() -> None:
    with pytest.raises(InvalidInput, match=r"pack: steps\[0\].tool: there is no tool 'lok'"):
        await gone_through(inner=PACK.replace("tool: look", "tool: lok"))
    with pytest.raises(InvalidInput, match=r"pack: output: there is no name 'order'"):
        await gone_through(inner=PACK.replace('output: "${what}', 'output: "${order}'))
