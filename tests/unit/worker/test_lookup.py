"""Whether the start of a task begins a run, or attaches to the last one."""

from dataclasses import dataclass
from typing import cast

import pytest
from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus

from perdure.names import SENDING
from worker.lookup import would_run

RUNNING, COMPLETED = WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.COMPLETED
ENDED = (WorkflowExecutionStatus.FAILED, WorkflowExecutionStatus.CANCELED, WorkflowExecutionStatus.TERMINATED)


@dataclass(frozen=True)
class LastRun:
    """What is asked of Temporal's description of a run."""

    status: WorkflowExecutionStatus
    sending: str

    async def memo_value(self, key: str, default: str) -> str:
        assert key == SENDING
        return self.sending or default


async def begins(
    status: WorkflowExecutionStatus,
    begun_by: str = "",
    *,
    again: bool = False,
    sending: str = "",
    repeated: bool = False,
) -> bool:
    found = cast("WorkflowExecutionDescription", LastRun(status, begun_by))
    return await would_run(found, again=again, sending=sending, repeated=repeated)


@pytest.mark.parametrize("status", [RUNNING, COMPLETED, *ENDED])
@pytest.mark.parametrize("again", [True, False])
async def test_a_sending_that_was_carried_out_begins_no_run_whichever_has_followed(
    status: WorkflowExecutionStatus, again: bool
) -> None:
    assert not await begins(status, "another", again=again, sending="own", repeated=True)
    assert not await begins(status, "own", again=again, sending="own")
    # The control: of what was not sent before, the last run decides.
    assert await begins(status, "another", again=again, sending="own") is await begins(status, again=again)


async def test_a_task_that_did_not_complete_is_gone_on_with_and_one_that_did_only_if_that_is_asked() -> None:
    assert [await begins(status) for status in (RUNNING, COMPLETED, *ENDED)] == [False, False, True, True, True]
    assert [await begins(status, again=True) for status in (RUNNING, COMPLETED)] == [False, True]
