"""What each figure should come to, and whether it does."""

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
    # Flat: what two windows of one task differ by on a quiet machine.
    "long.ms_ratio": 1.2,
    "long.bytes_ratio": 1.05,
    "governance.false_store": 0.03,
    "unseen.false_store": 0.03,
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
    "unseen.decisions": 0.85,
    "unseen.stories": 0.8,
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
    "unseen.false_store_private": 0.0,
    "unseen.wrong_beliefs": 0.0,
}
"""The only acceptable value of a figure."""


def is_met(name: str, value: float) -> bool | None:
    """Return whether a figure meets its target; None if it has none."""
    if name in TARGETS:
        return value <= TARGETS[name]
    if name in AT_LEAST:
        return value >= AT_LEAST[name]
    if name in EXACTLY:
        return value == EXACTLY[name]
    return None


def target(name: str) -> str:
    """Return a figure's target in a few characters; empty if it has none."""
    if name in TARGETS:
        return f"≤ {TARGETS[name]:g}"
    if name in AT_LEAST:
        return f"≥ {AT_LEAST[name]:g}"
    return f"= {EXACTLY[name]:g}" if name in EXACTLY else ""


def verdict(name: str, value: float) -> str:
    """Return how a figure compares with its target; empty if it has none."""
    met = is_met(name, value)
    return "" if met is None else f"{'met' if met else 'MISSED'} ({target(name)})"
