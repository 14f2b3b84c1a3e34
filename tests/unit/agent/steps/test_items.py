"""What a step remembers: its templates, filled in, each under an occurrence of its own."""

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from perdure.agent.steps.calls import StepContext
from perdure.agent.steps.items import items_of
from perdure.skills.templates import MemoryTemplate, RecordTemplate
from perdure.values.entries import Lane, MemoryType, Source
from perdure.values.items import MemoryItem, PatternItem

NOW = datetime(2026, 5, 1, tzinfo=UTC)
CONTEXT = StepContext(tenant="t_1", session="s", task_id="t", path="audit[2].inspect", occurred_at=NOW)
NAMES: dict[str, JsonValue] = {"output": {"name": "numpy", "fine": True}}


def test_templates_become_items() -> None:
    record = RecordTemplate.model_validate(
        {
            "lane": "pattern",
            "key": "${output.name}",
            "payload": "${output}",
            "summary": "saw ${output.name}",
            "intent": "audit",
            "when": "${output.fine}",
        }
    )
    memory = MemoryTemplate.model_validate(
        {"memory": "${output.name} is fine", "type": "outcome", "confidence": 0.8, "tags": ["licence"]}
    )
    items, refused = items_of((record, memory), NAMES, CONTEXT)
    assert refused == ()
    assert tuple(one.item for one in items) == (
        PatternItem(
            lane=Lane.PATTERN,
            key="numpy",
            payload={"name": "numpy", "fine": True},
            summary="saw numpy",
            intent="audit",
            occurrence="t/audit[2].inspect#0",
            occurred_at=NOW,
        ),
        MemoryItem(
            content="numpy is fine",
            memory_type=MemoryType.OUTCOME,
            confidence=0.8,
            tags=("licence",),
            source=Source.LEARNED,
            occurrence="t/audit[2].inspect#1",
            occurred_at=NOW,
        ),
    )


def test_what_its_condition_excludes_is_neither_remembered_nor_refused() -> None:
    template = MemoryTemplate(memory="numpy is bad", when="${!output.fine}")
    assert items_of((template,), NAMES, CONTEXT) == ((), ())


def test_one_that_is_no_good_keeps_no_other_from_being_remembered() -> None:
    bad = MemoryTemplate(memory="${output.missing}")
    items, [refused] = items_of((bad, MemoryTemplate(memory="fine")), NAMES, CONTEXT)
    assert [one.item.occurrence for one in items] == ["t/audit[2].inspect#1"]
    assert refused.startswith("PRD103 audit[2].inspect.remember[0].memory: ")


@pytest.mark.parametrize(
    ("template", "refusal"),
    [
        ({"memory": "x", "when": "${output.name}"}, "PRD103 p.remember[0].when: ${output.name} is text"),
        ({"memory": "x", "when": "${output.none}"}, "PRD103 p.remember[0].when: "),
        ({"memory": "${''}"}, "PRD105 p.remember[0].content: "),
        ({"lane": "pattern", "key": "${output.none}", "payload": 1}, "PRD103 p.remember[0].key: "),
        ({"lane": "feedback", "key": "k", "payload": "${output}"}, "PRD105 p.remember[0].payload: has no answer"),
        ({"lane": "pattern", "key": "k", "payload": "${output.none}"}, "PRD103 p.remember[0].payload: "),
        ({"lane": "pattern", "key": "k", "payload": 1, "summary": "${output.none}"}, "PRD103 p.remember[0].summary: "),
        ({"lane": "pattern", "key": "${' '}", "payload": 1}, "PRD105 p.remember[0].key: "),
    ],
)
def test_what_is_no_good_is_refused_with_its_field(template: dict[str, JsonValue], refusal: str) -> None:
    kind = MemoryTemplate if "memory" in template else RecordTemplate
    items, [refused] = items_of((kind.model_validate(template),), NAMES, CONTEXT.changed(path="p"))
    assert items == ()
    assert refused.startswith(refusal)
