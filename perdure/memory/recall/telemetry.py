"""The spans and the histogram of recall. Never records content unless it was switched on."""

import json
from collections.abc import Generator
from contextlib import contextmanager

from opentelemetry import metrics, trace
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider

from perdure.memory.recall.query import FoundBy, Query, RecallResult

_BUCKETS = [0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0]
"""Fine around 0.1 s, which 95 % of all recalls must beat."""


class RecallTelemetry:
    """Spans and figures about recalls.

    Args:
        content: Whether spans may carry the question and what was recalled.
        tracer_provider: Without one, the global one.
        meter_provider: Without one, the global one.
    """

    def __init__(
        self,
        *,
        content: bool = False,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
    ) -> None:
        self._content = content
        self._tracer = trace.get_tracer("perdure.recall", tracer_provider=tracer_provider)
        self._duration = metrics.get_meter("perdure.recall", meter_provider=meter_provider).create_histogram(
            "memory.recall.duration",
            unit="s",
            description="How long recalls take",
            explicit_bucket_boundaries_advisory=_BUCKETS,
        )

    @contextmanager
    def recall(self, query: Query) -> Generator[Span]:
        """Span one recall."""
        attributes = {
            "gen_ai.operation.name": "search_memory",
            "gen_ai.memory.store.id": query.tenant,
            "gen_ai.conversation.id": query.session,
        }
        if self._content:
            attributes["gen_ai.memory.query.text"] = query.text
        with self._tracer.start_as_current_span("memory.recall", kind=SpanKind.INTERNAL, attributes=attributes) as span:
            yield span

    @contextmanager
    def call(self, store: str, operation: str) -> Generator[None]:
        """Span one call to a store."""
        attributes = {"gen_ai.operation.name": "search_memory", "gen_ai.provider.name": store}
        with self._tracer.start_as_current_span(
            f"{store}.{operation}",
            kind=SpanKind.CLIENT,
            attributes=attributes,
            # An error's own words can quote what was stored.
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            except BaseException as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(Status(StatusCode.ERROR))
                raise

    def finished(self, span: Span, result: RecallResult) -> None:
        """Record how a recall ended."""
        counts = {found_by: sum(item.found_by is found_by for item in result.items) for found_by in FoundBy}
        span.set_attributes(
            {
                "gen_ai.memory.record.count": len(result.items),
                "perdure.recall.trigger": result.trigger.value,
                "perdure.recall.degraded": list(result.degraded),
                "perdure.recall.episodes": len(result.episodes),
                **{f"perdure.recall.{found_by.value}": count for found_by, count in counts.items()},
            }
        )
        if self._content:
            records = [{"id": item.id, "content": item.text, "score": item.score} for item in result.items]
            span.set_attribute("gen_ai.memory.records", json.dumps(records))
        self._duration.record(
            result.milliseconds / 1000.0,
            {
                "perdure.recall.trigger": result.trigger.value,
                "perdure.recall.degraded": bool(result.degraded),
            },
        )
