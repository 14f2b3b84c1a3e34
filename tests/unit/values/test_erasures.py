"""What was read of somebody before their erasure is not written after it."""

import pytest

from perdure.values.erasures import ErasedMeanwhile, Erasure, is_under_way, require_unchanged
from tests.support.memories import NOW


def erasure(epoch: int, *, removed: bool = False) -> Erasure:
    return Erasure(tenant="ada", epoch=epoch, at=NOW, operation=f"erase-{epoch}", removed=removed)


@pytest.mark.parametrize(
    ("known", "now"),
    [
        (None, None),
        (erasure(1, removed=True), erasure(1, removed=True)),
    ],
    ids=["never erased", "erased long ago"],
)
def test_what_was_read_since_the_last_erasure_is_written(known: Erasure | None, now: Erasure | None) -> None:
    before, after = ({"ada": one} if one else {} for one in (known, now))
    require_unchanged(before, after, ["ada", "kim"])


@pytest.mark.parametrize(
    ("known", "now"),
    [
        (None, erasure(1)),
        (None, erasure(1, removed=True)),
        (erasure(1, removed=True), erasure(2, removed=True)),
        (erasure(1), erasure(1)),
        (erasure(1), erasure(1, removed=True)),
    ],
    ids=["begun since", "ended since", "erased once more", "under way all the time", "removed since"],
)
def test_what_was_read_before_an_erasure_is_read_anew(known: Erasure | None, now: Erasure) -> None:
    before = {"ada": known} if known else {}
    with pytest.raises(ErasedMeanwhile):
        require_unchanged(before, {"ada": now}, ["kim", "ada"])
    require_unchanged(before, {"ada": now}, ["kim"])


def test_an_erasure_is_under_way_until_everything_is_removed() -> None:
    assert [is_under_way(one) for one in (None, erasure(1), erasure(1, removed=True))] == [False, True, False]
