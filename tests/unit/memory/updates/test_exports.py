"""An export is read back as it was written, and one that is foreign, cut off or damaged is refused with the line."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure.errors import InvalidInput
from perdure.identity import content_digest
from perdure.memory.updates.exports import (
    ExportedConsent,
    ExportedEpisode,
    ExportedHold,
    ExportedLine,
    ExportedMembership,
    items,
    left_out,
    read,
    schema,
    written,
)
from perdure.stores.journal.lines import Changed, Line, Settled
from perdure.values.changes import Actor, ActorKind
from perdure.values.consents import Consent
from perdure.values.entries import MARKER, Entry, Lane, Memory, Purpose, Record, State, Turn
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.items import MemoryItem
from perdure.values.memberships import Membership

NOW = datetime(2026, 5, 1, tzinfo=UTC)
BY = Actor(kind=ActorKind.PERSON, id="ada")
seen: dict[str, Any] = {"first_seen": NOW, "last_seen": NOW}
ENTRIES: dict[str, Entry] = {
    one.id: one
    for one in (
        Memory(id="mem_1", text="Line one\nline\u2028two 🎈", tags=("a",), names=("K8s",), confidence=0.8, **seen),
        Memory(id="mem_2", text="Old.", state=State.SUPERSEDED, superseded_by="mem_1", **seen),
        Record(id="exec_1", text=f"pattern k\n{MARKER}1", lane=Lane.PATTERN, key="k", payload=1, **seen),
        Turn(id="turn_1", text="Kim: Hello.", session="s", position=0, speaker="Kim", **seen),
    )
}
OTHERS: tuple[ExportedLine, ...] = (
    ExportedConsent(consent=Consent(purpose=Purpose.EXTRACTED, granted=True, at=NOW, by=BY)),
    ExportedMembership(
        owner="t_team", membership=Membership(member="t_ada", user_id="ada", belongs=True, at=NOW, by=BY)
    ),
    ExportedHold(
        id="hold-1",
        item=MemoryItem(content="Nuts are fine.", occurrence="o", occurred_at=NOW),
        reason="tag health",
        until=NOW,
    ),
    ExportedEpisode(
        session="d1", episode=Episode(id="e", kind=EpisodeKind.TURN, text="I fly.", importance=0.5, at=NOW)
    ),
)
LINES: list[Line] = [
    Changed(entry=ENTRIES["mem_1"], operation="op", by=BY, why="insert", note="why not", at=NOW),
    Settled(operation="op", versions={"mem_1": 1}, at=NOW),
]


def export() -> list[str]:
    return list(written(ENTRIES, LINES, at=NOW, others=OTHERS))


def test_what_was_written_is_read() -> None:
    found = read(export())
    assert {one.entry.id: one.entry for one in found.entries} == ENTRIES
    assert found.others == list(OTHERS)
    [history] = [one.history for one in found.entries if one.entry.id == "mem_1"]
    assert [(version.by, version.why, version.note) for version in history] == [(BY, "insert", "why not")]


def test_what_holds_can_be_remembered() -> None:
    given = {item["occurrence"]: item for item in items(read(export())) if isinstance(item, dict)}
    assert sorted(map(str, given)) == ["import/exec_1", "import/mem_1", "import/turn_1"]
    assert given["import/mem_1"] == {
        "kind": "memory",
        "content": "Line one\nline\u2028two 🎈",
        "tags": ["a"],
        "names": ["K8s"],
        "confidence": 0.8,
        "occurrence": "import/mem_1",
        "occurred_at": "2026-05-01T00:00:00Z",
    }
    assert (given["import/exec_1"]["payload"], given["import/turn_1"]["content"]) == (1, "Hello.")


def test_nothing_else_is_taken_back_and_what_is_left_is_named() -> None:
    assert left_out(read(export())) == {
        "entry: it was replaced or forgotten": 1,
        "consent: no file gives or takes back a consent (perdure memories consent)": 1,
        "membership: no file makes anybody a member (perdure memories members add)": 1,
        "held: nobody has approved it (perdure remember offers it again)": 1,
        "episode: what happened in a session happens only once": 1,
    }


def test_a_kind_of_a_newer_build_is_refused_with_what_to_do() -> None:
    content: dict[str, JsonValue] = {"kind": "dream"}
    line = json.dumps(content | {"digest": content_digest(content)})
    with pytest.raises(
        InvalidInput, match=r"line 2: kind: there is no 'dream' \(import it with the build that wrote it"
    ):
        read([HEADER, line])


def test_a_field_of_an_entry_that_cannot_be_read_is_named_as_the_file_has_it() -> None:
    lines = list(written(ENTRIES, LINES, at=NOW))
    content = {name: value for name, value in json.loads(lines[1]).items() if name != "digest"}
    content["entry"]["version"] = "new"
    lines[1] = json.dumps(content | {"digest": content_digest(content)})
    with pytest.raises(InvalidInput, match=r"line 2: entry\.version: 'new' is not a whole number"):
        read(lines)


def test_an_entry_with_a_long_history_is_read_back() -> None:
    seen_often: dict[str, Any] = {"occurrences": tuple(f"occ_{number:08}" for number in range(1_024)), "seen": 1_024}
    often = ENTRIES["mem_1"].changed(**seen_often)
    changes = [
        Changed(entry=often.changed(version=version), operation=f"o{version}", by=BY, why="reinforce", at=NOW)
        for version in range(1, 401)
    ]
    done = [Settled(operation=one.operation, versions={"mem_1": one.entry.version}, at=NOW) for one in changes]
    exported = list(written({"mem_1": changes[-1].entry}, [*changes, *done], at=NOW))
    assert len(exported[1]) > 4_000_000
    [found] = read(exported).entries
    assert [version.entry for version in found.history] == [one.entry for one in changes]


class Visited(list[Line]):
    """Lines that count how often one of them is looked at."""

    visits = 0

    def __iter__(self) -> Iterator[Line]:
        return self._counting(super().__iter__())

    def __reversed__(self) -> Iterator[Line]:
        return self._counting(super().__reversed__())

    def _counting(self, lines: Iterator[Line]) -> Iterator[Line]:
        for line in lines:
            self.visits += 1
            yield line


def test_the_journal_is_gone_through_once_however_many_entries_there_are() -> None:
    entries = {f"mem_{number}": ENTRIES["mem_1"].changed(id=f"mem_{number}") for number in range(50)}
    lines = Visited()
    for one in entries.values():
        lines.append(Changed(entry=one, operation=one.id, by=BY, why="insert", at=NOW))
        lines.append(Settled(operation=one.id, versions={one.id: 1}, at=NOW))
    found = read(list(written(entries, lines, at=NOW))).entries
    assert all(len(one.history) == 1 for one in found)
    assert lines.visits == len(lines)


def test_the_published_schema_is_that_of_the_lines() -> None:
    published = json.loads(Path("docs/memories-export.schema.json").read_text(encoding="utf-8"))
    assert published == schema()
    assert published["anyOf"][0] == {"$ref": "#/$defs/Header"}
    names = published["anyOf"][1]["discriminator"]["mapping"]
    shapes = {kind: published["$defs"][name.rpartition("/")[2]] for kind, name in names.items()}
    for line in map(json.loads, [FIRST, *REST]):
        shape = shapes[line["kind"]]
        assert set(shape["required"]) <= line.keys() == shape["properties"].keys()
    header = published["$defs"]["Header"]
    assert set(header["required"]) <= json.loads(HEADER).keys() == header["properties"].keys()
    assert not set(header["required"]) <= json.loads(FIRST).keys(), "the control"


def changed(line: str, **fields: object) -> str:
    return json.dumps(json.loads(line) | fields)


HEADER, FIRST, *REST = export()


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "line 1: is not JSON"),
        (["[]"], "line 1: is not a JSON object"),
        (['{"kind": "memory"}'], "line 1: is not the header of an export"),
        ([changed(HEADER, version=2)], "line 1: has version 2, and this build reads 1"),
        ([changed(HEADER, count="x")], "line 1"),
        ([HEADER, FIRST], "line 2: it has 1 line, and the header says 8"),
        ([HEADER, FIRST, REST[0][:-20]], "line 3: is not JSON"),
        ([HEADER, FIRST.replace("pattern k", "pattern x")], "line 2: is not as it was exported"),
        ([HEADER, "{}"], "line 2: is not as it was exported"),
        ([HEADER, FIRST, FIRST], "line 3: exec_1 is duplicated"),
        ([HEADER, "[" * 100_000], "line 2: is not JSON"),
    ],
)
def test_what_is_no_whole_export_is_refused_with_the_line(lines: list[str], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read(lines)


@given(st.data())
def test_no_change_of_a_character_goes_unnoticed(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(FIRST) - 1))
    letter = data.draw(st.characters(codec="utf-8", exclude_characters=FIRST[place]))
    damaged = FIRST[:place] + letter + FIRST[place + 1 :]
    try:
        found = read([HEADER, damaged, *REST])
    except InvalidInput:
        return
    # White space between the parts, say: it means the same.
    assert found == read([HEADER, FIRST, *REST])
