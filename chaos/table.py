"""The README's table of chaos, and its figures in ``bench/results.json``: written together, so that they agree."""

import json
from collections.abc import Mapping
from pathlib import Path

from bench.table import README, RESULTS, replaced

PUBLISHED_FROM = 10.0
"""Minutes from which a run is published; a shorter one shows too little. A choice."""

SECTIONS = {"chaos": "the gateway", "http_chaos": "HTTP"}
"""What each section of the figures was asked through."""

BLOWS = ("kills", "service_kills", "restarts", "stops")
"""What falls on the processes. Over HTTP, kills are those of workers and of the service, through the gateway those of
workers and servers; those of the service are among them."""

COLUMNS = (
    "minutes",
    "seed",
    *BLOWS,
    "effects",
    "writes",
    "lost",
    "doubled",
    "stuck",
    "unindexed",
    "leaked",
    "doubled_in_threads",
)
"""The figures of a section."""


def markdown(figures: Mapping[str, float]) -> str:
    """Return the table, with a row for each section that was measured."""
    header = " | ".join(("asked through", *COLUMNS)).replace("_", " ")
    lines = [f"| {header} |", "|---" * (1 + len(COLUMNS)) + "|"]
    for section, door in SECTIONS.items():
        values = {name: figures.get(f"{section}.{name}") for name in COLUMNS}
        if None not in values.values():
            shown = [f"{value:.0f}" if name == "seed" else f"{value:,.0f}" for name, value in values.items()]
            lines.append(" | ".join((f"| {door}", *shown)) + " |")
    return "\n".join(lines)


def written(page: str, figures: Mapping[str, float]) -> str:
    """Return the README with the table of these figures in its place."""
    return replaced(page, "chaos", markdown(figures))


def publish(section: str, measured: Mapping[str, float], *, results: Path = RESULTS, readme: Path = README) -> None:
    """Write the figures of a run, without their section's name, to the results and to the README."""
    known: dict[str, float] = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}
    known |= {f"{section}.{name}": measured[name] for name in COLUMNS}
    results.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n", encoding="utf-8")
    readme.write_text(written(readme.read_text(encoding="utf-8"), known), encoding="utf-8")
