"""Episodes of a task's steps: written as well as can be, and never a reason for a step to fail."""

import asyncio
import datetime
import json

import structlog

from perdure.agent.steps.calls import AnnounceCall, Asks, Ended, StepCall
from perdure.episodes import Episode, EpisodeKind
from perdure.errors import StoreUnavailable
from perdure.expressions.evaluation import written
from perdure.questions import TakenAnswer
from perdure.stores.redis.episodes import Episodes
from perdure.stores.spool import Spool

_log = structlog.get_logger(__name__)

PATIENCE = 2.0
"""Seconds that an episode may hold a step up; then it goes to the spool."""

_IMPORTANCE = {EpisodeKind.TOOL: 0.3, EpisodeKind.ERROR: 0.8, EpisodeKind.DECISION: 0.9}

_INSIGHT = 200
"""Characters of a result that an episode quotes; a longer one is only named."""


class StepNotes:
    """Writes what became of each step into its session."""

    def __init__(self, episodes: Episodes, spool: Spool) -> None:
        self._episodes = episodes
        self._spool = spool
        self.waiting = asyncio.Event()
        """Set whenever an episode was left in the spool, to wait for Redis."""

    async def done(self, call: StepCall, run: str, outcome: Ended | Asks) -> None:
        """Write what a person answered to a step, and how it ended."""
        if call.resumed is not None:
            await self._answered(call, run, call.path, call.resumed.answer)
        if isinstance(outcome, Asks):
            return
        output = outcome.result.parts.get("output")
        quoted = json.dumps(output.inline, ensure_ascii=False) if output is not None and not output.ref else ""
        text = f"{call.path}: {call.step.tool} {outcome.result.status}"
        if quoted and len(quoted) <= _INSIGHT:
            text += f": {quoted}"
        await self._note(call, EpisodeKind.TOOL, f"{run}/{call.path}/done", call.path, text)

    async def asked(self, call: AnnounceCall, run: str) -> None:
        """Write what a task asks, or what a person answered."""
        question = call.question
        if call.answer is not None:
            await self._answered(call, run, question.id.partition("#")[0], call.answer)
        else:
            await self._note(call, EpisodeKind.DECISION, f"{run}/{question.id}/asked", question.id, question.text)

    async def failed(self, call: StepCall, run: str, problem: str) -> None:
        """Note that a step failed for good, or that an attempt did."""
        await self._note(call, EpisodeKind.ERROR, f"{run}/{call.path}/failed", call.path, f"{call.path}: {problem}")

    async def _answered(self, call: StepCall | AnnounceCall, run: str, step: str, answer: TakenAnswer) -> None:
        by = f" by {answer.by}" if answer.by else ""
        text = f"{step}: {written(answer.value)} (answered{by} at {answer.at:%Y-%m-%d %H:%M:%S} UTC)"
        await self._note(call, EpisodeKind.DECISION, f"{run}/{answer.question_id}/answer", step, text)

    async def _note(
        self, call: StepCall | AnnounceCall, kind: EpisodeKind, identifier: str, step: str, text: str
    ) -> None:
        """Write an episode, unless the task's memory mode forbids it."""
        if not call.memory.remembers:
            return
        now = datetime.datetime.now(datetime.UTC)
        episode = Episode(
            id=identifier[-300:], kind=kind, text=text[:500], importance=_IMPORTANCE[kind], at=now, step=step
        )
        try:
            async with asyncio.timeout(PATIENCE):
                await self._episodes.append(call.tenant, call.session, episode)
        except (StoreUnavailable, TimeoutError):
            try:
                await self._spool.append(call.tenant, call.session, episode)
                self.waiting.set()
            except StoreUnavailable as problem:
                _log.warning("episode lost", step=episode.step, problem=str(problem))
