"""A provider of one's own is one file: that of the documentation, asked on a real port, and files that do not fit."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pytest_httpserver import HTTPServer

from perdure import (
    ContextExceeded,
    Instruction,
    LanguageModel,
    ModelRefused,
    PerdureError,
    Reply,
    ReplyUnusable,
    StoreUnavailable,
    ToolOutput,
    ToolSpec,
    ToolUse,
)
from perdure.errors import InvalidInput
from perdure.models.embedding import open_embedder
from perdure.models.language import open_language_model
from tests.support.pages import blocks

SPEC = ToolSpec(name="look", description="Look.", parameters={"type": "object"})


class Weather(BaseModel):
    warm: bool


def written(folder: Path, name: str) -> Path:
    """Write a file as the page has it."""
    [block] = [one for one in blocks(Path("docs/models.md")) if one.file == name]
    path = folder / name
    path.write_text(block.text, encoding="utf-8")
    return path


def says(*content: dict[str, Any], why: str = "end_turn") -> dict[str, Any]:
    return {"content": list(content), "stop_reason": why, "usage": {"input_tokens": 7, "output_tokens": 3}}


@pytest.fixture
def claude(tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageModel]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", httpserver.url_for(""))
    opened = open_language_model(f"{written(tmp_path, 'claude.py')}:claude-x", timeout=5)
    assert opened is not None
    yield opened
    httpserver.check()


async def test_it_answers_in_a_form_and_takes_turns_with_tools(claude: LanguageModel, httpserver: HTTPServer) -> None:
    httpserver.expect_ordered_request("/v1/messages", headers={"x-api-key": "a key"}).respond_with_json(
        says({"type": "tool_use", "id": "a", "name": "answer", "input": {"warm": True}}, why="tool_use")
    )
    httpserver.expect_ordered_request("/v1/messages").respond_with_json(
        says({"type": "text", "text": "Hm. "}, {"type": "tool_use", "id": "b", "name": "look", "input": {"at": 1}})
    )
    assert await claude.answer("Say it.", "25 degrees", Weather) == Weather(warm=True)
    said = (
        Instruction(text="Look"),
        Reply(text="I look.", calls=(ToolUse(id="b", tool="look", arguments='{"at": 0}'),)),
        ToolOutput(id="b", text="nothing there"),
    )
    found = await claude.reply("Be brief.", said, [SPEC])
    await claude.close()
    assert found.reply == Reply(text="Hm. ", calls=(ToolUse(id="b", tool="look", arguments='{"at": 1}'),))
    assert (found.usage.read, found.usage.written, found.declined, found.is_cut) == (7, 3, False, False)
    form, turn = (json.loads(request.data) for request, _ in httpserver.log)
    assert form["tool_choice"] == {"type": "tool", "name": "answer"}
    assert (turn["model"], turn["system"]) == ("claude-x", "Be brief.")
    assert [one["role"] for one in turn["messages"]] == ["user", "assistant", "user"]
    assert turn["messages"][1]["content"][1]["input"] == {"at": 0}
    assert turn["messages"][2]["content"][0]["tool_use_id"] == "b"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {"error": "slow down"}, StoreUnavailable),
        (529, {"error": "overloaded"}, StoreUnavailable),
        (401, {"error": "no such key"}, ModelRefused),
        (400, {"error": "prompt is too long: 300000 tokens"}, ContextExceeded),
        (200, {"content": [{"type": "text"}]}, ReplyUnusable),
    ],
)
async def test_its_errors_say_whether_the_call_may_be_repeated(
    claude: LanguageModel, httpserver: HTTPServer, status: int, body: Any, kind: type[PerdureError]
) -> None:
    httpserver.expect_request("/v1/messages").respond_with_json(body, status=status)
    with pytest.raises(kind) as caught:
        await claude.reply("Be brief.", [Instruction(text="Look")], [])
    assert type(caught.value) is kind
    await claude.close()


async def test_an_embedding_model_of_ones_own_is_opened_by_its_file(tmp_path: Path) -> None:
    embedder = open_embedder(f"{written(tmp_path, 'embeddings.py')}:small")
    assert (embedder.name, embedder.dimension) == ("numbers:small", 3)
    [vector] = await embedder.embed(["a text"])
    assert sum(number * number for number in vector) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("x = 1", "has no function open_"),
        ("def open_language_model(model, **how): return object()\nopen_embedder = open_language_model", "lacks name"),
        ("import nothing_of_this_name", "cannot be imported"),
        (
            "def open_embedder(model, **how): raise KeyError('NO_SUCH_KEY')\nopen_language_model = open_embedder",
            "failed: KeyError: 'NO_SUCH_KEY'",
        ),
    ],
)
def test_a_file_that_is_no_provider_is_refused_with_what_it_lacks(tmp_path: Path, source: str, problem: str) -> None:
    path = tmp_path / "other.py"
    path.write_text(source, encoding="utf-8")
    for opens in (open_language_model, open_embedder):
        with pytest.raises(InvalidInput, match=problem) as caught:
            opens(f"{path}:small")
        assert caught.value.fix
