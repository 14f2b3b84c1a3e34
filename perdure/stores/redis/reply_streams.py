"""Replies while a model gives them, piece by piece: capped streams, so that no history holds them twice."""

import datetime
from collections.abc import Sequence
from typing import Any, cast

from pydantic import ValidationError
from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, UNERASED, Script, ask, known
from perdure.tolerance import read_back
from perdure.values.chats import BEGINNING, ReplyPiece, ReplyPlace

MOST_PIECES = 2_000
"""Pieces of one reply that are kept, a choice: at twenty a second, those of 100 s. Who reads along has them all."""

KEPT = datetime.timedelta(minutes=10)
"""How long a reply's pieces are kept after the last one: a choice, as the whole reply is in the conversation."""

_BLOCK = 1_000
"""Milliseconds that Redis waits for a further piece: half of what its client takes for an answer that never comes."""

_ADD = (
    UNERASED
    + INDEXED
    + """
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'piece', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
indexed(KEYS[2], KEYS[1], tonumber(ARGV[3]))
"""
)


class ReplyStreams:
    """The pieces of replies. Each may be there twice, as a command may be sent twice.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._add = Script(redis, _ADD)

    async def add(self, place: ReplyPlace, piece: ReplyPiece, *, epoch: int | None = None) -> None:
        """Add a piece to a reply.

        Args:
            place: Which reply.
            piece: The piece.
            epoch: The tenant's epoch that the conversation was begun under; None: not known.

        Raises:
            TenantErased: The user was erased since; nothing is kept.
            StoreUnavailable: Redis does not answer.
        """
        kept = int(KEPT.total_seconds() * 1000)
        places = [_key(place), keys.index(place.tenant), keys.epoch(place.tenant)]
        await self._add(places, piece.model_dump_json(), MOST_PIECES, kept, known(epoch))

    async def read(self, place: ReplyPlace, after: str = BEGINNING) -> tuple[Sequence[ReplyPiece], str]:
        """Return the pieces of a reply after a place in it, and the place of the last one.

        It waits a second for the first of them, and returns none if there is none by then.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        key = _key(place)
        found: Any = await ask(self._redis, "XREAD", "BLOCK", _BLOCK, "STREAMS", key, after)
        pieces: list[ReplyPiece] = []
        for identifier, fields in _entries(found, key):
            after = identifier
            try:
                pieces.append(read_back(ReplyPiece, fields.get("piece", "")))
            except ValidationError:
                # Another build's, perhaps. The whole reply comes in any case.
                continue
        return pieces, after


def _entries(found: Any, key: str) -> list[tuple[str, dict[str, str]]]:
    """Return the entries of one stream, in the form that this client gives them."""
    return [*cast("list[tuple[str, dict[str, str]]]", found[key][0])] if found else []


def _key(place: ReplyPlace) -> str:
    return keys.tokens(place.tenant, place.task_id, place.message)
