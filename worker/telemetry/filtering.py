"""Owns what may leave in a span: an exporter in front of another one, which takes content out."""

from collections.abc import Mapping, Sequence

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Status
from opentelemetry.util.types import AttributeValue

CONTENT = frozenset(
    {
        "gen_ai.memory.query.text",
        "gen_ai.memory.records",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.system_instructions",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        # What an exception says often quotes what it choked on.
        "exception.message",
        "exception.stacktrace",
    }
)
"""Attributes of spans and their events that hold what people or tools said."""


def without_content(attributes: Mapping[str, AttributeValue] | None) -> dict[str, AttributeValue]:
    """Give the attributes that hold no content."""
    return {name: value for name, value in (attributes or {}).items() if name not in CONTENT}


class ContentFilter(SpanExporter):
    """Hands spans on without their content.

    Args:
        inner: The exporter that gets what is left.
    """

    def __init__(self, inner: SpanExporter) -> None:
        self._inner = inner

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export spans without their content."""
        return self._inner.export([_filtered(span) for span in spans])

    def shutdown(self) -> None:
        """Shut the inner exporter down."""
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush the inner exporter."""
        return self._inner.force_flush(timeout_millis)


def _filtered(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=without_content(span.attributes),
        events=[Event(event.name, without_content(event.attributes), event.timestamp) for event in span.events],
        links=span.links,
        kind=span.kind,
        # Its description repeats the exception's message.
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )
