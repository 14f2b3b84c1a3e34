"""The marks of this process in the stores: how many operations it has begun and done, and how many claims it has made.

``perdure.values.losses`` says what they show, and why they are written in this order.
"""

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import suppress

from perdure.errors import StoreUnavailable
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.weaviate.marks import WeaviateMarks
from perdure.together import to_its_end, together
from perdure.values.losses import Mark


class OwnMarks:
    """Counts what this process does.

    Args:
        journal: The marks in the journal.
        redis: The marks in Redis.
        weaviate: The marks in Weaviate.
    """

    def __init__(self, journal: JournalMarks, redis: RedisMarks, weaviate: WeaviateMarks) -> None:
        self._journal = journal
        self._redis = redis
        self._stores: Sequence[RedisMarks | WeaviateMarks] = (redis, weaviate)
        self.writer = ""
        """By which name the stores know this process; empty: it has written nothing."""
        self._begun = self._recorded = self._done = self._closed = self._claimed = 0
        self._marking = asyncio.Lock()
        self._closing = asyncio.Lock()

    async def begin(self) -> None:
        """Count one operation, before it writes anything."""
        async with self._marking:
            self._begun += 1
            # One that is written later would take back a newer one.
            await to_its_end(self._mark())

    async def close(self) -> None:
        """Count one operation as done; on return every store knows of it.

        Raises:
            StoreLost: A store has lost what was written to it.
            StoreUnavailable: A store does not answer.
        """
        self._done += 1
        number = self._done
        async with self._closing:
            if self._closed >= number:
                # What closed before this came to its turn has counted it.
                return
            writer = ""
            # If its marks were removed meanwhile it has another name, by which no store knows of anything yet.
            while writer != self.writer:
                async with self._marking:
                    writer, mark, known = self.writer, Mark(self._recorded, self._done), self._closed
                await together(*(marks.write(writer, mark, at_least=known) for marks in self._stores))
                async with self._marking:
                    if writer == self.writer:
                        await to_its_end(self._mark(mark.done))

    async def claim(self) -> bool:
        """Count a claim on an effect, before the effect.

        Returns:
            False where Redis has lost claims: this one counts as lost as well, once Redis is rebuilt.

        Raises:
            StoreUnavailable: A store does not answer.
        """
        async with self._marking:
            writer = self.writer
            counted = await to_its_end(self._claim())
            if writer not in ("", self.writer):
                # Its marks were removed, and its count with them.
                counted = await to_its_end(self._claim())
        return counted

    async def end(self) -> None:
        """Record that this process writes nothing more. Where that fails, its marks stay until it was idle for long."""
        if self.writer:
            with suppress(StoreUnavailable):
                await self._journal.end(self.writer)

    async def _claim(self) -> bool:
        if not self.writer:
            await self._mark()
        number = self._claimed + 1
        counted = await self._redis.claimed(self.writer, number, after=self._claimed)
        if counted:
            self._claimed = number
        await self._mark()
        return counted

    async def _mark(self, done: int | None = None) -> None:
        """Write this process's mark to the journal; where that fails, it keeps its name, and what it has closed.

        Args:
            done: How many operations every store knows of; None: as many as before.
        """
        writer, new = self.writer or secrets.token_hex(8), not self.writer
        mark = Mark(self._begun, self._closed if done is None else done, self._claimed)
        if not await self._journal.write(writer, mark, new=new):
            # It had ended, or been idle for so long that its marks were removed: it begins as another.
            writer, mark = secrets.token_hex(8), Mark(mark.begun)
            await self._journal.write(writer, mark, new=True)
        self.writer = writer
        self._recorded, self._closed, self._claimed = mark
