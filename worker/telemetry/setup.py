"""Owns the tracer and meter providers of this process, and where their data goes."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter
from opentelemetry.trace import format_trace_id
from temporalio.contrib.opentelemetry import (
    OpenTelemetryPlugin,
    ReplaySafeMeterProvider,
    ReplaySafeTracerProvider,
    create_tracer_provider,
)

from perdure.settings import Settings
from worker.telemetry.filtering import ContentFilter
from worker.telemetry.spanfile import SpanFile


class Telemetry:
    """The telemetry of a process, from ``start`` to ``stop``."""

    plugin: OpenTelemetryPlugin
    """For ``Client.connect(plugins=…)``; workers of that client inherit it."""

    def __init__(self, processors: list[SpanProcessor], meters: MeterProvider | None) -> None:
        self.plugin = OpenTelemetryPlugin()
        self._processors = processors
        self._meters = meters

    @classmethod
    def start(cls, settings: Settings, *, service: str = "perdure-worker") -> "Telemetry":
        """Start telling: spans to the local file and, where configured, spans and metrics by OTLP.

        Args:
            settings: Where the file is, and whether content may appear.
            service: The process' name, unless ``OTEL_SERVICE_NAME`` gives one.
        """
        resource = Resource.create({} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": service})

        def filtered(exporter: SpanExporter) -> SpanExporter:
            return exporter if settings.trace_content else ContentFilter(exporter)

        # Not batched: a killed process leaves what it did until then, which is when one wants to know.
        processors: list[SpanProcessor] = [SimpleSpanProcessor(filtered(SpanFile(settings.home / "traces")))]
        if _configured("TRACES"):
            processors.append(BatchSpanProcessor(filtered(OTLPSpanExporter())))
        provider = _tracer_provider(resource)
        for processor in processors:
            provider.add_span_processor(processor)
        return cls(processors, _start_meters(resource) if _configured("METRICS") else None)

    def stop(self) -> None:
        """Send what is held back, and stop telling."""
        for processor in self._processors:
            processor.shutdown()
        if self._meters:
            self._meters.shutdown()

    @contextmanager
    def root(self, name: str) -> Generator[str]:
        """Open the span under which everything started here is found.

        Returns:
            The trace's id, for ``spans_of``.
        """
        with trace.get_tracer("perdure").start_as_current_span(name) as span:
            yield format_trace_id(span.get_span_context().trace_id)


def _configured(signal: str) -> bool:
    return any(os.environ.get(f"OTEL_EXPORTER_OTLP_{part}ENDPOINT") for part in ("", f"{signal}_"))


def _tracer_provider(resource: Resource) -> ReplaySafeTracerProvider:
    """Give the process' provider, which can be set once only; Temporal's, which does not tell twice on replay."""
    current = trace.get_tracer_provider()
    if isinstance(current, ReplaySafeTracerProvider):
        return current
    provider = create_tracer_provider(resource=resource, shutdown_on_exit=False)
    trace.set_tracer_provider(provider)
    return provider


def _start_meters(resource: Resource) -> MeterProvider:
    meters = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())], resource, shutdown_on_exit=False)
    metrics.set_meter_provider(ReplaySafeMeterProvider(meters))
    return meters
