"""Skills that a model may call: in which order it sees them, how they are told, and which task a call is."""

from hypothesis import given
from hypothesis import strategies as st

from perdure import AgentTask, Limits
from perdure.agent.offered_skills import OfferedSkill, best_first, task_of_call
from perdure.agent.state import TaskRun
from perdure.skills.library import read_skill
from perdure.values.tasks import MemoryMode
from perdure.values.trials import Trials

AUDIT = """
name: audit
description: Audits a lock file.
when_to_use: Before a release.
deprecated: it is slow
successor: inspect
inputs:
  lock: {description: Its path.}
  depth: {type: integer, default: 3}
  strict: {type: boolean, required: false}
  only: {type: list}
  rest: any
steps: [{id: a, tool: echo, args: {value: 1}}]
"""


def offered(name: str = "a", tasks: int = 0, successes: int = 0) -> OfferedSkill:
    return OfferedSkill(name=name, version=name, trials=Trials(tasks=tasks, successes=successes))


def test_a_model_reads_what_the_skill_is_for_and_how_it_has_done() -> None:
    skill = OfferedSkill.of(read_skill(AUDIT), "v", Trials(tasks=4, successes=3))
    text, *_, last = skill.told.split("\n")
    assert text == "Audits a lock file."
    assert "When to use: Before a release." in skill.told
    assert "inspect" in skill.told, "it is told what replaces it"
    assert last == "3 of its last 4 tasks did what they should."
    assert "tasks" not in OfferedSkill.of(read_skill(AUDIT), "v", Trials()).told


def test_its_inputs_are_the_tool_s_parameters() -> None:
    spec = OfferedSkill.of(read_skill(AUDIT), "v", Trials()).spec("audit_")
    assert spec.name == "audit_"
    assert spec.parameters == {
        "type": "object",
        "properties": {
            "lock": {"type": "string", "description": "Its path."},
            "depth": {"type": "integer", "default": 3},
            "strict": {"type": "boolean"},
            "only": {"type": "array"},
            "rest": {},
        },
        "required": ["lock", "only", "rest"],
    }


def test_the_one_that_does_best_is_first() -> None:
    never, once, often, failing = offered("d"), offered("c", 1, 1), offered("b", 20, 19), offered("a", 5, 0)
    assert [one.name for one in best_first([failing, never, once, often])] == ["b", "c", "d", "a"]


@given(st.permutations([offered(name, tasks, tasks // 2) for name in "abc" for tasks in (0, 2)]))
def test_the_order_does_not_depend_on_that_of_the_agent_s_file(skills: list[OfferedSkill]) -> None:
    assert [one.name for one in best_first(skills)] == sorted(one.name for one in skills)


def called_as(task: AgentTask, turn: int, place: int) -> TaskRun:
    return TaskRun.model_validate(task_of_call(task, offered("audit"), turn, place, tokens=7))


@given(st.from_regex(r"[a-z][a-z0-9._-]{0,79}", fullmatch=True), st.integers(1, 10_000), st.integers(0, 127))
def test_a_call_is_one_task_of_the_same_user(task_id: str, turn: int, place: int) -> None:
    task = AgentTask(task_id=task_id, user_id="${ada}", goal="Tidy up", session_id="s", memory=MemoryMode.READ)
    task = task.changed(limits=Limits(tokens=9, steps=5))
    called = called_as(task, turn, place)
    assert (called.user_id, called.session_id, called.memory, called.skill, called.limits) == (
        "${ada}",
        "s",
        MemoryMode.READ,
        "audit",
        Limits(tokens=7, steps=5),
    )
    assert called.pinned is not None
    assert (called.pinned.version, called.pinned.kept_by) == ("audit", task_id)
    others = {called_as(task, *other).task_id for other in ((turn + 1, place), (turn, place + 1))}
    assert len({called.task_id, task_id, *others}) == 4
    longer = task.changed(task_id=f"{task_id[:79]}x")
    assert called_as(longer, turn, place).task_id != called.task_id or (longer.task_id == task_id)
