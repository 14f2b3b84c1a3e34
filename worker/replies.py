"""Replies of conversations as a process without a worker reads them: while they come, and long ones by reference."""

import datetime
from collections.abc import Sequence

from perdure.settings import Addresses, Settings
from perdure.stores.journal.values import ValueFiles
from perdure.stores.redis.connection import connect
from perdure.stores.redis.outputs import Outputs
from perdure.stores.redis.reply_streams import ReplyStreams
from perdure.values.chats import ReplyPiece, ReplyPlace


class Replies:
    """Reads replies; importing this takes Redis' client.

    Args:
        settings: How long values are kept, and where their files are, if they are at hand.
        addresses: Where Redis is.
    """

    def __init__(self, settings: Settings, addresses: Addresses) -> None:
        self._redis = connect(addresses.redis_url)
        ttl = datetime.timedelta(days=settings.claim_ttl_days)
        self._outputs = Outputs(self._redis, ttl, files=ValueFiles(settings.journal_folder))
        self._streams = ReplyStreams(self._redis)

    async def pieces(self, place: ReplyPlace, after: str) -> tuple[Sequence[ReplyPiece], str]:
        """Return the pieces of a reply after a place in it, and the place of the last one.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        return await self._streams.read(place, after)

    async def text(self, tenant: str, reference: str, task_id: str) -> str:
        """Return the text of a long reply.

        Raises:
            StoreUnavailable: It may still be kept where nothing answers.
            ResultExpired: It is no longer kept.
        """
        return str(await self._outputs.get(tenant, reference, task_id))

    async def aclose(self) -> None:
        """Close the connection."""
        await self._redis.aclose()
