"""The format of log lines: readable on a terminal, JSON everywhere else."""

import logging
import sys

import structlog
from opentelemetry import trace
from opentelemetry.trace import format_trace_id
from structlog.typing import EventDict, WrappedLogger

from perdure.secrets.redaction import KNOWN


def configure_logging(level: int = logging.INFO, *, as_json: bool | None = None) -> None:
    """Set up structlog, for the logs of libraries too.

    Args:
        level: The lowest level that is written.
        as_json: Whether to write JSON; by default, unless standard error is a terminal.
    """
    json_lines = not sys.stderr.isatty() if as_json is None else as_json
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_trace,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    renderer: list[structlog.typing.Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if json_lines
        # The default formatter prints the local variables of every frame, which hold content.
        else [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        _SecretlessFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for name in ("httpx", "httpx2", "openai"):
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    # Of each failed attempt it logs its own frames and ours; worker.telemetry.attempts tells what failed in one line.
    logging.getLogger("temporalio.activity").addFilter(_is_not_of_a_failed_attempt)
    # Its errors quote messages of servers, which are content; what goes wrong is reported by the call.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)


def _is_not_of_a_failed_attempt(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith("Completing activity as failed")


class _SecretlessFormatter(structlog.stdlib.ProcessorFormatter):
    """Replaces secrets of tools, also in what libraries and tools log."""

    def format(self, record: logging.LogRecord) -> str:
        return KNOWN.text(super().format(record))


def _add_trace(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace"] = format_trace_id(context.trace_id)
    return event
