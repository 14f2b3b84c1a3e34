"""The cursor visits every step exactly once in order, whatever the plan and wherever the history is rolled over."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure.agent.cursor import Cursor, Readers, ended, entered, here, leaves, scope
from perdure.agent.steps.calls import Result, TaskFacts, Value
from perdure.skills.shape import ForEach, RecallStep, RecallTemplate, Skill, Step, ToolStep
from perdure.tasks import StepStatus

Plan = list[Any]
"""None is a step; a pair of a length and a plan is a block."""

plans = st.lists(
    st.none()
    | st.tuples(
        st.integers(0, 3),
        st.lists(
            st.none() | st.tuples(st.integers(0, 3), st.lists(st.none(), min_size=1, max_size=2)),
            min_size=1,
            max_size=3,
        ),
    ),
    min_size=1,
    max_size=4,
)


def _made(plan: Plan, prefix: str, lengths: dict[str, int]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for number, entry in enumerate(plan):
        name = f"{prefix}{number}"
        if entry is None:
            steps.append(ToolStep(id=name, tool="echo"))
        else:
            lengths[name] = entry[0]
            inner = _made(entry[1], f"{name}_", lengths)
            steps.append(ForEach(id=name, for_each="${x}", element=f"e{name}", steps=inner))
    return tuple(steps)


def _expected(steps: tuple[Step, ...], lengths: dict[str, int], path: str = "") -> list[str]:
    found: list[str] = []
    for step in steps:
        if isinstance(step, ForEach):
            for index in range(lengths[step.id]):
                found += _expected(step.steps, lengths, f"{path}{step.id}[{index}].")
        else:
            found.append(f"{path}{step.id}")
    return found


@given(plan=plans, rolls=st.sets(st.integers(0, 60)))
@settings(max_examples=200, deadline=None)
def test_every_step_once_in_order(plan: Plan, rolls: set[int]) -> None:
    lengths: dict[str, int] = {}
    skill = Skill(name="s", steps=_made(plan, "s", lengths))
    cursor, visited, moves = Cursor(), list[str](), 0
    total = leaves(skill.steps)
    while (at := here(skill, cursor)) is not None:
        if moves in rolls:
            cursor = Cursor.model_validate_json(cursor.model_dump_json())
            assert here(skill, cursor) == at
        moves += 1
        if isinstance(at.step, ForEach):
            elements: tuple[JsonValue, ...] = tuple(range(lengths[at.step.id]))
            total += len(elements) * leaves(at.step.steps)
            cursor = entered(skill, cursor, elements, Readers(skill, {}))
        else:
            visited.append(at.path)
            cursor = ended(skill, cursor, Result(status=StepStatus.DONE), Readers(skill, {}))
    assert visited == _expected(skill.steps, lengths)
    assert total == len(visited)


def test_a_step_sees_its_own_iteration_and_what_is_around_it() -> None:
    inner = (ToolStep(id="a", tool="echo"), ToolStep(id="b", tool="echo"))
    skill = Skill(
        name="s", steps=(ToolStep(id="top", tool="echo"), ForEach(id="walk", for_each="x", element="e", steps=inner))
    )
    facts = TaskFacts.model_validate({"id": "t", "date": "2026-01-02", "agent": "a"})
    done = [Result(status=StepStatus.DONE, parts={"output": Value(inline=number)}) for number in range(5)]
    reads = (("e",), ("index",), ("steps", "a", "output"), ("steps", "top", "output"))
    numbers = (("steps", "walk", "count"), ("steps", "walk", "done"), ("steps", "walk", "failed"))
    read = Readers(skill, {"b": reads, "": numbers})
    cursor = ended(skill, Cursor(), done[0], read)
    cursor = entered(skill, cursor, ("x", "y"), read)
    cursor = ended(skill, cursor, done[1], read)
    seen = scope(skill, cursor, reads, {}, facts)
    assert seen.elements == {"e": "x", "index": 0}
    assert seen.steps == {"a": {"output": Value(inline=1)}, "top": {"output": Value(inline=0)}}
    assert seen.task is None
    cursor = ended(skill, cursor, Result(status=StepStatus.FAILED), read)
    cursor = ended(skill, cursor, done[3], read)
    assert scope(skill, cursor, reads, {}, facts).elements == {"e": "y", "index": 1}
    cursor = ended(skill, cursor, done[4], read)
    assert here(skill, cursor) is None
    counts = scope(skill, cursor, numbers, {}, facts)
    assert {name: value.inline for name, value in counts.steps["walk"].items()} == {"count": 2, "done": 3, "failed": 1}


def test_what_nobody_reads_any_more_is_not_carried_along() -> None:
    names = ("a", "b", "c", "d")
    inner = (ToolStep(id="inside", tool="echo"),)
    walk = ForEach(id="walk", for_each="x", element="e", steps=inner)
    skill = Skill(
        name="s", steps=(*(ToolStep(id=name, tool="echo") for name in names[:3]), walk, ToolStep(id="d", tool="echo"))
    )
    read = Readers(
        skill,
        {"b": (("steps", "a", "output"),), "inside": (("steps", "b", "answer"),), "": (("steps", "c", "status"),)},
    )
    large, cursor = Value(inline="x" * 100), Cursor()

    def step(*more: str) -> tuple[dict[str, set[str]], int]:
        nonlocal cursor
        parts = dict.fromkeys(("output", *more), large)
        cursor = ended(skill, cursor, Result(status=StepStatus.DONE, parts=parts), read)
        return {name: set(result.parts) for name, result in cursor.frames[0].results.items()}, cursor.inline

    assert step() == ({"a": {"output"}}, 102)
    assert step("answer") == ({"b": {"answer"}}, 102), "a was read for the last time, and b's output never is"
    assert step() == ({"b": {"answer"}, "c": set()}, 102)
    cursor = entered(skill, cursor, (1, 2), read)
    assert step() == ({"b": {"answer"}, "c": set()}, 102), "the next element reads it again"
    assert step() == ({"c": set()}, 0)
    assert step() == ({"c": set()}, 0)
    assert here(skill, cursor) is None


def test_what_a_skipped_step_lacks_can_be_read_behind_it() -> None:
    known = RecallStep(id="known", recall=RecallTemplate(text="x"))
    skill = Skill(name="s", steps=(known, ToolStep(id="a", tool="echo")))
    reads = (("steps", "known", "records"),)
    cursor = ended(skill, Cursor(), Result(status=StepStatus.SKIPPED), Readers(skill, {"a": reads}))
    facts = TaskFacts.model_validate({"id": "t", "date": "2026-01-02", "agent": "a"})
    assert scope(skill, cursor, reads, {}, facts).steps == {"known": {"records": Value(inline={})}}
