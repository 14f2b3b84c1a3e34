"""What a question names among what is known, as recall asks for it: fetched by label, a step at a time."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.recall import local
from perdure.memory.recall.named_memories import NamedMemory, answered, directly, links_of, relatives
from perdure.memory.recall.query import FoundBy
from perdure.memory.recall.ranking import RELEVANCE_FIRST
from perdure.memory.retention import RetentionRules
from perdure.values.assertions import Assertion
from perdure.values.entries import Memory, Relation, State
from perdure.values.filters import Filters
from perdure.values.labels import asked_labels

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def memory(identifier: str, *names: str, to: str = "", **more: Any) -> Memory:
    relations = (Relation(kind="depends on", to=to),) if to else ()
    seen = {"first_seen": NOW - timedelta(days=1), "last_seen": NOW - timedelta(days=1)}
    return Memory.model_validate(
        {"id": identifier, "text": identifier, "names": names, "relations": relations, **seen, **more}
    )


def replaced(identifier: str, *names: str, by: str) -> Memory:
    return memory(identifier, *names, state=State.SUPERSEDED, superseded_by=by)


def ask(text: str, known: Sequence[Memory], **limited: Any) -> list[NamedMemory]:
    """Return what is answered, fetching as recall does."""

    def with_relatives(found: list[Memory]) -> dict[str, Memory]:
        candidates = {one.id: one for one in found}
        while missing := relatives(candidates):
            fetched = {one.id: one for one in known if one.id in missing}
            if not fetched:
                break
            candidates |= fetched
        return candidates

    labels, halves = asked_labels(text)
    candidates = with_relatives(local.called(known, labels, halves, labels))
    direct = directly(text, candidates)
    links = links_of(candidates, direct)
    candidates |= with_relatives(local.called(known, links.labels, (), links.linked))
    filters = Filters.model_validate({"now": NOW, **limited})

    def counts(memory: Memory) -> bool:
        return filters.objection(memory) is None

    how: dict[str, Any] = {"profile": RELEVANCE_FIRST, "rules": RetentionRules()}
    return answered(text, candidates, direct, counts=counts, now=NOW, **how)


def ids(found: list[NamedMemory]) -> list[str]:
    return [one.scored.entry.id for one in found]


def test_only_what_is_named_is_returned() -> None:
    known = [memory("cluster", "Kubernetes", "k8s"), memory("database", "Postgres"), memory("nameless")]
    assert ids(ask("How many nodes has k8s?", known)) == ["cluster"]
    assert ids(ask("How many nodes has kube?", known)) == []
    assert ids(ask("What is the capital of France?", known)) == []
    assert ids(ask("", known)) == []


def test_a_misspelt_name_comes_after_one_that_is_right() -> None:
    known = [memory("cluster", "Kubernetes"), memory("database", "Postgres")]
    found = ask("Does Kuberntes run Postgres?", known)
    assert ids(found) == ["database", "cluster"]
    assert [one.why for one in found] == ["the question names it", "the question names it, misspelt"]


def test_what_is_asserted_of_something_bears_its_name() -> None:
    about = Assertion(subject="my team lead", attribute="is", value="wanjiru")
    user = Assertion(subject="user", attribute="likes", value="tea")
    known = [memory("lead", assertion=about), memory("tea", assertion=user)]
    assert ids(ask("Who is the team lead?", known)) == ["lead"]
    assert ids(ask("What does the user like?", known)) == []


def test_a_relation_leads_both_ways_and_one_step() -> None:
    known = [
        memory("checkout", "checkout service", to="Redis"),
        memory("cache", "Redis", "our cache", to="the vault"),
        memory("secrets", "the vault"),
        memory("other", "billing"),
    ]
    assert ids(ask("What does the checkout service need?", known)) == ["checkout", "cache"]
    assert ids(ask("Who uses our cache?", known)) == ["cache", "checkout", "secrets"]
    linked = ask("What does the checkout service need?", known)[1]
    assert (linked.found_by, linked.scored.parts["relevance"]) == (FoundBy.LINKED, 0.5)


def test_what_only_a_relation_names_is_known_by_it() -> None:
    known = [memory("checkout", "checkout service", to="Redis Cluster"), memory("cache", "Redis")]
    assert ids(ask("Who needs the Redis Cluster?", known)) == ["checkout"], "and Redis is another thing"


def test_the_old_name_leads_to_what_replaced_it() -> None:
    known = [
        replaced("first", "MySQL", by="second"),
        replaced("second", "MariaDB", by="third"),
        memory("third", "Postgres", to="the vault"),
        memory("secrets", "the vault"),
    ]
    assert ids(ask("Do we use MySQL?", known)) == ["third", "secrets"]
    assert ids(ask("MariaDB or MySQL?", known)) == ["third", "secrets"]
    assert ask("Do we use MySQL?", known)[0].why == "it replaced what the question names"
    assert ids(ask("Do we use Postgres?", known)) == ["third", "secrets"]


def test_what_a_replaced_memory_was_linked_to_does_not_count() -> None:
    known = [
        memory("old", "MySQL", to="the vault", state=State.SUPERSEDED, superseded_by="new"),
        memory("new", "Postgres"),
        memory("secrets", "the vault"),
    ]
    assert ids(ask("Do we use MySQL?", known)) == ["new"]


def test_a_relation_to_an_old_name_leads_to_what_replaced_it() -> None:
    known = [
        memory("checkout", "checkout service", to="MySQL"),
        replaced("old", "MySQL", by="new"),
        memory("new", "Postgres"),
    ]
    assert ids(ask("What does the checkout service need?", known)) == ["checkout", "new"]


def test_what_is_linked_to_an_old_name_is_linked_to_the_new_one() -> None:
    known = [
        memory("checkout", "checkout service", to="MySQL"),
        replaced("old", "MySQL", by="new"),
        memory("new", "Postgres", supersedes="old"),
    ]
    assert ids(ask("Do we use Postgres?", known)) == ["new", "checkout"]


@pytest.mark.parametrize(
    "successor",
    [[], [memory("new", state=State.FORGOTTEN)], [memory("new", scopes=("home",))], [replaced("new", by="old")]],
)
def test_what_was_replaced_by_nothing_that_counts_is_not_returned(successor: list[Memory]) -> None:
    known = [replaced("old", "MySQL", by="new"), *successor]
    assert ids(ask("Do we use MySQL?", known, scopes=("work",))) == []


def test_what_is_named_must_meet_the_filters() -> None:
    known = [memory("work", "editor", scopes=("work",)), memory("home", "editor", scopes=("home",))]
    assert ids(ask("Which editor?", known, scopes=("work",))) == ["work"]
    assert set(ids(ask("Which editor?", known))) == {"work", "home"}, "the control: without the filter, both"


WORDS = st.sampled_from(["redis", "postgres", "kafka", "orion", "vault", "k8s"])
SCOPES = st.lists(st.sampled_from(["work", "home", "lab"]), max_size=2).map(tuple)


@st.composite
def memories(draw: st.DrawFn) -> list[Memory]:
    found: list[Memory] = []
    for number in range(draw(st.integers(0, 8))):
        names = draw(st.lists(WORDS, max_size=2))
        old = draw(st.booleans())
        found.append(
            memory(
                str(number),
                *names,
                to=draw(WORDS) if draw(st.booleans()) else "",
                scopes=draw(SCOPES),
                state=State.SUPERSEDED if old else State.CURRENT,
                superseded_by=str(draw(st.integers(0, 8))) if old else "",
            )
        )
    return found


@given(memories(), st.lists(WORDS, max_size=3), st.sampled_from(["work", "home", "lab"]))
def test_nothing_of_another_scope_and_nothing_superseded_is_ever_returned(
    known: list[Memory], asked: list[str], scope: str
) -> None:
    found = ask(" ".join(asked), known, scopes=(scope,))
    assert len({*ids(found)}) == len(found)
    for one in found:
        entry = one.scored.entry
        assert isinstance(entry, Memory)
        assert entry.state is State.CURRENT
        assert not entry.scopes or scope in entry.scopes


@given(memories(), st.lists(WORDS, max_size=3))
def test_whatever_is_named_and_holds_is_returned(known: list[Memory], asked: list[str]) -> None:
    found = ids(ask(" ".join(asked), known))
    for one in known:
        if one.state is State.CURRENT and set(one.names) & set(asked):
            assert one.id in found


@given(memories())
def test_a_question_that_names_nothing_gets_nothing(known: list[Memory]) -> None:
    assert ask("what is the weather in Basel?", known) == []


def test_what_is_named_is_believed_as_the_rules_say() -> None:
    known = {"mem_1": memory("mem_1", "k8s", first_seen=NOW - timedelta(days=200), last_seen=NOW - timedelta(days=200))}
    direct = directly("Where does k8s run?", known)
    fading, lasting = (
        answered(
            "Where does k8s run?",
            known,
            direct,
            counts=lambda _: True,
            now=NOW,
            profile=RELEVANCE_FIRST,
            rules=RetentionRules(half_life_days=days),
        )[0].scored.parts["confidence"]
        for days in (10.0, None)
    )
    assert fading < 0.1 < lasting
