"""The id of a request is where whoever looks for it looks: in the answer and in the request's span."""

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.support.http_service import Service
from worker.http import request_log


async def test_a_span_has_the_id_of_its_request(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    spans, traces = InMemorySpanExporter(), TracerProvider()
    traces.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(request_log, "_tracer", traces.get_tracer("perdure"))
    async with await service.client() as client:
        given = await client.get("/v2/control/skills", headers={"X-Request-Id": "ours-7"})
        made = await client.get("/livez")
        hostile = await client.get("/livez", headers={"X-Request-Id": "a b\x7f"})
    assert given.headers["X-Request-Id"] == "ours-7"
    found = {str(one.name): dict(one.attributes or {})["perdure.request"] for one in spans.get_finished_spans()}
    assert found["GET /v2/control/skills"] == "ours-7"
    assert found["GET /livez"] == hostile.headers["X-Request-Id"]
    assert len({made.headers["X-Request-Id"], hostile.headers["X-Request-Id"], "a b\x7f"}) == 3
