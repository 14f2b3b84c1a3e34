"""Workflows that have run ahead of their history are evicted before anything is recorded of them.

A query that waits for a worker while an activity ends or a timer fires comes with these events. The SDK (1.35) hands
them to the workflow as if a workflow task had begun with them: it acts, and nobody records what it does. If an update
comes with the next task, it is recorded after that, and handled before it in any replay: "[TMPRL1100] Update machine
does not handle this event", in each attempt, for good.

Questions that come with a workflow task are asked while its local activities are under way. One that ends before they
are answered is recorded with that task, and the SDK hands its end over with the next one, after what has happened
meanwhile; a replay hands it over before that.
"""

from collections.abc import Callable

from temporalio.bridge.proto.workflow_activation import WorkflowActivation, WorkflowActivationJob
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.converter import SerializationContext, StorageDriverStoreContext
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkflowInstance, WorkflowInstanceDetails
from temporalio.workflow import Info

_QUERY = "legacy_query"
"""The id of a query that is a task of its own, and not part of a workflow task."""

_OF_A_TASK = ("initialize_workflow", "do_update", "query_workflow", "notify_has_patch", "update_random_seed")
"""Jobs that may come again within a workflow task, or that no event stands for."""


class EvictingRunner(UnsandboxedWorkflowRunner):
    """Runs workflows, and evicts one that has run ahead as soon as it has answered."""

    def __init__(self) -> None:
        self._worker: Worker | None = None

    def serve(self, worker: Worker) -> None:
        """Name the worker whose cache the workflows are in."""
        self._worker = worker

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Return a workflow of a history."""
        return Watched(super().create_instance(det), self._evict)

    def _evict(self, run_id: str) -> None:
        if self._worker is not None:
            # Nothing public evicts.
            self._worker._bridge_worker.request_workflow_eviction(run_id)  # pyright: ignore[reportPrivateUsage]


class Watched(WorkflowInstance):
    """One workflow in a worker's cache.

    Args:
        instance: The workflow.
        evict: Evicts it, by its run.
    """

    def __init__(self, instance: WorkflowInstance, evict: Callable[[str], None]) -> None:
        self._instance = instance
        self._evict = evict
        self._begun_at = 0
        self._was_replayed = self._is_ahead = False
        self._tasks = self._locals = 0

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        """Let the workflow act."""
        if any(job.query_workflow.query_id == _QUERY for job in act.jobs):
            # The first task after a replay may have been another worker's: the query came with its start. A workflow
            # that was replayed for a task of this worker's own is evicted as well where a query comes before its next
            # one; then it is replayed for a query, and stays.
            if self._is_ahead or (self._was_replayed and self._tasks == 1):
                # Requested before the answer, so that no task comes in between.
                self._evict(act.run_id)
            self._was_replayed = False
        else:
            self._see(act)
            if self._locals and any(job.HasField("query_workflow") for job in act.jobs):
                # What ends meanwhile would be recorded with this task, and handed over with the next one.
                self._evict(act.run_id)
        self._locals -= sum(job.resolve_activity.is_local for job in act.jobs)
        completion = self._instance.activate(act)
        self._locals += sum(one.HasField("schedule_local_activity") for one in completion.successful.commands)
        return completion

    def _see(self, act: WorkflowActivation) -> None:
        # Each workflow task has a time of its own, and brings what has happened at its beginning.
        begun_at = act.timestamp.ToNanoseconds()
        if begun_at != self._begun_at:
            self._begun_at, self._is_ahead = begun_at, False
            self._was_replayed |= act.is_replaying
            self._tasks += not act.is_replaying
        elif any(_has_happened(job) for job in act.jobs):
            self._is_ahead = True

    def get_serialization_context(self, *given: ..., **named: ...) -> SerializationContext | None:
        """Return what the workflow's own instance does."""
        return self._instance.get_serialization_context(*given, **named)

    def get_external_store_context(self, *given: ..., **named: ...) -> StorageDriverStoreContext:
        """Return what the workflow's own instance does."""
        return self._instance.get_external_store_context(*given, **named)

    def get_info(self) -> Info:
        """Return what the workflow's own instance does."""
        return self._instance.get_info()

    def get_thread_id(self) -> int | None:
        """Return what the workflow's own instance does."""
        return self._instance.get_thread_id()


def _has_happened(job: WorkflowActivationJob) -> bool:
    """Return whether a job tells of an event of the history: of a timer, say, and not of a local activity."""
    kind = job.WhichOneof("variant") or ""
    return not (kind in _OF_A_TASK or (kind == "resolve_activity" and job.resolve_activity.is_local))
