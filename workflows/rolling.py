"""When the history of a run is long enough to be rolled over into the next one."""

from temporalio import workflow


def is_due(limit: int = 0) -> bool:
    """Say whether this run should continue as new.

    Args:
        limit: Events after which it should, if not when the server suggests it.
    """
    info = workflow.info()
    return info.is_continue_as_new_suggested() or bool(limit and info.get_current_history_length() >= limit)
