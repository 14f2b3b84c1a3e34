"""Runs the requested sections, merges the figures into ``bench/results.json``, and prints them with their targets.

Then writes the README's table, made of the newest figures of every section.
"""

import asyncio
import importlib
import json
import logging
import os
import resource
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.table import RESULTS, publish
from bench.tenants import FILES
from localservers import ensure, stop
from perdure.settings import Addresses, Settings
from tests.conftest import HOME_VARIABLE, give_tenant_key
from worker.exit import leave_after
from worker.telemetry import configure_logging

SECTIONS = (
    "recall",
    "step",
    "quick",
    "turn",
    "parallel",
    "load",
    "history",
    "long",
    "ingest",
    "contention",
    "crash",
    "tenants",
    "precision",
    "governance",
    "forget",
    "http",
)
ON_DATA = ("locomo",)
"""Sections that measure with data that is not part of the project; DATA names its folder. It may name another folder
for ``precision`` and ``governance``, which have cases of their own."""

TARGETS = {
    "recall.p95_ms": 50.0,
    "recall.p95_fresh_ms": 350.0,
    "recall.p95_ms_at_100k": 100.0,
    "forget.ratio": 1.3,
    "recall.ratio_p50": 1.25,
    "recall.ratio_p95": 1.25,
    "step.ratio": 1.3,
    "turn.ratio": 1.3,
    "quick.ms": 3.0,
    "http.ratio_p50": 1.15,
    "tenants.open_files": 15_000.0,
    "long.events_per_run": 1_200.0,
    "governance.false_store": 0.03,
    "contention.plans_per_job_at_5": 2.0,
    "contention.plans_per_job_at_50": 2.0,
}
"""The largest acceptable value of a figure."""

AT_LEAST = {
    "ingest.ratio": 0.5,
    "http.ratio_per_second": 0.85,
    "parallel.ratio": 0.9,
    "load.ratio": 0.7,
    "ingest.transcript_ratio": 0.8,
    "contention.ratio_at_50": 0.7,
    "mutants.killed": 0.92,
    "governance.decisions": 0.85,
    "governance.stories": 0.8,
    "locomo.recall_at_5": 0.807,
    "locomo.recall_at_10": 0.869,
    "locomo.recall_at_25": 0.915,
    "precision.precision": 0.9,
    "precision.recall": 0.9,
}
"""The smallest acceptable value of a figure."""

EXACTLY = {
    "crash.lines": 25.0,
    "tenants.errors": 0.0,
    "forget.tenants_visited": 500.0,
    "governance.false_store_private": 0.0,
    "governance.wrong_beliefs": 0.0,
}
"""The only acceptable value of a figure."""

_LONGEST = 1_800.0
"""Seconds that a section may take; the longest takes some five minutes."""


async def measure(sections: list[str], addresses: Addresses) -> dict[str, float]:
    """Run the sections one after the other, so that they do not disturb each other."""
    figures: dict[str, float] = {}
    for section in sections:
        Console(stderr=True).print(f"measuring {section} …")
        module = importlib.import_module(f"bench.{section}")
        async with asyncio.timeout(_LONGEST):
            figures |= await module.run(addresses)
    return figures


def verdict(name: str, value: float) -> str:
    """Return how a figure compares with its target; empty if it has none."""
    if name in TARGETS:
        return f"{'met' if value <= TARGETS[name] else 'MISSED'} (≤ {TARGETS[name]:g})"
    if name in AT_LEAST:
        return f"{'met' if value >= AT_LEAST[name] else 'MISSED'} (≥ {AT_LEAST[name]:g})"
    if name in EXACTLY:
        return f"{'met' if value == EXACTLY[name] else 'MISSED'} (= {EXACTLY[name]:g})"
    return ""


def main() -> int:
    """Measure, merge and print."""
    sections = [section for section in sys.argv[1:] if section] or list(SECTIONS)
    unknown = set(sections) - {*SECTIONS, *ON_DATA}
    if unknown:
        sys.stderr.write(
            f"error: no section {', '.join(sorted(unknown))}; there are {', '.join((*SECTIONS, *ON_DATA))}\n"
        )
        return 2
    configure_logging(logging.WARNING)
    with tempfile.TemporaryDirectory(prefix="perdure-bench-") as home:
        # The sections read settings of their own, or make those of tests: all belong to this installation.
        os.environ |= {"PERDURE_HOME": home, "PERDURE_JOURNAL": f"{home}/shared-journal", HOME_VARIABLE: home}
        give_tenant_key(Path(home))
        settings = Settings()
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if {"tenants", "forget"} & set(sections) and (hard == resource.RLIM_INFINITY or hard > FILES):
            resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))  # The servers inherit it.
        addresses = ensure(settings, worker=False, progress=Console(stderr=True).print)
        try:
            figures = asyncio.run(measure(sections, addresses))
        finally:
            stop(settings)
    table = Table("figure", "value", "target")
    for name, value in figures.items():
        table.add_row(name, f"{value:,.2f}", verdict(name, value))
    Console().print(table)
    known: dict[str, float] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known |= figures
    RESULTS.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n")
    publish()
    return 0


if __name__ == "__main__":
    leave_after(main)
