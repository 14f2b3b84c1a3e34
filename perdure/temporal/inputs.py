"""Whom the input of a workflow names, whatever else is wrong with it."""

import unicodedata
from collections.abc import Sequence
from typing import Any, cast

from temporalio.client import Client

from perdure.errors import InvalidInput
from perdure.identity import normal_user


async def user_in(client: Client, given: Sequence[Any]) -> str | None:
    """Return the id of the user whom an input names; None where it names none, or what is no user's id.

    Only the user's id is read: an error in another field keeps a request from being taken, and not its user's erasure.

    Args:
        client: Decodes the input.
        given: The payloads.

    Raises:
        ValueError: The input cannot be read here.
    """
    try:
        read = await client.data_converter.decode(list(given)[:1])
    except Exception as error:
        raise ValueError("the input cannot be read") from error
    fields: object = read[0] if read else None
    user = cast("dict[str, object]", fields).get("user_id") if isinstance(fields, dict) else None
    if not isinstance(user, str):
        return None
    try:
        return normal_user(unicodedata.normalize("NFC", user))
    except InvalidInput:
        # No user has such an id: it must not keep those who have one from being erased.
        return None
