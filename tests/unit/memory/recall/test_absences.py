"""What users have none of is known for as long as nobody writes, and no longer than a minute."""

import pytest

from perdure.memory.recall import absences
from perdure.memory.recall.absences import Absences
from perdure.stores.redis.leases import WRITER_KEPT


def test_it_is_known_of_one_user_and_one_thing_until_somebody_writes() -> None:
    found = Absences()
    found.add("ada", "pinned", "w1")
    assert found.known("ada", "pinned", "w1")
    assert not found.known("ada", "pinned", "w2")
    assert not found.known("ada", "speakers", "w1")
    assert not found.known("kim", "pinned", "w1")
    found.add("ada", "pinned", "w2")
    assert [found.known("ada", "pinned", one) for one in ("w1", "w2")] == [False, True]


def test_it_is_kept_for_less_than_a_writer_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr(absences, "_now", lambda: now)
    found = Absences()
    found.add("ada", "pinned", "")
    now += 59.0
    assert found.known("ada", "pinned", "")
    now += 1.0
    assert not found.known("ada", "pinned", ""), "by then somebody may have written, and be forgotten"
    assert WRITER_KEPT > 2 * 60.0


def test_no_more_are_kept_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(absences, "_KEPT", 2)
    found = Absences()
    for user in ("ada", "kim", "ada", "bob"):
        found.add(user, "pinned", "w")
    assert [found.known(user, "pinned", "w") for user in ("ada", "kim", "bob")] == [True, False, True]
