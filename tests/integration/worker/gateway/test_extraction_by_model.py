"""With a language model configured, what is said becomes searchable memory as the model judges it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import SecretStr
from pytest_httpserver import HTTPServer

from bench.governance import OWN, Asking, Case, read, sentence, story
from perdure import Actor, ActorKind, RecallRequest
from perdure.values.entries import Purpose
from perdure.values.requests import ConsentRequest, ObserveRequest
from perdure.values.statements import Said, Voice
from tests.conftest import Servers
from tests.deployment import Deployment
from tests.support.extracting_model import by_rules, statement
from tests.support.model_server import Answer, serve_model
from worker.gateway import Gateway

pytestmark = pytest.mark.slow

TESTER = Actor(kind=ActorKind.PERSON, id="tester")
SURE = 0.83
"""A confidence that no rule gives: what is kept with it came from the model."""

SENTENCES = read(OWN, "sentences.jsonl")[::24]
STORIES = read(OWN, "stories.jsonl")[4::10]


def utterance(asked: str) -> Said:
    """Return what a model was asked about."""
    head, _, text = asked.partition("The utterance, said by the ")[2].partition(":\n")
    before = asked.partition("Before it:\n")[2].partition("\n\nThe utterance")[0]
    return Said(text=text, by=Voice(head), before=before, at=datetime.now(UTC), occurrence="asked")


def with_model(here: Deployment, servers: Servers, httpserver: HTTPServer, answer: Answer) -> Gateway:
    url = serve_model(httpserver, answer)
    models: dict[str, Any] = {"model": "openai:test", "openai_api_key": SecretStr("k"), "openai_base_url": url}
    return Gateway(here.settings.model_copy(update=models), servers)


async def test_the_governance_cases_come_through_a_model_as_the_rules_decide_them(
    here: Deployment, servers: Servers, httpserver: HTTPServer
) -> None:
    failed: list[str] = []
    async with with_model(here, servers, httpserver, by_rules(utterance, confidence=SURE)) as gateway:
        asking = Asking(gateway, here.services)
        cases: list[tuple[Any, Case]] = [*((sentence, one) for one in SENTENCES), *((story, one) for one in STORIES)]
        for judge, case in cases:
            outcome = await judge(asking, case)
            failed += [] if outcome.right else [f"{case['id']}: {outcome.told}"]
    assert failed == []
    assert len(httpserver.log) >= len(STORIES), "the model was asked"


async def test_what_is_kept_is_what_the_model_says(
    here: Deployment, servers: Servers, httpserver: HTTPServer, user: str
) -> None:
    def nothing(instructions: str, asked: str) -> str:
        return json.dumps({"statements": [statement("It is a guess.", ground="unstable")]})

    one = Said(text="I always travel by train.", by=Voice.USER, at=datetime.now(UTC), occurrence="s/1")
    request = ObserveRequest(user_id=user, session="s", said=(one,))
    async with with_model(here, servers, httpserver, nothing) as gateway:
        await gateway.consent(ConsentRequest(user_id=user, grant=(Purpose.EXTRACTED,)), by=TESTER)
        left = await gateway.observe(request, by=TESTER)
        assert (left.items, [one.ground.value for one in left.left]) == (0, ["unstable"])
    httpserver.clear()
    async with with_model(here, servers, httpserver, by_rules(utterance, confidence=SURE)) as gateway:
        await gateway.receipt((await gateway.observe(request, by=TESTER)).job, by=TESTER)
        [item] = (await gateway.recall(RecallRequest(user_id=user, text="How do I travel?"), by=TESTER)).items
    assert (item.text, item.confidence) == ("I always travel by train.", SURE)
