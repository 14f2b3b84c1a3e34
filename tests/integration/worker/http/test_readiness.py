"""Whether probes are told the truth, however many ask at once."""

import asyncio
import socket
from pathlib import Path

from tests.conftest import Servers, clean_settings
from worker.gateway import Gateway
from worker.http.status import Readiness


async def test_probes_that_ask_at_once_are_all_told_what_is_missing(servers: Servers, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        away = servers.changed(redis_url=f"redis://127.0.0.1:{silent.getsockname()[1]}")
        async with Gateway(clean_settings(tmp_path), away) as gateway:
            readiness = Readiness(gateway)
            assert await asyncio.gather(readiness.missing(), readiness.missing()) == [["redis"], ["redis"]]
