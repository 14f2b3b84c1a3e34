"""Branches visit every step exactly once, in the order of their lists, whatever the plan and wherever it rolls over."""

from random import Random
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure.agent.cursor import MAIN, Cursor, inside, leaves
from perdure.agent.preparation import InnerSkill
from perdure.agent.route import Route
from perdure.agent.steps.calls import Result, TaskFacts, Value
from perdure.skills.shape import Skill
from perdure.skills.steps import ForEach, LetStep, Parallel, RecallStep, SkillStep, Step, ToolStep
from perdure.skills.templates import RecallTemplate
from perdure.values.tasks import StepStatus

DONE = Result(status=StepStatus.DONE)
FACTS = TaskFacts.model_validate({"id": "t", "date": "2026-01-02", "agent": "a"})

Plan = list[Any]
"""None is a step; a length, how many at once and a plan are a block; a list of plans is steps side by side; a text
names a value; a mapping is a skill that a step runs."""

Names = dict[str, tuple[tuple[str, ...], ...]]
"""By the id of a step, all the names that it can read, as paths."""


def plans(depth: int) -> st.SearchStrategy[Plan]:
    if not depth:
        return st.lists(st.none() | st.just("let"), min_size=1, max_size=2)
    inner = plans(depth - 1)
    blocks = st.tuples(st.integers(0, 4), st.integers(1, 3), inner) | st.lists(inner, min_size=2, max_size=3)
    blocks |= inner.map(lambda steps: {"skill": steps})
    return st.lists(st.none() | st.just("let") | blocks, min_size=1, max_size=4)


class Made:
    """What was made of a plan besides its steps."""

    def __init__(self) -> None:
        self.lengths: dict[str, int] = {}
        self.names: Names = {}
        self.deep: dict[str, int] = {}
        """By the id of a step, the parts of its path before it."""
        self.inner: dict[str, InnerSkill] = {}


def made(
    plan: Plan, prefix: str, whole: Made, known: tuple[tuple[str, ...], ...] = (), deep: int = 0
) -> tuple[Step, ...]:
    steps: list[Step] = []
    lengths, names = whole.lengths, whole.names
    for number, entry in enumerate(plan):
        name = f"{prefix}{number}"
        if entry is None:
            steps.append(ToolStep(id=name, tool="echo"))
        elif entry == "let":
            steps.append(LetStep(let={name: "${x}"}))
        elif isinstance(entry, tuple):
            length, at_once, inner = cast("tuple[int, int, Plan]", entry)
            lengths[name] = length
            block = {"id": name, "for_each": "${x}", "element": f"e{name}", "at_once": at_once}
            steps.append(ForEach.model_validate({**block, "steps": made(inner, f"{name}_", whole, known, deep + 1)}))
        elif isinstance(entry, dict):
            inside_it = Skill(
                name=name, steps=made(cast("dict[str, Plan]", entry)["skill"], f"{name}_", whole, (), deep + 1)
            )
            own = {step.id: names[step.id] for _, step, _ in inside_it.walk()}
            whole.inner[name] = InnerSkill(skill=inside_it, reads={**own, "": ()})
            lengths[name] = 1
            steps.append(SkillStep(id=name, skill=name))
        else:
            within = enumerate(cast("list[Plan]", entry))
            lanes = [made(lane, f"{name}_{at}_", whole, known, deep) for at, lane in within]
            lengths[name] = len(lanes)
            steps.append(Parallel(id=name, lanes=tuple(lanes)))
        names[steps[-1].id], whole.deep[steps[-1].id] = known, deep
        if entry == "let":
            known = (*known, ("steps", steps[-1].id, name))
    return tuple(steps)


def expected(steps: tuple[Step, ...], whole: Made, path: str = "") -> list[str]:
    """Return the paths in the order of a walk that does one thing at a time."""
    found: list[str] = []
    for step in steps:
        match step:
            case ForEach():
                for index in range(whole.lengths[step.id]):
                    found += expected(step.steps, whole, f"{path}{step.id}[{index}].")
            case Parallel():
                for lane in step.lanes:
                    found += expected(lane, whole, path)
            case SkillStep():
                found += [
                    *expected(whole.inner[step.skill].skill.steps, whole, f"{path}{step.id}."),
                    f"{path}{step.id}",
                ]
            case _:
                found.append(f"{path}{step.id}")
    return found


def order(steps: tuple[Step, ...], whole: Made, path: str = "") -> list[tuple[list[str], list[str]]]:
    """Return pairs of steps of which every one of the first stands before every one of the second."""
    found: list[tuple[list[str], list[str]]] = []
    before: list[str] = []
    for step in steps:
        here = expected((step,), whole, path)
        found.append((before, here))
        before = before + here
        match step:
            case ForEach():
                for index in range(whole.lengths[step.id]):
                    found += order(step.steps, whole, f"{path}{step.id}[{index}].")
            case Parallel():
                for lane in step.lanes:
                    found += order(lane, whole, path)
            case SkillStep():
                found += order(whole.inner[step.skill].skill.steps, whole, f"{path}{step.id}.")
                found.append((here[:-1], here[-1:]))
            case _:
                pass
    return found


@given(plan=plans(2), rolls=st.sets(st.integers(0, 60)), random=st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_every_step_once_behind_those_before_it(plan: Plan, rolls: set[int], random: Random) -> None:
    whole = Made()
    skill = Skill(name="s", steps=made(plan, "s", whole))
    lengths, names, deep = whole.lengths, whole.names, whole.deep
    own = {step.id: names[step.id] for _, step, _ in skill.walk()}
    route, cursors, moves = Route(skill, own, whole.inner), {MAIN: Cursor()}, 0
    visited, total = list[str](), leaves(skill.steps)
    while free := [name for name in cursors if not cursors[name].walk and route.here(cursors, name)]:
        if moves in rolls:
            again = {name: Cursor.model_validate_json(one.model_dump_json()) for name, one in cursors.items()}
            # What ended in a run is known to that run alone.
            assert again == {name: one.changed(past={}) for name, one in cursors.items()}
            cursors = again
        moves += 1
        for name, one in cursors.items():
            if one.walk is not None:
                step = route.here(cursors, name)
                assert step is not None
                assert one.walk.open <= (step.step.at_once if isinstance(step.step, ForEach) else lengths[step.step.id])
        name = random.choice(free)
        at = route.here(cursors, name)
        assert at is not None
        # Every value that it can name is that of its own element, and of those around it.
        seen = route.scope(cursors, cursors[name].parent if at.leaves else name, names[at.step.id], {}, FACTS)
        assert {let: value.inline for let, value in seen.names.items()} == {
            let: ".".join([*at.path.split(".")[: deep[of]], of]) for _, of, let in names[at.step.id]
        }
        assert seen.steps == {}
        if isinstance(at.step, ForEach | Parallel | SkillStep) and not at.leaves:
            elements: tuple[JsonValue, ...] = tuple(range(lengths[at.step.id]))
            total += inside(at.step, len(elements), whole.inner)
            cursors = route.entered(cursors, name, elements)
        else:
            visited.append(at.path)
            parts = {let: Value(inline=at.path) for let in at.step.let} if isinstance(at.step, LetStep) else {}
            cursors = route.ended(cursors, name, DONE.changed(parts=parts))
    assert list(cursors) == [MAIN], "every other branch has ended"
    assert (cursors[MAIN].results, cursors[MAIN].inline) == ({}, 0), "nobody reads anything any more"
    assert sorted(visited) == sorted(expected(skill.steps, whole))
    runs = sum(path.rpartition(".")[2] in whole.inner for path in visited)
    assert total == sum("let" not in path for path in visited) - runs

    place = {path: number for number, path in enumerate(visited)}
    for before, behind in order(skill.steps, whole):
        assert max((place[path] for path in before), default=-1) < min(
            (place[path] for path in behind), default=len(visited)
        )


def test_a_step_sees_its_own_iteration_and_what_is_around_it() -> None:
    inner = (ToolStep(id="a", tool="echo"), ToolStep(id="b", tool="echo"))
    walk = ForEach(id="walk", for_each="x", element="e", steps=inner, at_once=2)
    skill = Skill(name="s", steps=(ToolStep(id="top", tool="echo"), walk))
    done = [Result(status=StepStatus.DONE, parts={"output": Value(inline=number)}) for number in range(5)]
    reads = (("e",), ("index",), ("steps", "a", "output"), ("steps", "top", "output"))
    numbers = (("steps", "walk", "count"), ("steps", "walk", "done"), ("steps", "walk", "failed"))
    route = Route(skill, {"b": reads, "": numbers})
    cursors = route.ended({MAIN: Cursor()}, MAIN, done[0])
    cursors = route.entered(cursors, MAIN, ("x", "y"))
    assert set(cursors) == {MAIN, "walk[0]", "walk[1]"}
    cursors = route.ended(cursors, "walk[1]", done[2])
    cursors = route.ended(cursors, "walk[0]", done[1])
    for branch, element, index in (("walk[0]", "x", 0), ("walk[1]", "y", 1)):
        seen = route.scope(cursors, branch, reads, {}, FACTS)
        assert seen.elements == {"e": element, "index": index}
        assert seen.steps == {"a": {"output": Value(inline=index + 1)}, "top": {"output": Value(inline=0)}}
        assert seen.task is None
    cursors = route.ended(cursors, "walk[0]", Result(status=StepStatus.FAILED))
    assert set(cursors) == {MAIN, "walk[1]"}
    cursors = route.ended(cursors, "walk[1]", done[4])
    assert (set(cursors), route.here(cursors, MAIN)) == ({MAIN}, None)
    counts = route.scope(cursors, MAIN, numbers, {}, FACTS)
    assert {name: value.inline for name, value in counts.steps["walk"].items()} == {"count": 2, "done": 3, "failed": 1}


def test_what_ran_side_by_side_is_read_behind_it_and_not_beside_it() -> None:
    lanes = ((ToolStep(id="a", tool="echo"), ToolStep(id="b", tool="echo")), (ToolStep(id="c", tool="echo"),))
    skill = Skill(name="s", steps=(Parallel(lanes=lanes), ToolStep(id="d", tool="echo")))
    own, all_of = (("steps", "a", "output"),), (("steps", "b", "output"), ("steps", "c", "output"))
    route = Route(skill, {"b": own, "d": all_of})
    output = [Result(status=StepStatus.DONE, parts={"output": Value(inline="x" * size)}) for size in (10, 20, 30)]
    cursors = route.entered({MAIN: Cursor()}, MAIN, (0, 1))
    assert [at.path for name in cursors if not cursors[name].walk and (at := route.here(cursors, name))] == ["a", "c"]
    cursors = route.ended(cursors, "parallel[0]", output[0])
    assert route.scope(cursors, "parallel[0]", own, {}, FACTS).steps == {"a": {"output": Value(inline="x" * 10)}}
    cursors = route.ended(cursors, "parallel[1]", output[2])
    cursors = route.ended(cursors, "parallel[0]", output[1])
    assert set(cursors) == {MAIN}
    seen = route.scope(cursors, MAIN, all_of, {}, FACTS)
    assert {name: parts["output"].inline for name, parts in seen.steps.items()} == {"b": "x" * 20, "c": "x" * 30}
    assert (set(cursors[MAIN].results), cursors[MAIN].inline) == ({"b", "c"}, 22 + 32), "a was read for the last time"
    cursors = route.ended(cursors, MAIN, output[0])
    assert (cursors[MAIN].results, cursors[MAIN].inline) == ({}, 0)


def test_what_nobody_reads_any_more_is_not_carried_along() -> None:
    names = ("a", "b", "c", "d")
    inner = (ToolStep(id="inside", tool="echo"),)
    walk = ForEach(id="walk", for_each="x", element="e", steps=inner)
    skill = Skill(
        name="s", steps=(*(ToolStep(id=name, tool="echo") for name in names[:3]), walk, ToolStep(id="d", tool="echo"))
    )
    route = Route(
        skill,
        {"b": (("steps", "a", "output"),), "inside": (("steps", "b", "answer"),), "": (("steps", "c", "status"),)},
    )
    large, cursors = Value(inline="x" * 100), {MAIN: Cursor()}

    def step(branch: str, *more: str) -> tuple[dict[str, set[str]], int]:
        nonlocal cursors
        parts = dict.fromkeys(("output", *more), large)
        cursors = route.ended(cursors, branch, Result(status=StepStatus.DONE, parts=parts))
        carried = {name: set(result.parts) for name, result in cursors[MAIN].results.items()}
        return carried, sum(cursor.inline for cursor in cursors.values())

    assert step(MAIN) == ({"a": {"output"}}, 102)
    assert step(MAIN, "answer") == ({"b": {"answer"}}, 102), "a was read for the last time, and b's output never is"
    assert step(MAIN) == ({"b": {"answer"}, "c": set()}, 102)
    cursors = route.entered(cursors, MAIN, (1, 2))
    assert step("walk[0]") == ({"b": {"answer"}, "c": set()}, 102), "the next element reads it again"
    assert step("walk[1]") == ({"c": set()}, 0)
    assert step(MAIN) == ({"c": set()}, 0)
    assert route.here(cursors, MAIN) is None


def test_what_a_skipped_step_lacks_can_be_read_behind_it() -> None:
    known = RecallStep(id="known", recall=RecallTemplate(text="x"))
    skill = Skill(name="s", steps=(known, ToolStep(id="a", tool="echo")))
    reads = (("steps", "known", "records"),)
    route = Route(skill, {"a": reads})
    cursors = route.ended({MAIN: Cursor()}, MAIN, Result(status=StepStatus.SKIPPED))
    assert route.scope(cursors, MAIN, reads, {}, FACTS).steps == {"known": {"records": Value(inline={})}}


def test_a_skill_that_a_step_runs_sees_its_inputs_and_its_own_steps_alone() -> None:
    reads = (("inputs", "n"), ("steps", "a", "output"))
    inner = Skill(name="inner", steps=(ToolStep(id="a", tool="echo"), ToolStep(id="b", tool="echo")))
    pinned = InnerSkill(skill=inner, reads={"a": (), "b": reads, "": (("steps", "b", "output"),)})
    walk = ForEach(id="walk", for_each="x", element="e", steps=(SkillStep(id="x", skill="inner"),), at_once=2)
    skill = Skill(name="s", steps=(ToolStep(id="a", tool="echo"), walk, ToolStep(id="b", tool="echo")))
    route = Route(skill, {"a": (), "x": (), "walk": (), "b": reads, "": ()}, {"inner": pinned})
    own = {"n": Value(inline="own")}
    numbers = [Result(status=StepStatus.DONE, parts={"output": Value(inline=number)}) for number in range(4)]
    cursors = route.ended({MAIN: Cursor()}, MAIN, numbers[0])
    cursors = route.entered(cursors, MAIN, ("p", "q"))
    for index in (0, 1):
        cursors = route.entered(cursors, f"walk[{index}]", (0,), {"n": Value(inline=f"given {index}")})
        cursors = route.ended(cursors, f"walk[{index}].x[0]", numbers[1 + index])
    for index in (0, 1):
        branch = f"walk[{index}].x[0]"
        at = route.here(cursors, branch)
        assert at is not None
        assert (at.path, at.leaves) == (f"walk[{index}].x.b", False)
        seen = route.scope(cursors, branch, reads, own, FACTS)
        assert seen.inputs == {"n": Value(inline=f"given {index}")}
        assert seen.steps == {"a": {"output": Value(inline=1 + index)}}
        cursors = route.ended(cursors, branch, numbers[3])
        at = route.here(cursors, branch)
        assert at is not None
        assert (at.path, at.leaves) == (f"walk[{index}].x", True)
        assert set(cursors[branch].results) == {"b"}, "a was read for the last time"
        cursors = route.ended(cursors, branch, numbers[index])
    assert set(cursors) == {MAIN}
    assert route.scope(cursors, MAIN, reads, own, FACTS).inputs == own
    assert route.scope(cursors, MAIN, reads, own, FACTS).steps == {"a": {"output": Value(inline=0)}}


def test_the_first_problem_of_a_skill_counts_and_a_branch_outside_has_none() -> None:
    inner = Skill(name="inner", steps=(ToolStep(id="b", tool="echo"),))
    skill = Skill(name="s", steps=(SkillStep(id="a", skill="inner"), ToolStep(id="c", tool="echo")))
    route = Route(skill, {"a": (), "c": (), "": ()}, {"inner": InnerSkill(skill=inner, reads={"b": (), "": ()})})
    begun = {MAIN: Cursor()}
    assert route.given_up(begun, MAIN, "why") == begun
    cursors = route.entered(begun, MAIN, (0,), {})
    [within] = cursors.keys() - {MAIN}
    assert not route.is_given_up(cursors, within)
    cursors = route.given_up(route.given_up(cursors, MAIN, "first"), MAIN, "second")
    assert route.is_given_up(cursors, within)
    walk = cursors[MAIN].walk
    assert walk is not None
    assert walk.problem == "first"
