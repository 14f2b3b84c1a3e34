"""``perdure lessons``: what tasks have learned, promoted by a person who has read it, and withdrawn again."""

import json
from typing import Any
from uuid import uuid4

import pytest

from perdure.values.lessons import lesson_tags
from tests.integration.worker.cli.installation import Installation
from tests.support.waiting import until


async def listed(installed: Installation, *arguments: str) -> list[dict[str, Any]]:
    ran = await installed.perdure("lessons", "list", *arguments, "--json")
    assert ran.status == 0, ran.err
    return json.loads(ran.out)


async def a_lesson(installed: Installation, user: str, text: str) -> str:
    """Remember a lesson as a task writes it; gives its id."""
    item = {"kind": "memory", "content": text, "memory_type": "outcome", "tags": list(lesson_tags("send", "OSError"))}
    name = f"{uuid4().hex}.json"
    installed.write(name, json.dumps([item]))
    ran = await installed.perdure("remember", "--file", name, "--user", user, "--json")
    assert ran.status == 0, ran.err
    return json.loads(ran.out)["items"][0]["id"]


@pytest.mark.slow
async def test_a_lesson_is_shown_before_it_is_promoted_and_can_be_withdrawn(installed: Installation, user: str) -> None:
    text = f"send failed with OSError. Use the other line ({uuid4().hex[:8]})."
    one = await a_lesson(installed, user, text)
    assert [entry["id"] for entry in await listed(installed, "--user", user)] == [one]
    asked = await installed.perdure("lessons", "promote", one, "--user", user)
    assert (asked.status, "add --yes" in asked.complaint, f"to everybody: {text}" in asked.err) == (2, True, True)
    refused = await installed.typing("n", "lessons", "promote", one, "--user", user)
    assert (refused.status, "nothing is promoted (run it again" in refused.err) == (2, True)
    strange = await installed.perdure("lessons", "promote", one, "--user", "somebody", "--yes")
    assert (strange.status, "this user has no lesson" in strange.complaint) == (2, True)
    told = text.replace("Use", "Everybody uses")
    agreed = await installed.typing("y", "lessons", "promote", one, "--user", user, "--text", told, "--by", "kim")
    assert agreed.status == 0, agreed.err
    [common] = [entry for entry in await listed(installed) if entry["text"] == told]
    assert common["id"] in agreed.err
    assert [entry["text"] for entry in await listed(installed, "--user", user)] == [text]
    audited = await installed.perdure("audit", "show", "--user", user)
    assert "lesson promoted" in audited.out
    history = await installed.perdure("lessons", "history", common["id"])
    assert "person kim  insert" in history.out, history.err
    withdrawn = await installed.perdure("lessons", "withdraw", common["id"])
    assert withdrawn.status == 0, withdrawn.err
    twice = await installed.perdure("lessons", "withdraw", common["id"])
    assert (twice.status, "counts for everybody (perdure lessons list shows the ids)" in twice.complaint) == (2, True)
    await until(lambda: listed(installed), lambda found: common["id"] not in [entry["id"] for entry in found])
