"""``perdure memories held``, ``approve`` and ``reject``, and ``perdure answer`` for the same question."""

import json
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.worker.cli.installation import Installation
from tests.support.waiting import until


async def on_hold(installed: Installation, user: str, text: str) -> str:
    """Offer a memory that waits for a person; gives its hold, as the receipt shows it."""
    name = f"{uuid4().hex}.json"
    installed.write(name, json.dumps([{"kind": "memory", "content": text, "tags": ["health"]}]))
    ran = await installed.perdure("remember", "--file", name, "--user", user)
    assert ran.status == 0, ran.err
    fate, decision, hold, reason = ran.out.split(maxsplit=3)
    assert (fate, decision, reason.strip()) == ("held", "hold", "the write policy holds it: tag health")
    return hold


async def asked(installed: Installation, *arguments: str) -> Any:
    ran = await installed.perdure("memories", *arguments, "--json")
    assert ran.status == 0, ran.err
    return json.loads(ran.out)


@pytest.mark.slow
async def test_what_waits_is_shown_approved_and_rejected(installed: Installation, user: str) -> None:
    one = await on_hold(installed, user, "Almonds give me hives.")
    other = await on_hold(installed, user, "Walnuts give me hives.")

    async def shown() -> str:
        return (await installed.perdure("memories", "held", "--user", user)).out

    text = await until(shown, lambda found: one in found and other in found)
    assert "Remember this (the write policy holds it: tag health)? Almonds give me hives." in text
    assert ", then: no" in text
    assert await asked(installed, "list", "--user", user) == []
    approved = await asked(installed, "approve", one, "--user", user, "--because", "she said so")
    assert (approved["outcome"], approved["receipt"]["items"][0]["fate"]) == ("approved", "searchable")
    assert await asked(installed, "approve", one, "--user", user) == approved
    rejected = await installed.perdure("memories", "reject", other, "--user", user, "--because", "a rumour")
    assert (rejected.status, rejected.err.splitlines()[-1]) == (0, f"rejected {other}")
    assert [entry["text"] for entry in await asked(installed, "list", "--user", user)] == ["Almonds give me hives."]
    [refused] = await asked(installed, "rejected", "--user", user)
    assert refused["job"] == other
    assert refused["reason"].endswith("rejected it (the write policy holds it: tag health): a rumour")
    late = await installed.perdure("memories", "approve", other, "--user", user)
    assert (late.status, "id: it was rejected on" in late.complaint) == (2, True)


@pytest.mark.slow
async def test_it_is_answered_like_any_other_question(installed: Installation, user: str) -> None:
    hold = await on_hold(installed, user, "Almonds give me hives.")
    malformed = await installed.perdure("answer", hold, "approval", "perhaps")
    assert (malformed.status, "choose yes or no" in malformed.complaint) == (2, True)
    answered = await installed.perdure("answer", hold, "approval", "yes", "--by", "anna")
    assert answered.status == 0, answered.err
    decided = await asked(installed, "approve", hold, "--user", user)
    assert decided["by"] == {"kind": "person", "id": "anna"}
    again = await installed.perdure("answer", hold, "approval", "yes")
    assert (again.status, "has ended: it asks nothing" in again.complaint) == (2, True)
    status = await installed.perdure("status", hold)
    assert "is a memory on hold (HoldMemory), and not a task" in status.complaint


@pytest.mark.slow
@pytest.mark.parametrize("command", ["approve", "reject"])
async def test_somebody_elses_is_answered_as_unknown(installed: Installation, user: str, command: str) -> None:
    hold = await on_hold(installed, user, "Almonds give me hives.")
    complaints: set[str] = set()
    for identifier in (hold, "hold-unknown"):
        ran = await installed.perdure("memories", command, identifier, "--user", f"not {user}")
        assert ran.status == 2
        complaints.add(ran.complaint.replace(identifier, "ID"))
    assert len(complaints) == 1
    assert await asked(installed, "held", "--user", f"not {user}") == []
