"""Screening, and extracting by rules or a model, in the caller's own process before anything is sent."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from pydantic import JsonValue

from perdure.documents import join, refuse_unknown
from perdure.memory.extraction import offers
from perdure.memory.extraction.model import extractor_of
from perdure.memory.extraction.preceding_turns import answering, before_items
from perdure.memory.extraction.private import redacted, screened_json, with_kept_names
from perdure.memory.extraction.screening import screen
from perdure.memory.write_policies import WritePolicy, policy_named
from perdure.memory.writing.batch_checks import require_said_in_time
from perdure.models.language import open_language_model
from perdure.settings import Settings
from perdure.values.requests import NotBelieved, ObserveRequest, RememberRequest
from perdure.values.statements import Extractor
from worker.policies import policies_of


def is_verbatim(request: ObserveRequest, settings: Settings) -> bool:
    """Return whether what was said is kept word for word, and nothing is extracted.

    Raises:
        InvalidInput: The request is malformed, or there is no such policy.
    """
    refuse_unknown(request)
    return policy_named(policies_of(settings), request.policy).verbatim


async def observed(request: ObserveRequest, settings: Settings) -> tuple[list[JsonValue], tuple[NotBelieved, ...]]:
    """Return the items that are offered to memory, and what is left out of what was said.

    Raises:
        InvalidInput: The request is malformed, something was said more than a day ahead, or there is no such policy or
            model.
        ModelRefused: The model refuses the question.
        StoreUnavailable: The model does not answer.
    """
    refuse_unknown(request)
    policy = policy_named(policies_of(settings), request.policy)
    require_said_in_time(request.said, datetime.now(UTC), "said")
    said = tuple(answering(request.said))
    if policy.verbatim:
        turns = offers.turns(request)
        return [
            screened_json(turn, policy, join("said", index), one.before)
            for index, (turn, one) in enumerate(zip(turns, said, strict=True))
        ], ()
    async with extractor(settings, policy) as opened:
        found = await opened.extract(said)
    return offers.believed(said, found), offers.left_out(found)


@asynccontextmanager
async def extractor(settings: Settings, policy: WritePolicy) -> AsyncGenerator[Extractor]:
    """Open what extracts memories: the configured model, or rules.

    Raises:
        InvalidInput: There is no such model.
    """
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    model = open_language_model(settings.model, api=settings.model_api, api_key=key, base_url=settings.openai_base_url)
    try:
        yield extractor_of(model, policy)
    finally:
        if model:
            await model.close()


def screened(request: RememberRequest, settings: Settings) -> RememberRequest:
    """Return a request without private data and secrets, so that no history holds them.

    Raises:
        InvalidInput: There is no such policy, or it refuses what holds some; or a turn is too long once they are
            replaced.
    """
    policy = policy_named(policies_of(settings), request.policy)
    request = with_kept_names(request, policy)
    before = before_items(request.items)
    items = tuple(
        screened_json(item, policy, join("items", index), before[index]) for index, item in enumerate(request.items)
    )
    turns = tuple(
        redacted(one, {"text": screen(one.text, policy.allow, one.before).text, "before": ""}, join("turns", index))
        for index, one in enumerate(answering(request.turns))
    )
    changed = {name: value for name, value in {"items": items, "turns": turns}.items() if value}
    return request.changed(**changed)
