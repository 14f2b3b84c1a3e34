"""Items of an agent's sessions, as frameworks keep them (the OpenAI Agents SDK's ``Session``). Pure values."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, JsonValue

from perdure.identity import OwnerId, UserId
from perdure.model import Passed, ShallowJson

SessionItem = dict[str, ShallowJson]
"""What was said, heard or called in a session, as the framework wrote it."""

_NO_WORDS = frozenset({"id", "call_id", "item_id", "response_id", "type", "role", "status", "encrypted_content"})
"""Fields whose texts nobody has said: names of things at the provider, which look like keys."""


class SessionCall(Passed):
    """A call that is about a session."""

    user_id: UserId
    of: OwnerId | None = None
    """The team or agent whose memory it is in; None: the user's own."""
    session: Annotated[str, Field(min_length=1, max_length=300)]


class SessionRead(SessionCall):
    """The input of ``read_session``."""

    limit: Annotated[int, Field(ge=1)] | None = None
    """How many items, the latest ones; None: all."""


class SessionItems(Passed):
    """Items of a session, in their order."""

    items: tuple[SessionItem, ...] = ()


class SessionAdd(SessionCall):
    """The input of ``add_to_session``; the same addition again adds nothing."""

    items: Annotated[tuple[SessionItem, ...], Field(max_length=1_000)]
    addition: Annotated[str, Field(min_length=1, max_length=200)]


class SessionRemove(SessionCall):
    """The input of ``remove_from_session``; the same removal again removes nothing, and returns the same."""

    removal: Annotated[str, Field(min_length=1, max_length=200)]
    everything: bool = False
    """Whether all items are removed, and not the last one alone."""


def texts_of(item: JsonValue) -> Iterator[str]:
    """Yield what was said in an item: its texts, but for names of things.

    >>> list(texts_of({"type": "message", "id": "msg_1", "content": [{"type": "text", "text": "Hello"}]}))
    ['Hello']
    """
    match item:
        case str():
            yield item
        case list():
            for one in item:
                yield from texts_of(one)
        case dict():
            for name, value in item.items():
                if name not in _NO_WORDS:
                    yield from texts_of(value)
        case _:
            pass
