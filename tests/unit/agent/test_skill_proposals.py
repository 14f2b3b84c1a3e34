"""Drafts of skills from what models did: which calls become steps, and what they refer to."""

import datetime
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure.agent.messages import hear
from perdure.agent.skill_proposals import proposed
from perdure.agent.steps.calls import Value
from perdure.agent.steps.validation import check_linked
from perdure.agent.turns import Conversation, ModelTurn, Returned, WantedCall
from perdure.errors import InvalidTask
from perdure.skills.library import read_skill
from perdure.skills.linked_skills import linked
from perdure.toolbox import Toolbox
from perdure.values.changes import Actor, ActorKind
from perdure.values.steering import TakenMessage
from tests.support import tools

KINDS = {"echo": "tool", "append": "tool", "audit": "skill"}
DAY = datetime.date(2026, 5, 1)
TOOLS = Toolbox([tools.echo, tools.append])


def turn(*calls: tuple[str, dict[str, JsonValue], JsonValue], problem: str = "") -> ModelTurn:
    wanted = tuple(WantedCall(tool=name, arguments=Value(inline=given), digest="d") for name, given, _ in calls)
    made = ModelTurn(calls=wanted)
    for place, (_, _, output) in enumerate(calls):
        made = made.ended(place, Returned(output=Value(inline=output), problem=problem))
    return made


def drafted(*turns: ModelTurn, goal: str = "Write hello", begun: int = 0) -> dict[str, Any]:
    conversation = Conversation(turns=turns, begun=begun or len(turns))
    text = proposed("drafted", goal, conversation, KINDS, task="t-1", day=DAY)
    return yaml.safe_load(text)


def test_calls_that_ended_well_become_steps_and_refer_to_each_other() -> None:
    draft = drafted(
        turn(("recall", {"text": "hello"}, "nothing"), ("echo", {"value": "hello"}, {"path": ["/tmp/x", "/tmp/y"]})),
        turn(("echo", {"value": "wrong"}, None), problem="it failed"),
        turn(("append", {"ledger": "/tmp/y", "line": "hello"}, None), ("audit", {"lock": "uv.lock"}, 7)),
        ModelTurn(text=Value(inline="It is written.")),
    )
    assert draft["inputs"] == {"value": {"type": "string", "default": "hello"}}
    assert draft["steps"] == [
        {"id": "step1", "tool": "echo", "args": {"value": "${inputs.value}"}},
        {
            "id": "step2",
            "tool": "append",
            "args": {"ledger": "${steps.step1.output.path[1]}", "line": "${inputs.value}"},
        },
        {"id": "step3", "skill": "audit", "inputs": {"lock": "uv.lock"}},
    ]
    assert draft["output"] == "${steps.step3.output}"
    assert draft["changelog"] == [{"date": datetime.date(2026, 5, 1), "change": "Drafted from what the task t-1 did."}]


def test_a_call_of_what_is_not_known_here_is_not_left_out_without_a_word() -> None:
    search = turn(("tracker.search", {"text": "crash"}, ["one"]), ("echo", {"value": "one"}, "one"))
    with pytest.raises(InvalidTask, match=r"called 'tracker\.search'.*PERDURE_TOOLS"):
        drafted(search)
    # The control: where it failed, nothing of it is needed.
    failed = turn(("tracker.search", {"text": "crash"}, None), problem="it is away")
    assert [step["tool"] for step in drafted(failed, turn(("echo", {"value": "one"}, 1)))["steps"]] == ["echo"]


def test_what_a_person_approved_each_time_is_asked_about_in_the_skill_too() -> None:
    conversation = Conversation(turns=(turn(("append", {"line": "x"}, 1), ("audit", {}, 2), ("echo", {}, 3)),), begun=1)
    text = proposed("drafted", "Do it", conversation, KINDS, approve=("append", "audit"), task="t-1", day=DAY)
    draft = yaml.safe_load(text)
    assert [step.get("approve") for step in draft["steps"]] == ["May append be called?", None, None]
    assert "approved each run of the skill audit; no step of this one asks" in draft["changelog"][0]["change"]


def test_what_was_said_before_the_first_turn_is_no_turn_that_is_missing() -> None:
    by = Actor(kind=ActorKind.PERSON, id="anna")
    message = TakenMessage(id="m", text="Be quick", by=by, at=datetime.datetime(2026, 5, 1, tzinfo=datetime.UTC))
    told = hear(Conversation(), [message])
    made = turn(("echo", {"value": "x"}, 1))
    text = proposed("drafted", "Do it", told.changed(turns=(*told.turns, made), begun=1), KINDS, task="t", day=DAY)
    assert yaml.safe_load(text)["steps"] == [{"id": "step1", "tool": "echo", "args": {"value": "x"}}]


def test_a_call_whose_arguments_are_not_with_its_turn_is_no_step_without_them() -> None:
    large = WantedCall(tool="append", arguments=Value(ref="a" * 64, size=5_000), digest="d")
    made = ModelTurn(calls=(large,)).ended(0, Returned(output=Value(inline=1)))
    with pytest.raises(InvalidTask, match=r"step1, its call 1, gave 'append' 5,000 characters, which are kept apart"):
        drafted(made)


def test_a_word_within_a_word_of_the_goal_is_no_input() -> None:
    draft = drafted(turn(("echo", {"value": "hell"}, 1), ("echo", {"value": "o"}, 1)), goal="Write hello o")
    assert "inputs" not in draft


_texts = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=12)
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | _texts | st.just("${1 + 1}") | st.just("$${x}"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_texts, inner, max_size=2),
    max_leaves=4,
)


@given(st.lists(st.tuples(_values, _values), min_size=1, max_size=3), _texts)
def test_every_draft_is_a_skill_that_can_be_used(made: list[tuple[Any, Any]], goal: str) -> None:
    calls = [turn(("echo", {"value": given}, output)) for given, output in made]
    text = proposed(
        "drafted",
        f"Do {goal}",
        Conversation(turns=tuple(calls), begun=len(calls)),
        KINDS,
        task="t",
        day=datetime.date(2026, 5, 1),
    )
    skill = read_skill(text)
    check_linked(linked(skill, lambda _: skill), TOOLS)
    assert len(skill.steps) == len(made)


@pytest.mark.parametrize(
    ("turns", "begun", "problem"),
    [
        ((turn(("echo", {"value": 1}, 1)),), 4, "the first 3 of its 4 turns were summarised"),
        ((ModelTurn(text=Value(inline="done")),), 1, "called no tool that ended well"),
    ],
)
def test_what_cannot_be_drafted_is_refused(turns: tuple[ModelTurn, ...], begun: int, problem: str) -> None:
    with pytest.raises(InvalidTask, match=problem):
        drafted(*turns, begun=begun)
