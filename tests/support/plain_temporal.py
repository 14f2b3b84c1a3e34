"""A Temporal that nobody prepared for Perdure, and whose servers read new attributes only after some time."""

import os
import urllib.request
from asyncio import to_thread
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from localservers import Server, find_all
from localservers.commands import LOOPBACK, PORTS, choose
from localservers.processes import Child
from localservers.readiness import wait_ready
from tests.conftest import clean_settings


@dataclass(frozen=True, kw_only=True)
class PlainTemporal:
    """A server of its own, which counts what it is asked."""

    address: str
    metrics: str

    async def requests(self, operation: str) -> int:
        """Return how many requests of one operation have reached it, whatever it answered."""
        text = await to_thread(lambda: urllib.request.urlopen(self.metrics, timeout=5).read().decode())
        lines = [line for line in text.splitlines() if line.startswith("service_requests{")]
        return sum(int(float(line.rsplit(" ", 1)[1])) for line in lines if f'operation="{operation}"' in line)


@asynccontextmanager
async def plain_temporal(folder: Path, *, refreshed: str = "") -> AsyncGenerator[PlainTemporal]:
    """Run one for as long as the block lasts.

    Args:
        folder: For its data and its log.
        refreshed: After which time it reads attributes anew that were registered, as ``3s``; empty: Temporal's own.
    """
    found = find_all(clean_settings(folder / "own"), print)
    chosen = choose(PORTS[Server.TEMPORAL], {})
    port, metrics = chosen["temporal"], chosen["temporal-ui"]
    switches = ["activity.enableStandalone=false", "system.forceSearchAttributesCacheRefreshOnRead=false"]
    switches += [f'system.namespaceCacheRefreshInterval="{refreshed}"'] if refreshed else []
    child = await Child.start(
        (
            *(str(found[Server.TEMPORAL].path), "server", "start-dev", "--headless", "--log-level", "warn"),
            *("--ip", LOOPBACK, "--port", str(port), "--metrics-port", str(metrics)),
            *("--db-filename", str(folder / "temporal.db")),
            *(part for switch in switches for part in ("--dynamic-config-value", switch)),
        ),
        os.environ,
        folder / "logs" / "temporal.log",
    )
    try:
        await wait_ready(Server.TEMPORAL, port, 30)
        yield PlainTemporal(address=f"{LOOPBACK}:{port}", metrics=f"http://{LOOPBACK}:{metrics}/metrics")
    finally:
        await child.stop(10)
