"""The judge of the chaos run sees each thing that can go wrong, and nothing in a run in which all went well."""

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from chaos.requests import Shown, Started, Submitted
from chaos.verdict import Stored, Verdict, asked_of, enough, judge
from perdure import AgentTask
from perdure.identity import idempotency_key, record_id
from perdure.values.entries import Lane
from perdure.values.items import MemoryItem, item_id
from perdure.values.jobs import Decision, Fate, ItemReceipt, Receipt
from perdure.values.requests import RememberRequest
from perdure.values.tasks import Phase, TaskResult

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STEPS = ("mark[0].seen", "mark[0].unseen", "mark[0].threaded", "mark[1].seen", "mark[1].unseen")


def tenant_of(user: str) -> str:
    return f"t_{user}"


def key_of(step: str) -> str:
    return idempotency_key("t_ada", "one", step)


def record_of(mark: str) -> str:
    return record_id("t_ada", Lane.PATTERN, mark, {"mark": mark, "user": "ada"})


@dataclass
class Run:
    """A made-up run in which all went well: a task of two marks, and a job of two items of which one expired."""

    task: Started
    job: Submitted
    done: Counter[str]
    seen: dict[str, int]
    unindexed: int = 0
    shown: list[Shown] = field(default_factory=lambda: [Shown("ada", "ada marked m0")])
    unanswered: int = 0

    def judged(self) -> Verdict:
        """Return what the judge says of it."""
        return judge(
            tasks=[self.task],
            jobs=[self.job],
            shown=self.shown,
            done=self.done,
            stored={"t_ada": Stored(seen=self.seen, unindexed=self.unindexed)},
            tenant_of=tenant_of,
            unanswered=self.unanswered,
        )


def item(content: str, **more: Any) -> MemoryItem:
    return MemoryItem(content=content, occurrence=content, occurred_at=NOW, **more)


@pytest.fixture
def run() -> Run:
    task = Started(AgentTask(task_id="one", user_id="ada", skill="chaos"), ["m0", "m1"])
    task.result = TaskResult(task_id="one", status=Phase.COMPLETED)
    items = [item("ada noted 1 about trains."), item("ada noted 2 about trains.", valid_until=NOW)]
    job = Submitted(RememberRequest(user_id="ada", key="job", items=({},)), items)
    job.receipt = Receipt(
        job_id="job",
        items=tuple(
            ItemReceipt(index=index, fate=Fate.SEARCHABLE, decision=Decision.INSERT) for index in range(len(items))
        ),
    )
    seen = {record_of("m0"): 1, record_of("m1"): 1, item_id("t_ada", items[0]): 1}
    return Run(task, job, Counter(map(key_of, STEPS)), seen)


def figures(verdict: Verdict) -> dict[str, int]:
    """Return the counts that are not nought, without those of what went well."""
    return {name: count for name, count in asdict(verdict).items() if count and name not in {"effects", "writes"}}


def test_a_run_in_which_all_went_well_is_clean(run: Run) -> None:
    verdict = run.judged()
    assert figures(verdict) == {}
    assert (verdict.effects, verdict.writes, verdict.holds) == (5, 3, True)


@pytest.mark.parametrize("step", STEPS)
def test_an_effect_that_did_not_happen_is_lost(run: Run, step: str) -> None:
    del run.done[key_of(step)]
    verdict = run.judged()
    assert (figures(verdict), verdict.effects, verdict.holds) == ({"lost": 1}, 4, False)


@pytest.mark.parametrize("step", [step for step in STEPS if "threaded" not in step])
def test_an_effect_that_happened_twice_is_doubled(run: Run, step: str) -> None:
    run.done[key_of(step)] += 1
    verdict = run.judged()
    assert (figures(verdict), verdict.effects, verdict.holds) == ({"doubled": 1}, 5, False)


def test_one_that_happened_twice_in_a_thread_is_counted_apart(run: Run) -> None:
    run.done[key_of("mark[0].threaded")] += 2
    verdict = run.judged()
    assert (figures(verdict), verdict.holds) == ({"doubled_in_threads": 2}, True)


def test_a_task_without_an_end_is_stuck_and_has_lost_nothing_yet(run: Run) -> None:
    run.task.result = None
    run.done.clear()
    verdict = run.judged()
    assert (figures(verdict), verdict.writes, verdict.holds) == ({"stuck": 1}, 1, False)


def test_a_job_without_a_receipt_is_stuck(run: Run) -> None:
    run.job.receipt = None
    verdict = run.judged()
    assert (figures(verdict), verdict.writes, verdict.holds) == ({"stuck": 1}, 2, False)


def test_a_recall_or_a_sweep_without_an_end_is_stuck(run: Run) -> None:
    run.unanswered = 1
    verdict = run.judged()
    assert (figures(verdict), verdict.holds) == ({"stuck": 1}, False)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_an_entry_that_the_store_has_not_is_lost(run: Run, which: int) -> None:
    del run.seen[list(run.seen)[which]]
    verdict = run.judged()
    assert (figures(verdict), verdict.holds) == ({"lost": 1}, False)


def test_all_of_a_user_is_lost_where_the_store_has_nothing_of_them(run: Run) -> None:
    verdict = judge(tasks=[run.task], jobs=[run.job], shown=(), done=run.done, stored={}, tenant_of=tenant_of)
    assert figures(verdict) == {"lost": 3}


@pytest.mark.parametrize("which", [0, 1, 2])
def test_an_observation_that_was_counted_twice_is_doubled(run: Run, which: int) -> None:
    run.seen[list(run.seen)[which]] = 2
    verdict = run.judged()
    assert (figures(verdict), verdict.holds) == ({"doubled": 1}, False)


@pytest.mark.parametrize("lines", ["rejected", "missing"])
def test_an_item_that_its_receipt_does_not_call_searchable_is_lost(run: Run, lines: str) -> None:
    assert run.job.receipt is not None
    first, second = run.job.receipt.items
    refused = (first.model_copy(update={"fate": Fate.REJECTED}),) if lines == "rejected" else ()
    run.job.receipt = run.job.receipt.model_copy(update={"items": (*refused, second)})
    verdict = run.judged()
    assert (figures(verdict), verdict.writes, verdict.holds) == ({"lost": 1}, 2, False)


def test_an_item_that_expired_meanwhile_is_not_missed(run: Run) -> None:
    assert run.job.receipt is not None
    first, second = run.job.receipt.items
    rejected = second.model_copy(update={"fate": Fate.REJECTED})
    run.job.receipt = run.job.receipt.model_copy(update={"items": (first, rejected)})
    assert figures(run.judged()) == {}


def test_an_entry_that_its_own_vector_does_not_find_is_unindexed(run: Run) -> None:
    run.unindexed = 1
    verdict = run.judged()
    assert (figures(verdict), verdict.holds) == ({"unindexed": 1}, False)


def test_a_memory_that_another_user_is_shown_is_leaked(run: Run) -> None:
    run.shown.append(Shown("bob", "ada marked m1"))
    verdict = run.judged()
    assert (figures(verdict), verdict.holds) == ({"leaked": 1}, False)


def test_the_store_is_asked_about_everyone_of_whom_something_was_to_be_remembered(run: Run) -> None:
    other = replace(run.job, request=run.job.request.model_copy(update={"user_id": "bob"}))
    assert asked_of([run.task], [run.job, other], tenant_of) == {"t_ada", "t_bob"}


@pytest.mark.parametrize(("kills", "minutes", "sufficient"), [(20, 3, True), (19, 3, False), (0, 0.1, False)])
def test_a_run_with_too_few_kills_proves_nothing(kills: int, minutes: float, sufficient: bool) -> None:
    assert enough(kills, minutes) is sufficient
