"""A tool's own log lines and exceptions, and the spans of a whole task, as whoever wrote the tool finds them."""

import json
from pathlib import Path
from uuid import uuid4

import pytest
from temporalio.client import Client

from perdure.identity import workflow_id
from perdure.values.tasks import TaskResult
from tests.conftest import Servers
from tests.integration.worker.cli.installation import installation
from tests.support.waiting import until
from worker.telemetry import spans_of

TOOLS = '''
import json
import logging
from perdure import tool

@tool(effect="read")
def weigh(thing: str) -> int:
    """Weigh a thing, in a thread."""
    logging.getLogger("shop").info("weighing")
    if thing == "smoke":
        measure(thing)
    return len(thing)

def measure(thing: str) -> int:
    return json.loads("{" + thing)
'''
SKILL = """
name: weighing
steps:
  - {id: pause, wait: 1s}
  - {id: first, tool: weigh, args: {thing: a stone}, approve: "May it be weighed?"}
  - {id: second, tool: weigh, args: {thing: smoke}, on_failure: continue}
"""


@pytest.mark.slow
async def test_a_task_is_traced_whole_and_a_failure_names_the_line_in_logs_and_spans(
    servers: Servers, tmp_path: Path
) -> None:
    (tmp_path / "shop.py").write_text(TOOLS)
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills/weighing.yaml").write_text(SKILL)
    async with installation(
        servers, tmp_path, skills=(tmp_path / "skills",), tools=(str(tmp_path / "shop.py"),)
    ) as given:
        worker, log = await given.worker()
        task_id = f"t{uuid4().hex[:10]}"
        file = given.write("task.yaml", f"task_id: {task_id}\nuser_id: ada\nskill: weighing\n")
        started = await given.perdure("run", file, "--detach", "--json")
        assert started.status == 0, started.err
        following = await given.start("run", file, "--json", "--trace")
        answer = await following.says("perdure answer")
        assert (await given.typed(answer.replace("ANSWER", "yes"))).status == 0
        ended = await following.ended()
        result = TaskResult.model_validate_json(ended.out)
        assert (result.done, result.failed) == (2, 1), ended.err
        line = next(number for number, text in enumerate(TOOLS.splitlines(), 1) if "json.loads" in text)
        place = f"shop.py:{line} in measure"
        assert place in result.incomplete[0].problem

        for told in ("perdure.wait", "perdure.question", "execute_tool weigh", "perdure.run"):
            assert told in ended.err, "the trace of the process that started it, also where another one attached"
        trace = next(word for word in ended.err.split() if len(word) == 32)
        spans = spans_of(tmp_path / "home/traces", trace)
        assert len([span for span in spans if not span.parent]) == 1
        tools = [span for span in spans if span.name == "execute_tool weigh"]
        assert {str(span.attributes["perdure.step"]) for span in tools} == {"first", "second"}
        assert {span.parent for span in tools} <= {span.span for span in spans}
        failed = [span.attributes for span in tools if span.failed]
        assert failed[-1]["error.type"] == "JSONDecodeError"
        assert f"{failed[-1]['code.file.path']}:{failed[-1]['code.line.number']}" in place
        waits = {span.name: span.milliseconds for span in spans if span.name in ("perdure.wait", "perdure.question")}
        assert waits["perdure.wait"] >= 900

        lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
        weighed = [line for line in lines if line["event"] == "weighing"]
        assert {(line["task"], line["step"]) for line in weighed} == {(task_id, "first"), (task_id, "second")}
        attempts = [line for line in lines if line["event"] == "attempt failed"]
        assert attempts
        assert all(place == line["where"][0] for line in attempts)
        assert all("smoke" not in json.dumps(line) and "Expecting" not in json.dumps(line) for line in lines)
        assert "Traceback" not in log.read_text()
        worker.terminate()
        await worker.wait()


WEIGHED = "".join(f"        - {{id: s{place}, tool: weigh, args: {{thing: stone}}}}\n" for place in range(12))
WAITING = f"""
name: waiting
steps:
  - parallel:
      - {{id: pause, wait: 3s}}
      - - {{id: begin, tool: weigh, args: {{thing: stone}}}}
{WEIGHED}
  - {{id: gate, tool: weigh, args: {{thing: a stone}}, approve: "May it be weighed?"}}
"""


@pytest.mark.slow
async def test_a_wait_has_one_span_over_all_runs_and_also_where_the_tasks_end_cuts_it_off(
    servers: Servers, tmp_path: Path
) -> None:
    (tmp_path / "shop.py").write_text(TOOLS)
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills/waiting.yaml").write_text(WAITING)
    async with installation(
        servers, tmp_path, skills=(tmp_path / "skills",), tools=(str(tmp_path / "shop.py"),), continue_after=20
    ) as given:
        worker, _ = await given.worker()
        file = given.write("task.yaml", f"task_id: t{uuid4().hex[:10]}\nuser_id: ada\nskill: waiting\n")
        following = await given.start("run", file, "--json", "--trace")
        await following.says("perdure answer")
        assert (await given.perdure("cancel", file)).status == 0
        ended = await following.ended()
        trace = next(word for word in ended.err.split() if len(word) == 32)
        result = TaskResult.model_validate_json(ended.out)
        client = await Client.connect(servers.temporal)
        rolled = f"WorkflowId = '{workflow_id('ada', result.task_id)}' AND ExecutionStatus = 'ContinuedAsNew'"

        async def runs() -> int:
            return len([one async for one in client.list_workflows(rolled)])

        assert await until(runs, bool)
        spans = spans_of(tmp_path / "home/traces", trace)
        waits = [(span.name, span.milliseconds) for span in spans if span.name in ("perdure.wait", "perdure.question")]
        assert [name for name, _ in waits] == ["perdure.wait", "perdure.question"]
        assert waits[0][1] >= 2_900
        worker.terminate()
        await worker.wait()
