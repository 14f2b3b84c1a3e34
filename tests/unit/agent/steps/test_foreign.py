"""Steps with activities and workflows of others: as they are written, and gone through on cases."""

from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue

from perdure.agent.rehearsal import rehearsed
from perdure.agent.steps.foreign_calls import workflow_id
from perdure.errors import InvalidInput
from perdure.skills.cases import Rehearsed, SkillCase
from perdure.skills.foreign import ActivityStep, WorkflowStep
from perdure.skills.library import read_skill
from perdure.temporal.raw import NotJson, json_of
from perdure.toolbox import Toolbox
from perdure.tools import Effect
from perdure.values.tasks import Phase
from tests.support import tools

TOOLS = Toolbox([tools.echo])

SHOP = """
name: shop
inputs: {cents: integer}
steps:
  - id: charge
    activity: ChargeCard
    queue: payments
    args: ["${inputs.cents}", {currency: EUR}]
    timeout: 90s
    when: "${inputs.cents > 0}"
    approve: "Charge ${inputs.cents}?"
    expect: "${output.ok}"
    on_failure: continue
    remember: [{memory: "It cost ${output.paid}."}]
  - {id: ship, workflow: Ship, queue: shipping, args: ["${steps.charge.output.paid}"]}
output: "${steps.charge.status} ${steps.ship.output}"
"""

GIVEN: dict[str, Any] = {
    "inputs": {"cents": 7},
    "results": {"charge": {"ok": True, "paid": 7}, "ship": "gone"},
    "answers": {"charge": "yes"},
}


async def gone_through(text: str = SHOP, **changes: Any) -> Rehearsed:
    return await rehearsed(read_skill(text), SkillCase.model_validate({**GIVEN, **changes}), TOOLS)


def test_what_is_left_out_is_the_careful_choice() -> None:
    charge, ship = read_skill(SHOP).steps
    assert isinstance(charge, ActivityStep)
    assert isinstance(ship, WorkflowStep)
    assert (charge.declared, charge.seconds, charge.called) == (Effect.ONCE, 90.0, "ChargeCard")
    assert (ship.declared, ship.seconds, ship.called) == (Effect.ONCE, 0.0, "Ship")


async def test_a_case_says_what_they_give_back() -> None:
    ended = await gone_through()
    assert (ended.status, ended.output, ended.asked) == (Phase.COMPLETED, "done gone", ("charge",))
    assert [(one["step"], one["tool"], one["arguments"]) for one in ended.called] == [
        ("charge", "ChargeCard", {"queue": "payments", "args": [7, {"currency": "EUR"}]}),
        ("ship", "Ship", {"queue": "shipping", "args": [7]}),
    ]
    assert [one["content"] for one in ended.remembered] == ["It cost 7."]


async def test_one_that_is_skipped_declined_or_not_as_expected() -> None:
    assert (await gone_through(inputs={"cents": 0}, answers={})).problem.startswith("step ship: ")
    text = SHOP.replace('args: ["${steps.charge.output.paid}"]', "args: []")
    assert (await gone_through(text, inputs={"cents": 0}, answers={})).output == "skipped gone"
    assert (await gone_through(text, answers={"charge": "no"})).output == "skipped gone"
    results = {**GIVEN["results"], "charge": {"ok": False}}
    assert (await gone_through(text, results=results)).output == "failed gone"


@pytest.mark.parametrize(("fate", "calls"), [("done", 1), ("not_done", 2)])
async def test_of_a_failure_a_person_is_asked_what_became_of_it(fate: str, calls: int) -> None:
    text = SHOP.replace('expect: "${output.ok}"', "").replace("It cost ${output.paid}.", "x")
    text = text.replace('args: ["${steps.charge.output.paid}"]', "args: []").replace(
        '    approve: "Charge ${inputs.cents}?"\n', ""
    )
    ended = await gone_through(text, failures={"charge": ["gone"]}, answers={"charge": fate})
    assert (ended.output, ended.asked) == ("done gone", ("charge",))
    assert [one["step"] for one in ended.called].count("charge") == calls
    ended = await gone_through(text.replace("timeout: 90s", "retry: 1"), failures={"charge": "gone"}, answers={})
    assert (ended.output, ended.asked) == ("failed gone", ())


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("    queue: payments\n", "", r"steps\[0\].queue"),
        ("timeout: 90s", "timeout: soon", r"steps\[0\].timeout"),
        ("timeout: 90s", "effect: onse", r"steps\[0\].effect: .*did you mean 'once'"),
        ("timeout: 90s", "critcal: true", "did you mean 'critical'"),
        ("timeout: 90s", "compensate: {tool: eco}", r"steps\[0\].compensate.tool: .*did you mean 'echo'"),
        ("timeout: 90s", "compensate: {tool: echo}\n    effect: read", r"steps\[0\].compensate: .* only reads"),
        ("timeout: 90s", "ask: What?", r"steps\[0\].ask: is not a field here"),
        ("activity: ChargeCard", "activity: ''", r"steps\[0\].activity"),
        ('args: ["${inputs.cents}"', 'args: ["${inputs.cent}"', "there is no input 'cent'"),
        ('args: ["${steps.charge.output.paid}"]', "args: {paid: 1}", r"steps\[1\].args"),
        (
            'args: ["${steps.charge.output.paid}"]',
            'args: ["${steps.charge.answer}"]',
            "no part of steps.charge 'answer'",
        ),
        ("queue: shipping,", "queue: shipping, effect: read,", r"steps\[1\].effect: is not a field here"),
    ],
)
async def test_mistakes_are_refused_with_their_field(before: str, after: str, problem: str) -> None:
    assert before in SHOP
    with pytest.raises(InvalidInput, match=problem):
        await gone_through(SHOP.replace(before, after))


def test_a_workflow_is_known_by_the_task_the_place_of_its_step_and_what_it_is_given() -> None:
    names = {
        workflow_id(tenant, task, path, arguments)
        for tenant in "ab"
        for task in ("t", "u")
        for path in ("x", "y")
        for arguments in "12"
    }
    assert len(names) == 16
    assert not any(part in name for name in names for part in ("t-x", " "))


@pytest.mark.parametrize(
    ("encoding", "data", "value"),
    [
        (b"json/plain", b'{"a": [1, 2.5, null]}', {"a": [1, 2.5, None]}),
        (b"json/protobuf", b'{"a": "b"}', {"a": "b"}),
        (b"binary/null", b"", None),
    ],
)
def test_json_of_any_language_is_read(encoding: bytes, data: bytes, value: object) -> None:
    assert json_of(RawValue(Payload(metadata={"encoding": encoding}, data=data))) == value
    assert json_of(None) is None


@pytest.mark.parametrize(
    ("encoding", "data", "problem"),
    [
        (b"binary/plain", b"\x00", "gave back binary/plain, not JSON"),
        (b"binary/protobuf", b"\x00", "gave back binary/protobuf, not JSON"),
        (b"", b"1", "without an encoding"),
        (b"json/plain", b"{", "is no JSON"),
        (b"json/plain", b"\xff", "is no JSON"),
        (b"json/plain", b"NaN", "NaN is no number"),
        (b"json/plain", b"[1e999]", "1e999 is too large"),
        (b"json/plain", b"[" * 129 + b"]" * 129, "nested 129 deep"),
        (b"json/plain", b"[" * 100_000, "no JSON"),
    ],
)
def test_what_no_step_can_carry_is_told(encoding: bytes, data: bytes, problem: str) -> None:
    with pytest.raises(NotJson, match=problem):
        json_of(RawValue(Payload(metadata={"encoding": encoding}, data=data)))
