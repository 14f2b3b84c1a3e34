"""Owns how a trace looks on a terminal. Pure: spans in, a tree out."""

from collections.abc import Sequence

from pydantic import JsonValue
from rich.text import Text
from rich.tree import Tree

from worker.telemetry.spanfile import SpanLine

_SHOWN = 6
_LONGEST = 60


def render_tree(spans: Sequence[SpanLine]) -> Tree:
    """Draw the spans of one trace, children under parents, by their start.

    A span whose parent is not among them stands at the top: its parent may not have ended yet.
    """
    title = f"trace {spans[0].trace}" if spans else "no spans"
    tree = Tree(Text(title, style="dim"))
    nodes: dict[str, Tree] = {}
    pending = sorted(spans, key=lambda span: span.start)
    known = {span.span for span in spans}
    while pending:
        # Clocks of two processes may differ, so that a child can seem to start before its parent.
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
