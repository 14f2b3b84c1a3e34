"""Spans of what a task waits for. Temporal's tracer ends none of them in a replay, and gives each the same id again."""

from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Span

from perdure.model import Instant


def begun(name: str, path: str, *, since: Instant | None = None, **more: Any) -> Span:
    """Return the span of a wait, for whoever waits to end.

    It is not ended where the wait is given up, or goes on in another run: that run has a span for all of it.

    Args:
        name: What it is.
        path: The step that waits.
        since: When the wait began; None: now.
        more: Further attributes.
    """
    start = None if since is None else int(since.timestamp() * 1e9)
    return trace.get_tracer("perdure.steps").start_span(
        name, attributes={"perdure.step": path, **more}, start_time=start
    )
