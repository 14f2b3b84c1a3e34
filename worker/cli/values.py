"""A value as a person types it: JSON, or text. Pure."""

import json
from typing import NoReturn

from pydantic import JsonValue

from perdure.errors import InvalidInput


def json_or_text(text: str, where: str) -> JsonValue:
    """Return the text parsed as JSON, or the text itself if it is not JSON: an id with a leading zero, say.

    Args:
        text: What was typed.
        where: The argument, for the message of an error.

    Raises:
        InvalidInput: It begins as JSON does and is none: somebody meant it to be.
    """

    def refuse(constant: str) -> NoReturn:
        raise ValueError(constant)

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as problem:
        if text.lstrip().startswith(("{", "[", '"')):
            fix = "correct it; a text that begins so is written in JSON's quotes"
            raise InvalidInput(where, f"is not JSON: {problem}", fix=fix) from None
        return text
