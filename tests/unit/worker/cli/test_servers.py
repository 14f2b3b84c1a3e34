"""What ``perdure up`` prints of the worker: whether it serves."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from localservers import FleetState
from localservers.state import Running
from perdure.settings import Addresses, Settings
from worker import local_worker
from worker.cli import servers
from worker.cli.commands import app

ADDRESSES = Addresses(temporal="h:1", weaviate_url="http://h:2", weaviate_grpc_port=3, redis_url="redis://h:4")
OWN = FleetState(pid=1, addresses=ADDRESSES, worker=Running(pid=7))
IN_TERMINAL = FleetState(pid=1, addresses=ADDRESSES, foreground=(Running(pid=8, is_foreground=True),))


@pytest.mark.parametrize(
    ("current", "serves", "told"),
    [
        (OWN, True, "running"),
        (OWN, False, "started; it does not serve yet"),
        (IN_TERMINAL, True, "running in a terminal, process 8"),
        (IN_TERMINAL, False, "running in a terminal, process 8; it does not serve yet"),
    ],
)
def test_a_worker_that_does_not_serve_yet_is_not_said_to_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, current: FleetState, serves: bool, told: str
) -> None:
    monkeypatch.setenv("PERDURE_HOME", str(tmp_path))

    def ensure(_: Settings, *, worker: bool, progress: Callable[[str], None]) -> Addresses:
        assert worker
        return ADDRESSES

    def state(_: Settings) -> FleetState:
        return current

    async def served(*_: object) -> bool:
        return serves

    monkeypatch.setattr(servers, "ensure", ensure)
    monkeypatch.setattr(servers, "state", state)
    monkeypatch.setattr("localservers.state", state)
    monkeypatch.setattr(local_worker, "served", served)
    monkeypatch.setattr(servers, "_note_other_settings", state)
    ran = CliRunner().invoke(app, ["up", "--no-service"])
    assert ran.exit_code == 0, ran.output
    assert f"  worker       {told}\n" in ran.stdout
    assert ("serve" in ran.stderr.replace("waiting for the worker to serve", "")) == (not serves)
