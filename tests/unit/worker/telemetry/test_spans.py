import contextlib
import stat
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Tracer, format_trace_id, get_tracer
from rich.console import Console

from perdure.secrets.redaction import KNOWN
from tests.conftest import clean_settings
from worker.telemetry import SpanLine, Telemetry, render_tree, spans_of
from worker.telemetry.setup import SpanFilter
from worker.telemetry.spans import SpanFile


def tracer(folder: Path, *, content: bool = False, rotate_at: int = 4_000_000) -> Tracer:
    provider = TracerProvider(shutdown_on_exit=False)
    file = SpanFile(folder, rotate_at)
    provider.add_span_processor(SimpleSpanProcessor(SpanFilter(file, content=content)))
    return provider.get_tracer("test")


def recall(tracer: Tracer) -> str:
    with tracer.start_as_current_span("task") as root, tracer.start_as_current_span("memory.recall") as span:
        span.set_attribute("gen_ai.operation.name", "search_memory")
        span.set_attribute("gen_ai.memory.query.text", "the secret question")
        span.set_attribute("gen_ai.memory.records", '["the secret answer"]')
        return format_trace_id(root.get_span_context().trace_id)


def test_a_trace_is_read_back(tmp_path: Path) -> None:
    trace_id = recall(tracer(tmp_path))
    recall(tracer(tmp_path))

    root, child = spans_of(tmp_path, trace_id)

    assert (root.name, child.name, child.parent) == ("task", "memory.recall", root.span)
    assert child.attributes == {"gen_ai.operation.name": "search_memory"}


def test_content_is_written_only_when_switched_on(tmp_path: Path) -> None:
    recall(tracer(tmp_path / "off"))
    recall(tracer(tmp_path / "on", content=True))

    assert "secret" not in (tmp_path / "off/spans.jsonl").read_text()
    assert "the secret question" in (tmp_path / "on/spans.jsonl").read_text()


def test_a_secret_of_a_tool_is_in_no_span_also_where_content_is_switched_on(tmp_path: Path) -> None:
    KNOWN.learn("door", "sesame-in-a-span")
    with (
        contextlib.suppress(ValueError),
        tracer(tmp_path, content=True).start_as_current_span("opens sesame-in-a-span") as span,
    ):
        span.set_attribute("url", "https://door.example/?key=sesame-in-a-span")
        span.set_attribute("keys", ["sesame-in-a-span", "b"])
        raise ValueError("not sesame-in-a-span")

    written = (tmp_path / "spans.jsonl").read_text()
    assert "sesame" not in written
    assert "key=[secret door]" in written


def test_what_an_exception_said_is_content(tmp_path: Path) -> None:
    trace_id = ""
    with (
        contextlib.suppress(ValueError),
        tracer(tmp_path).start_as_current_span("step") as span,
    ):
        trace_id = format_trace_id(span.get_span_context().trace_id)
        raise ValueError("the secret value")

    (line,) = spans_of(tmp_path, trace_id)
    assert line.failed
    assert "secret" not in (tmp_path / "spans.jsonl").read_text()


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    recall(tracer(tmp_path / "traces"))

    assert stat.S_IMODE((tmp_path / "traces/spans.jsonl").stat().st_mode) == 0o600


def test_the_file_is_bounded_and_two_writers_share_it(tmp_path: Path) -> None:
    first, second = tracer(tmp_path, rotate_at=2_000), tracer(tmp_path, rotate_at=2_000)
    for _ in range(19):
        recall(first)
        recall(second)
    last = recall(second)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["spans.jsonl", "spans.jsonl.1"]
    assert all(path.stat().st_size < 3_000 for path in tmp_path.iterdir())
    assert len(spans_of(tmp_path, last)) == 2


def test_an_unwritable_folder_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    recall(tracer(tmp_path / "file" / "traces"))


def test_a_cut_off_line_and_a_repeated_span_are_no_trouble(tmp_path: Path) -> None:
    trace_id = recall(tracer(tmp_path))
    file = tmp_path / "spans.jsonl"
    text = file.read_text()
    file.write_text(text + text + text[: len(text) // 3])

    assert len(spans_of(tmp_path, trace_id)) == 2


def line(span: str, parent: str, start: int, **attributes: str) -> SpanLine:
    return SpanLine(
        trace="t",
        span=span,
        parent=parent,
        name=f"span {span}",
        start=start,
        end=start + 1_500_000,
        attributes={**attributes},
    )


def test_the_tree_shows_children_under_parents() -> None:
    console = Console(width=100, color_system=None)
    spans = [line("c", "b", 5, lane="pattern"), line("a", "", 9), line("b", "a", 10), line("x", "gone", 11)]

    with console.capture() as capture:
        console.print(render_tree(spans))

    assert capture.get() == (
        "trace t\n"
        "├── span a  1.5 ms\n"
        "│   └── span b  1.5 ms\n"
        "│       └── span c  1.5 ms  lane=pattern\n"
        "└── span x  1.5 ms\n"
    )


def test_a_span_that_ends_after_its_process_has_stopped_is_no_trouble(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    telemetry = Telemetry.start(clean_settings(tmp_path))
    with telemetry.root("outer") as trace:
        late = get_tracer("perdure").start_span("late")
    assert [line.name for line in spans_of(tmp_path / "traces", trace)] == ["outer"]
    telemetry.stop()
    late.end()
    telemetry.stop()
    assert caplog.records == []
