"""What a task's state says to those who ask: counts, steps, and how it ended."""

from datetime import UTC, date, datetime, timedelta

import pytest

from perdure.agent.preparation import PreparedTask
from perdure.agent.reports import memory_of, progress_of, result_of
from perdure.agent.state import (
    RECALLS_KEPT,
    REPORTS_KEPT,
    WARNINGS_KEPT,
    Learned,
    TaskRun,
    TaskState,
)
from perdure.agent.steps.calls import Ended, Result
from perdure.durations import Wait
from perdure.registry.agents import Agent
from perdure.skills.library import read_skill
from perdure.values.changes import Actor, ActorKind
from perdure.values.events import EventBox, TakenEvent
from perdure.values.explanations import NotListed, RecallSummary
from perdure.values.jobs import Receipt
from perdure.values.steering import Intervention, InterventionKind, Steered
from perdure.values.tasks import MemoryMode, Phase, StepStatus

NOW = datetime(2026, 1, 2, tzinfo=UTC)
TASK = TaskRun(task_id="t", user_id="u", skill="s")
SKILL = read_skill("name: s\nsteps: [{id: a, tool: who}]")
PREPARED = PreparedTask(
    tenant="t_1",
    skill=SKILL,
    version=SKILL.digest,
    tools={},
    inputs={},
    reads={},
    date=date(2026, 1, 2),
    heartbeat=2.0,
)
STATE = (
    TaskState(prepared=PREPARED, started_at=NOW, renewed_at=NOW, total=9)
    .branch("main", path="each[1].a")
    .branch("plan", path="ask", of_plan=True)
    .branch("free")
    .counted(StepStatus.DONE)
    .counted(StepStatus.DONE)
    .counted(StepStatus.SKIPPED)
    .counted(StepStatus.FAILED)
    .changed(learned=Learned(remembered=5, jobs=("j",), refused=("r",)))
)


def recalling(step: str) -> Ended:
    summary = RecallSummary(step=step, recalled=3, ids=("x",), scores=(1.0,), why="", degraded=False, milliseconds=1.0)
    return Ended(result=Result(status=StepStatus.DONE), recall=summary)


def test_steps_are_counted_once_and_what_the_plan_asks_is_none() -> None:
    assert (STATE.done, STATE.begun) == (4, 5)
    assert STATE.step == "each[1].a, ask"


@pytest.mark.parametrize(
    ("task", "agent", "found"),
    [
        ("on", "on", "on"),
        ("on", "read", "read"),
        ("read", "on", "read"),
        ("off", "read", "off"),
        ("on", "newer", "newer"),
    ],
)
def test_an_agent_narrows_what_its_task_may_do_with_memory_and_never_widens_it(
    task: str, agent: str, found: str
) -> None:
    prepared = PREPARED.changed(skill=None, agent=Agent(name="a", memory=MemoryMode(agent)))
    asked = TASK.changed(memory=MemoryMode(task))
    assert asked.by(prepared).memory.value == found
    assert asked.by(PREPARED) is asked


def test_progress() -> None:
    state = STATE.telling("s", recalling("a")).telling("s", Ended(result=Result(status=StepStatus.DONE)))
    progress = progress_of(TASK, state, Phase.RUNNING)
    assert (progress.done, progress.total, progress.skipped, progress.failed) == (4, 9, 1, 1)
    assert (progress.recalled, progress.remembered, progress.step) == (3, 5, "each[1].a, ask")
    assert progress_of(TASK, None, Phase.PREPARING).done == 0


def test_a_result_has_the_counts_and_the_latest_recalls() -> None:
    state = STATE
    for number in range(RECALLS_KEPT + 2):
        state = state.telling("s", recalling(f"r{number}"))
    result = result_of(TASK, state, Phase.FAILED, "why")
    assert (result.done, result.skipped, result.failed, result.problem) == (2, 1, 1, "why")
    assert (result.recalled, result.jobs, result.refused) == (3 * (RECALLS_KEPT + 2), ("j",), ("r",))
    assert [one.step for one in result.recalls][:: RECALLS_KEPT - 1] == ["r2", f"r{RECALLS_KEPT + 1}"]
    empty = result_of(TASK, None, Phase.CANCELLED, "")
    assert (empty.status, empty.done, empty.failed) == ("cancelled", 0, 0)


def test_the_last_warnings_of_policies_are_told_each_with_its_step() -> None:
    state = STATE
    for number in range(WARNINGS_KEPT):
        done = Result(status=StepStatus.DONE)
        state = state.telling(f"s{number}", Ended(result=done, warnings=("policy p: r", "policy q: r")))
    result = result_of(TASK, state, Phase.COMPLETED, "")
    assert (result.warned, len(result.warnings)) == (2 * WARNINGS_KEPT, WARNINGS_KEPT)
    assert (result.warnings[0], result.warnings[-1]) == ("s5: policy p: r", "s9: policy q: r")


def test_what_came_before_the_last_ones_is_counted() -> None:
    state = STATE
    for number in range(RECALLS_KEPT + 2):
        state = state.telling("s", recalling(f"r{number}"))
    told = memory_of(state, Learned(jobs=("j",), started=4, refused=("r",), refusals=7))
    assert (told.tenant, len(told.recalls), told.jobs, told.refused) == ("t_1", RECALLS_KEPT, ("j",), ("r",))
    assert told.not_listed == NotListed(recalls=2, jobs=3, refused=6)
    assert memory_of(STATE, Learned()).not_listed == NotListed()


def test_what_nobody_knows_and_what_became_of_a_batch_is_told_and_what_did_not_happen_is_none() -> None:
    receipt = Receipt(job_id="j", items=())
    state = TaskState(prepared=PREPARED, started_at=NOW, renewed_at=NOW)
    running = progress_of(TASK, state, Phase.RUNNING)
    assert (running.skipped, running.failed, running.unknown) == (0, 0, ())
    empty = result_of(TASK, state, Phase.COMPLETED, "")
    assert (empty.done, empty.skipped, empty.failed, empty.unknown, empty.receipts) == (0, 0, 0, (), ())
    state = state.changed(unknown=("a", "b"), learned=Learned(receipts=(receipt,)))
    assert progress_of(TASK, state, Phase.FAILED).unknown == ("a", "b")
    ended = result_of(TASK, state, Phase.FAILED, "why")
    assert (ended.unknown, ended.receipts) == (("a", "b"), (receipt,))


def test_what_waits_is_told_until_the_task_has_ended_the_next_one_first() -> None:
    later = NOW + timedelta(days=1)
    state = STATE.branch("a", path="x[1].a", until=later).branch("b", path="x[2].b", until=NOW)
    told = (Wait(step="x[2].b", until=NOW), Wait(step="x[1].a", until=later))
    assert progress_of(TASK, state, Phase.PAUSED).waits == told
    assert progress_of(TASK, state, Phase.PAUSED).waiting == 2
    for phase in (Phase.COMPLETED, Phase.FAILED, Phase.CANCELLED):
        ended = progress_of(TASK, state, phase)
        assert (ended.waits, ended.waiting) == ((), 0)


def test_what_waits_for_an_event_says_which_and_those_without_a_deadline_come_last() -> None:
    event = TakenEvent(name="sent", at=NOW)
    state = STATE.branch("a", path="a", event="paid").branch("b", path="b", event="sent", until=NOW)
    state = state.branch("c", path="c", until=NOW).changed(events=EventBox(kept=(event,)))
    told = progress_of(TASK, state, Phase.PAUSED)
    assert told.waits == (
        Wait(step="b", until=NOW, event="sent"),
        Wait(step="c", until=NOW),
        Wait(step="a", event="paid"),
    )
    assert (told.waiting, told.kept) == (3, 1)
    assert progress_of(TASK, state, Phase.FAILED).kept == 0
    assert state.branch("a", event="", delivered=event).taken == (event,)


SHARED = """
name: s
steps:
  - {id: a, recall: {of: "team:ops", text: x}}
  - {id: b, remember: [{memory: x, of: "agent:clerk"}, {memory: y, of: "team:ops"}]}
"""


def test_what_a_task_used_undid_and_is_pinned_to_is_told_while_it_runs_and_at_its_end() -> None:
    because = Intervention(kind=InterventionKind.PAUSED, by=Actor(kind=ActorKind.PERSON, id="ada"), at=NOW)
    state = STATE.changed(
        prepared=PREPARED.changed(skill=read_skill(SHARED), versions={"skill s": "v1"}),
        tokens=7,
        compensated=("a",),
        uncompensated=("b: no",),
        steered=Steered(interventions=(because,)),
    )
    running = progress_of(TASK, state, Phase.RUNNING)
    ended = result_of(TASK, state, Phase.FAILED, "why")
    for told in (running, ended):
        assert (told.tokens, told.versions) == (7, {"skill s": "v1"})
        assert (told.compensated, told.uncompensated) == (("a",), ("b: no",))
    assert ended.interventions == (because,)
    memory = memory_of(state, Learned())
    assert (memory.owners, memory.versions) == (("agent:clerk", "team:ops"), {"skill s": "v1"})


def test_of_thousands_that_wait_the_next_ten_are_named() -> None:
    state = STATE
    for number in range(25):
        state = state.branch(str(number), path=f"x[{number:02}].a", until=NOW + timedelta(days=number % 5))
    told = progress_of(TASK, state, Phase.PAUSED)
    assert [wait.step for wait in told.waits] == [
        f"x[{number:02}].a" for number in (0, 5, 10, 15, 20, 1, 6, 11, 16, 21)
    ]
    assert told.waiting == 25
    assert told.step.count(", ") == 9
    assert told.step.endswith(" more")


def test_the_last_steps_that_failed_or_were_skipped_are_reported_each_kind_by_itself() -> None:
    state = STATE
    for number in range(REPORTS_KEPT + 2):
        state = state.reported("main", f"a{number}", StepStatus.SKIPPED, "its condition (when) is false")
    state = state.reported("main", "b", StepStatus.FAILED, "x" * 2_000)
    told = progress_of(TASK, state, Phase.RUNNING).incomplete
    assert [one.step for one in told] == [*(f"a{number}" for number in range(2, REPORTS_KEPT + 2)), "b"]
    assert len(told[-1].problem) == 500
