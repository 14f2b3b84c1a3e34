"""The beginning of an id names an entry, if it names one alone."""

import pytest

from perdure.errors import InvalidInput
from perdure.memory.updates.id_prefixes import identified

ONE, OTHER, RECORD = (
    f"{kind}_{digits}{'0' * 56}" for kind, digits in [("mem", "1a2b3c4d"), ("mem", "1a2b3c99"), ("exec", "1a2b3c4e")]
)
KNOWN = {ONE, OTHER, RECORD}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (ONE, ONE),
        ("mem_1a2b3c4d", ONE),
        ("mem_1a2b3c4", ONE),
        ("mem_1a2b3c4d00000…", ONE),
        ("mem_1a2b3c4d...", ONE),
        ("1a2b3c4d", ONE),
        ("exec_1a2", RECORD),
        ("exec_1a", "exec_1a"),
        ("1a2b3c4", "1a2b3c4"),
        ("mem_ffffffff", "mem_ffffffff"),
        ("", ""),
    ],
)
def test_a_beginning_names_the_one_id_that_begins_so(given: str, meant: str) -> None:
    assert identified(given, KNOWN) == meant


def test_an_ambiguous_beginning_is_refused_with_the_candidates() -> None:
    with pytest.raises(InvalidInput) as refused:
        identified("mem_1a2b3c", KNOWN)
    assert f"'mem_1a2b3c' begins 2 ids: {ONE}, {OTHER} (give more of it)" in str(refused.value)
    many = [f"mem_1a2b3c{number}" for number in range(7)]
    with pytest.raises(InvalidInput, match=r"begins 7 ids: .*4 and 2 more"):
        identified("mem_1a2b3c", many)
