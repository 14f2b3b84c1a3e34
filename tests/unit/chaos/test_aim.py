"""A blow counts only where the process that it hits is in the middle of something itself."""

import os
import random
from pathlib import Path
from typing import Any

import pytest

from chaos import aim
from chaos.__main__ import aimed_at
from chaos.ledger import note, note_death
from chaos.load import Load
from chaos.site import SERVICE
from localservers import Server


async def test_a_worker_is_hit_only_while_it_has_an_effect_open_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aim, "AIMED_FOR", 0.05)
    nobody: Any = None
    load, here = Load(nobody, nobody, tmp_path / "ledger", random.Random(0)), os.getpid()
    assert await aim.aimed(load, {0: {here}}) is None

    note(str(load.ledger), "begun", "a")
    assert await aim.aimed(load, {1: {here + 1}}) is None, "another one's"
    assert await aim.aimed(load, {1: {here + 1}, 0: {here}}) == 0
    note(str(load.ledger), "done", "a")
    assert await aim.aimed(load, {0: {here}}) == 0, "it happened, and is not recorded"
    note(str(load.ledger), "ended", "a")
    assert await aim.aimed(load, {0: {here}}) is None

    note(str(load.ledger), "begun", "b")
    note_death(load.ledger, here)
    assert await aim.aimed(load, {0: {here}}) is None


def test_a_third_of_the_blows_is_aimed_at_the_service_where_there_is_one() -> None:
    chance = random.Random(1)
    drawn = [aimed_at([0, 1, SERVICE, *Server], chance) for _ in range(1_000)]
    assert 300 < sum(one == [SERVICE] for one in drawn) < 450
    assert 300 < sum(len(one) == 2 for one in drawn) < 400
    without = [aimed_at([0, 1, *Server], chance) for _ in range(1_000)]
    assert 650 < sum({*one} == {0, 1} for one in without) < 750
    assert {one for [one] in (aimed_at([SERVICE, *Server], chance) for _ in range(1_000))} == {SERVICE, *Server}
