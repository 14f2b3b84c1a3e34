"""Spans, metrics and logs of this process; without content unless the settings allow it.

Spans are written to a local file, so that a trace can be read without a collector. If the standard variable
``OTEL_EXPORTER_OTLP_ENDPOINT`` (or its ``_TRACES_`` or ``_METRICS_`` form) is set, they are also sent by OTLP.
"""

from worker.telemetry.logs import configure_logging
from worker.telemetry.setup import Telemetry
from worker.telemetry.spans import SpanLine, render_tree, spans_of

__all__ = ["SpanLine", "Telemetry", "configure_logging", "render_tree", "spans_of"]
