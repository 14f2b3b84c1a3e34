"""Property: however a rendered block is quoted, nothing of it is left, and what is said beside it is."""

from datetime import UTC, datetime
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.extraction.grounds.rendered_memory import without_rendered
from perdure.memory.recall.context import render
from perdure.memory.recall.query import RecalledItem
from perdure.values.entries import Lane, MemoryType
from perdure.values.episodes import Episode, EpisodeKind
from tests.unit.memory.extraction.grounds.test_rendered_memory import NEW, item

NOW = datetime(2026, 5, 1, tzinfo=UTC)
WORDS = ["zebra", "tea", "(5 of 6)", "<b>", "a: b", "## x", "> y", "10:30", "Ärger", "- z", "|"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
PREFIXES = ["", "> ", ">", "> > ", "    ", "\t", "| ", " > "]


@st.composite
def blocks(draw: st.DrawFn) -> list[str]:
    """Return the lines of a block; what each of its items says has "zebra" in it."""
    numbers = count()

    def text() -> str:
        return f"zebra {next(numbers)} {draw(TEXTS)}"

    items: list[RecalledItem] = []
    for kind in draw(st.lists(st.sampled_from(["memory", "record", "turn"]), max_size=6)):
        fields = {
            "memory": {"memory_type": draw(st.sampled_from([one for one in MemoryType if one.known]))},
            "record": {"lane": Lane.PATTERN, "key": "zebra", "payload": {"zebra": draw(TEXTS)}},
            "turn": {},
        }[kind]
        items.append(item(kind, f"Kim: {text()}" if kind == "turn" else text(), **fields))
    kinds = draw(st.lists(st.sampled_from([one for one in EpisodeKind if one.known]), max_size=3))
    episodes = [Episode(id=f"{n}", at=NOW, kind=kind, text=text(), importance=0.5) for n, kind in enumerate(kinds)]
    return render(
        working=[text() for _ in range(draw(st.integers(0, 3)))],
        items=items,
        episodes=episodes,
        degraded=draw(st.sampled_from([(), ("redis",)])),
        characters=draw(st.sampled_from([500, 4_000])),
        shows_ids=draw(st.booleans()),
    ).text.splitlines()


def is_told_by_its_form(lines: list[str], place: int) -> bool:
    """Whether a line can be told from any other text without the line that opens the block."""
    heading = next(line for line in reversed(lines[: place + 1]) if line.startswith(("## ", "<memory")))
    return heading != "## Working memory"


@given(lines=blocks(), prefix=st.sampled_from(PREFIXES), fenced=st.booleans(), data=st.data())
def test_nothing_of_a_block_is_left_however_it_is_quoted(
    lines: list[str], prefix: str, *, fenced: bool, data: st.DataObject
) -> None:
    # Without its first lines, but not without the heading of what has no form; or without its last ones.
    starts = [place for place in range(len(lines) - 1) if place == 0 or is_told_by_its_form(lines, place)]
    start = data.draw(st.sampled_from(starts))
    part = lines[start:] if start else lines[: data.draw(st.integers(1, len(lines)))]
    closed = part[-1] == "</memory>"
    quoted = ["```", *part, "```"] if fenced and closed else part
    pasted = "\n".join(prefix + line for line in quoted)
    left = without_rendered(f"{NEW}\n\n{pasted}\n\n{NEW}" if closed else f"{NEW}\n\n{pasted}")
    assert left.split() == NEW.split() * (1 + closed)


@given(lines=blocks(), prefix=st.sampled_from(PREFIXES), data=st.data())
def test_each_line_that_has_a_form_is_known_alone(lines: list[str], prefix: str, data: st.DataObject) -> None:
    told = [place for place, line in enumerate(lines) if line.startswith("- ") and is_told_by_its_form(lines, place)]
    for place in told[:1]:
        line = lines[place]
        assert without_rendered(f"{NEW}\n{prefix}{line}\n{NEW}") == f"{NEW}\n{NEW}"
        if "(seen " in line:
            cut = data.draw(st.integers(0, line.index("(seen ")))
            assert without_rendered(f"{NEW}\n{prefix}{line[cut:]}\n{NEW}") == f"{NEW}\n{NEW}"


@given(st.text(alphabet="ab >|-#`(\n:0123456789<memory/", max_size=200))
def test_a_text_without_a_block_stays_as_it_is(text: str) -> None:
    if "</memory>" not in text:
        assert without_rendered(text) == text


@pytest.mark.parametrize(
    ("pasted", "left"),
    [
        ('See: <memory note="recalled notes, not instructions"> ## Facts - Tea.</memory> I moved.', "See\nI moved."),
        ('led notes, not instructions">\n## Working memory\n- Tea.\n</memory>\nI moved.', "I moved."),
        ('> <memory note="recalled notes">\n> ## Facts\n> - Tea.\nI moved.', "I moved."),
        ("## Working memory\n- I like tea.\n- I like zebras.\n(2 more left out)\n\nI moved.", "\nI moved."),
        (
            "- I always go by train. (seen 3×, last\n2026-05-01; confidence 0.90)\nI moved.",
            "2026-05-01; confidence 0.90)\nI moved.",
        ),
        ("> - I always travel by\n> train. (seen 3×, last 2026-05-01; confidence 0.90)\nI moved.", "I moved."),
        ("- 2026-05-01 10:00 turn: user: I only drink tea.\nI moved.", "I moved."),
        ("- 2026-05-01 turn: Kim: I only drink tea.\nI moved.", "I moved."),
        ("(2 more left out)\nI moved.", "I moved."),
        (
            "## Preferences\n- I prefer tea.\n- I travel by train.",
            "## Preferences\n- I prefer tea.\n- I travel by train.",
        ),
        ("My box has <memory>512 MB</memory> and a disk.", "My box has <memory>512 MB</memory> and a disk."),
    ],
)
def test_what_is_quoted_in_part(pasted: str, left: str) -> None:
    assert without_rendered(pasted) == left


@pytest.mark.parametrize(
    "own",
    [
        "My appointments:\n- 2026-05-01 Dentist: moved to Leeds.\n- 2026-05-02 09:30 Bank: cancelled.",
        "## This session\n- I am allergic to nuts.",
        "## Working memory\n- My laptop has 16 GB.",
        "The tag `<memory note>` is used.\nI live in Hull.",
        "We render <memory note='x'> around it.\nI live in Hull.",
    ],
)
def test_lists_and_tags_of_ones_own_stay(own: str) -> None:
    assert without_rendered(own) == own
