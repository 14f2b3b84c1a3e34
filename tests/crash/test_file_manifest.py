"""The example of many steps: whatever is killed, the manifest has one line for each file, and sha256sum agrees."""

import asyncio
import signal
from pathlib import Path

import pytest
from pydantic import JsonValue

from perdure import AgentTask
from tests.conftest import Servers
from tests.deployment import deployment
from tests.support.harness import Bench
from tests.support.processes import start_mortal
from tests.support.waiting import until_true

FILES = 500
KILLS = 5


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_manifest_of_a_thousand_steps_survives_kills(servers: Servers, tmp_path: Path, tenant: str) -> None:
    folder, manifest = tmp_path / "files", tmp_path / "manifest"
    for number in range(FILES):
        (folder / f"{number % 7}").mkdir(parents=True, exist_ok=True)
        (folder / f"{number % 7}" / f"file {number}").write_text(str(number), encoding="utf-8")

    def written() -> int:
        return len(manifest.read_text(encoding="utf-8").splitlines()) if manifest.exists() else 0

    async with deployment(servers, tmp_path, serving=False, settings={"examples": True}) as here:
        one = Bench(client=here.client, queue=here.queue, folder=tmp_path)
        inputs: dict[str, JsonValue] = {"folder": str(folder), "manifest": str(manifest)}
        handle = await one.start(AgentTask(task_id="manifest", user_id=tenant, skill="file-manifest", inputs=inputs))
        log = here.settings.home / "worker.log"
        for kill in range(KILLS):
            worker = await start_mortal(here.settings, servers, log)
            lines = FILES * (kill + 1) // (KILLS + 1)
            await until_true(lambda lines=lines: written() >= lines, seconds=90)
            worker.signal(signal.SIGKILL)
            await worker.wait()
        assert written() < FILES, "it was killed in the middle each time"
        last = await start_mortal(here.settings, servers, log)
        try:
            result = await handle.result()
        finally:
            await last.stop(15)
    assert (result.output, result.done) == (FILES, 2 * FILES + 1)
    assert written() == FILES
    check = await asyncio.create_subprocess_exec("sha256sum", "--check", "--quiet", str(manifest), cwd=folder)
    assert await check.wait() == 0
