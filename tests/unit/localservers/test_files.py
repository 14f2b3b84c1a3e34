import errno
from pathlib import Path

from localservers.files import unusable
from localservers.processes import trim


def test_a_full_disk_is_told_from_a_forbidden_one() -> None:
    folder = Path("/somewhere")

    assert "free some space" in str(unusable(folder, OSError(errno.ENOSPC, "No space left on device")))
    assert "make it writable" in str(unusable(folder, PermissionError(errno.EACCES, "Permission denied")))


def test_a_log_is_trimmed_under_its_writer(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * 100)
        trim(log, limit=50)
        writer.write(b"after")

    assert log.read_bytes() == b"after"
    assert (tmp_path / "a.log.1").read_bytes() == b"x" * 100
