"""Runs tasks, jobs, sweeps and recalls under random kills, stops and restarts, and prints what came of them.

``MINUTES`` and ``SEED`` are environment variables; the counts are merged into ``bench/results.json``. Exits with 1
where anything was lost, doubled, stuck, not indexed or leaked, or where too little was killed to say so.
"""

import asyncio
import contextlib
import json
import logging
import os
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.__main__ import RESULTS
from chaos.judge import Verdict, judge
from chaos.load import Load
from chaos.site import Site, site
from localservers import Server
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.connection import connect
from worker.exit import leave_after
from worker.gateway import Gateway
from worker.telemetry import configure_logging

ENDS_WITHIN = 240.0
"""Seconds after the last disturbance in which everything has to end; what has not is stuck."""

KILLS_A_MINUTE = 20 / 3
"""Fewer kills in the middle of an effect or a write would prove little."""


async def disturb(one: Site, load: Load, chance: random.Random, end: float) -> Counter[str]:
    """Kill, stop and restart at random until the end; return how often, counted while an effect or a write is open."""
    counts: Counter[str] = Counter()
    going: set[asyncio.Task[None]] = set()
    while time.monotonic() < end:
        await asyncio.sleep(chance.uniform(0.5, 4.0))
        targets = one.targets
        if not targets:
            continue
        worker = [target for target in targets if not isinstance(target, Server)]
        target = chance.choice(worker) if worker and chance.random() < 0.7 else chance.choice(targets)
        under_way = load.open > 0
        if chance.random() < 0.75:
            going.add(asyncio.create_task(one.kill(target)))
            counts["kills"] += under_way
        else:
            going.add(asyncio.create_task(one.hang(target, chance.uniform(2.0, 12.0))))
            counts["stops"] += under_way
    await asyncio.gather(*going)
    return counts


async def run(minutes: float, seed: int, home: Path) -> tuple[Counter[str], Load, Verdict]:
    """Disturb for some minutes, let everything end, and judge."""
    chance = random.Random(seed)
    async with site(home) as one:
        async with Gateway(one.settings, one.fleet.addresses) as gateway:
            load = Load(gateway, home / "ledger", random.Random(seed + 1))
            stopping = asyncio.Event()
            feeding = asyncio.create_task(load.feed(stopping))
            counts = await disturb(one, load, chance, time.monotonic() + 60 * minutes)
            stopping.set()
            await asyncio.wait({feeding}, timeout=ENDS_WITHIN)
            if feeding.done():
                feeding.result()
            feeding.cancel()
        await _checked(one.fleet.addresses.redis_url)
        return counts, load, await judge(load, one.fleet.addresses, home)


async def _checked(redis_url: str) -> None:
    """Wait until the workers have looked at what was written before Weaviate was killed last."""
    async with contextlib.aclosing(connect(redis_url)) as redis:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ENDS_WITHIN):
                while True:
                    if not await Checks(redis).pending(datetime.now(UTC)):
                        return
                    await asyncio.sleep(0.2)


def show(counts: Counter[str], load: Load, verdict: Verdict, minutes: float, seed: int) -> None:
    """Print the table."""
    table = Table("figure", "value", title=f"{minutes:g} minutes, seed {seed}")
    did = {"kills": counts["kills"], "stops": counts["stops"], "tasks": len(load.tasks), "jobs": len(load.jobs)}
    for name, value in {**did, "recalls": load.recalls, "sweeps": load.sweeps, **asdict(verdict)}.items():
        table.add_row(name.replace("_", " "), f"{value:,}")
    Console().print(table)


def main() -> int:
    """Run, print, merge the figures."""
    minutes, seed = float(os.environ.get("MINUTES") or 10), int(os.environ.get("SEED") or random.randrange(10_000))
    configure_logging(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="perdure-chaos-") as home:
        counts, load, verdict = asyncio.run(run(minutes, seed, Path(home)))
    show(counts, load, verdict, minutes, seed)
    for task in load.tasks:
        if task.problem:
            sys.stdout.write(f"{task.task.task_id}: {task.problem}\n")
    names = ("effects", "writes", "lost", "doubled", "stuck", "unindexed", "leaked")
    figures = {"chaos.kills": float(counts["kills"])} | {
        f"chaos.{name}": float(asdict(verdict)[name]) for name in names
    }
    known: dict[str, float] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(dict(sorted((known | figures).items())), indent=2) + "\n")
    if counts["kills"] < KILLS_A_MINUTE * minutes:
        sys.stderr.write("too few kills fell into an effect or a write\n")
        return 1
    return 0 if verdict.holds else 1


if __name__ == "__main__":
    leave_after(main)
