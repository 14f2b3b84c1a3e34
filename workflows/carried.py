"""What a run of a workflow leaves to the next one, and how it is told from what somebody else sends."""

from temporalio import workflow

from perdure.model import Passed


class Carried(Passed):
    """What a run leaves to the next one when its history is rolled over."""

    chain: str = ""
    """The id of the first of these runs. It is made when a workflow starts, so nobody can give it who starts one, also
    by a cron schedule, whose later runs Temporal calls continued as well. A workflow of somebody's own that continues
    as one of these knows it: whoever runs workers in the namespace is trusted."""

    @property
    def is_own(self) -> bool:
        """Whether an earlier run of the current workflow left it."""
        return self.chain == chain()


def chain() -> str:
    """Return the id of the current workflow's first run; a reset keeps it."""
    return workflow.info().first_execution_run_id
