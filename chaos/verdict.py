"""What came of it: what was asked for, what the ledger says and what the store holds, compared. Pure decisions."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from chaos.requests import Shown, Started, Submitted
from perdure.identity import idempotency_key, record_id
from perdure.values.entries import Lane
from perdure.values.items import item_id
from perdure.values.jobs import Fate

KILLS_A_MINUTE = 20 / 3
"""Fewer kills in the middle of an effect or a write would prove little."""


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What the store holds of one tenant."""

    seen: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often each entry that is not forgotten was observed, by its id."""
    unindexed: int = 0
    """How many of these are not found by their own vector."""


@dataclass
class Verdict:
    """The counts of one run."""

    effects: int = 0
    writes: int = 0
    lost: int = 0
    doubled: int = 0
    stuck: int = 0
    unindexed: int = 0
    leaked: int = 0
    doubled_in_threads: int = 0
    """In stopped threads, which nothing can fence; not part of the verdict."""

    @property
    def holds(self) -> bool:
        """Whether every promise was kept."""
        return not (self.lost or self.doubled or self.stuck or self.unindexed or self.leaked)


def enough(kills: int, minutes: float) -> bool:
    """Return whether so many kills in the middle of something prove anything about a run of so many minutes."""
    return kills >= KILLS_A_MINUTE * minutes


def asked_of(tasks: Iterable[Started], jobs: Iterable[Submitted], tenant_of: Callable[[str], str]) -> set[str]:
    """Return the tenants of which something was asked to be remembered."""
    return {tenant_of(one.task.user_id) for one in tasks} | {tenant_of(one.request.user_id) for one in jobs}


def judge(
    *,
    tasks: Sequence[Started],
    jobs: Sequence[Submitted],
    shown: Iterable[Shown],
    done: Counter[str],
    stored: Mapping[str, Stored],
    tenant_of: Callable[[str], str],
    unanswered: int = 0,
) -> Verdict:
    """Count what was lost, doubled, stuck, stored but not found by its own vector, or shown to another user.

    Args:
        tasks: The tasks that were started.
        jobs: The jobs that were submitted.
        shown: What recalls gave, and to whom.
        done: How often each effect happened, by its idempotency key.
        stored: What the store holds, by tenant.
        tenant_of: Derives a tenant from a user id.
        unanswered: How many recalls and sweeps did not end.
    """
    verdict = Verdict(leaked=sum(one.user not in one.text for one in shown), stuck=unanswered)
    wanted: dict[str, set[str]] = {}
    for task in tasks:
        tenant = tenant_of(task.task.user_id)
        _judge_effects(task, tenant, done, verdict)
        wanted.setdefault(tenant, set()).update(_records(task, tenant) if task.result else ())
    for job in jobs:
        tenant = tenant_of(job.request.user_id)
        wanted.setdefault(tenant, set()).update(_judge_receipt(job, tenant, verdict))
    for tenant, ids in wanted.items():
        seen = stored.get(tenant, Stored()).seen
        verdict.writes += len(ids)
        verdict.lost += len(ids - seen.keys())
        verdict.doubled += sum(seen[one] != 1 for one in ids & seen.keys())
    verdict.unindexed = sum(one.unindexed for one in stored.values())
    return verdict


def _judge_effects(one: Started, tenant: str, done: Counter[str], verdict: Verdict) -> None:
    verdict.stuck += one.result is None
    for index in range(len(one.marks)):
        for step in ("seen", "unseen", *(["threaded"] if index == 0 else [])):
            times = done[idempotency_key(tenant, one.task.task_id, f"mark[{index}].{step}")]
            verdict.effects += times > 0
            verdict.lost += one.result is not None and times == 0
            if step == "threaded":
                verdict.doubled_in_threads += max(0, times - 1)
            else:
                verdict.doubled += max(0, times - 1)


def _judge_receipt(job: Submitted, tenant: str, verdict: Verdict) -> set[str]:
    """Count what a job's receipt admits to; return the ids of the entries that the store has to hold for it."""
    if job.receipt is None:
        verdict.stuck += 1
        return set()
    # What was to be forgotten meanwhile is not missed.
    kept = {index for index, item in enumerate(job.items) if item.valid_until is None}
    searchable = {line.index for line in job.receipt.items if line.fate is Fate.SEARCHABLE}
    verdict.lost += len(kept - searchable)
    return {item_id(tenant, job.items[index]) for index in kept & searchable}


def _records(one: Started, tenant: str) -> set[str]:
    user = one.task.user_id
    return {record_id(tenant, Lane.PATTERN, mark, {"mark": mark, "user": user}) for mark in one.marks}
