import asyncio
import stat
import subprocess
import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path

import pytest

from perdure.errors import InvalidInput, StoreUnavailable
from perdure.stores.journal.lines import DeletionLine
from perdure.stores.journal.log import Mirror

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TENANT = "t_1"


def line(number: int) -> DeletionLine:
    return DeletionLine(ids=(f"mem_{number}",), reason="test", at=NOW)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / TENANT).glob("*.jsonl"))


async def test_lines_come_back_in_their_order(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path)
    lines = [line(number) for number in range(5)]
    for one in lines:
        await mirror.append(TENANT, one)
    view = await Mirror(tmp_path).read(TENANT)
    assert (list(view.lines), view.damaged) == (lines, 0)
    assert await mirror.tenants() == [TENANT]


async def test_without_a_tenant_there_is_nothing(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "none")
    assert (await mirror.read(TENANT)).lines == ()
    assert await mirror.tenants() == []


@pytest.mark.parametrize("tenant", ["../other", "a/b", "", ".", "a" * 65])
async def test_a_tenant_cannot_name_another_folder(tmp_path: Path, tenant: str) -> None:
    with pytest.raises(InvalidInput):
        await Mirror(tmp_path).append(tenant, line(1))


async def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    await Mirror(tmp_path / "mirror").append(TENANT, line(1))
    folder = tmp_path / "mirror" / TENANT
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


@pytest.mark.parametrize("torn", [b'{"kind":"dele', b"\xff\xfe", b"{}"])
async def test_half_a_line_spoils_no_other(tmp_path: Path, torn: bytes) -> None:
    mirror = Mirror(tmp_path)
    await mirror.append(TENANT, line(1))
    with (tmp_path / TENANT / "current.jsonl").open("ab") as file:
        file.write(torn)
    assert (await mirror.read(TENANT)).damaged == 1
    await mirror.append(TENANT, line(2))
    view = await mirror.read(TENANT)
    assert (view.lines, view.damaged) == ((line(1), line(2)), 1)


async def test_files_rotate_and_nothing_is_lost(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path, rotate_at=300)
    lines = [line(number) for number in range(12)]
    for one in lines:
        await mirror.append(TENANT, one)
    assert len(files(tmp_path)) > 3
    assert all(path.stat().st_size <= 300 for path in (tmp_path / TENANT).glob("*.jsonl"))
    assert list((await mirror.read(TENANT)).lines) == lines


async def test_a_line_larger_than_a_file_is_kept_whole(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path, rotate_at=10)
    await mirror.append(TENANT, line(1))
    await mirror.append(TENANT, line(2))
    assert files(tmp_path) == ["00000001.jsonl", "current.jsonl"]


async def test_many_writers_at_once(tmp_path: Path) -> None:
    mirrors = [Mirror(tmp_path, rotate_at=2_000) for _ in range(4)]
    await asyncio.gather(*(mirrors[number % 4].append(TENANT, line(number)) for number in range(100)))
    view = await mirrors[0].read(TENANT)
    assert view.damaged == 0
    assert len({one.ids for one in view.lines if isinstance(one, DeletionLine)}) == 100


_FULL = textwrap.dedent("""
    import asyncio, resource, signal, sys
    from datetime import UTC, datetime
    from pathlib import Path
    from perdure.errors import StoreUnavailable
    from perdure.stores.journal.lines import DeletionLine
    from perdure.stores.journal.log import Mirror

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    mirror = Mirror(Path(sys.argv[1]))
    line = DeletionLine(ids=("mem_x" * 40,), reason="test", at=datetime.now(UTC))

    async def fill():
        accepted = 0
        try:
            while accepted < 1000:
                await mirror.append("t_1", line)
                accepted += 1
        except StoreUnavailable as error:
            print(accepted, error)

    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    asyncio.run(fill())
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    asyncio.run(mirror.append("t_1", line))
""")


@pytest.mark.parametrize("room", [1_000, 1_001, 1_234])
async def test_a_full_disk_refuses_and_keeps_nothing_half(tmp_path: Path, room: int) -> None:
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", _FULL, str(tmp_path), str(room)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    accepted, _, problem = done.stdout.partition(" ")
    assert "mirror: File too large" in problem
    view = await Mirror(tmp_path).read("t_1")
    assert int(accepted) > 0
    # What was accepted before and after is there; of what was refused, nothing.
    assert (len(view.lines), view.damaged) == (int(accepted) + 1, 0)


async def test_a_file_in_the_place_of_the_folder_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "mirror").write_text("")
    with pytest.raises(StoreUnavailable, match="mirror"):
        await Mirror(tmp_path / "mirror").append(TENANT, line(1))
