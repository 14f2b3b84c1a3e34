"""The tracer and meter providers of this process: where their data goes, and what is removed from it first."""

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status, format_trace_id
from opentelemetry.util.types import AttributeValue
from temporalio.contrib.opentelemetry import (
    OpenTelemetryPlugin,
    ReplaySafeMeterProvider,
    ReplaySafeTracerProvider,
    create_tracer_provider,
)

from perdure.secrets.redaction import KNOWN
from perdure.settings import Settings
from worker.telemetry.spans import SpanFile

CONTENT = frozenset(
    {
        "gen_ai.memory.query.text",
        "gen_ai.memory.records",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.system_instructions",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        # The message of an exception often quotes the value that caused it.
        "exception.message",
        "exception.stacktrace",
    }
)
"""Attributes of spans and their events that hold content of people or tools."""


class Telemetry:
    """The telemetry of a process, from ``start`` to ``stop``."""

    plugin: OpenTelemetryPlugin
    """For ``Client.connect(plugins=…)``; workers of that client inherit it."""

    def __init__(self, processors: list[SpanProcessor], meters: MeterProvider | None) -> None:
        self.plugin = OpenTelemetryPlugin()
        self._processors = processors
        self._meters = meters

    @classmethod
    def start(cls, settings: Settings, *, service: str = "perdure-worker", scraped: bool = False) -> "Telemetry":
        """Start writing spans to the local file and, if configured, sending spans and metrics by OTLP.

        Args:
            settings: Names the data folder, and whether content may appear.
            service: The service name, unless ``OTEL_SERVICE_NAME`` is set.
            scraped: Whether this process shows its metrics to Prometheus, unless they are sent by OTLP.
        """
        resource = Resource.create({} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": service})

        def filtered(exporter: SpanExporter) -> SpanExporter:
            return SpanFilter(exporter, content=settings.trace_content)

        # Not batched, so that a killed process leaves the spans of everything it did until then.
        processors: list[SpanProcessor] = [SimpleSpanProcessor(filtered(SpanFile(settings.home / "traces")))]
        if _configured("TRACES"):
            processors.append(BatchSpanProcessor(filtered(OTLPSpanExporter())))
        provider = _tracer_provider(resource)
        processors = [_UntilStopped(processor) for processor in processors]
        for processor in processors:
            provider.add_span_processor(processor)
        readers: list[MetricReader] = []
        if sends_metrics():
            readers = [PeriodicExportingMetricReader(OTLPMetricExporter())]
        elif scraped:
            readers = _scraped()
        return cls(processors, _start_meters(resource, readers) if readers else None)

    def stop(self) -> None:
        """Send what is buffered, and stop."""
        for processor in self._processors:
            processor.shutdown()
        if self._meters:
            self._meters.shutdown()

    @contextmanager
    def root(self, name: str) -> Generator[str]:
        """Open the root span of everything that is started in this context, and yield its trace id for ``spans_of``."""
        with trace.get_tracer("perdure").start_as_current_span(name) as span:
            yield format_trace_id(span.get_span_context().trace_id)


def _configured(signal: str) -> bool:
    return any(os.environ.get(f"OTEL_EXPORTER_OTLP_{part}ENDPOINT") for part in ("", f"{signal}_"))


def _tracer_provider(resource: Resource) -> ReplaySafeTracerProvider:
    """Return the provider of this process, which can be set only once. It is Temporal's, so replays add no spans."""
    current = trace.get_tracer_provider()
    if isinstance(current, ReplaySafeTracerProvider):
        return current
    provider = create_tracer_provider(resource=resource, shutdown_on_exit=False)
    trace.set_tracer_provider(provider)
    return provider


def sends_metrics() -> bool:
    """Return whether metrics are sent by OTLP."""
    return _configured("METRICS")


def _scraped() -> list[MetricReader]:
    # Its library takes a moment to import, and only a service that is scraped needs it.
    from opentelemetry.exporter.prometheus import PrometheusMetricReader  # noqa: PLC0415

    return [PrometheusMetricReader()]


def _start_meters(resource: Resource, readers: Sequence[MetricReader]) -> MeterProvider:
    meters = MeterProvider(readers, resource, shutdown_on_exit=False)
    metrics.set_meter_provider(ReplaySafeMeterProvider(meters))
    return meters


def without_content(attributes: Mapping[str, AttributeValue] | None) -> dict[str, AttributeValue]:
    """Return the attributes that hold no content."""
    return {name: value for name, value in (attributes or {}).items() if name not in CONTENT}


def without_secrets(attributes: Mapping[str, AttributeValue] | None) -> dict[str, AttributeValue]:
    """Return attributes in which each secret that this process knows is replaced by its name."""
    return {name: _secretless(value) for name, value in (attributes or {}).items()}


class _UntilStopped(SpanProcessor):
    """Passes spans on until it is stopped; those that end later, of calls that were abandoned, are dropped in silence.

    The provider of a process outlives its processors, and each of them would log a warning for each such span.

    Args:
        inner: The processor that receives them.
    """

    def __init__(self, inner: SpanProcessor) -> None:
        self._inner: SpanProcessor | None = inner

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Pass the beginning of a span on."""
        if self._inner is not None:
            self._inner.on_start(span, parent_context)

    def on_end(self, span: ReadableSpan) -> None:
        """Pass the end of a span on."""
        if self._inner is not None:
            self._inner.on_end(span)

    def shutdown(self) -> None:
        """Send what is buffered, and stop."""
        inner, self._inner = self._inner, None
        if inner is not None:
            inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send what is buffered."""
        return self._inner is None or self._inner.force_flush(timeout_millis)


class SpanFilter(SpanExporter):
    """Removes the content of spans, and in any case secrets of tools, before it passes them on.

    Args:
        inner: The exporter that receives the result.
        content: Whether to let content pass.
    """

    def __init__(self, inner: SpanExporter, *, content: bool = False) -> None:
        self._inner = inner
        self._content = content

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export spans without their content."""
        return self._inner.export([_filtered(span, content=self._content) for span in spans])

    def shutdown(self) -> None:
        """Shut the inner exporter down."""
        self._inner.shutdown()


def _filtered(span: ReadableSpan, *, content: bool) -> ReadableSpan:

    def passed(given: Mapping[str, AttributeValue] | None) -> dict[str, AttributeValue]:
        return without_secrets(given if content else without_content(given))

    # The description repeats the message of the exception.
    told = KNOWN.text(span.status.description) if content and span.status.description else None
    return ReadableSpan(
        name=KNOWN.text(span.name),
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=passed(span.attributes),
        events=[Event(event.name, passed(event.attributes), event.timestamp) for event in span.events],
        links=span.links,
        kind=span.kind,
        status=Status(span.status.status_code, told),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _secretless(value: Any) -> Any:
    match value:
        case str():
            return KNOWN.text(value)
        case Mapping():
            return {name: _secretless(one) for name, one in cast("Mapping[str, Any]", value).items()}
        case list() | tuple():
            return [_secretless(one) for one in cast("Sequence[Any]", value)]
        case _:
            return value
