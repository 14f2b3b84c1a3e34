"""What a finished step has to remember: its templates, filled in and checked. Writes nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from perdure.agent.steps.calls import StepContext
from perdure.documents import fitted
from perdure.errors import InvalidInput, InvalidItem
from perdure.expressions.evaluation import evaluate, holds, written
from perdure.skills.templates import MemoryTemplate, RecordTemplate
from perdure.values.entries import Source
from perdure.values.items import Item, MemoryItem, OfferedItem, record_model


def items_of(
    templates: Sequence[RecordTemplate | MemoryTemplate], names: Mapping[str, JsonValue], context: StepContext
) -> tuple[tuple[OfferedItem, ...], tuple[str, ...]]:
    """Fill in templates.

    Args:
        templates: What the skill says.
        names: What its expressions may refer to.
        context: Whose step it is; its task and path name the occurrence, so neither a retry nor another run of
            the task observes anything new.

    Returns:
        The items, and for each one that is no good the reason.
    """
    items: list[OfferedItem] = []
    refused: list[str] = []
    for index, template in enumerate(templates):
        field = f"{context.path}.remember[{index}]"
        try:
            if template.when is None or holds(template.when, names, f"{field}.when"):
                occurrence = f"{context.task_id}/{context.path}#{index}"
                observed = {"occurrence": occurrence, "occurred_at": context.occurred_at}
                items.append(OfferedItem(item=_item(template, names, observed, field), of=template.of))
        except InvalidInput as problem:
            refused.append(str(problem))
    return tuple(items), tuple(refused)


def _item(
    template: RecordTemplate | MemoryTemplate, names: Mapping[str, JsonValue], observed: dict[str, Any], field: str
) -> Item:
    def text(name: str) -> str:
        return written(evaluate(getattr(template, name), names, f"{field}.{name}"))

    if isinstance(template, RecordTemplate):
        texts = {name: text(name) for name in ("key", "summary", "intent")}
        payload = evaluate(template.payload, names, f"{field}.payload")
        record = {"lane": template.lane, "payload": payload, **texts, **observed}
        return fitted(record_model(template.lane), record, field, InvalidItem)
    memory = {
        "content": text("memory"),
        "memory_type": template.type,
        "confidence": template.confidence,
        "tags": template.tags,
        "source": Source.LEARNED,
    }
    return fitted(MemoryItem, {**memory, **observed}, field, InvalidItem)
