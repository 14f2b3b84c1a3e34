"""Log lines: what went wrong and where, without content."""

import json
import logging

import pytest
import structlog
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from perdure.errors import NotDone
from perdure.mcp.connection import ServerConnection
from perdure.mcp.shape import McpServer
from perdure.secrets.redaction import KNOWN
from perdure.secrets.sources import SecretKeeper
from perdure.temporal.errors import failure_of
from perdure.temporal.failures import ActivityInterceptor, attempt_of, details_of
from worker.telemetry import configure_logging
from worker.telemetry.attempts import AttemptInterceptor


def choke(content: str) -> None:
    raise ValueError(f"cannot read {content}")


class Choking(ActivityInboundInterceptor):
    def __init__(self) -> None:
        pass

    async def execute_activity(self, input: ExecuteActivityInput) -> None:
        choke(" ".join(["the", "secret"]))


@pytest.mark.parametrize("as_json", [True, False])
async def test_an_unexpected_failure_is_logged_without_content(
    capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    configure_logging(as_json=as_json)
    inbound = ActivityInterceptor().intercept_activity(Choking())
    run = ExecuteActivityInput(fn=choke, args=[], executor=None, headers={})
    with pytest.raises(ApplicationError, match="ValueError in "):
        await ActivityEnvironment().run(inbound.execute_activity, run)
    written = capsys.readouterr().err
    assert "ValueError" in written
    assert "in choke" in written
    assert "cannot read the secret" not in written
    assert not as_json or json.loads(written)["error"] == "ValueError"


class Raising(ActivityInboundInterceptor):
    def __init__(self) -> None:
        pass

    async def execute_activity(self, input: ExecuteActivityInput) -> None:
        raise ApplicationError("PRD112 tool 'send' raised LookupError", "no address of Kim's", type="ToolFailed")


@pytest.mark.parametrize("content", [False, True])
async def test_what_a_tool_raised_says_is_logged_only_with_the_setting_for_content(
    capsys: pytest.CaptureFixture[str], content: bool
) -> None:
    configure_logging(as_json=True)
    inbound = AttemptInterceptor(content=content).intercept_activity(Raising())
    run = ExecuteActivityInput(fn=choke, args=[], executor=None, headers={})
    with pytest.raises(ApplicationError):
        await ActivityEnvironment().run(inbound.execute_activity, run)
    line = json.loads(capsys.readouterr().err)
    assert "LookupError" in line["problem"]
    assert line.get("text") == ("no address of Kim's" if content else None)


class Refusing(ActivityInboundInterceptor):
    def __init__(self, *, is_last: bool = False) -> None:
        self._is_last = is_last

    async def execute_activity(self, input: ExecuteActivityInput) -> None:
        try:
            raise NotDone("no address of Kim's")
        except NotDone as problem:
            if not self._is_last:
                raise
            # As a step with a ``retry`` does, once that is used up.
            raise failure_of(problem, attempt=details_of(problem)[1], retryable=False) from None


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize("content", [False, True])
async def test_why_a_tool_did_nothing_is_logged_only_with_the_setting_for_content(
    capsys: pytest.CaptureFixture[str], content: bool, is_last: bool
) -> None:
    configure_logging(as_json=True)
    # As the worker has them.
    inbound = ActivityInterceptor().intercept_activity(
        AttemptInterceptor(content=content).intercept_activity(Refusing(is_last=is_last))
    )
    run = ExecuteActivityInput(fn=choke, args=[], executor=None, headers={})
    with pytest.raises(ApplicationError) as failed:
        await ActivityEnvironment().run(inbound.execute_activity, run)
    line = json.loads(capsys.readouterr().err)
    assert line["problem"] == ("PRD303 no address of Kim's" if content else "PRD303 NotDone")
    [frame, *_] = line["where"]
    assert frame.startswith("tests/unit/worker/telemetry/test_logs.py:")
    attempt = attempt_of(failed.value)
    assert attempt is not None
    assert (failed.value.type, attempt.cause, attempt.frames[0].told) == ("NotDone", "NotDone", frame)


async def test_that_a_server_does_not_answer_is_logged_in_any_case(capsys: pytest.CaptureFixture[str]) -> None:
    class Away(Refusing):
        async def execute_activity(self, input: ExecuteActivityInput) -> None:
            await ServerConnection(McpServer(name="shop", command="/no/such"), SecretKeeper()).tools(5)

    configure_logging(as_json=True)
    inbound = AttemptInterceptor().intercept_activity(Away())
    run = ExecuteActivityInput(fn=choke, args=[], executor=None, headers={})
    with pytest.raises(NotDone):
        await ActivityEnvironment().run(inbound.execute_activity, run)
    assert "MCP server 'shop' does not answer" in json.loads(capsys.readouterr().err)["problem"]


def test_a_terminal_shows_no_local_variables(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(as_json=False)

    def fail(words: list[str]) -> None:
        content = " ".join(words)
        raise LookupError(str(len(content)))

    try:
        fail(["the", "secret"])
    except LookupError:
        logging.getLogger("temporalio.worker").warning("Failed", exc_info=True)
    written = capsys.readouterr().err
    assert "LookupError" in written
    assert "the secret" not in written


@pytest.mark.parametrize("as_json", [True, False])
def test_a_secret_of_a_tool_is_in_no_line_whoever_writes_it(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    KNOWN.learn("door", "sesame-in-a-log")
    configure_logging(as_json=as_json)
    structlog.get_logger("ours").warning("opened", url="https://door.example/?key=sesame-in-a-log")
    try:
        choke("sesame-in-a-log")
    except ValueError:
        logging.getLogger("library").exception("cannot open with %s", "sesame-in-a-log")
    told = capsys.readouterr().err
    assert "sesame" not in told
    assert told.count("[secret door]") >= 3
