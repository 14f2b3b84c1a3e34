import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

PROGRAM = """
import sys
from pathlib import Path
from opentelemetry import metrics, trace
from perdure.settings import Settings
from worker.telemetry import Telemetry

telemetry = Telemetry.start(Settings(home=Path(sys.argv[1])))
with telemetry.root("perdure.run"):
    with trace.get_tracer("t").start_as_current_span("memory.recall") as span:
        span.set_attribute("gen_ai.memory.query.text", "the secret question")
metrics.get_meter("t").create_histogram("memory.recall.duration", unit="s").record(0.1)
telemetry.stop()
"""


@pytest.mark.slow
def test_spans_and_metrics_go_to_the_collector_without_content(httpserver: HTTPServer, tmp_path: Path) -> None:
    received: dict[str, bytes] = {}

    def receive(request: Request) -> Response:
        received[request.path] = request.get_data()
        return Response(status=200)

    for path in ("/v1/traces", "/v1/metrics"):
        httpserver.expect_request(path, method="POST").respond_with_handler(receive)
    collector = httpserver.url_for("").rstrip("/")
    environment = os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": collector, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}

    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], env=environment, check=True, timeout=60)

    assert b"memory.recall" in received["/v1/traces"]
    assert b"perdure-worker" in received["/v1/traces"]
    assert b"secret" not in received["/v1/traces"]
    assert b"memory.recall.duration" in received["/v1/metrics"]
