"""Spans of what a task waits for. Temporal's tracer ends none of them in a replay, and gives each the same id again."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace

from perdure.model import Instant
from workflows.branches import Branches


@contextmanager
def waiting(branches: Branches, name: str, path: str, *, since: Instant | None, **more: Any) -> Generator[None]:
    """Wait in a span, also of a wait that fails, or that the task's end cuts off.

    It is not ended where the wait goes on: in another run, which has a span for all of it, or in another worker.

    Args:
        branches: Those of the task, which know whether it ends.
        name: What it is.
        path: The step that waits.
        since: When the wait began; None: now.
        more: Further attributes.
    """
    start = None if since is None else int(since.timestamp() * 1e9)
    span = trace.get_tracer("perdure.steps").start_span(
        name, attributes={"perdure.step": path, **more}, start_time=start
    )
    is_over = False
    try:
        yield
        is_over = True
    except Exception:
        is_over = True
        raise
    finally:
        if is_over or branches.ending:
            span.end()
