"""Which workflows are evicted when a query comes as a task of its own."""

from collections.abc import Sequence

import pytest
from temporalio.bridge.proto.workflow_activation import (
    DoUpdate,
    FireTimer,
    InitializeWorkflow,
    QueryWorkflow,
    ResolveActivity,
    WorkflowActivation,
    WorkflowActivationJob,
)
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.worker import WorkflowInstance

from worker.eviction import Watched

BEGUN = WorkflowActivationJob(initialize_workflow=InitializeWorkflow())
FIRED = WorkflowActivationJob(fire_timer=FireTimer())
ENDED = WorkflowActivationJob(resolve_activity=ResolveActivity())
LOCAL = WorkflowActivationJob(resolve_activity=ResolveActivity(is_local=True))
UPDATE = WorkflowActivationJob(do_update=DoUpdate())
ASKED = WorkflowActivationJob(query_workflow=QueryWorkflow(query_id="legacy_query"))
ASKED_WITHIN = WorkflowActivationJob(query_workflow=QueryWorkflow(query_id="1"))

Step = tuple[int, bool, WorkflowActivationJob]
"""When the task began, in seconds; whether it is replayed; the job."""


class Silent(WorkflowInstance):
    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        return WorkflowActivationCompletion(run_id=act.run_id)


Silent.__abstractmethods__ = frozenset()


def evicted(steps: Sequence[Step]) -> list[int]:
    """Return at which steps a workflow is evicted."""
    found: list[int] = []
    instance = Watched(Silent(), lambda run_id: found.append(int(run_id)))  # pyright: ignore[reportAbstractUsage]
    for number, (seconds, is_replaying, job) in enumerate(steps):
        act = WorkflowActivation(run_id=str(number), is_replaying=is_replaying, jobs=[job])
        act.timestamp.FromSeconds(seconds)
        instance.activate(act)
    return found


REPLAYED = [(1, True, BEGUN), (2, True, ENDED)]
LIVE = [(1, False, BEGUN), (2, False, ENDED)]


@pytest.mark.parametrize(
    ("steps", "at"),
    [
        ([*REPLAYED, (2, False, ENDED), (2, True, ASKED)], [3]),
        ([*LIVE, (2, False, FIRED), (2, True, ASKED)], [3]),
        # A local activity that it has begun meanwhile ends.
        ([*REPLAYED, (2, False, FIRED), (2, False, LOCAL), (2, True, ASKED)], [4]),
        # The query came with the start of another worker's task.
        ([*REPLAYED, (3, False, ENDED), (3, True, ASKED)], [3]),
    ],
    ids=["behind a replay", "in the cache", "with a local activity", "with another worker's task"],
)
def test_what_may_have_run_ahead_is_evicted(steps: Sequence[Step], at: list[int]) -> None:
    assert evicted(steps) == at


@pytest.mark.parametrize(
    "steps",
    [
        [*LIVE, (2, True, ASKED), (2, True, ASKED)],
        [*LIVE, (2, False, LOCAL), (2, False, UPDATE), (2, True, ASKED)],
        [*REPLAYED, (2, True, ASKED)],
        [*REPLAYED, (2, True, ASKED), (3, False, ENDED), (3, True, ASKED)],
        [*REPLAYED, (3, False, ENDED), (4, False, FIRED), (4, True, ASKED)],
        [*LIVE, (2, False, FIRED), (2, False, ASKED_WITHIN)],
    ],
    ids=["asked twice", "quick steps", "only replayed", "replayed for a query", "two tasks on", "asked within a task"],
)
def test_what_is_where_its_history_is_stays(steps: Sequence[Step]) -> None:
    assert evicted(steps) == []


class Beginning(WorkflowInstance):
    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        completion = WorkflowActivationCompletion(run_id=act.run_id)
        if any(job.HasField("do_update") for job in act.jobs):
            completion.successful.commands.add().schedule_local_activity.seq = 1
        return completion


Beginning.__abstractmethods__ = frozenset()


@pytest.mark.parametrize(("jobs", "at"), [([UPDATE, ASKED_WITHIN], [1]), ([UPDATE, LOCAL, ASKED_WITHIN], [])])
def test_questions_while_a_local_activity_is_under_way_evict(jobs: list[WorkflowActivationJob], at: list[int]) -> None:
    found: list[int] = []
    instance = Watched(Beginning(), lambda run_id: found.append(int(run_id)))  # pyright: ignore[reportAbstractUsage]
    for number, job in enumerate(jobs):
        instance.activate(WorkflowActivation(run_id=str(number), jobs=[job]))
    assert found == at
