"""Promotes what waits in sessions: through the extractor to an ingest job, each episode once."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from pydantic import JsonValue

from perdure.crashpoints import CrashPoint, reached
from perdure.errors import InvalidItem, PerdureError
from perdure.identity import digest, session_digest
from perdure.memory.consent_book import ConsentBook
from perdure.memory.extraction import offers
from perdure.memory.write_policies import WritePolicy
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.redis.promotions import Promotions, TakenSession
from perdure.values.changes import Actor
from perdure.values.consents import is_granted
from perdure.values.entries import Purpose
from perdure.values.episodes import IDLE, Episode, EpisodeKind, due_at
from perdure.values.jobs import Batch, UnusableItem, named_job
from perdure.values.statements import Extractor, Said, Voice

_AT_ONCE = 50
"""Episodes that are promoted together: one job, or few."""

_ITEMS = 100
"""Items that a batch may have."""

Submit = Callable[[Batch, str], Awaitable[object]]
"""Submits a batch as the job of this id, or finds the existing job."""


class Promoted(NamedTuple):
    """The result of promoting one tenant's episodes."""

    sessions: int = 0
    episodes: int = 0
    jobs: int = 0
    failed: tuple[str, ...] = ()
    """What went wrong, and in which session: its digest, as a session's id may name its user."""


class Promoter:
    """Promotes episodes.

    Args:
        promotions: What waits.
        consents: What users consent to.
        extractor: Finds what may be believed.
        policy: The write policy for requests that name none.
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
        """Promote a tenant's due sessions, finishing those already begun. A session that fails waits for a later call.

        Without consent, or under a policy that extracts nothing, it is dropped: later consent does not apply to what
        was said before.

        Args:
            tenant: Whose sessions.
            now: The moment.
            by: On whose behalf.
            submit: Where batches go.

        Raises:
            StoreUnavailable: Redis does not answer, or consent is unknown: call it again.
        """
        token = await self._promotions.begin(tenant, now)
        extracts = not self._policy.verbatim and is_granted(await self._consents.of(tenant), Purpose.EXTRACTED)
        done, later, failed = Promoted(), list[datetime](), list[str]()
        for session, last, first, held in await self._promotions.sessions(tenant):
            if first is not None and (due := due_at(last, first, held)) > now:
                later.append(due)
                continue
            work = _Work(tenant, session, now, by, submit)
            while (taken := await self._promotions.take(tenant, session, _AT_ONCE)).ids:
                reached(CrashPoint.PROMOTE_TAKEN)
                try:
                    jobs, unusable = await self._submitted(work, taken) if extracts else (0, [])
                except PerdureError as error:
                    failed.append(f"session {session_digest(session)[:8]}: {error}")
                    # An outage ends; what is refused once is soon refused again.
                    later.append(now if error.retryable else now + IDLE)
                    break
                reached(CrashPoint.PROMOTE_SUBMITTED)
                failed += [f"session {session_digest(session)[:8]}: {error}" for error in unusable]
                # Only these: another attempt may have ended them, and taken others.
                await self._promotions.promoted(tenant, session, taken.ids)
                done = done._replace(episodes=done.episodes + len(taken.episodes), jobs=done.jobs + jobs)
            else:
                # Where none waited any more, the session leaves the index.
                await self._promotions.promoted(tenant, session)
                done = done._replace(sessions=done.sessions + 1)
        await self._promotions.end(tenant, token, min(later, default=None))
        return done._replace(failed=tuple(failed))

    async def _submitted(self, work: "_Work", taken: TakenSession) -> tuple[int, list[InvalidItem]]:
        """Submit what may be believed of episodes; returns how many jobs it takes, and what cannot be used."""
        said = [said_of(work.session, one) for one in taken.episodes if _readable(one.said or one.text).strip()]
        items = offers.believed(said, await self._extractor.extract(said))
        name = promotion_of(work.tenant, work.session, taken.ids)
        jobs, unusable = 0, list[InvalidItem]()
        for start in range(0, len(items), _ITEMS):
            for place, batch in _batches(work, f"promoted-{name[:24]}", items[start : start + _ITEMS], start):
                if isinstance(batch, InvalidItem):
                    unusable.append(batch)
                    continue
                # The id is derived from the episodes and not the items: a model may not find the same in them twice.
                await work.submit(batch, named_job("promoted/1", name, place))
                jobs += 1
        return jobs, unusable


def promotion_of(tenant: str, session: str, episodes: Sequence[str]) -> str:
    """Return the id of a promotion of episodes. Its jobs are named by it, so that a repeated one starts none."""
    return digest("promotion/1", tenant, session, list(episodes))


class _Work(NamedTuple):
    """What the batches of a session have in common."""

    tenant: str
    session: str
    now: datetime
    by: Actor
    submit: Submit


def _batches(
    work: _Work, key: str, items: Sequence[JsonValue], start: int
) -> Iterator[tuple[int, Batch | InvalidItem]]:
    """Return items as batches, each with the place of its first item; halved where they are too large together."""
    try:
        batch = read_batch(
            tenant=work.tenant, key=f"{key}-{start}", items=items, accepted_at=work.now, session=work.session
        )
    except InvalidItem as error:
        if len(items) == 1:
            yield start, error
        else:
            half = len(items) // 2
            yield from _batches(work, key, items[:half], start)
            yield from _batches(work, key, items[half:], start + half)
    else:
        # What was said before something was forgotten does not bring it back, however late it is promoted.
        said = tuple(min(item.occurred_at, work.now) for item in batch.items if not isinstance(item, UnusableItem))
        yield start, batch.changed(by=work.by, recorded=said)


def said_of(session: str, episode: Episode) -> Said:
    """Return what was said in an episode, and where: the same episode is the same observation."""
    person = Voice.USER if episode.kind in {EpisodeKind.TURN, EpisodeKind.DECISION} else Voice.AGENT
    return Said(
        text=_readable(episode.said or episode.text),
        by=episode.by or person,
        before=_readable(episode.before),
        at=episode.at,
        occurrence=f"{session_digest(session)}/{episode.id}",
    )


def _readable(text: str) -> str:
    """Return a text without control characters, which a tool's error may have and no memory."""
    return "".join(character if character >= " " or character in "\t\n" else " " for character in text)
