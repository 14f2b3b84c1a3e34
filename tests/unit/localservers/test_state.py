"""What supervisors and the processes that use them leave each other is read by other builds."""

import json
from pathlib import Path

from localservers.state import FleetState, Running, read_state, write_state
from perdure.settings import Addresses

ADDRESSES = Addresses(
    temporal="127.0.0.1:1", weaviate_url="http://127.0.0.1:2", weaviate_grpc_port=3, redis_url="redis://127.0.0.1:4"
)


def test_what_a_newer_supervisor_runs_is_known_to_an_older_command(tmp_path: Path) -> None:
    write_state(tmp_path, FleetState(pid=1, addresses=ADDRESSES, worker=Running(pid=2)))
    file = tmp_path / "servers.json"
    written = json.loads(file.read_text())
    for part in (written, written["addresses"], written["worker"]):
        part["of_a_newer_build"] = 1
    file.write_text(json.dumps(written))
    found = read_state(tmp_path)
    assert found is not None
    assert (found.pid, found.addresses.temporal, found.worker and found.worker.pid) == (1, "127.0.0.1:1", 2)
