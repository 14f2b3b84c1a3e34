"""Owns what this process tells about itself: spans, metrics, logs. Never content, unless the settings say so.

Spans go to a local file, so that a trace can be looked at with no collector, and by OTLP where the standard
``OTEL_EXPORTER_OTLP_ENDPOINT`` (or its ``_TRACES_`` and ``_METRICS_`` forms) names one.
"""

from worker.telemetry.logs import configure_logging
from worker.telemetry.setup import Telemetry
from worker.telemetry.spans import SpanLine, render_tree, spans_of

__all__ = ["SpanLine", "Telemetry", "configure_logging", "render_tree", "spans_of"]
