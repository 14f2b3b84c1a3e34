"""What recall has rendered is never extracted again, whoever says it; what is new beside it still is."""

import json
from datetime import UTC, datetime

import pytest
from pytest_httpserver import HTTPServer

from perdure.memory.extraction.model import ModelExtractor
from perdure.memory.extraction.rules import RuleExtractor
from perdure.memory.recall.context import render
from perdure.memory.recall.query import FoundBy, RecalledItem
from perdure.models.language.openai import OpenAILanguageModel
from perdure.values.entries import Lane, MemoryType
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.statements import Extraction, Ground, Said, Voice
from tests.support.model_server import serve_model

NOW = datetime(2026, 5, 1, tzinfo=UTC)
NEW = "Our build server is in Leeds."


def item(kind: str, text: str, **fields: object) -> RecalledItem:
    given = {"id": text, "kind": kind, "text": text, "score": 1.0, "found_by": FoundBy.SEMANTIC, "confidence": 0.9}
    given |= {"seen": 3, "last_seen": NOW, "version": 1, "why": "", "parts": {}}
    return RecalledItem.model_validate(given | fields)


BLOCK = render(
    working=["The user always orders size 42."],
    items=[
        item("memory", "I always travel by train.", memory_type=MemoryType.PREFERENCE),
        item("memory", "Deploys happen on Tuesdays.", memory_type=MemoryType.FACT),
        item("record", "The licence of nodeenv is BSD.", lane=Lane.PATTERN, key="nodeenv", payload={"licence": "BSD"}),
        item("turn", "Kim: I painted the fence green."),
    ],
    episodes=[Episode(id="e", at=NOW, kind=EpisodeKind.TURN, text="user: I only drink tea.", importance=0.5)],
    degraded=["redis"],
    characters=4_000,
).text
LINES = [line for line in BLOCK.splitlines() if "(seen" in line]
QUOTED = {
    "block": BLOCK,
    "cut off": BLOCK.removesuffix("</memory>")[:-20],
    "lines": "\n".join(LINES),
    "quoted line": f"> {LINES[0]}",
}


async def extracted(server: HTTPServer, extractor: str, text: str, by: Voice) -> Extraction:
    """Extract by the rules, or by a model that takes every line for a fact."""

    def everything(_: str, asked: str) -> str:
        lines = [line.lstrip("-> ") for line in asked.partition(":\n")[2].splitlines() if line.strip()]
        fields = {"ground": "none", "memory_type": "fact", "confidence": 0.9, "subject": "", "attribute": ""}
        fields |= {"value": "", "negated": False, "several": False, "revises": False, "former": ""}
        return json.dumps({"statements": [{"content": line, **fields} for line in lines]})

    said = Said(text=text, by=by, at=NOW, occurrence="1")
    if extractor == "rules":
        [found] = await RuleExtractor().extract([said])
        return found
    serve_model(server, everything)
    model = OpenAILanguageModel("small", api="chat", api_key="none", base_url=server.url_for("/v1"))
    [found] = await ModelExtractor(model).extract([said])
    await model.close()
    return found


@pytest.mark.parametrize("extractor", ["rules", "model"])
@pytest.mark.parametrize("by", [Voice.USER, Voice.AGENT, Voice.TOOL])
@pytest.mark.parametrize("quoted", QUOTED.values(), ids=QUOTED)
async def test_what_was_rendered_is_not_extracted(
    httpserver: HTTPServer, quoted: str, by: Voice, extractor: str
) -> None:
    found = await extracted(httpserver, extractor, quoted, by)
    assert found.candidates == ()
    assert [left.ground for left in found.left if left.ground is not Ground.CHATTER] == [Ground.RECALLED]
    beside = await extracted(httpserver, extractor, f"{NEW}\n{quoted}", by)
    assert [one.content for one in beside.candidates] == [NEW]
    assert Ground.RECALLED in [left.ground for left in beside.left]
