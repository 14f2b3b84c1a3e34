"""A workflow whose module does what the finalizer of redis's connection pools does, in the middle of an import."""

import redis
from temporalio import workflow

if not hasattr(redis, "imported_outside"):
    raise ImportError("the sandbox imports redis anew")


@workflow.defn
class Finalizer:
    """Does nothing."""

    @workflow.run
    async def run(self) -> None:
        """Return."""
