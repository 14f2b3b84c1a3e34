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
from bench.targets import verdict
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
"""Sections that measure with data that is not part of the project; DATA names its folder."""

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
    RESULTS.write_text(json.dumps(dict(sorted((known | figures).items())), indent=2) + "\n")
    publish()
    return 0


if __name__ == "__main__":
    leave_after(main)
