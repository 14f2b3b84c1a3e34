"""``perdure.temporal.Plugin``: for anybody's Temporal client and worker. It registers nothing there.

client = await Client.connect("localhost:7233", plugins=[Plugin()])
result = await client.execute_workflow("ResumableAgent", task, id=task.workflow_id, task_queue="perdure")
"""

import dataclasses
from typing import Any

from temporalio.client import (
    Interceptor,
    OutboundInterceptor,
    StartWorkflowInput,
    StartWorkflowUpdateWithStartInput,
    UpdateWithStartStartWorkflowInput,
    WorkflowHandle,
    WorkflowUpdateHandle,
)
from temporalio.common import WorkflowIDReusePolicy
from temporalio.plugin import SimplePlugin
from temporalio.worker import WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from perdure.names import AGAIN, Workflow
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.temporal.converter import composed

_PASSED_THROUGH = ("perdure", "redis")
"""Modules that the sandbox does not import anew.

The finalizer of redis's connection pools imports one of its modules. Where a pool is collected in the middle of the
sandbox's own import, a second redis is imported inside it, and Python 3.11 loses track of its import locks: KeyError,
"Failed validating workflow" (python/cpython#91351; measured under a stress of finalizers: 1 of 215 workflows, and none
of 21,544 with redis passed through).
"""


class Plugin(SimplePlugin):
    """What a client or worker needs to work with Perdure's tasks: give it to ``Client.connect(plugins=[Plugin()])``.

    - The data converter reads and writes Perdure's values; the client's own converter keeps all others, and its codec.
    - If the worker of a task that the client starts dies, that is noticed within seconds. A task is started again under
      its workflow id only after a failure, or with the memo ``again``; even then, no ``once`` effect happens twice.
    - Workflows of the client's workers may import ``perdure`` inside Temporal's sandbox.

    Workers made from the client inherit all of this; no workflow and no activity is registered with them.
    """

    def __init__(self) -> None:
        super().__init__(
            "perdure.Plugin",
            data_converter=composed,
            interceptors=[_Starting()],
            workflow_runner=_passing_through,
        )


class _Starting(Interceptor):
    """Starts tasks with the options that they need."""

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        return _Outbound(next)


class _Outbound(OutboundInterceptor):
    async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:
        _prepare(input)
        return await self.next.start_workflow(input)

    async def start_update_with_start_workflow(
        self, input: StartWorkflowUpdateWithStartInput
    ) -> WorkflowUpdateHandle[Any]:
        _prepare(input.start_workflow_input)
        return await self.next.start_update_with_start_workflow(input)


def _prepare(input: StartWorkflowInput | UpdateWithStartStartWorkflowInput) -> None:
    if input.workflow == Workflow.RESUMABLE_AGENT:
        input.task_timeout = input.task_timeout or TASK_TIMEOUT
        # Temporal's default would run a task once more after it has completed.
        if input.id_reuse_policy is WorkflowIDReusePolicy.ALLOW_DUPLICATE and not (input.memo or {}).get(AGAIN):
            input.id_reuse_policy = WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY


def _passing_through(runner: WorkflowRunner | None) -> WorkflowRunner:
    runner = runner or SandboxedWorkflowRunner()
    if not isinstance(runner, SandboxedWorkflowRunner):
        return runner
    return dataclasses.replace(runner, restrictions=runner.restrictions.with_passthrough_modules(*_PASSED_THROUGH))
