"""Which memories wait for a person, and on what terms: each condition counts, and a mistake in the file is named."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import InvalidAnswer, InvalidInput
from perdure.memory.extraction.findings.finding import Kind
from perdure.memory.hold_policies import HoldPolicy, HoldRule
from perdure.memory.write_policies import POLICIES, read_policies
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Lane, MemoryType, Source
from perdure.values.holds import Hold, Silence, hold_id, is_of, tenant_of
from perdure.values.items import MemoryItem, PatternItem
from perdure.values.jobs import Approved, Batch

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
ITEM = MemoryItem(content="The standup is at 9.", occurrence="o", occurred_at=NOW, tags=("team", "health"))
CONDITIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "types": ((MemoryType.CONSTRAINT, MemoryType.FACT), {"memory_type": MemoryType.OUTCOME}),
    "sources": ((Source.EXPLICIT,), {"source": Source.INFERRED}),
    "tags": (("health", "salary"), {"tags": ("team",)}),
    "private": ((Kind.EMAIL, Kind.PHONE), {"content": "The standup is at 9."}),
    "below": (0.95, {"confidence": 0.95}),
}
"""Each condition, met by what follows, and what no longer meets it."""
MEETING = ITEM.changed(content="Write to [email] about the standup.")


@given(st.sets(st.sampled_from(sorted(CONDITIONS)), min_size=1), st.data())
def test_a_rule_holds_what_meets_all_of_its_conditions_and_nothing_else(names: set[str], data: st.DataObject) -> None:
    rule = HoldRule(**{name: CONDITIONS[name][0] for name in sorted(names)})
    reason = rule.reason(MEETING, ActorKind.AGENT)
    assert reason
    assert len(reason.split(", ")) == len(names)
    broken = data.draw(st.sampled_from(sorted(names)))
    assert rule.reason(MEETING.changed(**CONDITIONS[broken][1]), ActorKind.AGENT) is None
    other = data.draw(st.sampled_from(sorted(CONDITIONS)))
    if other not in names:
        assert rule.reason(MEETING.changed(**CONDITIONS[other][1]), ActorKind.AGENT) is not None


def test_reasons_name_the_condition_and_no_content() -> None:
    rules = [
        HoldRule(types=(MemoryType.FACT,), tags=("health",)),
        HoldRule(by=(ActorKind.AGENT,)),
        HoldRule(private=(Kind.EMAIL,), below=0.95),
    ]
    assert [rule.reason(MEETING, ActorKind.AGENT) for rule in rules] == [
        "type fact, tag health",
        "offered by agent",
        "private data email, confidence below 0.95",
    ]
    assert HoldRule(by=(ActorKind.AGENT,)).reason(MEETING, ActorKind.PERSON) is None
    hidden = ITEM.changed(metadata_json={"contact": ["[email]"]})
    assert HoldRule(private=(Kind.EMAIL,)).reason(hidden, ActorKind.PERSON) == "private data email"


def test_one_rule_is_enough_and_without_rules_nothing_is_held() -> None:
    holding = HoldPolicy(rules=(HoldRule(tags=("salary",)), HoldRule(types=(MemoryType.FACT,))))
    assert holding.reason(ITEM, ActorKind.PERSON) == "the write policy holds it: type fact"
    assert HoldPolicy().reason(ITEM, ActorKind.PERSON) is None
    assert all(policy.hold == HoldPolicy() for policy in POLICIES.values())


@pytest.mark.parametrize(
    ("doubt", "silence"), [(False, Silence.APPROVE), (True, Silence.REJECT)], ids=["a policy's", "in doubt"]
)
def test_a_hold_has_its_own_text_alone_and_who_is_silent_settles_no_doubt(doubt: bool, silence: Silence) -> None:
    other = ITEM.changed(content="Lunch is at 12.")
    approved = Approved(at=NOW, doubt=False)
    batch = Batch(tenant="t_1", key="k", items=(other, ITEM), by=Actor(kind=ActorKind.PERSON), approved=approved)
    holding = HoldPolicy(on_silence=Silence.APPROVE, deadline=timedelta(hours=2))
    hold = holding.hold(batch, 1, ITEM, "why", job="ingest-t_1-0", at=NOW, doubt=doubt)
    assert (hold.batch.items, hold.batch.by, hold.batch.approved) == ((ITEM,), batch.by, None)
    assert (hold.until, hold.silence, hold.doubt, hold.reason) == (NOW + timedelta(hours=2), silence, doubt, "why")
    assert hold.batch.key == hold_id("t_1", "ingest-t_1-0", 1)
    assert hold.question.until == hold.until
    assert hold.question.otherwise == ("no" if doubt else "yes")
    assert ITEM.content in hold.question.text


def test_ids_are_of_their_user_and_tell_nothing() -> None:
    ids = {hold_id(tenant, job, index) for tenant in ("t_1", "t_12") for job in "ab" for index in (0, 1)}
    assert len(ids) == 8
    one = hold_id("t_1", "a", 0)
    assert one == hold_id("t_1", "a", 0)
    assert is_of("t_1", one)
    assert not is_of("t_12", one)
    assert not is_of("t_1", "task-x")
    assert not is_of("", one)
    assert tenant_of(one) == "t_1"
    assert [tenant_of(other) for other in ("task-x", f"{one}0", f"x{one}", one[:-1])] == [""] * 4


def test_a_file_says_what_is_held() -> None:
    text = """
default:
  hold:
    deadline: 12h
    on_silence: approve
    rules:
      - {types: [constraint], by: [agent]}
      - {private: [phone number], below: 0.8}
strict:
  hold: {rules: [{tags: [health]}]}
"""
    read = read_policies(text, "policies.yaml")
    hold = read["default"].hold
    assert (hold.deadline, hold.on_silence, len(hold.rules)) == (timedelta(hours=12), Silence.APPROVE, 2)
    assert (read["strict"].hold.deadline, read["strict"].hold.on_silence) == (timedelta(days=7), Silence.REJECT)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("rules: [{}]", r"default.hold.rules\[0\]: .*has no condition"),
        ("rules: [{types: []}]", "has no condition"),
        (
            "rules: [{types: [constrant]}]",
            r"hold.rules\[0\].types\[0\]: 'constrant' is not one of the choices \(did you mean",
        ),
        ("rules: [{private: [phone]}]", r"private\[0\]: 'phone' is not one of the choices"),
        ("rules: [{tag: [x]}]", r"hold.rules\[0\].tag: is not a field here"),
        ("rules: [{below: 2}]", r"hold.rules\[0\].below"),
        ("deadline: soon", "default.hold.deadline: .*7d"),
        ("deadline: 0d", "default.hold.deadline"),
        ("deadline: -1d", "default.hold.deadline"),
        ("deadline: 999999999d", "default.hold.deadline"),
        ("on_silence: believe", "default.hold.on_silence: 'believe' is not one of the choices"),
    ],
)
def test_a_mistake_is_named_with_its_field(written: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_policies(f"default:\n  hold:\n    {written}\n", "policies.yaml")


@pytest.mark.parametrize(("written", "seconds"), [("45s", 45), ("30m", 1_800), ("12h", 43_200), ("7d", 604_800)])
def test_durations(written: str, seconds: int) -> None:
    text = f"default: {{hold: {{deadline: {written}}}}}"
    assert read_policies(text, "p")["default"].hold.deadline == timedelta(seconds=seconds)


def test_the_id_of_a_hold_stays_what_it_is_for_ever() -> None:
    assert hold_id("t", "job-1", 0) == "hold-t-8775d00501cde14cc20e591abdbd7760"


def test_a_person_may_have_it_remembered_in_other_words() -> None:
    batch = Batch(tenant="t", key="k", items=(ITEM,))
    hold = Hold(batch=batch, reason="a rule", until=NOW)
    assert hold.reworded("The standup is at 10.").batch.items == (ITEM.changed(content="The standup is at 10."),)
    with pytest.raises(InvalidAnswer, match=r"PRD106 text: is empty"):
        hold.reworded("")
    record = PatternItem(lane=Lane.PATTERN, key="k", payload=1, occurrence="o", occurred_at=NOW)
    with pytest.raises(InvalidAnswer, match="only a memory can be put in other words"):
        hold.changed(batch=batch.changed(items=(record,))).reworded("x")
