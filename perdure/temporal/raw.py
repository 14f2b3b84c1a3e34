"""What activities and workflows of others give back: JSON, in whatever language they are written."""

import json
import math
from typing import cast

from pydantic import JsonValue
from temporalio.common import RawValue

from perdure.model import DEEPEST_VALUE, depth

_JSON = frozenset({b"json/plain", b"json/protobuf"})


class NotJson(ValueError):
    """It is no JSON that a step can carry."""


def json_of(raw: RawValue | None) -> JsonValue:
    """Return the JSON of a payload; a result that there is none of is null.

    Raises:
        NotJson: It is none, or nested too deep.
    """
    if raw is None:
        return None
    encoding = raw.payload.metadata.get("encoding", b"")
    if encoding == b"binary/null":
        return None
    if encoding not in _JSON:
        raise NotJson(f"gave back {encoding.decode(errors='replace') or 'a value without an encoding'}, not JSON")
    try:
        value = cast("JsonValue", json.loads(raw.payload.data, parse_constant=_refuse, parse_float=_finite))
    except (ValueError, RecursionError) as problem:
        raise NotJson(f"gave back what is no JSON: {problem}") from None
    if (levels := depth(value)) > DEEPEST_VALUE:
        raise NotJson(f"gave back what is nested {levels} deep (at most {DEEPEST_VALUE})")
    return value


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number of JSON")


def _finite(text: str) -> float:
    if not math.isfinite(found := float(text)):
        raise ValueError(f"{text} is too large")
    return found
