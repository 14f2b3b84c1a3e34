"""Other names that a sentence tells of a thing; ordinary brackets tell none."""

import time
from datetime import UTC, datetime

import pytest

from perdure.memory.extraction.aliases import aliases_of
from perdure.memory.extraction.rules import extraction_of
from perdure.values.statements import Said


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Kubernetes (k8s) runs our builds.", ("Kubernetes", "k8s")),
        ("Kubernetes (kube) runs our builds.", ("Kubernetes", "kube")),
        ("Site Reliability Engineering (SRE) owns the pager.", ("Site Reliability Engineering", "SRE")),
        ("Our build box, aka Bertha, is in Leeds.", ("Bertha",)),
        ("Postgres, also called PG, holds the ledger.", ("Postgres", "PG")),
        ('The ledger service (also known as "the books") is in Go.', ("the books",)),
        ("k8s is short for Kubernetes.", ("Kubernetes", "k8s")),
        ("Postgres, also called PG, and Redis, aka Reddy, run here.", ("Postgres", "PG", "Redis", "Reddy")),
        ("The office is 30 minutes (about 3 km) away.", ()),
        ("Anna (Leeds) runs the desk.", ()),
        ("Kelvin (K) is the unit of our sensors.", ()),
        ("The deploy (daily) is at 10 (UTC).", ()),
        ("The server (s) run nightly.", ()),
        ("The plan (plan) is kept.", ()),
        ("I am also called at night.", ()),
        ("Our Kubernetes, aka kube, is up.", ("Kubernetes", "kube")),
        ("On Friday Kim, also called Kimmy, leads.", ("Kim", "Kimmy")),
        ("Yesterday Bertha, also known as BB, broke.", ("Bertha", "BB")),
        ("I'm also known as Bert.", ("Bert",)),
        ("FYI, PG is short for Postgres.", ("Postgres", "PG")),
        ("The printer on floor 2 (aka Dory) is slow.", ("Dory",)),
        ("Monday (Mon) is off.", ()),
        ("In April (Apr) we close.", ()),
        ("Mon is short for Monday.", ()),
        ("He is also called often.", ()),
        ("They are also known as such.", ()),
        ("It's also called a day.", ()),
        ("He's also called I'm.", ()),
        ("We also (wa) go.", ()),
        ("ASAP is short for as soon as possible.", ()),
    ],
)
def test_a_name_is_told_and_ordinary_brackets_are_not(text: str, names: tuple[str, ...]) -> None:
    assert aliases_of(text) == names


def test_what_is_extracted_has_its_names() -> None:
    said = Said(text="Our builds run on Kubernetes (k8s).", at=datetime(2026, 5, 1, tzinfo=UTC), occurrence="1")
    [candidate] = extraction_of(said).candidates
    assert candidate.names == ("Kubernetes", "k8s")


@pytest.mark.parametrize("text", ["A" * 8_000, "a-" * 4_000, f"Our sample sequence is {'ACGT' * 200}", "word " * 200])
def test_names_are_looked_for_in_no_time_whatever_stands_there(text: str) -> None:
    began = time.thread_time()
    assert aliases_of(text) == ()
    assert time.thread_time() - began < 1, "10 s without bounds"


@pytest.mark.parametrize("text", ["The meeting (me) is at nine.", "The release (re) is on Friday."])
def test_a_common_word_in_brackets_is_no_name(text: str) -> None:
    assert aliases_of(text) == ()
