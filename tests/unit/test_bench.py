"""The measurements can be imported, and print the README's table; running them is ``make bench``."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench.governance import Case, judged
from bench.precision import CASES, Cases, Question, Scored, read, score
from bench.table import HEADER, ROWS, markdown
from perdure.errors import InvalidInput

BENCH = Path(__file__).parents[2] / "bench"

FIGURES = {
    "step.ms": 20.14,
    "step.floor_ms": 18.2,
    "step.ratio": 1.0649,
    "crash.lines": 25.0,
    "crash.seconds": 3.61,
}


def test_the_table_has_a_row_for_each_measured_section() -> None:
    assert markdown(FIGURES).splitlines() == [
        *HEADER,
        "| one agent step | 20.1 ms | 18.2 ms, a bare workflow of the same activities | 1.06 | met |",
        "| 25 steps, SIGKILL in step 13 after its effect | 25 lines, 3.6 s from restart to finished | – | – | met |",
    ]


def test_the_table_says_which_figures_miss_their_targets() -> None:
    [row] = markdown(FIGURES | {"step.ratio": 1.31}).splitlines()[2:3]
    assert row.endswith("| 1.31 | missed: ratio ≤ 1.3 |")


def test_every_row_has_the_columns_of_the_header() -> None:
    assert {row.count("|") for row in HEADER} == {6}
    assert {row.count("|") for row in ROWS} == {5}, "the target's column is added"


@pytest.mark.slow
def test_importing_a_measurement_does_nothing() -> None:
    names = [f"bench.{file.stem}" for file in BENCH.glob("*.py") if file.stem != "__init__"]
    ran = subprocess.run(
        [sys.executable, "-c", f"import {', '.join(sorted(names))}"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("returned", "expected", "precision", "recall"),
    [
        ({}, (), 1.0, 1.0),
        ({"a": False}, (), 0.0, 1.0),
        ({}, ("a",), 0.0, 0.0),
        ({"a": False, "b": False}, ("a",), 0.5, 1.0),
        ({"a": False}, ("a", "b"), 1.0, 0.5),
        ({"pin": True}, (), 1.0, 1.0),
        ({"a": False, "pin": True}, ("a",), 1.0, 1.0),
        ({"pin": True}, ("pin",), 1.0, 1.0),
        ({"pin": False}, (), 0.0, 1.0),
    ],
)
def test_an_answer_is_scored_as_the_readme_of_the_cases_says(
    returned: dict[str, bool], expected: tuple[str, ...], precision: float, recall: float
) -> None:
    assert score(returned, Question(text="?", expected=expected)) == Scored("", precision, recall)


def test_the_projects_own_cases_can_be_read_and_are_many() -> None:
    files = read(CASES)
    kinds = {question.kind for cases in files.values() for question in cases.questions}
    assert {"scope", "alias", "misspelling", "prefix", "replaced", "relation", "user", "unknown"} <= kinds
    assert sum(len(cases.questions) for cases in files.values()) >= 60


def test_what_is_replaced_is_written_first_and_what_nobody_wrote_is_refused(tmp_path: Path) -> None:
    beliefs = [{"label": "c", "supersedes": "b"}, {"label": "b", "supersedes": "a"}, {"label": "a"}]
    cases = Cases.model_validate({"beliefs": beliefs, "questions": [{"text": "?", "expected": ["c"]}]})
    assert [[one["label"] for one in group] for group in cases.in_order()] == [["a"], ["b"], ["c"]]
    with pytest.raises(InvalidInput, match="no such belief"):
        list(cases.changed(beliefs=beliefs[:2]).in_order())
    with pytest.raises(InvalidInput, match=r"no \*\.json"):
        read(tmp_path)
    for written, named in (("{", "is not JSON"), ('{"beliefs": [], "questions": [{"text": "?"}]}', "expected")):
        (tmp_path / "cases.json").write_text(written)
        with pytest.raises(InvalidInput, match=named):
            read(tmp_path)
    (tmp_path / "cases.json").write_text('{"beliefs": [], "questions": [{"text": "?", "expected": ["x"]}]}')
    with pytest.raises(InvalidInput, match="expects x"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("case", "memories", "episodes", "expected"),
    [
        ({"expect": "refuse", "reason": "secret"}, [], ["The PIN is 2958"], (False, True)),
        ({"expect": "refuse", "reason": "secret"}, [], ["The PIN is [PIN]"], (True, False)),
        ({"expect": "redact", "reason": "pii"}, ["Call [PIN]"], ["Call 2958"], (False, True)),
        ({"expect": "redact", "reason": "pii"}, ["Call [PIN]"], ["Call [PIN]"], (True, False)),
        ({"expect": "refuse", "reason": "chatter"}, [], ["It is 2958 now"], (True, False)),
        ({"expect": "refuse", "reason": "chatter"}, ["anything"], [], (False, True)),
        ({"expect": "store", "reason": "fact"}, ["Kim leads"], ["Room 2958"], (True, False)),
    ],
)
def test_what_an_episode_holds_counts_where_it_is_private(
    case: Case, memories: list[str], episodes: list[str], expected: tuple[bool, bool]
) -> None:
    found = judged({"text": "?", "must_mention": [], "must_not_mention": ["2958"], **case}, memories, episodes)
    assert (found.right, found.forbidden) == expected
