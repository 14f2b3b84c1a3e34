from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from perdure.entries import Memory, MemoryType, Source
from perdure.memory.reconciling.merging import Origin, reconcile

NOW = datetime(2026, 1, 1, tzinfo=UTC)
VERSIONS = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 3))


def entry(name: str, version: int) -> Memory:
    fact, explicit = MemoryType.FACT, Source.EXPLICIT
    return Memory(id=name, text=name, memory_type=fact, source=explicit, first_seen=NOW, last_seen=NOW, version=version)


@given(VERSIONS, VERSIONS)
def test_each_is_there_once_with_where_it_is_and_in_its_latest_state(
    remote: dict[str, int], local: dict[str, int]
) -> None:
    found = reconcile(
        {name: entry(name, version) for name, version in remote.items()},
        {name: entry(name, version) for name, version in local.items()},
    )
    assert {name: origin for name, (origin, _) in found.items()} == {
        **dict.fromkeys(remote.keys() - local.keys(), Origin.REMOTE),
        **dict.fromkeys(local.keys() - remote.keys(), Origin.LOCAL),
        **dict.fromkeys(remote.keys() & local.keys(), Origin.MERGED),
    }
    assert all(one.version == max(remote.get(name, 0), local.get(name, 0)) for name, (_, one) in found.items())
