"""What a model has used is in the span of each turn, so that whoever pays finds out what was dear."""

from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pytest_httpserver import HTTPServer

from perdure.names import Activity
from tests.conftest import Servers
from tests.support.goals import agents_on, goal
from tests.support.turn_server import Asked, Call, Says


@pytest.mark.slow
async def test_each_turn_says_how_many_tokens_it_took(
    servers: Servers, tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(asked: Asked) -> Says:
        return Says("It is 1.") if asked.turns else Says(calls=(Call("echo", {"value": 1}),))

    spans, traces = InMemorySpanExporter(), TracerProvider()
    traces.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: traces)
    async with agents_on(servers, tmp_path, httpserver)(script) as (one, _):
        result = await (await one.start(goal())).result()

    turns = [dict(span.attributes or {}) for span in spans.get_finished_spans() if span.name == Activity.REASON]
    used = [int(str(turn[f"gen_ai.usage.{way}_tokens"])) for turn in turns for way in ("input", "output")]
    assert len(used) == 4
    assert all(used)
    assert sum(used) == result.tokens
