"""What a believed statement becomes: its kind, its source, how much it is believed, and what is known of it besides."""

from datetime import UTC, datetime

import pytest

from perdure.memory.extraction.assertions import assertion_of
from perdure.memory.extraction.candidates import candidate_of
from perdure.values.entries import MemoryType, Source
from perdure.values.statements import Candidate, Said, Voice

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)


def candidate(text: str, by: Voice = Voice.USER) -> Candidate:
    return candidate_of(text, Said(text=text, by=by, at=NOW, occurrence="session/1"))


@pytest.mark.parametrize(
    ("text", "by_user", "by_tool"),
    [
        ("I have stopped smoking.", MemoryType.FACT, MemoryType.OUTCOME),
        ("Switching to oat milk fixed my sleep, so I prefer it.", MemoryType.PREFERENCE, MemoryType.OUTCOME),
        ("Turning the cache off fixed the login.", MemoryType.OUTCOME, MemoryType.OUTCOME),
        ("I prefer window seats.", MemoryType.PREFERENCE, MemoryType.PREFERENCE),
        ("I never fly.", MemoryType.FACT, MemoryType.FACT),
        ("We never deploy on Fridays.", MemoryType.FACT, MemoryType.FACT),
        ("I may not fly.", MemoryType.CONSTRAINT, MemoryType.CONSTRAINT),
        ("I must not eat nuts.", MemoryType.CONSTRAINT, MemoryType.PREFERENCE),
        ("I can't drink coffee after four.", MemoryType.CONSTRAINT, MemoryType.PREFERENCE),
        ("I can't stand wet socks.", MemoryType.PREFERENCE, MemoryType.PREFERENCE),
        ("Never deploy on Fridays.", MemoryType.CONSTRAINT, MemoryType.CONSTRAINT),
        ("Uploads are limited to 5 MB.", MemoryType.CONSTRAINT, MemoryType.CONSTRAINT),
        ("The office is in Ghent.", MemoryType.FACT, MemoryType.FACT),
    ],
)
def test_what_kind_it_is_depends_on_who_says_what_of_whom(text: str, by_user: MemoryType, by_tool: MemoryType) -> None:
    assert [candidate(text, by).memory_type for by in (Voice.USER, Voice.TOOL)] == [by_user, by_tool]


@pytest.mark.parametrize(
    ("by", "source", "confidence"),
    [
        (Voice.USER, Source.EXPLICIT, 0.9),
        (Voice.AGENT, Source.LEARNED, 0.8),
        (Voice.TOOL, Source.LEARNED, 0.8),
        (Voice("a newer build's"), Source.LEARNED, 0.8),
    ],
)
def test_a_user_states_and_everything_else_is_learned(by: Voice, source: Source, confidence: float) -> None:
    found = candidate("The office is in Ghent.", by)
    assert (found.source, found.confidence) == (source, confidence)
    outcome = candidate("Turning the cache off fixed the login.", by)
    assert (outcome.source, outcome.confidence) == (Source.LEARNED, confidence), "a result is nobody's to state"


def test_it_has_what_its_sentence_asserts_and_the_times_and_names_that_it_tells() -> None:
    text = "From next week on lunch orders go to Thabo."
    found = candidate(text)
    assert found.assertion == assertion_of(text, NOW).assertion is not None
    assert (found.valid_from, found.valid_until) == (datetime(2026, 5, 11, tzinfo=UTC), None)
    assert candidate("Kubernetes (k8s) runs our builds.").names == ("Kubernetes", "k8s")
    until = candidate("The freeze holds until Friday.")
    assert (until.valid_from, until.valid_until) == (None, datetime(2026, 5, 9, tzinfo=UTC))
