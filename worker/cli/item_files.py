"""Files of items to be remembered, as a person writes them. Checks none of the items."""

import json
import sys
from pathlib import Path
from typing import NoReturn

from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from perdure.documents import unreadable
from perdure.errors import InvalidItem

_items: TypeAdapter[list[JsonValue]] = TypeAdapter(list[JsonValue])


_FIX = 'write a list of items, such as [{"kind": "memory", "content": "Tom likes tea."}]'


def read_items(file: Path) -> list[JsonValue]:
    """Return the items in a file of JSON.

    Args:
        file: Where they are; ``-``: what is piped in.

    Raises:
        InvalidItem: The file cannot be read, or is not a list of items.
    """
    try:
        text = sys.stdin.read() if file == Path("-") else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(file, error, InvalidItem) from error
    if not text.strip():
        raise InvalidItem(str(file), "is empty", fix=_FIX)
    try:
        items = _items.validate_python(json.loads(text, parse_constant=_not_json))
        # Refuses half a surrogate pair, and lists that are nested too deep to be sent.
        _items.dump_json(items)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidItem(str(file), f"is not JSON: {error.msg.lower()} in {place}", fix=_FIX) from error
    except (ValidationError, RecursionError, PydanticSerializationError) as error:
        raise InvalidItem(str(file), "is not a JSON list of items", fix=_FIX) from error
    return items


def _not_json(constant: str) -> NoReturn:
    raise InvalidItem("--file", f"{constant} is no JSON number", fix="write null, or leave the field out")
