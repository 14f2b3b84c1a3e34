"""What a recall step asks of memory, with its expressions evaluated. Pure; asks nothing itself."""

from collections.abc import Mapping

from pydantic import JsonValue

from perdure.agent.steps.calls import RecallCall, RecallTerms
from perdure.documents import kind_of
from perdure.errors import InvalidExpression
from perdure.expressions.evaluation import evaluate, written
from perdure.skills.templates import RecallTemplate


def terms_of(call: RecallCall, names: Mapping[str, JsonValue]) -> RecallTerms:
    """Return what a recall step asks for.

    Args:
        call: The step.
        names: What its expressions refer to.

    Raises:
        InvalidExpression: An expression has no value, or its keys are no list.
    """
    field, template = f"{call.path}.recall", call.step.recall
    text = written(evaluate(template.text, names, f"{field}.text"))
    filled = {
        name: written(evaluate(value, names, f"{field}.{name}"))
        for name in ("since", "until", "task")
        if (value := getattr(template, name)) is not None
    }
    named = RecallTerms.model_fields.keys() - {"text", "keys", *filled}
    others = template.model_dump(include=named, exclude_none=True)
    return RecallTerms(text=text, keys=_keys(template, names, field), **filled, **others)


def _keys(template: RecallTemplate, names: Mapping[str, JsonValue], field: str) -> tuple[str, ...]:
    one = [] if template.key is None else [evaluate(template.key, names, f"{field}.key")]
    keys: JsonValue = template.keys if isinstance(template.keys, str) else list(template.keys)
    found = evaluate(keys, names, f"{field}.keys")
    if not isinstance(found, list):
        raise InvalidExpression(f"{field}.keys", f"is {kind_of(found)}, not a list of keys")
    return tuple(written(key) for key in (*one, *found))
