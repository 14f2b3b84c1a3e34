"""The README's table of figures, and those that other pages repeat, so that nobody copies figures by hand.

``python -m bench.table`` writes them from ``bench/results.json``, as ``make bench`` does.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from string import Formatter

from bench.targets import is_met, target

README = Path("README.md")
RESULTS = Path(__file__).parent / "results.json"

_PLACE = r"(<!-- {name}: [^\n]*? -->\n\n).*?(\n\n<!-- end of {name} -->)"

HEADER: tuple[str, ...] = ("| figure | measured | floor, same run | ratio | target |", "|---|---|---|---|---|")

ROWS: tuple[str, ...] = (
    "| recall over 10,000 memories, p50 / p95, flushed | {recall_p50_ms:.1f} / {recall_p95_ms:.1f} ms "
    "| {recall_floor_p50_ms:.1f} / {recall_floor_p95_ms:.1f} ms | {recall_ratio_p50:.2f} / {recall_ratio_p95:.2f} |",
    "| recall, just written, p50 / p95 | {recall_p50_fresh_ms:.1f} / {recall_p95_fresh_ms:.1f} ms | – "
    "| {recall_ratio_p50_fresh:.2f} / {recall_ratio_p95_fresh:.2f} |",
    "| recall over 100,000 memories, p95, flushed | {recall_p95_ms_at_100k:.1f} ms | – | – |",
    "| recall over HTTP with a token, p50 | {http_p50_ms:.1f} ms | {http_floor_p50_ms:.1f} ms, the gateway called "
    "directly | {http_ratio_p50:.2f} |",
    "| recalls over HTTP by 32 clients | {http_per_second:.0f} a second | {http_floor_per_second:.0f} a second, the "
    "gateway called directly | {http_ratio_per_second:.2f} |",
    "| one agent step | {step_ms:.1f} ms | {step_floor_ms:.1f} ms, a bare workflow of the same activities "
    "| {step_ratio:.2f} |",
    "| one turn of an agent with a goal, one call, without the model's own time | {turn_ms:.1f} ms "
    "| {turn_floor_ms:.1f} ms, a bare workflow that asks the same model | {turn_ratio:.2f} |",
    "| 500 elements, ten at a time | {parallel_per_second:.0f} steps/s | {parallel_floor_per_second:.0f} steps/s, "
    "ten of the same activities in flight | {parallel_ratio:.2f} |",
    "| 50 tasks of 20 steps at once | {load_per_second:.0f} steps/s | {load_floor_per_second:.0f} steps/s, "
    "bare workflows of the same activities | {load_ratio:.2f} |",
    "| a quick step, with ten policies, `expect` and its episode | {quick_ms:.1f} ms "
    "| {quick_floor_ms:.1f} ms, a bare local activity | {quick_ratio:.2f} |",
    "| history per step, at step 10 / 200 | {history_bytes_per_step_at_10:,.0f} / "
    "{history_bytes_per_step_at_200:,.0f} bytes, {history_events_per_step:.1f} events | – | – |",
    "| a task of 1,000 steps: each early / late | {long_ms_per_step_at_10:.1f} / {long_ms_per_step_at_1000:.1f} ms, "
    "{long_bytes_per_step_at_10:,.0f} / {long_bytes_per_step_at_1000:,.0f} bytes; {long_runs:.0f} runs of at most "
    "{long_events_per_run:,.0f} events | – | {long_ms_ratio:.2f} / {long_bytes_ratio:.2f} |",
    "| ingest | {ingest_per_second:.0f} items/s | {ingest_floor_per_second:.0f} items/s | {ingest_ratio:.2f} |",
    "| ingest of a transcript | {ingest_transcript_per_second:.0f} items/s "
    "| {ingest_transcript_floor_per_second:.0f} items/s | {ingest_transcript_ratio:.2f} |",
    "| 50 jobs of one user at once, 5 of 25 items in all of them | {contention_per_second_at_50:.0f} items/s, "
    "{contention_plans_per_job_at_50:.2f} plans a job | {contention_per_second_alone:.0f} items/s, one job at a time "
    "| {contention_ratio_at_50:.2f} |",
    "| {tenants_users:,.0f} users in random order: first recall of one whose shard is closed, p95 | "
    "{tenants_p95_ms:.1f} ms, {tenants_open_files:,.0f} of 20,000 files | {tenants_p95_warm_ms:.1f} ms, at once again "
    "| – |",
    "| LoCoMo, right turns among the first 5 / 10 / 25, no language model | {locomo_recall_at_5:.3f} / "
    "{locomo_recall_at_10:.3f} / {locomo_recall_at_25:.3f} | – | – |",
    "| {precision_questions:.0f} questions by name with `precise`: precision / recall (`balanced`) | "
    "{precision_precision:.3f} / {precision_recall:.3f} ({precision_balanced_precision:.3f} / "
    "{precision_balanced_recall:.3f}) | – | – |",
    "| what rules believe of {unseen_cases:.0f} held-out cases, no model: decisions / stories right | "
    "{unseen_decisions:.2f} / {unseen_stories:.2f}; stored wrongly {unseen_false_store:.2f}, of private data and "
    "secrets {unseen_false_store_private:.2f}; wrong beliefs {unseen_wrong_beliefs:.0f} | – | – |",
    "| forgetting 500 due of 10,000 / 50,000 / 100,000 | {forget_seconds_at_10k:.1f} / {forget_seconds_at_50k:.1f} / "
    "{forget_seconds_at_100k:.1f} s; where 500 of 1,000 users have one due, {forget_tenants_visited:.0f} are visited "
    "| – | {forget_ratio:.2f} |",
    "| mutants of the pure rules that a unit test notices | {mutants_killed:.1%} of {mutants_total:,.0f} | – | – |",
    "| 25 steps, SIGKILL in step 13 after its effect | {crash_lines:.0f} lines, {crash_seconds:.1f} s from restart "
    "to finished | – | – |",
)

REPEATED: tuple[tuple[str, str], ...] = (
    (
        "docs/when-not-to-use.md",
        "| Perdure, a `once` tool with a `check` | {crash_lines:.0f} | {crash_seconds:.1f} s |",
    ),
    (
        "docs/when-not-to-use.md",
        "| Perdure on that tuned server | {step_ms:.0f}; a [quick](tools.md#quick-tools) step {quick_ms:.0f} |",
    ),
    (
        "docs/when-not-to-use.md",
        "| Perdure | {recall_at_5} | {recall_at_10} | p95 {locomo_p95_ms:.0f} ms with the encoder, on a busy machine "
        "| {locomo_ingest_per_second:.0f} |",
    ),
    (
        "docs/memory.md",
        "are {balanced_recall_at_5}, {balanced_recall_at_10} and {balanced_recall_at_25} instead of {recall_at_5},\n"
        "{recall_at_10} and {recall_at_25}.",
    ),
)
"""What pages say in words that stay, around figures that do not: the page, and the text."""


def markdown(figures: Mapping[str, float]) -> str:
    """Return the table, without the rows of sections that were never measured."""
    values = {_field(name): value for name, value in figures.items()}
    lines = list(HEADER)
    for row in ROWS:
        try:
            lines.append(f"{row.format_map(values)} {_verdict(row, figures)} |")
        except KeyError:
            continue
    return "\n".join(lines)


def _field(name: str) -> str:
    return name.replace(".", "_")


def _verdict(row: str, figures: Mapping[str, float]) -> str:
    """Return whether a row's figures meet their targets, and which do not."""
    shown = {field for _, field, _, _ in Formatter().parse(row) if field}
    judged = {name: is_met(name, value) for name, value in figures.items() if _field(name) in shown}
    missed = [f"{name.partition('.')[2]} {target(name)}" for name, met in sorted(judged.items()) if met is False]
    if missed:
        return f"missed: {', '.join(missed)}".replace("_", " ")
    return "met" if True in judged.values() else "–"


def written(page: str, figures: Mapping[str, float]) -> str:
    """Return the README with the table of these figures in its place."""
    return replaced(page, "figures", markdown(figures))


def replaced(page: str, name: str, table: str) -> str:
    """Return a page with a table between the two comments of this name."""
    return re.sub(_PLACE.format(name=name), lambda found: found[1] + table + found[2], page, flags=re.DOTALL)


def repeated(page: str, text: str, figures: Mapping[str, float]) -> str:
    """Return a page on which a text has these figures, wherever it stood with others; as it is where one is missing."""
    values: dict[str, float | str] = {_field(name): value for name, value in figures.items()}
    # A share is written as the field does: .82.
    values |= {
        name.removeprefix("locomo."): f"{value:.3f}".removeprefix("0")
        for name, value in figures.items()
        if name.startswith("locomo.") and "recall_at_" in name
    }
    try:
        told = text.format_map(values)
    except KeyError:
        return page
    pattern = "".join(
        re.escape(between) + (r"[\d.,]+\b" if field else "") for between, field, _, _ in Formatter().parse(text)
    )
    return re.sub(pattern, lambda _: told, page)


def publish() -> None:
    """Write the table into the README, and the figures into the other pages."""
    figures: dict[str, float] = json.loads(RESULTS.read_text(encoding="utf-8"))
    README.write_text(written(README.read_text(encoding="utf-8"), figures), encoding="utf-8")
    for name, text in REPEATED:
        page = Path(name)
        page.write_text(repeated(page.read_text(encoding="utf-8"), text, figures), encoding="utf-8")


if __name__ == "__main__":
    publish()
