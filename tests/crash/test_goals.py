"""Workers of a task with a goal killed again and again: no turn that acted is asked of the model anew."""

import re
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from tests.conftest import Servers
from tests.support.goals import goal, settings_of
from tests.support.processes import processes
from tests.support.tools import lines_in
from tests.support.turn_server import Asked, Call, Says, TurnServer
from tests.support.waiting import until_true

TURNS = 16
SIDES = ("left", "right")
"""What each turn writes, at the same time."""


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_every_turn_acts_once_and_none_that_acted_is_asked_anew(
    servers: Servers, tmp_path: Path, httpserver: HTTPServer
) -> None:
    ledger, anew = str(tmp_path / "ledger"), list[int]()

    def script(asked: Asked) -> Says:
        done = [int(number) for number in re.findall(r"turn (\d+)", " ".join(asked.outputs))]
        turn = max(done, default=-1) + 1
        if any(line.startswith(f"turn {turn} ") for line in lines_in(ledger)):
            anew.append(turn)
        if turn == TURNS:
            return Says("all written")
        lines = (f"turn {turn} {side}" for side in SIDES)
        return Says(calls=tuple(Call("append", {"ledger": ledger, "line": line}) for line in lines))

    model = settings_of(tmp_path, TurnServer(httpserver, script))
    more = {**model, "agents": [str(folder) for folder in model["agents"]]}
    async with processes(servers, tmp_path, continue_after=60) as (workers, bench):
        handle = await bench.start(goal())
        # In the middle of a turn, and between two.
        for lines in (3, 8, 13, 18, 23):
            worker = await workers.start(more=more)
            await until_true(lambda lines=lines: len(lines_in(ledger)) >= lines)
            worker.kill()
            await worker.wait()
        assert len(lines_in(ledger)) < TURNS * len(SIDES), "it was killed in the middle each time"
        await workers.start(more=more)
        assert (await handle.result()).output == "all written"
    assert sorted(lines_in(ledger)) == sorted(f"turn {turn} {side}" for turn in range(TURNS) for side in SIDES)
    assert not anew
