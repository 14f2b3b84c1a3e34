"""What a language model answers that is asked what of an utterance is to be kept."""

import json
from collections.abc import Callable
from typing import Any

from perdure.memory.extraction.rules import extraction_of
from perdure.values.assertions import Assertion
from perdure.values.statements import Said


def statement(content: str, **fields: Any) -> dict[str, Any]:
    """Return one statement of an answer."""
    kept = {"ground": "none", "memory_type": "fact", "confidence": 0.8}
    asserted = {"subject": "", "attribute": "", "value": "", "negated": False, "several": False}
    asserted |= {"revises": False, "former": ""}
    return {"content": content} | kept | asserted | fields


def by_rules(of_text: Callable[[str], Said], **fields: Any) -> Callable[[str, str], str]:
    """Return a model that decides as the rules do.

    Args:
        of_text: Reads what was said from what the model is asked.
        **fields: What it says of everything that it keeps.
    """

    def answer(instructions: str, asked: str) -> str:
        found = extraction_of(of_text(asked))
        kept = [
            statement(
                one.content,
                **{"memory_type": one.memory_type.value, "confidence": one.confidence, **fields},
                **(one.assertion.model_dump(include=set(Assertion.model_fields) - {"said"}) if one.assertion else {}),
            )
            for one in found.candidates
        ]
        refused = [statement(one.reason, ground=one.ground.value) for one in found.left]
        return json.dumps({"statements": kept + refused})

    return answer
