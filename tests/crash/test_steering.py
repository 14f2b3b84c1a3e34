"""A worker killed after a task was paused, told something and redirected: the next one knows all of it, once."""

from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from perdure import Actor, ActorKind, PauseRequest, Progress, Redirection, TaskMessage
from perdure.values.tasks import Phase
from tests.conftest import Servers
from tests.support.goals import goal, settings_of
from tests.support.processes import processes
from tests.support.turn_server import Asked, Call, Says, TurnServer
from tests.support.waiting import progress_of

ADA = Actor(kind=ActorKind.PERSON, id="ada")


@pytest.mark.slow
@pytest.mark.parametrize("kills", [3, 0], ids=["killed", "control"])
async def test_what_was_done_to_a_task_outlives_its_workers(
    servers: Servers, tmp_path: Path, httpserver: HTTPServer, kills: int
) -> None:
    def script(asked: Asked) -> Says:
        if not asked.told:
            return Says(calls=(Call("echo", {"value": asked.turns}),))
        constrained = "- Be quick." in asked.first
        return Says(f"{constrained} " + " | ".join(text.splitlines()[-1] for text in asked.told))

    server = TurnServer(httpserver, script)
    more = {**settings_of(tmp_path, server), "agents": [str(tmp_path / "agents")]}
    async with processes(servers, tmp_path) as (workers, bench):
        worker = await workers.start(more=more)
        handle = await bench.start(goal())
        await handle.execute_update("pause", PauseRequest(by=ADA))
        paused = await progress_of(handle, lambda one: one.phase is Phase.PAUSED)
        message, redirection = (
            TaskMessage(text="Look there.", id="one", by=ADA),
            Redirection(constraints=("Be quick.",)),
        )
        for kill in range(max(1, kills)):
            await handle.execute_update("message", message)
            if kill == 0:
                await handle.execute_update("redirect", redirection)
            if kills:
                worker.kill()
                await worker.wait()
                worker = await workers.start(more=more)
        told = await progress_of(handle, lambda one: one.unread == 2)
        assert told.paused == paused.paused
        taken = await handle.execute_update("resume", PauseRequest(by=ADA), result_type=Progress)
        assert taken.paused is None
        assert (await handle.result()).output == "True Look there. | From now on this has to hold: Be quick."
