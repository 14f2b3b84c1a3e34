"""Promotes what waits in sessions: through the extractor to an ingest job, each episode once."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import NamedTuple

from perdure.changes import Actor
from perdure.consents import is_granted
from perdure.crashpoints import CrashPoint, reached
from perdure.entries import Purpose
from perdure.episodes import Episode, EpisodeKind, due_at
from perdure.errors import InvalidItem
from perdure.identity import digest
from perdure.jobs import Batch
from perdure.memory.consenting import ConsentBook
from perdure.memory.extraction import observing
from perdure.memory.policies import WritePolicy
from perdure.memory.writing.checking import read_batch
from perdure.said import Extractor, Said, Voice
from perdure.stores.redis.promotions import Promotions, Taken

_AT_ONCE = 50
"""Episodes that are promoted together: one job, or few."""

_ITEMS = 100
"""Items that a batch may have."""

Submit = Callable[[Batch, str], Awaitable[object]]
"""Submits a batch as the job of this id, or finds the job there is."""


class Promoted(NamedTuple):
    """What was promoted of one tenant."""

    sessions: int = 0
    episodes: int = 0
    jobs: int = 0


class Promoter:
    """Promotes episodes.

    Args:
        promotions: What waits.
        consents: What users consent to.
        extractor: Finds what may be believed.
        policy: The write policy of whoever names none.
    """

    def __init__(
        self, *, promotions: Promotions, consents: ConsentBook, extractor: Extractor, policy: WritePolicy
    ) -> None:
        self._promotions = promotions
        self._consents = consents
        self._extractor = extractor
        self._policy = policy

    async def due(self, now: datetime, limit: int) -> list[str]:
        """Return tenants of which something may be due, the longest due first.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        return await self._promotions.tenants(now, limit)

    async def promote(self, tenant: str, *, now: datetime, by: Actor, submit: Submit) -> Promoted:
        """Promote what is due of a tenant; what was begun is ended.

        Without consent, or under a policy that extracts nothing, it waits no longer either: who consents later does not
        consent to what was said before.

        Args:
            tenant: Whose sessions.
            now: The moment.
            by: On whose behalf.
            submit: Where batches go.

        Raises:
            ModelRefused: The language model that extracts refuses the question.
            StoreUnavailable: A store, or the model, does not answer: call it again.
        """
        token = await self._promotions.begin(tenant, now)
        extracts = not self._policy.verbatim and is_granted(await self._consents.of(tenant), Purpose.EXTRACTED)
        done, later = Promoted(), list[datetime]()
        for session, last, first, held in await self._promotions.sessions(tenant):
            if first is not None and (due := due_at(last, first, held)) > now:
                later.append(due)
                continue
            episodes = jobs = 0
            while (taken := await self._promotions.take(tenant, session, _AT_ONCE)).ids:
                reached(CrashPoint.PROMOTE_TAKEN)
                if extracts:
                    jobs += await self._submitted(tenant, session, taken, now=now, by=by, submit=submit)
                reached(CrashPoint.PROMOTE_SUBMITTED)
                # Only these: another attempt may have ended them, and taken others.
                await self._promotions.promoted(tenant, session, taken.ids)
                episodes += len(taken.episodes)
            # Where none waited any more, the session leaves the index.
            await self._promotions.promoted(tenant, session)
            done = Promoted(done.sessions + 1, done.episodes + episodes, done.jobs + jobs)
        await self._promotions.end(tenant, token, min(later, default=None))
        return done

    async def _submitted(
        self, tenant: str, session: str, taken: Taken, *, now: datetime, by: Actor, submit: Submit
    ) -> int:
        """Submit what may be believed of episodes; returns how many jobs it takes."""
        said = [said_of(session, one) for one in taken.episodes if _readable(one.said or one.text).strip()]
        items = observing.believed(said, await self._extractor.extract(said))
        name = digest("promotion/1", tenant, session, list(taken.ids))
        jobs = 0
        for start in range(0, len(items), _ITEMS):
            key = f"promoted-{name[:24]}-{start}"
            try:
                batch = read_batch(
                    tenant=tenant, key=key, items=items[start : start + _ITEMS], accepted_at=now, session=session
                )
            except InvalidItem:
                continue  # None of them can be used.
            # The id is of the episodes and not of the items: a model need not find the same in them twice.
            await submit(batch.changed(by=by), f"ingest-{tenant}-{digest('promoted/1', name, start)[:32]}")
            jobs += 1
        return jobs


def said_of(session: str, episode: Episode) -> Said:
    """Return what was said in an episode, and where: the same episode is the same observation."""
    person = Voice.USER if episode.kind in {EpisodeKind.TURN, EpisodeKind.DECISION} else Voice.AGENT
    return Said(
        text=_readable(episode.said or episode.text),
        by=episode.by or person,
        before=_readable(episode.before),
        at=episode.at,
        occurrence=f"{digest('session/1', session)[:24]}/{episode.id}",
    )


def _readable(text: str) -> str:
    """Return a text without control characters, which a tool's error may have and no memory."""
    return "".join(character if character >= " " or character in "\t\n" else " " for character in text)
