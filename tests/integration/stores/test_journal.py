"""The journal goes on only where it is the one that the installation shares, which Redis knows."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from perdure.errors import JournalMismatch
from perdure.stores.journal.lines import Forgotten
from perdure.stores.journal.log import Journal
from perdure.stores.journal.marks import ID, JournalMarks
from perdure.stores.redis.connection import connect
from perdure.stores.redis.marks import RedisMarks
from perdure.values.changes import Deletion
from tests.integration.conftest import Stores

LINE = Forgotten(deletion=Deletion(id="mem_1", reason="test", sweep="r", at=datetime(2026, 1, 1, tzinfo=UTC)))


async def test_a_journal_that_is_mounted_from_elsewhere_is_not_written(
    stores: Stores, tmp_path: Path, tenant: str
) -> None:
    marks, folder = RedisMarks(stores.redis), tmp_path / "mounted"
    await JournalMarks(folder).begin("key", await marks.journal() or "")
    journal = Journal(folder, shared=marks.journal)
    await journal.append(tenant, [LINE])
    (folder / ID).write_text("another\nkey\n")
    with pytest.raises(JournalMismatch, match=r"belongs to the journal \w+, the one in .* is another"):
        await journal.append(tenant, [LINE])
    assert len(await journal.read(tenant)) == 1
    await Journal(folder).append(tenant, [LINE])
    assert len(await journal.read(tenant)) == 2, "the control: one that asks nobody writes to it"


async def test_without_redis_the_journal_is_written_and_asked_for_once_redis_is_back(
    stores: Stores, tmp_path: Path, tenant: str
) -> None:
    away, there = RedisMarks(connect("redis://127.0.0.1:9")), RedisMarks(stores.redis)
    answering = [away]
    folder = tmp_path / "mounted"
    await JournalMarks(folder).begin("key", "another")

    async def shared() -> str | None:
        return await answering[-1].journal()

    journal = Journal(folder, shared=shared)
    await journal.append(tenant, [LINE])
    answering.append(there)
    with pytest.raises(JournalMismatch):
        await journal.append(tenant, [LINE])
    assert len(await journal.read(tenant)) == 1
