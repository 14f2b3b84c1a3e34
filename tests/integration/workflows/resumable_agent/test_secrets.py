"""Secrets of tools: there at the call, in nothing that is written, and missed before anything happens."""

import base64
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from temporalio.client import WorkflowFailureError, WorkflowHandle

from perdure import TaskResult
from perdure.agent.steps import secrecy
from perdure.agent.steps.once import OnceRunner
from perdure.agent.steps.secrecy import CallSecrets, SecretGate
from perdure.errors import Blocked, InvalidArguments, WorkerUnavailable
from perdure.secrets import redaction
from perdure.stores.redis.claims import Claims
from perdure.tools import tool
from tests.conftest import Servers
from tests.integration.workflows.resumable_agent.test_failing import refused
from tests.integration.workflows.resumable_agent.test_once import (
    Closed,
    Open,
    attempt,
    claims,
    counted,
    effect,
    output,
    redis,
    since,
)
from tests.support.harness import bench
from tests.support.tools import lines_in

__all__ = ["claims", "redis"]

LEAKING = """
inputs: {ledger: string}
steps:
  - {id: look, tool: look_at}
  - {id: tell, tool: echo, args: {value: "${steps.look.output}"}}
  - {id: open, tool: open_door, args: {ledger: "${inputs.ledger}", how: open}}
  - {id: raise, tool: open_door, args: {ledger: "${inputs.ledger}", how: raise}, retry: 1, on_failure: continue}
  - {id: refuse, tool: open_door, args: {ledger: "${inputs.ledger}", how: refuse}, retry: 1, on_failure: continue}
output: ["${steps.tell.output}", "${steps.open.output}", "${steps.raise.problem}", "${steps.refuse.problem}"]
"""

TOOLS = {"tools": ("tests.support.tools", "tests.support.secret_tools")}


def stored_in(folder: Path) -> bytes:
    """Return all that is in the files of a worker, but those with its secrets."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file() and "secrets" not in path.parts)


async def stored_at(servers: Servers) -> bytes:
    """Return all that Redis keeps."""
    found: list[Any] = []
    client: Any = Redis.from_url(servers.redis_url)
    async with client:
        async for key in client.scan_iter(count=1_000):
            found += [key, await client.dump(key) or b""]
    return b"".join(found)


async def written_in(handle: WorkflowHandle[Any, Any]) -> bytes:
    """Return a task's history as the server has it, and how its activities are described."""
    history = await handle.fetch_history()
    return b"".join(event.SerializeToString() for event in history.events)


def learn_nothing(*_: object) -> None:
    """Stand for the redactor in the control."""


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False], ids=["kept", "control"])
async def test_a_secret_is_in_nothing_that_is_written(
    servers: Servers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    protected: bool,
) -> None:
    value = f"sesame-{uuid4().hex}"
    if not protected:
        monkeypatch.setattr(redaction.Redactor, "learn", learn_nothing)
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "door").write_text(f"{value}\n", encoding="utf-8")
    async with bench(servers, tmp_path, more={**TOOLS, "secrets": (folder,)}) as agents:
        task = agents.task(agents.skill(LEAKING), inputs={"ledger": str(agents.ledger())})
        handle = await agents.start(task)
        result = await handle.result()
        written = await written_in(handle) + stored_in(tmp_path) + await stored_at(servers)
    logged = "".join(capfd.readouterr())
    assert (result.done, result.failed) == (3, 2)
    found = [value.encode() in written, value in f"{result}", value in logged]
    encoded = base64.b64encode(value.encode()).rstrip(b"=") in written
    if protected:
        assert [*found, encoded] == [False] * 4
        assert json.loads(json.dumps(result.output))[:2] == [
            "looks at [secret door]",
            {"line": "open", "[secret door]": ["opened with [secret door]"]},
        ]
    else:
        assert found[:2] == [True, True]


async def test_a_task_whose_secret_is_missing_is_refused_before_its_first_step(
    servers: Servers, tmp_path: Path
) -> None:
    async with bench(servers, tmp_path, more=TOOLS) as agents:
        ledger = agents.ledger()
        text = LEAKING.replace("tool: look_at", "tool: append, args: {ledger: LEDGER, line: x}")
        problem = await refused(agents, text.replace("LEDGER", str(ledger)), inputs={"ledger": str(ledger)})
    assert "tool 'open_door' needs the secret 'door'" in problem
    assert "set PERDURE_SECRET_DOOR for the workers" in problem
    assert not ledger.exists()


@pytest.mark.slow
async def test_one_that_disappears_is_looked_for_and_then_the_step_fails_and_has_not_acted(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrecy, "LACKED_WITHIN", 2)
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "door").write_text("open sesame", encoding="utf-8")
    async with bench(servers, tmp_path, more={**TOOLS, "secrets": (folder,)}) as agents:
        ledger = agents.ledger()
        undo = f"compensate: {{tool: append, args: {{ledger: {ledger}, line: undone}}}}"
        text = (
            f"steps:\n  - {{id: lose, tool: lose, args: {{file: {folder / 'door'}}}}}\n"
            f"  - {{id: open, tool: open_door, args: {{ledger: {ledger}, how: open}}, {undo}}}\n"
        )
        handle = await agents.start(agents.task(agents.skill(text)))
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        result = await handle.query("result", result_type=TaskResult)
    assert "PRD104 open.tool: tool 'open_door' needs the secret 'door'" in result.problem
    assert (result.compensated, result.uncompensated, result.unknown) == ((), (), ()), "its id can be used again"
    assert lines_in(str(ledger)) == []


@tool(effect="once", timeout=1.0)
async def act() -> int:
    """Return something."""
    return 1


def lacking(number: int = 9) -> CallSecrets:
    return CallSecrets(tool="act", path="s", attempt=number, lacking="door")


async def test_an_effect_that_is_recorded_needs_no_secret_any_more(claims: Claims) -> None:
    runner, this = OnceRunner(claims, since, counted), effect()
    assert output(await attempt(runner, act, this, "first")) == 1
    assert output(await attempt(runner, act, this, "second", gate=SecretGate(Open(), lacking()))) == 1


@pytest.mark.parametrize("acted", [True, False])
async def test_without_it_nothing_stays_claimed(claims: Claims, acted: bool) -> None:
    runner, this = OnceRunner(claims, since, counted), effect()
    for number, error in ((1, WorkerUnavailable), (9, InvalidArguments)):
        with pytest.raises(error, match="'door'"):
            await attempt(runner, act, this, f"n{number}", gate=SecretGate(Open(), lacking(number)), acted=acted)
        assert await claims.is_free(this)


async def test_what_a_policy_blocks_is_blocked_with_or_without_it(claims: Claims) -> None:
    this = effect()
    gate = SecretGate(Closed(claims, this), lacking())
    with pytest.raises(Blocked):
        await attempt(OnceRunner(claims, since, counted), act, this, "first", gate=gate, acted=False)
