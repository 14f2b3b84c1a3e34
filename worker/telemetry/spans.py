"""The local span file, one JSON line for each span: writing it, reading one trace back, and drawing it as a tree.

Several processes append to the file, which is bounded and readable by its owner only. A span that cannot be written is
dropped: telemetry never makes the observed work fail.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import StatusCode, format_span_id, format_trace_id
from pydantic import JsonValue, ValidationError
from rich.text import Text
from rich.tree import Tree

from perdure.model import Stored

ROTATE_AT = 4_000_000
"""Bytes after which the file becomes ``spans.jsonl.1``; each of the two files holds about 8,000 spans."""


_SHOWN = 6
"""Attributes that the tree shows of a span."""

_LONGEST = 60


class SpanLine(Stored):
    """A span as it is stored in the file."""

    trace: str
    span: str
    parent: str = ""
    name: str
    start: int
    """In nanoseconds since 1970."""
    end: int
    failed: bool = False
    service: str = ""
    attributes: dict[str, JsonValue]

    @property
    def milliseconds(self) -> float:
        """How long it took."""
        return (self.end - self.start) / 1e6


class SpanFile(SpanExporter):
    """Appends spans to the file in a folder.

    Args:
        folder: The folder of the file.
        rotate_at: The size in bytes at which a new file is begun.
    """

    def __init__(self, folder: Path, rotate_at: int = ROTATE_AT) -> None:
        self._path = folder / "spans.jsonl"
        self._rotate_at = rotate_at
        self._file = -1

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Append spans in a single write, so that the lines of several processes never interleave."""
        try:
            data = b"".join(_line(span) for span in spans)
            self._open()
            os.write(self._file, data)
        except OSError:
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> None:
        if self._file >= 0 and self._is_current():
            if os.fstat(self._file).st_size < self._rotate_at:
                return
            self._rotate()
        self.shutdown()
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _is_current(self) -> bool:
        """Return whether the open file is still the one at its path: another process may have rotated it."""
        try:
            return os.stat(self._path).st_ino == os.fstat(self._file).st_ino  # noqa: PTH116 - on every span
        except FileNotFoundError:
            return False

    def _rotate(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            if self._is_current():
                self._path.replace(self._path.with_name("spans.jsonl.1"))
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)


def _line(span: ReadableSpan) -> bytes:
    context = span.context
    assert context
    line = {
        "trace": format_trace_id(context.trace_id),
        "span": format_span_id(context.span_id),
        "parent": format_span_id(span.parent.span_id) if span.parent else "",
        "name": span.name,
        "start": span.start_time or 0,
        "end": span.end_time or 0,
        "failed": span.status.status_code is StatusCode.ERROR,
        "service": span.resource.attributes.get("service.name", ""),
        "attributes": dict(span.attributes or {}),
    }
    return json.dumps(line, separators=(",", ":"), default=list).encode() + b"\n"


def spans_of(folder: Path, trace_id: str) -> list[SpanLine]:
    """Return the spans of one trace, ordered by start time.

    Args:
        folder: The folder of the span file.
        trace_id: 32 hex digits.
    """
    # A workflow task that is retried can emit a span again, with the same id.
    found: dict[str, SpanLine] = {}
    for line in _lines(folder):
        if trace_id in line:
            with contextlib.suppress(ValidationError):  # A full disk truncates a line.
                span = SpanLine.model_validate_json(line)
                if span.trace == trace_id:
                    found[span.span] = span
    return sorted(found.values(), key=lambda span: span.start)


def _lines(folder: Path) -> Iterator[str]:
    for name in ("spans.jsonl.1", "spans.jsonl"):
        with contextlib.suppress(FileNotFoundError), (folder / name).open(encoding="utf-8", errors="replace") as file:
            yield from file


def render_tree(spans: Sequence[SpanLine]) -> Tree:
    """Draw the spans of one trace as a tree, siblings ordered by start time.

    A span whose parent is missing is drawn at the top: the parent may not have ended yet.
    """
    title = f"trace {spans[0].trace}" if spans else "no spans"
    tree = Tree(Text(title, style="dim"))
    nodes: dict[str, Tree] = {}
    pending = sorted(spans, key=lambda span: span.start)
    known = {span.span for span in spans}
    while pending:
        # The clocks of two processes may differ, so a child can appear to start before its parent.
        ready = [span for span in pending if span.parent in nodes or span.parent not in known]
        for span in ready:
            nodes[span.span] = nodes.get(span.parent, tree).add(_label(span))
        if not ready:
            break
        pending = [span for span in pending if span.span not in nodes]
    return tree


def _label(span: SpanLine) -> Text:
    label = Text(span.name, style="bold red" if span.failed else "bold")
    label.append(f"  {span.milliseconds:,.1f} ms", style="cyan")
    shown = [f"{name}={_short(value)}" for name, value in list(span.attributes.items())[:_SHOWN]]
    if shown:
        label.append("  " + " ".join(shown), style="dim")
    return label


def _short(value: JsonValue) -> str:
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
