from datetime import UTC, datetime, timedelta
from typing import ClassVar

from perdure.memory.extraction.statements import stated
from perdure.memory.recall import local
from perdure.memory.recall.query import Query
from perdure.memory.write_policies import WritePolicy
from perdure.stores.journal.lines import Changed, Forgotten, Line, Settled, accepted
from perdure.tolerance import tolerant
from perdure.values.assertions import Assertion
from perdure.values.changes import Actor, ActorKind, Deletion
from perdure.values.entries import Entry, Lane, Memory, MemoryType, Record, Source
from perdure.values.items import Item, MemoryItem, PatternItem, RecordItem, item_id
from perdure.values.jobs import Batch
from perdure.words import stems

NOW = datetime(2026, 6, 1, tzinfo=UTC)
TENANT = "t_1"
PERSON, AGENT = Actor(kind=ActorKind.PERSON, id="ada"), Actor(kind=ActorKind.AGENT, id="helper")


def logged(key: str, occurrence: str, minutes: int, result: str = "fine") -> RecordItem:
    at = NOW + timedelta(minutes=minutes)
    return PatternItem(lane=Lane.PATTERN, key=key, payload={"r": result}, occurrence=occurrence, occurred_at=at)


def believed(content: str, **more: object) -> MemoryItem:
    fields = {"content": content, "occurrence": content, "occurred_at": NOW, **more}
    return MemoryItem.model_validate(fields)


def lines(*items: Item) -> list[Line]:
    """Return the lines of as many jobs, none of them done."""
    found: list[Line] = []
    for number, item in enumerate(items):
        found += accepted(f"job {number}", Batch(tenant=TENANT, key="k", items=(item,)), NOW)
    return found


def entries_of(query: Query, lines: list[Line]) -> list[Entry]:
    known = local.known(query, lines, {"default": WritePolicy()}).entries
    return [entry for entry in known.values() if query.filters.objection(entry) is None]


def query(text: str = "", **more: object) -> Query:
    fields = {"tenant": TENANT, "session": "s", "text": text, "now": NOW, **more}
    return Query.model_validate(fields)


def test_records_are_found_by_lane_and_key_newest_first() -> None:
    asked = query(lane="pattern", keys=("a", "b"))
    entries = entries_of(
        asked, lines(logged("a", "1", 1), logged("a", "2", 5), logged("b", "3", 2, "bad"), logged("c", "4", 3))
    )
    found = local.exact(asked, entries)
    assert [(one.key, one.seen, one.payload) for one in found] == [("a", 2, {"r": "fine"}), ("b", 1, {"r": "bad"})]


def test_words_are_matched_and_stop_words_are_not() -> None:
    asked = query("what does the user eat in Basel?")
    entries = entries_of(asked, lines(believed("The user is in Bern"), believed("They eat fish in Basel")))
    scores = {hit.entry.text: hit.bm25 for hit in local.by_words(asked.text, entries)}
    assert scores == {"The user is in Bern": 1 / 3, "They eat fish in Basel": 2 / 3}


def test_words_are_matched_in_their_language_and_each_hit_tells_its_own() -> None:
    found = entries_of(query(), lines(believed("Die Katzen schlafen")))
    [hit] = local.by_words("katze", found, "german")
    assert (hit.bm25, hit.words) == (1.0, " ".join(stems("Die Katzen schlafen", "german")))
    assert local.by_words("katze", found) == [], "the control: in English they are two words"


def test_types_confidence_and_lane_are_applied() -> None:
    asked = query("fish", memory_types=("preference",), lane="feedback", min_confidence=0.8)
    items = [
        believed("fish one", memory_type=MemoryType.PREFERENCE),
        believed("fish two", memory_type=MemoryType.FACT),
        believed("fish three", memory_type=MemoryType.PREFERENCE, confidence=0.75),
        logged("fish", "1", 0),
    ]
    hits = local.by_words(asked.text, entries_of(asked, lines(*items)))
    assert [hit.entry.text for hit in hits] == ["fish one"]


def test_what_is_over_superseded_or_deleted_is_not_recalled() -> None:
    old, over, gone = believed("old fish"), believed("fish of the day", valid_until=NOW), believed("fish to forget")
    new = believed("new fish", supersedes=item_id(TENANT, old))
    deletion = Forgotten(deletion=Deletion(id=item_id(TENANT, gone), reason="asked for", sweep="r", at=NOW))
    found = entries_of(query("fish"), [*lines(old, over, gone, new), deletion])
    assert [entry.text for entry in found] == ["new fish"]


def test_a_question_of_stop_words_finds_nothing() -> None:
    asked = query("who is it?")
    assert local.by_words(asked.text, entries_of(asked, lines(believed("it is who")))) == []


def test_what_replaced_its_own_successor_is_believed_again() -> None:
    kim, lee = believed("lead is Kim"), believed("lead is Lee", supersedes=item_id(TENANT, believed("lead is Kim")))
    later = {"occurrence": "again", "occurred_at": NOW + timedelta(days=1), "supersedes": item_id(TENANT, lee)}
    found = entries_of(query("lead"), lines(kim, lee, kim.changed(**later)))
    assert [entry.text for entry in found] == ["lead is Kim"]


def test_what_its_job_would_refuse_is_not_recalled() -> None:
    doubted, stranger = believed("perhaps fish", confidence=0.5), believed("fish again", supersedes="mem_of_nobody")
    assert entries_of(query("fish"), lines(doubted, stranger)) == []
    low = local.known(query("fish"), lines(doubted), {"default": WritePolicy(minimum_confidence=0.4)}).entries
    assert [entry.text for entry in low.values()] == ["perhaps fish"], "the control: it is the policy that decides"


def pending(item: MemoryItem, **batch: object) -> list[Line]:
    given = {"tenant": TENANT, "key": item.content, "items": (stated(item),), **batch}
    return [*accepted(f"job {item.content}", Batch.model_validate(given), NOW)]


def test_what_another_member_said_is_not_replaced_before_a_person_has_decided() -> None:
    first = pending(believed("The standup is at 9.", source=Source.EXPLICIT), stated_by="author_a")
    item = believed("The standup is at 10.", source=Source.EXPLICIT, occurred_at=NOW + timedelta(hours=1))
    for author, said in (("author_b", "The standup is at 9."), ("author_a", "The standup is at 10.")):
        later = pending(item, stated_by=author)
        assert [entry.text for entry in entries_of(query("standup"), [*first, *later])] == [said]


def test_an_agent_lifts_no_constraint_before_a_person_has_decided() -> None:
    constraint = {"memory_type": MemoryType.CONSTRAINT, "source": Source.EXPLICIT}
    first = pending(believed("Ada never eats peanuts.", **constraint), by=PERSON)
    item = believed("Ada eats peanuts.", occurred_at=NOW + timedelta(hours=1), **constraint)
    for by, said in ((AGENT, "Ada never eats peanuts."), (PERSON, "Ada eats peanuts.")):
        later = pending(item, by=by)
        assert [entry.text for entry in entries_of(query("peanuts"), [*first, *later])] == [said]


def test_the_policy_of_its_batch_decides_on_what_is_accepted() -> None:
    doubted = [line.changed(policy="lenient") for line in lines(believed("perhaps fish", confidence=0.5))]
    policies = {"default": WritePolicy(), "lenient": WritePolicy(minimum_confidence=0.4)}
    assert [entry.text for entry in local.known(query("fish"), doubted, policies).entries.values()] == ["perhaps fish"]
    assert local.known(query("fish"), doubted, {"default": WritePolicy()}).entries == {}, "the control: it is gone"


def test_an_entry_that_does_not_match_hides_none_behind_it() -> None:
    asked = query("fish", memory_types=("preference",), lane="feedback", min_confidence=0.8)
    like = {"memory_type": MemoryType.PREFERENCE}
    entries = entries_of(
        asked,
        lines(
            believed("fish doubted", **like, confidence=0.75),
            believed("fish of another type"),
            logged("fish", "1", 0),
            believed("fish at the bound", **like, confidence=0.8),
        ),
    )
    assert [hit.entry.text for hit in local.by_words(asked.text, entries)] == ["fish at the bound"]


def test_without_a_lane_records_of_every_lane_are_searched() -> None:
    asked = query("fish")
    entries = entries_of(asked, lines(logged("fish", "1", 0)))
    assert [hit.entry.id for hit in local.by_words(asked.text, entries)] == [entries[0].id]


def test_what_waits_is_written_as_its_job_will_write_it() -> None:
    batch = Batch(tenant=TENANT, key="k" * 300, items=(logged("a", "1", 0),), task="task-1", agent="auditor")
    [entry] = entries_of(query(), list(accepted("j" * 400, batch, NOW)))
    assert isinstance(entry, Record)
    assert (entry.task, entry.agent, entry.recorded_at) == ("task-1", "auditor", NOW)


def test_an_item_of_which_the_line_was_lost_leaves_the_others_in_their_places() -> None:
    items = tuple(logged(key, key, 0) for key in ("a", "b", "c"))
    found = accepted("job", Batch(tenant=TENANT, key="k", items=items), NOW)
    entries = entries_of(query(), [found[2], found[0]])
    assert sorted(entry.key for entry in entries if isinstance(entry, Record)) == ["a", "c"]


def test_what_a_newer_build_accepted_beyond_this_ones_bounds_is_recalled() -> None:
    tagged = tolerant(MemoryItem).take(believed("fish").model_dump() | {"tags": [f"t{number}" for number in range(21)]})
    several = tuple(logged(f"key {number}", str(number), 0) for number in range(100))
    [last, *_] = accepted("job", Batch(tenant=TENANT, key="k", items=(believed("fish"),)), NOW)
    found = accepted("job", Batch(tenant=TENANT, key="k", items=several), NOW)
    entries = entries_of(query(), [*found, last.changed(index=100, item=tagged)])
    assert len(entries) == 101
    [memory] = [entry for entry in entries if isinstance(entry, Memory)]
    assert len(memory.tags) == 21


def test_what_was_accepted_under_a_longer_name_is_recalled() -> None:
    [line] = accepted("job", Batch(tenant=TENANT, key="k", items=(logged("a", "1", 0),)), NOW)
    [entry] = entries_of(query(), [line.changed(policy="p" * 81, agent="a" * 81)])
    assert isinstance(entry, Record)
    assert entry.agent == "a" * 81


def test_of_what_waits_for_its_jobs_the_newest_is_decided_on() -> None:
    written = lines(*(believed(f"fish {number}") for number in range(103)))
    found = local.known(query("fish"), written, {"default": WritePolicy()}, effort=102 * 40)
    assert [entry.text for entry in found.entries.values()] == [f"fish {number}" for number in range(1, 103)]
    assert not found.is_all
    assert local.known(query("fish"), written, {"default": WritePolicy()}, effort=103 * 40).is_all
    least = local.known(query("fish"), written, {"default": WritePolicy()}, effort=0)
    assert [entry.text for entry in least.entries.values()] == [f"fish {number}" for number in range(3, 103)]


def test_what_is_compared_with_much_costs_more() -> None:
    written = [line for hour in range(60) for line in pending(believed(f"The standup is at {hour}."))]
    apart = [line for number in range(60) for line in pending(believed(f"Thing{number} is blue."))]
    policies = {"default": WritePolicy()}
    # Each is decided on after those before it, with which it is compared.
    cost = 60 * 40 + 5 * sum(range(60))
    assert not local.known(query(), written, policies, effort=cost - 1).is_all
    assert local.known(query(), written, policies, effort=cost).is_all
    assert local.known(query(), apart, policies, effort=0).is_all, "the control"


class Visited(Assertion):
    """An assertion that counts how often it is asked what it is about."""

    visits: ClassVar[int] = 0

    @property
    def about(self) -> tuple[str, ...]:
        Visited.visits += 1
        return super().about


def test_a_waiting_job_costs_what_it_is_about_and_not_what_is_remembered() -> None:
    written: list[Line] = []
    for number in range(40):
        assertion = Visited(subject=f"thing{number}", attribute="be", value="blue")
        entry = Memory(
            id=f"mem_{number}", text=f"Thing{number} is blue.", assertion=assertion, first_seen=NOW, last_seen=NOW
        )
        written.append(Changed(entry=entry, operation=entry.id, by=PERSON, why="insert", at=NOW))
        written.append(Settled(operation=entry.id, versions={entry.id: 1}, at=NOW))
    later = {"occurred_at": NOW + timedelta(hours=1), "source": Source.EXPLICIT}
    for number in range(50, 90):
        written += pending(believed(f"Thing{number} is red.", **later))
    Visited.visits = 0
    assert len(local.known(query(), written, {"default": WritePolicy()}).entries) == 80
    assert Visited.visits == 40, "they are listed once, for all jobs"


def test_where_neither_older_lines_nor_redis_tell_what_was_forgotten_nothing_is_decided_on() -> None:
    told = believed("fish to forget")
    line = Deletion(id=item_id(TENANT, told), reason="asked for", sweep="r", at=NOW)
    written, policies = lines(told), {"default": WritePolicy()}
    assert local.known(query("fish"), written, policies, None, is_cut=True) == ({}, False)
    assert local.known(query("fish"), written, policies, [line], is_cut=True) == ({}, False)
    known = local.known(query("fish"), written, policies, (), is_cut=True)
    assert [entry.text for entry in known.entries.values()] == ["fish to forget"], "the control: Redis knows of nothing"
    assert not known.is_all
    assert local.known(query("fish"), written, policies, None).is_all
