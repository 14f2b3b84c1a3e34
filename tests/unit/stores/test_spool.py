from datetime import UTC, datetime
from pathlib import Path

from perdure.stores.journal.erasures import ErasureLog
from perdure.stores.spool import Spool
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.erasures import Erasure

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def episode(name: str) -> Episode:
    return Episode(id=name, kind=EpisodeKind.TOOL, text="x", importance=0.5, at=NOW)


async def test_what_waits_is_found_by_who_has_any_and_gone_once_delivered(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", ErasureLog(tmp_path / "journal"))
    assert await spool.tenants() == []
    await spool.append("t_1", "s", episode("one"))
    await spool.append("t_2", "s", episode("two"))
    assert await spool.tenants() == ["t_1", "t_2"]
    waited = await spool.read("t_1")
    assert [(line.session, line.episode) for line in waited.episodes] == [("s", episode("one"))]
    await spool.delivered("t_1", waited)
    await spool.delivered("t_1", waited)
    assert await spool.tenants() == ["t_2"]
    assert (await spool.read("t_1")).episodes == ()


async def test_what_comes_while_the_rest_is_delivered_is_not_lost(tmp_path: Path) -> None:
    spool = Spool(tmp_path, ErasureLog(tmp_path / "journal"))
    await spool.append("t_1", "s", episode("one"))
    waited = await spool.read("t_1")
    await spool.append("t_1", "s", episode("two"))
    await spool.delivered("t_1", waited)
    assert [line.episode.id for line in (await spool.read("t_1")).episodes] == ["one", "two"]


async def test_half_a_line_spoils_no_other(tmp_path: Path) -> None:
    spool = Spool(tmp_path, ErasureLog(tmp_path / "journal"))
    await spool.append("t_1", "s", episode("one"))
    with (tmp_path / "t_1.jsonl").open("ab") as file:
        file.write(b'{"session"')
    await spool.append("t_1", "s", episode("two"))
    assert [line.episode.id for line in (await spool.read("t_1")).episodes] == ["one", "two"]


async def test_a_file_that_was_made_anew_is_not_taken_for_the_one_that_was_delivered(tmp_path: Path) -> None:
    spool = Spool(tmp_path, ErasureLog(tmp_path / "journal"))
    await spool.append("t_1", "s", episode("one"))
    first, second = await spool.read("t_1"), await spool.read("t_1")
    # Kept open, so that the file system cannot give its number to the new one.
    with (tmp_path / "t_1.jsonl").open():
        await spool.delivered("t_1", second)
        await spool.append("t_1", "s", episode("two"))
        await spool.delivered("t_1", first)
    assert [line.episode.id for line in (await spool.read("t_1")).episodes] == ["two"]


async def test_what_an_erased_user_left_is_not_kept(tmp_path: Path) -> None:
    erasures = ErasureLog(tmp_path / "journal")
    spool = Spool(tmp_path / "spool", erasures)
    await spool.append("t_1", "s", episode("before"), epoch=0)
    await erasures.add(Erasure(tenant="t_1", epoch=1, at=NOW, operation="erase"))
    await spool.erase("t_1")
    # By a process that stood still meanwhile.
    await spool.append("t_1", "s", episode("late"), epoch=0)
    assert await spool.tenants() == []
    await spool.append("t_1", "s", episode("after"), epoch=1)
    assert await spool.tenants() == ["t_1"], "the control: the user is back"
