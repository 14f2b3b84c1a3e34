"""What a task that begins at a step takes over of the steps before, from an earlier run or another task. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from pydantic import Field

from perdure.agent.cursor import Cursor
from perdure.agent.readers import Readers, keeping
from perdure.agent.state import TaskState
from perdure.agent.steps.calls import Compensation, Result
from perdure.errors import InvalidTask
from perdure.expressions.syntax import Path
from perdure.model import Passed, Stored, json_size
from perdure.skills.shape import Skill
from perdure.skills.steps import ForEach, LetStep, Parallel, Step
from perdure.suggestions import nearest
from perdure.tolerance import taken_back
from perdure.values.lessons import GONE_ON, MetFailure, quoted

PAGE = 1_000_000
"""Bytes of results that one query returns, about: Temporal takes 2 MB."""

FIELD = "from"
"""The field that names the step, as a person writes it."""


class LeftBySteps(Stored):
    """What steps of a skill left: of its own lists, and neither of elements nor of skills that a step runs."""

    results: dict[str, Result] = Field(default_factory=dict[str, Result])
    """By the id of the step, in full."""
    kinds: dict[str, str] = Field(default_factory=dict[str, str])
    """What kind of step each is."""
    compensations: tuple[Compensation, ...] = ()
    """What would undo the effects of the task's steps, in the order in which they happened."""
    failures: tuple[MetFailure, ...] = ()
    """What failed and was not resolved; what resolves it is a lesson."""
    copied: tuple[str, ...] = ()
    """The steps that another task has run: this one has no claims for them."""


class StepsAsked(Passed):
    """The argument of the query that returns what steps left."""

    steps: tuple[str, ...] = ()
    """Their ids."""


class TakenOver(Passed):
    """The position at which a task begins."""

    place: int
    """The place of the step among the skill's own."""
    results: dict[str, Result] = Field(default_factory=dict[str, Result])
    """Those of the steps before, as far as later ones read them."""
    compensations: tuple[Compensation, ...] = ()
    failures: tuple[MetFailure, ...] = ()
    """Those of the steps that run again."""


def left_by(state: TaskState, asked: Iterable[str]) -> LeftBySteps:
    """Return what some steps left that ended in this run of a task; of those asked first, if it is too much for one.

    Args:
        state: The task's.
        asked: The ids of the steps. What has not ended in this run is left out.
    """
    skill = state.prepared.skill
    if skill is None:
        return LeftBySteps()
    past: dict[str, Result] = {}
    for branch in state.branches.values():
        if branch.position is not None:
            past |= taken_back(Cursor, branch.position).past
    kinds = {step.id: step.kind for _, step, around in skill.walk() if not around}
    found, size = dict[str, Result](), 0
    for step in asked:
        if step in past:
            size += json_size(past[step].model_dump(mode="json"))
            if found and size > PAGE:
                break
            found[step] = past[step]
    return LeftBySteps(
        results=found,
        kinds={step: kinds[step] for step in found if step in kinds},
        compensations=state.compensations,
        failures=state.failures,
    )


def place_of(skill: Skill, step: str) -> int:
    """Return the place of a step at which a task can begin.

    Raises:
        InvalidTask: There is none, or it stands inside a block.
    """
    for place, own in enumerate(skill.steps):
        if own.id == step and not isinstance(own, LetStep):
            return place
        if step in _inside(own):
            problem = f"{step!r} stands inside {own.id!r}, which begins as a whole"
            raise InvalidTask(FIELD, problem, fix=f"begin at {own.id!r}: effects that are recorded are not repeated")
    known = [own.id for own in skill.steps if not isinstance(own, LetStep)]
    raise InvalidTask(FIELD, f"the skill {skill.name!r} has no step {step!r}", fix=nearest(step, known))


def before(skill: Skill, place: int) -> tuple[str, ...]:
    """Return the ids of the steps whose results count where a task begins at a place."""
    return tuple(step.id for own in skill.steps[:place] for step in _all(own, LeftBySteps()))


def after(skill: Skill, place: int) -> set[str]:
    """Return the ids of the steps that run where a task begins at a place."""
    return {one for step in skill.steps[place:] for one in (step.id, *_inside(step))}


def require_known(
    skill: Skill, place: int, left: LeftBySteps, source: str, *, is_known: bool, is_fork: bool = False
) -> None:
    """Refuse to begin at a place where something of the steps before it is not known.

    Args:
        skill: The skill.
        place: The place of the step at which the task is to begin.
        left: What the steps before left.
        source: The task that ran them.
        is_known: Whether any run of that task could still be asked.
        is_fork: Whether another task begins there.

    Raises:
        InvalidTask: Naming the first such step, and where to begin instead.
    """
    at = skill.steps[place].id
    for own in skill.steps[:place]:
        for step in _all(own, left):
            result = left.results.get(step.id)
            instead = f"begin at {own.id!r}" if not isinstance(own, LetStep) else "put it behind, or begin before it"
            if result is None and not is_known:
                problem = f"Temporal no longer has a run of {source!r}, so the results before {at!r} are gone"
                fix = f"begin at {_first(skill)!r}"
                fix += ", which acts anew" if is_fork else ": effects that are recorded are not repeated"
                raise InvalidTask(FIELD, problem, fix=fix)
            if result is None:
                problem = f"{step.id!r}, which stands before {at!r}, has not ended in an earlier run of {source!r}"
                raise InvalidTask(FIELD, problem, fix=instead)
            if left.kinds.get(step.id, step.kind) != step.kind:
                problem = f"{step.id!r}, which stands before {at!r}, was a step of another kind in {source!r}"
                raise InvalidTask(FIELD, problem, fix=instead)
            if isinstance(step, LetStep) and (new := sorted(step.let.keys() - result.parts.keys())):
                problem = f"{new[0]!r}, which is named before {at!r}, was not in {source!r}"
                raise InvalidTask(FIELD, problem, fix=instead)


def require_own(skill: Skill, place: int, left: LeftBySteps) -> None:
    """Refuse to run a step whose result was copied from another task: its effect would happen again.

    Raises:
        InvalidTask: Naming the step.
    """
    if again := sorted(after(skill, place) & {*left.copied}):
        problem = f"{again[0]!r} would act again: another task has run it, and this one has its result"
        raise InvalidTask(FIELD, problem, fix="begin behind it")


def undoing(
    left: Sequence[Compensation], steps: Iterable[str], again: Iterable[str], tools: Iterable[str]
) -> tuple[Compensation, ...]:
    """Return what would undo the effects of a task but for those of the steps that run again, in the steps' order.

    Args:
        left: What would undo a task's effects, of each run in the order in which they happened there.
        steps: The ids of the steps that are not run again, in their order.
        again: The ids of those that are. What the skill no longer has is in neither, and has happened.
        tools: The tools that the task has now.
    """
    places, run, known = {step: place for place, step in enumerate(steps)}, {*again}, {*tools}
    found, place = list[tuple[int, Compensation]](), -1
    for one in left:
        step = _outermost(one.path)
        place = places.get(step, place)
        if step not in run:
            problem = "" if one.tool in known else f"the skill calls no {one.tool!r} any more"
            found.append((place, one.changed(problem=problem) if problem else one))
    return tuple(one for _, one in sorted(found, key=itemgetter(0)))


def gone_on(failures: Iterable[MetFailure], again: Iterable[str], differs: Sequence[str]) -> tuple[MetFailure, ...]:
    """Return the failures of steps that run again because a person had the task go on.

    Args:
        failures: Those that the task has met.
        again: The ids of the steps that run again.
        differs: What the person confirmed to differ.
    """
    run, note = {*again}, quoted("; ".join(differs))
    return tuple(one.changed(answer=GONE_ON, note=note) for one in failures if _outermost(one.path) in run)


def taken_over(skill: Skill, reads: Mapping[str, Sequence[Path]], place: int, left: LeftBySteps) -> TakenOver:
    """Return the position at which a task begins, with no more than its steps read."""
    results = begun(skill, reads, place, left.results).results
    return TakenOver(place=place, results=results, compensations=left.compensations, failures=left.failures)


def begun(skill: Skill, reads: Mapping[str, Sequence[Path]], place: int, results: Mapping[str, Result]) -> Cursor:
    """Return the cursor of a task that begins at a place."""
    return keeping(Cursor(step=place), Readers(skill, reads), place - 1, results)


def _outermost(path: str) -> str:
    """Return the id of the skill's own step within which a path lies."""
    return path.partition(".")[0].partition("[")[0]


def _first(skill: Skill) -> str:
    return next((step.id for step in skill.steps if not isinstance(step, LetStep)), "")


def _all(step: Step, left: LeftBySteps) -> Iterator[Step]:
    """Yield a step and those whose results are read as its own: what runs side by side, and no element of a list.

    Of a block that was skipped, nothing inside has a result.
    """
    ended = left.results.get(step.id)
    if isinstance(step, Parallel) and not (ended and ended.parts["count"].inline == 0):
        for lane in step.lanes:
            for one in lane:
                yield from _all(one, left)
    yield step


def _inside(step: Step) -> set[str]:
    match step:
        case ForEach(steps=steps):
            return {one for inner in steps for one in (inner.id, *_inside(inner))}
        case Parallel(lanes=lanes):
            return {one for lane in lanes for inner in lane for one in (inner.id, *_inside(inner))}
        case _:
            return set()
