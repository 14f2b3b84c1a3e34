"""Who serves while the worker of this machine fails again and again: not those that Temporal still lists."""

import os
from pathlib import Path

import pytest

from localservers import FleetState
from localservers.loaded import begin_loading, tell_loaded
from localservers.state import Running
from perdure.settings import Addresses, Settings
from tests.conftest import clean_settings
from worker.gateway import Gateway
from worker.local_worker import serving, starting

ADDRESSES = Addresses(temporal="h:1", weaviate_url="http://h:2", weaviate_grpc_port=3, redis_url="redis://h:4")
FAILS = Running(pid=7, problem="PRD100 tools: cannot be imported")


@pytest.mark.parametrize(
    ("worker", "listed", "expected"),
    [
        (None, {7: "here", 8: "elsewhere"}, (2, 1)),
        (Running(pid=7), {7: "here", 6: "here"}, (2, 2)),
        (FAILS, {6: "here"}, (0, 0)),
        (FAILS, {6: "here", 8: "elsewhere"}, (1, 0)),
        (FAILS, {7: "here"}, (1, 1)),
        (FAILS, {}, (0, 0)),
    ],
    ids=["none here", "one that serves", "one that fails", "another machine's", "one that failed before", "nobody"],
)
async def test_one_that_fails_does_not_count(
    worker: Running | None,
    listed: dict[int, str],
    expected: tuple[int, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = clean_settings(tmp_path)

    def state(_: Settings) -> FleetState:
        return FleetState(pid=1, addresses=ADDRESSES, worker=worker)

    monkeypatch.setattr("localservers.state", state)

    async def count(*, pid: int | None = None, here: bool = False, elsewhere: bool = False) -> int:
        wanted = {"here"} if here else {"elsewhere"} if elsewhere else {"here", "elsewhere"}
        return sum(place in wanted and pid in (None, one) for one, place in listed.items())

    assert (await serving(settings, count), await serving(settings, count, here=True)) == expected
    told = str(Gateway(settings, ADDRESSES).unserved(silent=1))
    assert ("fails again and again" in told) == (worker is FAILS)


def test_one_that_is_starting_is_not_called_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, gateway = clean_settings(tmp_path), Gateway(clean_settings(tmp_path), ADDRESSES)
    running = FleetState(pid=1, addresses=ADDRESSES)

    def state(_: Settings) -> FleetState:
        return running

    monkeypatch.setattr("localservers.state", state)
    assert starting(settings) is None
    assert "start one with 'perdure worker'" in str(gateway.unserved())

    running = running.changed(worker=Running(pid=os.getpid()))
    assert starting(settings) == os.getpid()
    assert f"the local worker (process {os.getpid()}) is starting" in str(gateway.unserved())

    tell_loaded(tmp_path, [], begin_loading(tmp_path))
    assert starting(settings) is None

    running = running.changed(worker=None, foreground=(Running(pid=7, is_foreground=True),))
    assert "in a terminal (process 7) has not begun to serve" in str(gateway.unserved())
