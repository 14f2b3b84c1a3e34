"""What a case says about steps, read as the task reaches each of them. Pure."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import JsonValue

from perdure.agent.steps.calls import Waits
from perdure.documents import kind_of
from perdure.errors import InvalidAnswer, InvalidEvent, InvalidSkill
from perdure.model import Instant
from perdure.skills.cases import SkillCase
from perdure.skills.foreign import ForeignStep
from perdure.skills.shape import Skill
from perdure.skills.steps import COMPENSATE, PromptStep, RecallStep, RememberStep, SkillStep, Step, ToolStep
from perdure.skills.templates import OnFailure
from perdure.suggestions import nearest
from perdure.values.events import TakenEvent, require_small
from perdure.values.questions import Question, TakenAnswer, typed

_PERSON = "rehearsal"


class NotGiven(Exception):
    """The case cannot be run; this is not a failure of the task."""

    def __init__(self, problem: InvalidSkill) -> None:
        super().__init__(str(problem))
        self.problem = problem


def miss(field: str, problem: str, fix: str = "") -> NoReturn:
    """Refuse the case, naming one of its fields."""
    raise NotGiven(InvalidSkill(field, problem, fix=fix))


def fields_of(value: JsonValue, field: str) -> dict[str, JsonValue]:
    """Return a value of the case as a mapping; raises NotGiven if it is not one."""
    if not isinstance(value, dict):
        miss(field, f"is {kind_of(value)}, not a mapping")
    return value


class CaseValues:
    """What one case says.

    Args:
        skill: Its skill.
        case: The case.
        inner: The skills that steps run, by their names.

    Raises:
        InvalidSkill: It says something about a step that does not exist, or that could not have it.
    """

    def __init__(self, skill: Skill, case: SkillCase, inner: Mapping[str, Skill]) -> None:
        _check_steps(skill, case, inner)
        if case.judged is not None and skill.judge is None:
            raise InvalidSkill("judged", "belongs to a skill with a judge", fix="leave it out")
        self._case = case
        self._times: Counter[tuple[str, str]] = Counter()
        self._awaited: set[str] = set()
        self.asked: list[str] = []
        """The questions that were answered, in their order."""

    def result(self, path: str, wanted: str) -> tuple[str, JsonValue]:
        """Return what a step returns, and the field that says so.

        Raises:
            NotGiven: None does.
        """
        place = self._required(self._case.results, "results", path, wanted)
        return f"results.{place}", self._case.results[place]

    def stands_for(self, path: str) -> bool:
        """Return whether the case says what the skill of a step gives back, so that its steps are not gone through."""
        return bool(_place(self._case.results, path))

    def found(self, path: str) -> tuple[str, dict[str, JsonValue]]:
        """Return what a recall finds, and the field that says so; without one, it finds nothing.

        Raises:
            NotGiven: It is no mapping.
        """
        place = _place(self._case.results, path)
        field = f"results.{place}"
        return field, fields_of(self._case.results[place], field) if place else {}

    def failure(self, path: str) -> str:
        """Return why this call fails; empty where it does not."""
        if not (place := _place(self._case.failures, path)):
            return ""
        reasons = self._case.failures[place]
        self._times["failures", path] += 1
        if isinstance(reasons, str):
            return reasons
        number = self._times["failures", path]
        return reasons[number - 1] if number <= len(reasons) else ""

    def answer(self, question: Question, now: Instant) -> TakenAnswer:
        """Return what a person answers.

        Raises:
            NotGiven: The case has no answer, or one that the question does not accept.
        """
        path, answers = question.id, self._case.answers
        self._times["answers", path] += 1
        number = self._times["answers", path]
        named = path if number == 1 else f"{path}#{number}"
        self.asked.append(named)
        place = self._required(answers, "answers", path, f"what a person answers to {question.text!r}")
        given = answers[place]
        each = given if isinstance(given, list) else [given]
        if number > len(each):
            fix = f"give a list of answers; this one is to {question.text!r}"
            miss(f"answers.{place}", f"has none for question {number} at {path}", fix=fix)
        try:
            value = typed(each[number - 1], question.answer)
        except InvalidAnswer as error:
            miss(f"answers.{place}", error.problem, fix=error.fix)
        return TakenAnswer(question_id=named, value=value, by=_PERSON, at=now)

    def event(self, waits: Waits, path: str, now: Instant) -> TakenEvent | None:
        """Return the event that a step waits for; None if it does not come before the deadline.

        Raises:
            NotGiven: The case does not have it, and there is no deadline; or it is larger than an event may be.
        """
        self._awaited.add(waits.event)
        field = f"events.{waits.event}"
        if waits.event not in self._case.events:
            if waits.until is None:
                problem = f"is missing: {path} waits for it without a deadline, and the case does not say that it comes"
                miss(field, problem)
            return None
        event = TakenEvent(name=waits.event, value=self._case.events[waits.event], at=now)
        try:
            require_small(event)
        except InvalidEvent as error:
            miss(field, error.problem, fix=error.fix)
        return event

    def check(self, reached: set[str]) -> None:
        """Refuse values given for a path that the task never reached; an id counts wherever the step stands.

        Raises:
            NotGiven: Naming the nearest path, or the nearest event that was waited for.
        """
        for name in self._case.events:
            if name not in self._awaited:
                fix = nearest(name, self._awaited) or "no step came to wait for one"
                miss(f"events.{name}", "is no event that was waited for", fix=fix)
        case = self._case
        for field, given in (("results", case.results), ("failures", case.failures), ("answers", case.answers)):
            for name in given:
                if name != _address(name) and name not in reached:
                    miss(f"{field}.{name}", "is no step that was reached", fix=nearest(name, reached))

    def _required(self, given: Mapping[str, JsonValue], field: str, path: str, wanted: str) -> str:
        """Return the name under which the case gives a step what it needs."""
        place = _place(given, path)
        if not place:
            miss(f"{field}.{_address(path)}", f"is missing: {path} is reached, and the case does not say {wanted}")
        return place


def _address(path: str) -> str:
    """Return what a step is called whatever the elements are: its id, behind those of the steps whose skills it is in.

    >>> _address("shop[2].pack.item[0].weigh")
    'pack.weigh'
    """
    *around, last = path.split(".")
    return ".".join((*(one for one in around if "[" not in one), last.split("[", 1)[0]))


def step_of(path: str) -> str:
    """Return the id of the step at a path."""
    return path.rpartition(".")[2]


def _place(given: Mapping[str, Any], path: str) -> str:
    """Return the name under which something is given for a step: path, or address; empty if it is not given."""
    return next((one for one in (path, _address(path)) if one in given), "")


def _check_steps(skill: Skill, case: SkillCase, inner: Mapping[str, Skill]) -> None:
    """Refuse values given for a step that does not exist: they would have no effect.

    Raises:
        InvalidSkill: With the nearest step.
    """
    for field, given, can in (
        ("results", case.results, _returns),
        ("failures", case.failures, _fails),
        ("answers", case.answers, _asks),
    ):
        for name in given:
            *around, last = _address(name).split(".")
            within, known = skill, list[str]()
            for one in around:
                step = next((step for _, step, _ in within.walk() if step.id == one), None)
                if not isinstance(step, SkillStep):
                    break
                within, known = inner[step.skill], [*known, one]
            walked = [step for _, step, _ in within.walk()]
            steps = {".".join((*known, step.id)) for step in walked if can(step)}
            undoable = {step.id for step in walked if isinstance(step, ToolStep | ForeignStep) and step.compensate}
            if last == COMPENSATE and len(around) == len(known) + 1 and around[-1] in undoable:
                continue
            if known != around or ".".join((*around, last)) not in steps:
                raise InvalidSkill(f"{field}.{name}", "is no step that could have one", fix=nearest(name, steps))


def _returns(step: Step) -> bool:
    """Return whether a case can say what a step returns."""
    return isinstance(step, ToolStep | PromptStep | RecallStep | SkillStep | ForeignStep)


def _fails(step: Step) -> bool:
    """Return whether a case can say that a step fails."""
    return isinstance(step, ToolStep | PromptStep | SkillStep | ForeignStep)


def _asks(step: Step) -> bool:
    """Return whether a step may ask a person."""
    match step:
        case ToolStep() | ForeignStep():
            return True
        case PromptStep() | RememberStep():
            return step.on_failure is OnFailure.ASK
        case _:
            return False
