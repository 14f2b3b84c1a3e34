"""Episodes of a session: written on a best-effort basis; they never make anything fail, or wait for long."""

import asyncio
import functools
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

import structlog

from perdure.agent.steps import step_episodes
from perdure.agent.steps.attempts import Attempt
from perdure.agent.steps.calls import Asks, Ended, StepCall, StepContext, Value
from perdure.agent.steps.foreign_calls import EndCall, ForeignCall
from perdure.agent.steps.task_calls import AnnounceCall
from perdure.agent.steps.values import Values
from perdure.agent.steps.wait_calls import TakeCall
from perdure.errors import ResultExpired, StoreUnavailable, TenantErased
from perdure.memory.consent_book import ConsentBook
from perdure.memory.extraction.results import statements_of
from perdure.memory.extraction.screening import answered, brief, brief_before, brief_end
from perdure.memory.write_policies import WritePolicy
from perdure.names import Workflow
from perdure.stores.redis.episodes import Episodes
from perdure.stores.spool import Spool
from perdure.together import to_its_end
from perdure.values.consents import is_granted, withdrawn
from perdure.values.entries import Purpose
from perdure.values.episodes import DRAFT, LONGEST, Episode, EpisodeKind, importance, permitted
from perdure.values.items import Item
from perdure.values.questions import TakenAnswer
from perdure.values.statements import Said
from perdure.values.steering import GivenFeedback

_log = structlog.get_logger(__name__)

PATIENCE = 2.0
"""Seconds that episodes may hold a step up; then they go to the spool."""

LARGEST_READ = 100_000
"""Bytes of a result that is read for what it states. A larger one is a document, of which a skill remembers what
matters. A choice."""

BRIEF_PATIENCE = 0.1
"""Seconds that they may hold up a step that is cut off after half a second."""


class SessionWriter:
    """Writes what was said, decided and learned in a session, and what became of each step, without private data."""

    def __init__(
        self, episodes: Episodes, spool: Spool, consents: ConsentBook, *, values: Values, policy: WritePolicy
    ) -> None:
        self._episodes = episodes
        self._spool = spool
        self._consents = consents
        self._values = values
        self._policy = policy
        self.waiting = asyncio.Event()
        """Set whenever an episode was left in the spool, to wait for Redis."""

    async def done(self, call: StepCall, attempt: Attempt, outcome: Ended | Asks) -> None:
        """Write what a person answered to a step, how it ended, and how its failure was resolved if it had failed."""
        if not call.memory.remembers:
            return
        found = [] if call.resumed is None else [await self._answered(call, call.resumed.answer, attempt)]
        how: dict[str, Any] = {"epoch": call.epoch, "patience": _patience(attempt)}
        if isinstance(outcome, Ended):
            now = datetime.now(UTC)
            found += [step_episodes.done(call, attempt.workflow_id, outcome, now)]
            output, arguments = outcome.result.parts.get("output"), attempt.report.arguments
            how["offers"] = functools.partial(
                self._offered, call, call.step.tool, attempt.workflow_id, output, arguments
            )
            how["resolves"] = _resolving(call, attempt)
        await self.write(call.tenant, call.session, found, **how)

    async def believed(self, tenant: str, session: str, items: Sequence[tuple[Item, datetime]], *, epoch: int) -> None:
        """Write what is believed now of what was learned in a session, and when that was."""
        found = [episode for item, at in items for episode in step_episodes.insights([item], at)]
        await self.write(tenant, session, found, epoch=epoch)

    async def doubted(self, tenant: str, session: str, occurrences: Collection[str], *, epoch: int) -> None:
        """Take back what was said at some places, since a person has to say first whether it holds.

        Raises:
            StoreUnavailable: Redis does not answer: it would be shown until it does.
            TenantErased: The user was erased since.
        """
        await self._episodes.remove(tenant, session, [_turn_id(one) for one in occurrences], epoch=epoch)

    async def answered(self, call: ForeignCall, attempt: Attempt) -> None:
        """Write what a person answered to a step that calls what others serve, before it is called."""
        if call.memory.remembers and call.resumed is not None:
            found = [await self._answered(call, call.resumed.answer, attempt)]
            await self.write(call.tenant, call.session, found, epoch=call.epoch, patience=_patience(attempt))

    async def _answered(self, call: StepContext, answer: TakenAnswer, attempt: Attempt) -> Episode:
        """Return what a person answered to a step, with what it had asked if Redis can tell."""
        identifier = step_episodes.question_id(attempt.workflow_id, answer.question_id)
        question = await self._known(call, identifier, _patience(attempt))
        asked = question.said or question.text if question else ""
        return step_episodes.answered(attempt.workflow_id, call.path, answer, asked)

    async def called(self, call: EndCall, workflow_id: str, outcome: Ended) -> None:
        """Offer memory what a call of an activity or a workflow of others gave back.

        What a task gave back is its agent's word, and what its tools returned was offered in its own session.
        """
        output, is_task = outcome.result.parts.get("output"), call.step.type_name == Workflow.RESUMABLE_AGENT
        offers = functools.partial(self._offered, call, call.step.called, workflow_id, output, call.shown)
        offers = None if is_task or not call.memory.remembers else offers
        await self.write(call.tenant, call.session, [], epoch=call.epoch, offers=offers)

    async def asked(self, call: AnnounceCall, workflow_id: str) -> None:
        """Write what a task asks, what a person answered, or that nobody did in time."""
        if not call.memory.remembers:
            return
        question = call.question
        if call.lapsed:
            found = step_episodes.lapsed(call, workflow_id, datetime.now(UTC))
        elif call.answer is None:
            found = step_episodes.asked(call, workflow_id, datetime.now(UTC))
            if len(question.text) > LONGEST:
                # Its text is cut, and what it asks for stands at the end: the answer is screened with it.
                found = found.changed(said=brief_end(question.text))
        else:
            found = step_episodes.answered(workflow_id, question.id.partition("#")[0], call.answer, question.text)
        await self.write(call.tenant, call.session, [found], epoch=call.epoch)

    async def delivered(self, call: TakeCall, workflow_id: str) -> None:
        """Write that the event that a step waited for came."""
        if call.memory.remembers:
            await self.write(call.tenant, call.session, [step_episodes.delivered(call, workflow_id)], epoch=call.epoch)

    async def failed(self, call: StepCall, attempt: Attempt, problem: str) -> None:
        """Write that a step failed for good, or that an attempt did."""
        if call.memory.remembers:
            found = step_episodes.failed(
                call, attempt.workflow_id, problem, attempt.report.arguments, datetime.now(UTC)
            )
            await self.write(call.tenant, call.session, [found], epoch=call.epoch, patience=_patience(attempt))

    async def judged(
        self, tenant: str, session: str, given: GivenFeedback, identifier: str, workflow_id: str, *, epoch: int | None
    ) -> None:
        """Write a person's word on a task, once for the id of that word; see ``step_episodes.judged``."""
        await self.write(tenant, session, [step_episodes.judged(given, identifier, workflow_id)], epoch=epoch)

    async def observed(self, tenant: str, session: str, turns: Sequence[Said], *, epoch: int | None) -> None:
        """Write what people and agents said to each other in a session, under an epoch."""
        await self.write(tenant, session, [_turn(one) for one in turns], epoch=epoch)

    async def write(
        self,
        tenant: str,
        session: str,
        episodes: Sequence[Episode],
        *,
        epoch: int | None = None,
        patience: float = PATIENCE,
        offers: Callable[[], Awaitable[Sequence[Episode]]] | None = None,
        resolves: "_Resolves | None" = None,
    ) -> None:
        """Write episodes, each once, if the user consents; to the spool if Redis does not answer soon.

        Consent is checked again when they are brought from the spool. What began under an older epoch than the user's
        is dropped.

        Args:
            tenant: Whose session it is.
            session: The session.
            episodes: What happened.
            epoch: The tenant's epoch that it began under; None: not known.
            patience: Seconds until they go to the spool.
            offers: Finds what memory may extract; not called unless the user is known to consent to that.
            resolves: The failure that this may be the end of.
        """
        left, offering = [_screened(one) for one in episodes], None
        with suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(patience):
                if left or offers:
                    consents = await self._consents.of(tenant)
                    left = permitted(left, withdrawn(consents))
                    keeps = Purpose.GIVEN not in withdrawn(consents) and is_granted(consents, Purpose.EXTRACTED)
                    offering = offers if keeps else None
                while left or offering:
                    if not left and offering:
                        # It takes the longest, and what it finds can be missed.
                        left, offering = [_screened(one) for one in await offering()], None
                        continue
                    try:
                        failure = await self._episodes.append_beside(
                            tenant, session, left[0], resolves.failure if resolves else "", epoch=epoch
                        )
                    except TenantErased:
                        return
                    left = left[1:]
                    if failure and resolves:
                        left = [*left, _screened(resolves.by(failure))]
                    resolves = None
        for episode in left:
            try:
                # The activity may be cancelled meanwhile, and what is on the disk then has to be brought all the same.
                await to_its_end(self._spool.append(tenant, session, episode, epoch=epoch))
            except StoreUnavailable as problem:
                _log.warning("episode lost", step=episode.step, problem=str(problem))
            finally:
                self.waiting.set()

    async def _offered(
        self, call: StepContext, called: str, workflow_id: str, output: Value | None, arguments: str
    ) -> list[Episode]:
        """Return what the result of what was called states that memory may take; nothing of one that is a document."""
        if output is None or self._policy.verbatim or output.size > LARGEST_READ:
            return []
        now = datetime.now(UTC)
        try:
            value = await self._values.get(call.tenant, call.task_id, output)
        except ResultExpired:
            return []
        # In a thread, as it computes for longer than a loop may be held up.
        found = await asyncio.to_thread(statements_of, value, arguments, at=now, policy=self._policy)
        return step_episodes.stated(call, called, workflow_id, found, now)

    async def _known(self, call: StepContext, identifier: str, patience: float) -> Episode | None:
        """Return an earlier episode; None without Redis, as the spool is not searched."""
        with suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(patience):
                return await self._episodes.get(call.tenant, call.session, identifier)
        return None


class _Resolves(NamedTuple):
    """The failure that a step may have had before it ended."""

    failure: str
    """The id of its episode."""
    by: Callable[[Episode], Episode]
    """Returns the episode of how it was resolved."""


def _resolving(call: StepCall, attempt: Attempt) -> _Resolves:
    failure, arguments, at = (
        step_episodes.failure_id(attempt.workflow_id, call.path),
        attempt.report.arguments,
        datetime.now(UTC),
    )

    def resolved(failed: Episode) -> Episode:
        return step_episodes.resolved(
            call, attempt.workflow_id, failed, attempt=attempt.number, arguments=arguments, at=at
        )

    return _Resolves(failure, resolved)


def _patience(attempt: Attempt) -> float:
    return PATIENCE if attempt.cut is None else BRIEF_PATIENCE


def _turn_id(occurrence: str) -> str:
    return f"turn/{occurrence}"[-300:]


def _turn(one: Said) -> Episode:
    return Episode(
        id=_turn_id(one.occurrence),
        kind=EpisodeKind.TURN,
        text=f"{one.speaker or one.by.value}: {answered(one.text, one.before)}"[:DRAFT],
        importance=importance(EpisodeKind.TURN, by=one.by),
        at=one.at,
        by=one.by,
        extracted=True,
    )


_NAMES = re.compile(r"[\w.\[\]-]+: [\w.-]+ (?:done|skipped|failed)")
"""What is said of a tool that returned: a step's path, the tool and the status. Nobody's words are in it, and looking
for private data in it took a tenth of a step's time (measured)."""


def _screened(episode: Episode) -> Episode:
    """Return an episode without private data and secrets, also where only what was said before it shows them."""
    if episode.kind is EpisodeKind.TOOL and _NAMES.fullmatch(episode.text) and not (episode.said or episode.before):
        return episode
    texts = {name: text for name in ("text", "said", "before", "person") if (text := getattr(episode, name))}
    said = episode.said or episode.text
    answer = answered(said, episode.before)
    told = {name: text.replace(said, answer) if name in ("text", "said") else text for name, text in texts.items()}
    clean = {name: brief_before(text) if name == "before" else brief(text) for name, text in told.items()}
    return episode if clean == texts else episode.changed(**clean)
