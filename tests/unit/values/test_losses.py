"""A copy of a store is known as one that lacks something, whenever it was made and whoever died; and nothing else is.

Processes go through the steps of the protocol in any order between each other, and may die at any of them.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.values.losses import Loss, LossKind, Mark, Store, Told, losses, restored, seen_around

ID = "j"
STORES = (Store.REDIS, Store.WEAVIATE)
STEPS = 6
"""Of one operation: begun, written to Redis, to Weaviate, marked in Redis, in Weaviate, and closed in the journal."""


@dataclass
class World:
    """What the stores hold: the operations that were written to them, and what they say of themselves."""

    written: dict[Store, set[str]] = field(default_factory=lambda: {store: set[str]() for store in Store})
    marks: dict[Store, dict[str, Mark]] = field(default_factory=lambda: {store: dict[str, Mark]() for store in Store})
    acknowledged: set[str] = field(default_factory=set[str])
    begun: Counter[str] = field(default_factory=Counter[str])
    done: Counter[str] = field(default_factory=Counter[str])
    closed: Counter[str] = field(default_factory=Counter[str])
    known: dict[str, Mark] = field(default_factory=dict[str, Mark])

    def step(self, process: str, operation: str, number: int) -> None:
        """Do one step of an operation of a process."""
        if number == 0:
            self.begun[process] += 1
            self.written[Store.JOURNAL].add(operation)
            self.marks[Store.JOURNAL][process] = Mark(self.begun[process], self.closed[process])
        elif number in (1, 2):
            self.written[STORES[number - 1]].add(operation)
        elif number in (3, 4):
            if number == 3:
                self.done[process] += 1
                self.known[operation] = Mark(self.begun[process], self.done[process])
            store, mark = STORES[number - 3], self.known[operation]
            self.marks[store][process] = max(mark, self.marks[store].get(process, Mark()), key=lambda one: one.done)
        else:
            self.closed[process] = max(self.closed[process], self.known[operation].done)
            self.marks[Store.JOURNAL][process] = Mark(self.begun[process], self.closed[process])
            self.acknowledged.add(operation)

    def told(self) -> dict[Store, Told]:
        return {store: Told(ID, dict(self.marks[store])) for store in Store}

    def copy(self, store: Store) -> tuple[set[str], dict[str, Mark]]:
        return set(self.written[store]), dict(self.marks[store])


@st.composite
def runs(draw: st.DrawFn) -> list[tuple[str, str, int]]:
    """Return steps of several processes with several operations at once each; what is cut off at the end had died."""
    operations = [(f"p{process}", f"p{process}.{number}") for process in range(2) for number in range(3)]
    order = draw(st.permutations([one for one in operations for _ in range(STEPS)]))
    taken: Counter[str] = Counter()
    steps: list[tuple[str, str, int]] = []
    closing: set[str] = set()
    for process, operation in order:
        number = taken[operation]
        # One operation of a process closes at a time.
        if number == 3 and process in closing:
            continue
        closing = closing | {process} if number == 3 else closing - {process} if number == STEPS - 1 else closing
        taken[operation] += 1
        steps.append((process, operation, number))
    return steps[: draw(st.integers(0, len(steps)))]


@given(runs(), st.data())
def test_an_older_copy_is_known_if_it_lacks_what_was_acknowledged(
    steps: list[tuple[str, str, int]], data: st.DataObject
) -> None:
    store = data.draw(st.sampled_from(Store))
    moment = data.draw(st.integers(0, len(steps)))
    world = World()
    copy = world.copy(store)
    for number, step in enumerate(steps):
        if number == moment:
            copy = world.copy(store)
        world.step(*step)
    assert losses(world.told()) == (), "nothing was lost, whoever died"

    now, marks = world.written[store], dict(world.marks[store])
    world.written[store], world.marks[store] = copy
    found = losses(world.told())
    lacking = (now - world.written[store]) & world.acknowledged
    if lacking:
        assert [loss.store for loss in found] == [store]
    if marks == world.marks[store]:
        assert found == ()


@given(runs(), st.sampled_from(Store))
def test_what_was_rebuilt_is_whole_again(steps: list[tuple[str, str, int]], store: Store) -> None:
    world = World()
    for step in steps:
        world.step(*step)
    told = world.told() | {store: Told(None, {})}
    if world.begun:
        assert losses(told) in {(Loss(store, LossKind.LOST),), ()}
    assert losses(told | {store: Told(ID, restored(told, store))}) == ()


NEW: tuple[Any, Any] = (None, {})
EMPTY: tuple[Any, Any] = ("j", {})


@pytest.mark.parametrize(
    ("journal", "redis", "weaviate", "lost"),
    [
        (NEW, NEW, NEW, []),
        (EMPTY, NEW, NEW, []),
        (("j", {"p": Mark(1, 0)}), NEW, EMPTY, [Store.REDIS]),
        (NEW, EMPTY, NEW, [Store.JOURNAL]),
        (NEW, ("j", {"p": Mark(1, 1)}), NEW, [Store.JOURNAL, Store.WEAVIATE]),
    ],
)
def test_a_store_without_an_id_is_new_or_lost(journal: Any, redis: Any, weaviate: Any, lost: list[Store]) -> None:
    told = {Store.JOURNAL: Told(*journal), Store.REDIS: Told(*redis), Store.WEAVIATE: Told(*weaviate)}
    assert [loss.store for loss in losses(told)] == lost


def test_what_only_those_wrote_that_are_gone_is_lost_too() -> None:
    told = {Store.JOURNAL: Told(ID, {}, {"gone": Mark(3)}), Store.REDIS: Told(None, {}), Store.WEAVIATE: Told(ID, {})}
    assert losses(told) == (Loss(Store.REDIS, LossKind.LOST),)


def test_what_happens_while_the_stores_are_asked_is_no_loss() -> None:
    before, after = Told(ID, {"p": Mark(1, 1)}), Told(ID, {"p": Mark(3, 3), "new": Mark(1, 1)})
    journal = seen_around(before, after)
    store = Told(ID, {"p": Mark(2, 2)})
    told = {Store.JOURNAL: journal, Store.REDIS: store, Store.WEAVIATE: store}
    assert losses(told) == ()
    gone = seen_around(before, Told(ID, {}))
    assert gone.marks == {"p": Mark(1, 0)}, "a writer that one of the reports does not know has done nothing"
    assert losses(told | {Store.JOURNAL: before}), "the control: asked before only, the journal looks older"
    assert losses(told | {Store.JOURNAL: after}), "the control: asked after only, the stores look older"


@pytest.mark.parametrize(("claimed", "older"), [(3, ()), (4, ()), (2, (Loss(Store.REDIS, LossKind.OLDER),))])
def test_a_redis_that_lacks_a_claim_is_an_older_copy(claimed: int, older: tuple[Loss, ...]) -> None:
    told = {
        Store.JOURNAL: Told("j", {"w": Mark(1, 1, 3)}),
        Store.REDIS: Told("j", {"w": Mark(1, 1, claimed)}),
        Store.WEAVIATE: Told("j", {"w": Mark(1, 1)}),
    }
    assert losses(told) == older, "Weaviate knows of no claims"
    assert losses(told | {Store.REDIS: Told("j", restored(told, Store.REDIS))}) == ()
    around = seen_around(told[Store.JOURNAL], Told("j", {"w": Mark(1, 1, 9)}))
    assert losses(told | {Store.JOURNAL: around}) == older, "one that was made meanwhile is not missed"


def test_what_a_store_still_knows_of_one_that_is_gone_is_no_loss() -> None:
    journal, store = Told(ID, {"w": Mark(1, 1)}, {"gone": Mark(3)}), Told(ID, {"w": Mark(1, 1), "gone": Mark(3, 3)})
    told = {Store.JOURNAL: seen_around(journal, journal), Store.REDIS: store, Store.WEAVIATE: Told(ID, store.marks)}
    assert losses(told) == ()
    assert losses(told | {Store.WEAVIATE: Told(ID, {"w": Mark(1, 1)})}) == (), "nor that another does not"
    later = told | {Store.REDIS: Told(ID, {"w": Mark(1, 1), "gone": Mark(4, 4)})}
    assert losses(later) == (Loss(Store.JOURNAL, LossKind.OLDER),), (
        "the control: it came further than the journal knows"
    )
    assert restored(told, Store.REDIS) == {"w": Mark(1, 1)}
    older = {Store.JOURNAL: Told(ID, {}, {"gone": Mark(5)}), Store.REDIS: store, Store.WEAVIATE: store}
    assert restored(older, Store.JOURNAL)["gone"] == Mark(5, 3)


def test_a_mark_is_read_as_it_was_written() -> None:
    assert Mark.read(str(Mark(12, 7))) == Mark(12, 7)


def test_a_journal_is_begun_anew_from_what_all_other_stores_have_done() -> None:
    redis = Told(ID, {"a": Mark(5, 4), "b": Mark(2, 2)})
    weaviate = Told(ID, {"a": Mark(6, 3)})
    new = Told(None, {"a": Mark(9, 9)})
    told = {Store.JOURNAL: new, Store.REDIS: redis, Store.WEAVIATE: weaviate}
    assert {name: mark.done for name, mark in restored(told, Store.JOURNAL).items()} == {"a": 3, "b": 0}
    nobody = restored({Store.JOURNAL: new, Store.REDIS: Told(None, {"a": Mark(8, 8)})}, Store.JOURNAL)
    assert nobody == {"a": Mark(9, 0)}, "one that has lost its own has done nothing"
