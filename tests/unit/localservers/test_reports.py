"""What cannot be said ends nothing: the disk that a supervisor writes to may be full."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from localservers.supervisor import report


def test_a_supervisor_goes_on_where_its_report_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    full = Path("/dev/full").open("w", encoding="utf-8")  # noqa: SIM115  closing it fails as well
    try:
        monkeypatch.setattr(sys, "stdout", full)
        report("progress", "redis is ready")
        with pytest.raises(OSError, match="No space left"):
            full.flush()
    finally:
        with suppress(OSError):
            full.close()


TRIMMED = """
import resource, signal
from pathlib import Path
from localservers.processes import trim
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
try:
    trim(Path("{log}"), 1_000)
except OSError as error:
    print(error.strerror)
"""


@pytest.mark.parametrize(("room", "said", "kept"), [(1_500, "File too large\n", 2_000), (5_000, "", 0)])
def test_a_log_that_there_is_no_room_to_keep_leaves_no_part_of_itself(
    tmp_path: Path, room: int, said: str, kept: int
) -> None:
    log = tmp_path / "redis.log"
    log.write_bytes(b"x" * 2_000)
    code = TRIMMED.format(room=room, log=log)
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == said
    assert log.stat().st_size == kept
    assert (tmp_path / "redis.log.1").exists() is (not said)
