from pathlib import Path

import pytest

from localservers.agreement import disagreements, named
from localservers.state import FleetState, Running
from perdure.settings import Addresses, Settings


def test_each_worker_that_differs_is_named_with_what_to_do(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    mine, other = Running(pid=7, settings="other"), Running(pid=8, settings="other", is_foreground=True)
    same = Running(pid=9, settings=settings.fingerprint)
    addresses = Addresses(redis_url="redis://h:1", temporal="h:2", weaviate_url="http://h:3", weaviate_grpc_port=4)

    def told(**workers: object) -> list[str]:
        running = FleetState.model_validate({"pid": 1, "addresses": addresses, **workers})
        return [one.told for one in disagreements(running, settings)]

    restart, anew = "run 'perdure restart'", "stop process 8 in its terminal, and start it anew"
    assert told(worker=mine) == [f"the worker of {tmp_path} has other settings; to apply these, {restart}"]
    assert told(worker=mine, foreground=[other]) == [
        f"the worker of {tmp_path} in the background has other settings; to apply these, {restart}",
        f"the worker of {tmp_path} in a terminal (process 8) has other settings; to apply these, {anew}",
    ]
    assert told(worker=same) == told() == []


def test_a_worker_of_servers_here_differs_from_nothing_that_is_for_servers_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Addresses(redis_url="redis://h:1", temporal="h:2", weaviate_url="http://h:3", weaviate_grpc_port=4)
    running = FleetState(pid=1, addresses=here, worker=Running(pid=7, settings="other"))
    assert [*disagreements(running, Settings(home=tmp_path))], "the control"

    monkeypatch.setenv("TEMPORAL_ADDRESS", "staging:7233")
    elsewhere = Settings(home=tmp_path, redis_url="redis://staging", weaviate_url="http://staging:8080")
    assert [*disagreements(running, elsewhere)] == []


def test_the_first_files_are_named_and_the_others_counted() -> None:
    files = [Path(name) for name in "abcde"]
    assert [named(files[:number]) for number in range(1, 6)] == [
        "a",
        "a and b",
        "a, b and c",
        "a, b, c and 1 more",
        "a, b, c and 2 more",
    ]
