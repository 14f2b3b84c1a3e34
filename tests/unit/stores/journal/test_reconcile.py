from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from perdure.entries import Entry, Memory, MemoryItem, MemoryType, Source, item_id
from perdure.jobs import Batch, UnusableItem
from perdure.stores.journal.lines import BatchLine, DeletionLine, EpisodeLine, MirrorLine, RestorationLine
from perdure.stores.journal.reconcile import Origin, reconcile

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TENANT = "t_1"
NAMES = st.sampled_from("abcd")


def at(step: int) -> datetime:
    return NOW + timedelta(minutes=step)


def item(name: str, occurrence: str = "once") -> MemoryItem:
    return MemoryItem(content=name, occurrence=occurrence, occurred_at=NOW)


def identifier(name: str) -> str:
    return item_id(TENANT, item(name))


def batch(*items: MemoryItem | UnusableItem, step: int = 0) -> BatchLine:
    return BatchLine(job_id="job", batch=Batch(tenant=TENANT, key="k", items=items), at=at(step))


def deletion(name: str, step: int = 0) -> DeletionLine:
    return DeletionLine(ids=(identifier(name),), reason="test", at=at(step))


def restoration(name: str) -> RestorationLine:
    return RestorationLine(ids=(identifier(name),), at=NOW)


def entry(name: str, seen_at: datetime = NOW) -> Memory:
    return Memory(
        id=identifier(name),
        text=name,
        memory_type=MemoryType.FACT,
        source=Source.EXPLICIT,
        first_seen=NOW,
        last_seen=seen_at,
    )


def origins(remote: Iterable[Entry], lines: Iterable[MirrorLine]) -> dict[str, Origin]:
    found = reconcile(TENANT, tuple(remote), lines)
    assert len({one.id for one in found}) == len(found)
    return {one.id: one.origin for one in found}


def observation(name: str, number: int) -> BatchLine:
    return batch(item(name, f"o{number}"))


LINES: st.SearchStrategy[MirrorLine] = st.one_of(
    st.builds(observation, NAMES, st.integers(0, 2)), st.builds(deletion, NAMES), st.builds(restoration, NAMES)
)


def about(line: MirrorLine) -> str:
    match line:
        case BatchLine():
            return item_id(TENANT, next(one for one in line.batch.items if isinstance(one, MemoryItem)))
        case DeletionLine() | RestorationLine():
            return line.ids[0]
        case EpisodeLine():
            return ""


@given(st.sets(NAMES), st.sets(NAMES))
def test_each_is_tagged_with_where_it_is(remote: set[str], local: set[str]) -> None:
    found = origins((entry(name) for name in sorted(remote)), [batch(item(name)) for name in sorted(local)])
    assert found == {
        **{identifier(name): Origin.REMOTE for name in remote - local},
        **{identifier(name): Origin.LOCAL for name in local - remote},
        **{identifier(name): Origin.MERGED for name in remote & local},
    }


@given(st.lists(LINES, max_size=12), NAMES)
def test_a_deletion_wins_over_all_before_it(lines: list[MirrorLine], name: str) -> None:
    assert identifier(name) not in origins([entry(name)], [*lines, deletion(name)])


@given(st.lists(LINES, max_size=12), NAMES)
def test_what_is_observed_after_a_deletion_counts(lines: list[MirrorLine], name: str) -> None:
    later = item(name, "anew").changed(occurred_at=at(1))
    assert origins((), [*lines, deletion(name), batch(later)])[identifier(name)] is Origin.LOCAL


@given(st.lists(LINES, max_size=12), NAMES)
def test_submitting_again_what_was_forgotten_brings_nothing_back(lines: list[MirrorLine], name: str) -> None:
    assert identifier(name) not in origins((), [*lines, deletion(name), batch(item(name))])


@given(st.lists(LINES, max_size=12), NAMES)
def test_undoing_a_deletion_leaves_no_trace_of_it(lines: list[MirrorLine], name: str) -> None:
    before = reconcile(TENANT, [entry(name)], [line for line in lines if isinstance(line, BatchLine)])
    kept = [line for line in lines if isinstance(line, BatchLine)]
    after = reconcile(TENANT, [entry(name)], [*kept, deletion(name), restoration(name)])
    assert set(before) == set(after)


@given(st.lists(LINES, max_size=12), NAMES)
def test_lines_about_one_id_do_not_touch_another(lines: list[MirrorLine], name: str) -> None:
    others = [line for line in lines if about(line) != identifier(name)]
    with_it = origins((), lines)
    with_it.pop(identifier(name), None)
    assert with_it == origins((), others)


def test_what_was_seen_after_its_deletion_is_still_there() -> None:
    lines = [batch(item("a")), deletion("a", step=1)]
    assert origins([entry("a", at(2))], lines) == {identifier("a"): Origin.REMOTE}
    assert origins([entry("a", at(1))], lines) == {}


def test_occurrences_are_counted_once() -> None:
    again = [batch(item("a", "one")), batch(item("a", "one")), batch(item("a", "two")), batch(UnusableItem(reason="x"))]
    [found] = reconcile(TENANT, (), again)
    assert [one.occurrence for one in found.items] == ["one", "two"]
