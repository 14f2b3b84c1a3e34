"""Asking a person from your own workflows, in the way in which tasks ask."""

from temporalio import workflow

from perdure.names import TASK_QUEUE, Workflow
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.values.inbox import PersonAnswer, PersonQuestion


async def ask_person(question: PersonQuestion, *, task_queue: str = TASK_QUEUE) -> PersonAnswer:
    """Ask a person, in a workflow, and wait for the answer until the question's deadline.

    The question is put by a child workflow on Perdure's workers. The inbox lists it, and it is answered as all others
    are (``perdure inbox``, ``perdure answer``). If this workflow ends or is cancelled, it is no longer asked.

    Args:
        question: The question; it stands in the workflow's history.
        task_queue: Where Perdure's workers listen.

    Returns:
        The answer, or the question's default with ``answered`` false once its time has passed.

    Raises:
        ChildWorkflowError: The question is malformed, or was cancelled.
    """
    return await workflow.execute_child_workflow(
        Workflow.ASK_PERSON,
        question,
        id=f"ask-{workflow.uuid4()}",
        task_queue=task_queue,
        result_type=PersonAnswer,
        task_timeout=TASK_TIMEOUT,
        parent_close_policy=workflow.ParentClosePolicy.REQUEST_CANCEL,
        static_summary="Asks a person",
    )
