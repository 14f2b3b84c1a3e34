"""Undoing the effects of a task that failed: gone through on cases, and what the state keeps of it."""

from typing import Any

import pytest

from perdure.agent.preparation import PreparedTask
from perdure.agent.rehearsal import rehearsed
from perdure.agent.state import TaskState
from perdure.agent.steps.calls import Compensation
from perdure.errors import InvalidInput
from perdure.skills.cases import Rehearsed, SkillCase
from perdure.skills.library import read_skill
from perdure.toolbox import Toolbox
from perdure.values.tasks import Phase
from tests.support import tools
from tests.unit.agent.test_skill_plan import NOW

TOOLS = Toolbox([tools.look, tools.echo, tools.append, tools.append_blindly])

BOOKING = """
name: booking
inputs: {nights: integer}
steps:
  - let: {city: Kyoto}
  - {id: quote, tool: look, args: {name: "${city}"}}
  - id: hotel
    tool: append
    args: {ledger: l, line: "${inputs.nights} nights"}
    compensate: {tool: append, args: {ledger: "${city}", line: "${output.id} of ${steps.quote.output}"}}
  - for_each: "${['a', 'b']}"
    as: seat
    steps:
      - id: train
        tool: append
        args: {ledger: l, line: "${seat}"}
        when: "${seat != 'none'}"
        expect: "${output.id > 0}"
        compensate: {tool: append_blindly, args: {ledger: "${seat}", line: "${string(output.id)}"}}
  - {id: pay, tool: echo, args: {value: 1}}
output: done
"""

GIVEN: dict[str, Any] = {
    "inputs": {"nights": 2},
    "results": {"quote": "cheap", "hotel": {"id": 7}, "train": {"id": 3}, "pay": 1},
}


async def gone_through(text: str = BOOKING, **changes: Any) -> Rehearsed:
    return await rehearsed(read_skill(text), SkillCase.model_validate({**GIVEN, **changes}), TOOLS)


def undone(ended: Rehearsed) -> list[tuple[Any, Any]]:
    return [(one["step"], one["arguments"]) for one in ended.called if str(one["step"]).endswith(".compensate")]


async def test_effects_are_undone_the_last_one_first() -> None:
    ended = await gone_through(failures={"pay": "no money"})
    assert ended.status is Phase.FAILED
    assert undone(ended) == [
        ("seat[1].train.compensate", {"ledger": "b", "line": "3"}),
        ("seat[0].train.compensate", {"ledger": "a", "line": "3"}),
        ("hotel.compensate", {"ledger": "Kyoto", "line": "7 of cheap"}),
    ]
    assert (ended.compensated, ended.uncompensated) == (("seat[1].train", "seat[0].train", "hotel"), ())


async def test_a_task_that_completes_undoes_nothing() -> None:
    ended = await gone_through()
    assert (ended.status, ended.compensated, undone(ended)) == (Phase.COMPLETED, (), [])


async def test_an_effect_that_is_not_as_expected_has_happened_and_is_undone() -> None:
    results = {**GIVEN["results"], "seat[1].train": {"id": 0}}
    ended = await gone_through(results=results)
    assert ended.compensated == ("seat[1].train", "seat[0].train", "hotel")
    assert "the result is not what is expected" in ended.problem


async def test_what_a_person_is_asked_about_has_happened_too() -> None:
    text = BOOKING.replace('expect: "${output.id > 0}"', 'expect: "${output.id > 3}"\n        ask: "Which?"')
    ended = await gone_through(text, answers={"train": "this"}, failures={"pay": "no money"})
    assert ended.compensated == ("seat[1].train", "seat[0].train", "hotel")


async def test_one_that_cannot_be_undone_holds_up_no_other() -> None:
    failures = {"pay": "no money", "seat[1].train.compensate": ["gone"]}
    ended = await gone_through(failures=failures, answers={"train.compensate": "not_done"})
    assert ended.asked == ("seat[1].train.compensate",), "nobody knows whether it happened"
    assert ended.compensated == ("seat[1].train", "seat[0].train", "hotel")
    ended = await gone_through(failures={"pay": "no money", "hotel.compensate": "full"})
    assert ended.compensated == ("seat[1].train", "seat[0].train")
    [left] = ended.uncompensated
    assert left.startswith("hotel: PRD112")


async def test_what_cannot_be_worked_out_fails_the_step_and_is_named() -> None:
    ended = await gone_through(results={**GIVEN["results"], "hotel": {"no": 1}})
    assert (ended.status, ended.compensated, undone(ended)) == (Phase.FAILED, (), [])
    assert "hotel.compensate" in ended.problem
    assert ended.uncompensated[0].startswith("hotel: PRD103 args.line: ")


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        (
            '{tool: append, args: {ledger: "${city}"',
            '{tool: apend, args: {ledger: "${city}"',
            "compensate.tool: there is no tool",
        ),
        ('{tool: append, args: {ledger: "${city}"', '{tool: append, args: {leger: "${city}"', "compensate.args.leger"),
        ("compensate: {tool: append,", "compensate: {tol: append,", "compensate.tol: is not a field here"),
        ("compensate: {tool: append,", "compensate: {tool: append, when: x,", "compensate.when: is not a field here"),
        ("${output.id} of", "${answer} of", "there is no name 'answer'"),
        ("${output.id} of", "${steps.pay.output} of", "no step before this one 'pay'"),
        ("id: quote, tool: look,", "id: quote, tool: look, compensate: {tool: echo, args: {value: 1}},", "only reads"),
        ("id: quote,", "id: compensate,", "is what the paths of compensations end with"),
        (
            "id: pay, tool: echo, args: {value: 1}",
            "id: pay, prompt: x, compensate: {tool: echo}",
            "has no effect that could be undone",
        ),
    ],
)
async def test_mistakes_are_refused_with_their_field(before: str, after: str, problem: str) -> None:
    assert before in BOOKING
    with pytest.raises(InvalidInput, match=problem):
        await gone_through(BOOKING.replace(before, after))


@pytest.mark.parametrize("name", ["pay.compensate", "quote.compensate", "hotl.compensate", "hotel.compensat"])
async def test_a_case_that_names_nothing_to_be_undone_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"failures.{name}"):
        await gone_through(failures={name: "x"})


def test_of_two_at_one_step_the_last_one_counts() -> None:
    prepared = PreparedTask.model_validate(
        {"tenant": "t", "version": "v", "tools": {}, "inputs": {}, "date": NOW.date(), "heartbeat": 4}
    )
    state = TaskState(prepared=prepared, started_at=NOW, renewed_at=NOW)
    for path, tool in (("a", "one"), ("b", "two"), ("a", "three")):
        state = state.undoable(Compensation(path=path, tool=tool))
    assert [(one.path, one.tool) for one in state.undoable(None).compensations] == [("b", "two"), ("a", "three")]
    assert state.doubted("x").doubted("x").uncertain == ("x",)
