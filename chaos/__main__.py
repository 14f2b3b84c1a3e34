"""Runs tasks, jobs, sweeps and recalls under random kills, stops and restarts, and prints what came of them.

``MINUTES``, ``SEED`` and ``DOOR`` are environment variables. With the door ``http``, all but sweeps is asked over HTTP,
the service is killed too, and a run lasts until it and the workers were killed 500 times; it fails where they are not
within 90 minutes. With ``MINUTES`` it ends after these, and is a trial unless the 500 fell within them. Exits with 1
where anything was lost, doubled, stuck, not indexed or leaked, or where too little was killed to say so. A run of at
least ten minutes that ends with 0 and is no trial is published: its counts are written to ``bench/results.json`` and
to the README's table. Any other is only printed.
"""

import asyncio
import contextlib
import logging
import os
import random
import sys
import tempfile
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from chaos.aim import aimed
from chaos.doors import BY, Door, GatewayDoor, HttpDoor
from chaos.ledger import read, story_of
from chaos.load import Load
from chaos.open_tasks import standing
from chaos.site import SERVICE, Site, Target, site
from chaos.store import stored_of
from chaos.table import BLOWS, PUBLISHED_FROM, publish
from chaos.verdict import Verdict, asked_of, enough, judge
from localservers import Server
from perdure.client import Client
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.connection import connect
from perdure.stores.tenant_key import TenantKey
from perdure.values.access_tokens import TokenRequest, TokenScope
from worker.exit import leave_after
from worker.gateway import Gateway
from worker.telemetry import configure_logging

HTTP = "http"
"""The door over HTTP."""

ENDS_WITHIN = 240.0
"""Seconds after the last disturbance in which everything has to end; what has not is stuck."""

KILLS_OVER_HTTP = 500
"""Kills of the service and of workers in the middle of something after which a run over HTTP ends."""

MINUTES = {"gateway": 10.0, HTTP: 90.0}
"""How long a run lasts at most, by its door, unless it is told."""

AT_WORKERS = 0.7
"""The share of blows that are aimed at workers; over HTTP, half of these at the service. The rest falls anywhere."""

KILLED, RESTARTED = 0.65, 0.15
"""The shares of kills and of restarts by SIGTERM; the rest is stopped for some seconds and woken."""


async def disturb(one: Site, load: Load, chance: random.Random, end: float, kills: int | None) -> Counter[str]:
    """Kill, restart and stop at random until the end; return how often in the middle of an effect or a write.

    Of a worker, that is an effect or a write of its own; of a server or the service, one of any worker.

    Args:
        one: What is disturbed.
        load: What is under way.
        chance: Where, when and how it is.
        end: The moment after which nothing is, by the monotonic clock.
        kills: How many kills of workers and of the service are enough; None: it lasts until the end.
    """
    counts, begun = Counter[str](), time.monotonic()
    going: set[asyncio.Task[None]] = set()
    while time.monotonic() < end and (kills is None or counts["process_kills"] < kills):
        # Short: aiming takes time as well.
        await asyncio.sleep(chance.uniform(0.2, 1.0))
        targets = one.targets
        if not targets:
            continue
        aims = aimed_at(targets, chance)
        hit = await aimed(load, {target: one.processes(target) for target in aims})
        target, under_way = aims[0] if hit is None else hit, hit is not None
        blow = chance.random()
        if blow < KILLED:
            going.add(asyncio.create_task(one.kill(target)))
            counts["kills"] += under_way
            counts["process_kills"] += under_way and not isinstance(target, Server)
            counts["service_kills"] += under_way and target == SERVICE
        elif blow < KILLED + RESTARTED:
            going.add(asyncio.create_task(one.restart(target)))
            counts["restarts"] += under_way
        else:
            going.add(asyncio.create_task(one.hang(target, chance.uniform(2.0, 12.0))))
            counts["stops"] += under_way
    counts["seconds"] = round(time.monotonic() - begun)
    await asyncio.gather(*going)
    return counts


def aimed_at(targets: Sequence[Target], chance: random.Random) -> list[Target]:
    """Return the targets of which the first that is in the middle of something is hit: mostly workers, or the service.

    Args:
        targets: What can be disturbed now.
        chance: Chooses.
    """
    workers = [one for one in targets if isinstance(one, int)]
    drawn = chance.random()
    if SERVICE in targets and drawn < AT_WORKERS / 2:
        return [SERVICE]
    if not workers or drawn >= AT_WORKERS:
        return [chance.choice(targets)]
    chance.shuffle(workers)
    return list[Target](workers)


@asynccontextmanager
async def opened(door: str, one: Site, gateway: Gateway) -> AsyncGenerator[Door]:
    """Open the door that the load asks through."""
    if door != HTTP:
        yield GatewayDoor(gateway)
        return
    asked = TokenRequest(name="chaos", scopes=tuple(TokenScope), person=True)
    token = (await gateway.create_token(asked, by=BY)).text
    await one.begin_service()
    async with Client(one.url, token) as client:
        yield HttpDoor(client)


async def run(minutes: float, seed: int, home: Path, door: str) -> tuple[Counter[str], Load, Verdict]:
    """Disturb for some minutes, let everything end, and judge."""
    chance = random.Random(seed)
    ledger = home / "ledger"
    async with site(home, ledger) as one:
        async with Gateway(one.settings, one.fleet.addresses) as gateway, opened(door, one, gateway) as way:
            load = Load(way, gateway, ledger, random.Random(seed + 1))
            stopping = asyncio.Event()
            feeding = asyncio.create_task(load.feed(stopping))
            kills = KILLS_OVER_HTTP if door == HTTP else None
            counts = await disturb(one, load, chance, time.monotonic() + 60 * minutes, kills)
            stopping.set()
            await asyncio.wait({feeding}, timeout=ENDS_WITHIN)
            if feeding.done():
                feeding.result()
            else:
                for line in await standing(gateway, [task.workflow_id for task in load.tasks], by=BY):
                    sys.stdout.write(f"{line}\n")
                sys.stdout.write(f"workers that ended by themselves: {one.ended_workers}\n")
            feeding.cancel()
        await _checked(one.fleet.addresses.redis_url)
        tenant_of = TenantKey.load(home / "tenant.key").tenant_of
        stored = await stored_of(asked_of(load.tasks, load.jobs, tenant_of), one.fleet.addresses)
        done = read(ledger).done
        for key, times in read(ledger).done.items():
            if times > 1:
                sys.stdout.write("\n".join([f"{key} happened {times} times:", *story_of(ledger, key), ""]))
        verdict = judge(
            tasks=load.tasks,
            jobs=load.jobs,
            shown=load.shown,
            done=done,
            stored=stored,
            tenant_of=tenant_of,
            unanswered=load.unanswered,
        )
        return counts, load, verdict


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
    blows = {name: counts[name] for name in BLOWS}
    did = {"tasks": len(load.tasks), "jobs": len(load.jobs)}
    for name, value in {**blows, **did, "recalls": load.recalls, "sweeps": load.sweeps, **asdict(verdict)}.items():
        table.add_row(name.replace("_", " "), f"{value:,}")
    Console().print(table)


def main() -> int:
    """Run, print, and publish what is worth it."""
    ArgumentParser("python -m chaos", description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    door = os.environ.get("DOOR") or "gateway"
    if door not in ("gateway", HTTP):
        sys.stderr.write(f"DOOR={door}: there are gateway and {HTTP}\n")
        return 2
    asked = os.environ.get("MINUTES")
    minutes = float(asked or MINUTES[door])
    seed = int(os.environ.get("SEED") or random.randrange(10_000))
    configure_logging(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="perdure-chaos-") as home:
        counts, load, verdict = asyncio.run(run(minutes, seed, Path(home), door))
    minutes = round(counts["seconds"] / 60, 1)
    show(counts, load, verdict, minutes, seed)
    for task in load.tasks:
        if task.problem:
            sys.stdout.write(f"{task.task.task_id}: {task.problem}\n")
    if not enough(counts["kills"], minutes):
        sys.stderr.write("too few kills fell into an effect or a write\n")
        return 1
    is_whole = door != HTTP or counts["process_kills"] >= KILLS_OVER_HTTP
    if not is_whole:
        sys.stderr.write(f"the service and workers were killed {counts['process_kills']} of {KILLS_OVER_HTTP} times\n")
    if not verdict.holds or not (is_whole or asked):
        return 1
    if not is_whole:
        sys.stdout.write("not published: MINUTES made it a trial\n")
        return 0
    if minutes < PUBLISHED_FROM:
        sys.stdout.write(f"not published: it ran for less than {PUBLISHED_FROM:g} minutes\n")
        return 0
    did = {name: float(counts[name]) for name in BLOWS}
    if door == HTTP:
        # What the run was to reach: servers are killed besides.
        did["kills"] = float(counts["process_kills"])
    judged = {name: float(value) for name, value in asdict(verdict).items()}
    publish("http_chaos" if door == HTTP else "chaos", {"minutes": minutes, "seed": float(seed), **did, **judged})
    return 0


if __name__ == "__main__":
    leave_after(main)
