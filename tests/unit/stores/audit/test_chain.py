"""Chains: any single change, removal or swap of lines shows; and the control, that an untouched one is sound."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.audit.verification import AuditReport, Missing, report
from perdure.stores.audit.chain import Checked, chained, check, root
from perdure.stores.audit.lines import AuditHead, AuditKind, AuditLine
from perdure.values.changes import Actor, ActorKind

KEY, FILE, NOW = bytes(range(32)), "20260101T000000-aa.jsonl", datetime(2026, 1, 1, tzinfo=UTC)
TENANT = "t_1"


def act(number: int) -> AuditLine:
    return AuditLine(
        kind=AuditKind.CHANGED,
        at=NOW + timedelta(seconds=number),
        tenant=TENANT,
        operation=f"operation {number % 3}",
        by=Actor(kind=ActorKind.PERSON, id="tëster"),
        ids={"insert": (f"mem_{number}",)},
    )


def written(*lines: AuditLine, file: str = FILE) -> tuple[bytes, AuditHead]:
    opened = AuditLine(kind=AuditKind.OPENED, at=NOW)
    return chained(KEY, root(KEY, file), [opened, *lines])


def closed(*lines: AuditLine, file: str = FILE) -> tuple[bytes, AuditHead]:
    return written(*lines, AuditLine(kind=AuditKind.CLOSED, at=NOW), file=file)


def reported(content: bytes, *known: AuditHead, file: str = FILE) -> AuditReport:
    chain = check(KEY, file, content)
    return report({file: chain}, known, (), {file: chain.last})


def test_an_untouched_chain_says_what_was_written() -> None:
    first, head = written(act(1), act(2))
    content, last = chained(KEY, head, [act(3), AuditLine(kind=AuditKind.CLOSED, at=NOW)])
    chain = check(KEY, FILE, first + content)
    assert [chain.lines[number] for number in (2, 3, 4)] == [act(1), act(2), act(3)]
    assert (chain.problems, chain.closed, chain.last, chain.torn) == ((), True, 5, False)
    found = reported(first + content, head, last)
    assert (found.problems, found.notes) == ((), ())
    assert found.read == {FILE: last}


lengths = st.integers(1, 7)


@given(number=lengths, data=st.data())
def test_any_single_change_of_a_byte_shows(number: int, data: st.DataObject) -> None:
    content, head = closed(*map(act, range(number)))
    place = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda one: one != content[place]))
    changed = content[:place] + bytes([byte]) + content[place + 1 :]
    assert reported(changed, head).problems


@given(number=lengths, data=st.data())
def test_any_line_that_is_removed_added_moved_or_copied_shows(number: int, data: st.DataObject) -> None:
    content, head = closed(*map(act, range(number)))
    lines = content.splitlines(keepends=True)
    one, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    removed = [line for place, line in enumerate(lines) if place != one]
    swapped = list(lines)
    swapped[one], swapped[other] = lines[other], lines[one]
    moved = [*removed[:other], lines[one], *removed[other:]]
    for tampered in (removed, swapped, moved, [*lines[:one], lines[other], *lines[one:]], lines[:one]):
        found = reported(b"".join(tampered), head)
        assert bool(found.problems) == (tampered != lines), tampered
    assert all(problem.file == FILE for problem in reported(b"".join(removed), head).problems)


@pytest.mark.parametrize("gone", [2, 3])
def test_what_is_missing_in_the_middle_is_named(gone: int) -> None:
    content, head = closed(*map(act, range(4)))
    lines = content.splitlines(keepends=True)
    found = reported(b"".join(lines[: gone - 1] + lines[gone:]), head)
    assert [(one.line, one.what) for one in found.problems] == [(gone, "is missing")]


def test_a_changed_line_is_named_and_no_other() -> None:
    content, head = closed(*map(act, range(4)))
    found = reported(content.replace(b"mem_2", b"mem_9"), head)
    assert [(one.line, one.what) for one in found.problems] == [(4, "is not as it was written")]


def test_a_cut_shows_by_a_known_head_and_otherwise_as_an_unclean_end() -> None:
    content, head = closed(*map(act, range(4)))
    cut = b"".join(content.splitlines(keepends=True)[:3])
    [problem] = reported(cut, head).problems
    assert (problem.line, problem.what) == (4, "lines 4 to 6 are missing: Redis knows line 6")
    alone = reported(cut)
    assert not alone.problems
    assert "ended uncleanly at 2026-01-01 00:00:01 UTC" in alone.notes[0].what


def test_another_installations_chain_and_one_under_another_name_show() -> None:
    content, _ = closed(act(1))
    for chain in (check(bytes(32), FILE, content), check(KEY, "20260101T000000-bb.jsonl", content)):
        assert chain.problems[0][1:] == (1, "is not as it was written")


def test_what_follows_a_closing_line_shows() -> None:
    content, head = closed(act(1))
    more, _ = chained(KEY, head, [act(2)])
    assert [one.what for one in reported(content + more).problems] == ["follows the closing line"]


def test_half_a_line_is_what_a_kill_leaves() -> None:
    content, _ = written(act(1), act(2))
    found = reported(content[:-20])
    assert not found.problems
    assert found.notes[0].what.endswith("and half a line is left")
    assert found.lines == 2


def test_a_newer_builds_line_is_checked_and_not_shown() -> None:
    newer = act(1).model_copy(update={"kind": AuditKind("sealed"), "seal": "wax"})
    content, head = closed(newer)
    assert not reported(content, head).problems
    assert reported(content.replace(b"wax", b"war"), head).problems


def chains(**content: bytes) -> dict[str, Checked]:
    return {file: check(KEY, file, raw) for file, raw in content.items()}


def whole(found: dict[str, Checked]) -> AuditReport:
    return report(found, [AuditHead(file="b", line=2, mac=found["b"].macs[2])], (), dict.fromkeys(found, 99))


def test_a_chain_that_another_knows_of_is_missed_unless_it_was_removed_on_purpose() -> None:
    old, head = closed(act(1), file="a")
    knows, _ = closed(AuditLine(kind=AuditKind.HEADS, at=NOW, heads=(head,)), file="b")
    assert not whole(chains(a=old, b=knows)).problems
    [problem] = whole(chains(b=knows)).problems
    assert (problem.file, problem.what) == ("a", "is missing: line 2 of b knows its line 3")
    cut = old[: old.rindex(b'{"n":3')]
    assert whole(chains(a=cut, b=knows)).problems[0].what == "line 3 is missing: line 2 of b knows line 3"
    another, _ = closed(act(2), file="a")
    assert whole(chains(a=another, b=knows)).problems[0].what == "is not the line that line 2 of b knows"

    removing, _ = closed(AuditLine(kind=AuditKind.REMOVED, at=NOW, heads=(head,)), file="c")
    found = whole(chains(b=knows, c=removing))
    assert [(one.file, one.what) for one in found.notes] == [("a", "was removed on purpose")]
    assert not found.problems
    forged = removing.replace(b'"line":3', b'"line":4')
    assert {one.file for one in whole(chains(b=knows, c=forged)).problems} == {"a", "c"}


def test_a_loss_that_a_person_accepts_is_known_and_what_is_lost_later_is_not() -> None:
    anna = Actor(kind=ActorKind.PERSON, id="anna")

    def accepting(*missing: Missing) -> bytes:
        line = AuditLine(kind=AuditKind.ACCEPTED, at=NOW, by=anna)
        return closed(*(line.changed(number=one.left, heads=(one.head,)) for one in missing), file="c")[0]

    old, head = closed(act(1), act(2), file="a")
    knows, _ = closed(AuditLine(kind=AuditKind.HEADS, at=NOW, heads=(head,)), file="b")
    cut, shorter = (old[: old.rindex(b'{"n":%d' % line)] for line in (4, 3))
    for left, later in ((chains(b=knows), chains(b=knows)), (chains(a=cut, b=knows), chains(a=shorter, b=knows))):
        [missing] = whole(left).missing.values()
        accepted = chains(c=accepting(missing))
        found = whole(left | accepted)
        assert not found.problems + tuple(found.missing.values())
        [note] = [one.what for one in found.notes if "accepted" in one.what]
        assert note.endswith("; anna accepted that on 2026-01-01 00:00:00 UTC")
        assert bool(whole(later | accepted).problems) == ("a" in later), "more of it was lost since"
        less = missing._replace(head=missing.head.changed(line=missing.head.line - 1))
        assert whole(left | chains(c=accepting(less))).problems, "more is known of it"
    changed = chains(a=old.replace(b"operation 2", b"operation 0"), b=knows)
    assert whole(changed).problems
    assert not whole(changed).missing


def test_a_redis_that_lost_its_heads_is_said_so_and_is_no_alarm() -> None:
    content, _ = closed(act(1))
    for known in ((), None):
        found = report({FILE: check(KEY, FILE, content)}, known, (), {FILE: 3})
        assert not found.problems
        assert "Redis" in found.notes[0].what
    assert not report({}, (), (), {}).notes
