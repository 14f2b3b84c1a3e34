"""``perdure memories``: looked at, put right, taken along; somebody else's is as if it did not exist."""

import json
from typing import Any
from uuid import uuid4

import pytest

from perdure.documents import refuse_unknown
from perdure.memory.updates.exports import Header, read, schema
from tests.integration.worker.cli.installation import Installation


async def told(installed: Installation, user: str, text: str, *more: str) -> str:
    """Remember a statement; gives its id."""
    ran = await installed.perdure("remember", text, "--user", user, "--json", *more)
    assert ran.status == 0, ran.err
    return json.loads(ran.out)["items"][0]["id"]


async def asked(installed: Installation, *arguments: str) -> Any:
    ran = await installed.perdure("memories", *arguments, "--json")
    assert ran.status == 0, ran.err
    return json.loads(ran.out)


async def test_a_memory_is_listed_corrected_and_taken_back(installed: Installation, user: str) -> None:
    one = await told(installed, user, "The standup is at 9.")
    done = await asked(
        installed, "correct", one, "The standup is at 10.", "--user", user, "--because", "ask lena@example.com"
    )
    listed = await asked(installed, "list", "--user", user)
    assert [(entry["id"], entry["text"]) for entry in listed] == [(done["id"], "The standup is at 10.")]
    assert len(await asked(installed, "list", "--user", user, "--all")) == 2
    history = await asked(installed, "history", one, "--user", user)
    assert [(version["version"], version["why"], version["note"]) for version in history] == [
        (1, "insert", ""),
        (2, "correct", "ask [email]"),
    ]
    await asked(installed, "revert", one, "--user", user, "--version", "1")
    listed = await asked(installed, "list", "--user", user)
    assert [entry["id"] for entry in listed] == [one]
    await asked(installed, "correct", one, "--user", user, "--asked", "when is Bertha?")
    [entry] = await asked(installed, "list", "--user", user)
    assert (entry["text"], entry["names"]) == ("The standup is at 9.", ["Bertha"])
    shown = await installed.perdure("memories", "show", one, "--user", user)
    assert shown.out.startswith("The standup is at 9.\n")


async def test_who_has_no_tenant_key_is_told_which_file_is_missing_and_where_it_comes_from(
    installed: Installation, user: str
) -> None:
    home = installed.folder / "nobody's home"
    ran = await installed.perdure("memories", "list", "--user", user, PERDURE_HOME=str(home))
    path, fix = home / "tenant.key", "start a worker with this data folder (perdure up), or copy the key of the install"
    assert ran.complaint.startswith(f"error: PRD206 {path} cannot be read: No such file or directory; {fix}")


@pytest.mark.slow
async def test_pins_feedback_merging_and_forgetting(installed: Installation, user: str) -> None:
    one, other = [await told(installed, user, text) for text in ("Cats rule.", "The cats are the rulers.")]
    await asked(installed, "pin", one, "--user", user)
    await asked(installed, "refine", one, "--not-helpful", "--user", user)
    whole = (await asked(installed, "merge", one, other, "--user", user))["id"]
    [entry] = await asked(installed, "list", "--user", user)
    assert (entry["id"], entry["pinned"], entry["confidence"]) == (whole, True, 0.8)
    forgot = await installed.perdure("memories", "forget", whole, "--user", user)
    assert forgot.status == 0, forgot.err
    assert await asked(installed, "list", "--user", user) == []
    undo = forgot.out.split("undo: ")[1].strip()
    assert (await installed.typed(undo)).status == 0
    assert [entry["id"] for entry in await asked(installed, "list", "--user", user)] == [whole]
    await asked(installed, "unpin", whole, "--user", user)
    assert (await asked(installed, "history", whole, "--user", user))[-1]["why"] == "unpin"
    itself = await installed.perdure("memories", "merge", whole, whole, "--user", user)
    assert (itself.status, "cannot be merged with itself" in itself.complaint) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["show ID", "history ID", "correct ID x", "pin ID", "forget ID", "merge ID mem_1", "revert ID --version 1"]
)
async def test_somebody_elses_is_answered_as_unknown(installed: Installation, user: str, line: str) -> None:
    one = await told(installed, user, "The office is in Ghent.")
    complaints: list[str] = []
    for identifier in (one, "mem_unknown"):
        words = [identifier if word == "ID" else word for word in line.split()]
        ran = await installed.perdure("memories", *words, "--user", f"not {user}")
        assert ran.status == 2
        complaints.append(ran.complaint.replace(identifier, "ID"))
    assert complaints[0] == complaints[1]
    assert "there is no 'ID' of this user" in complaints[0]


async def test_what_was_refused_is_told_without_text(installed: Installation, user: str) -> None:
    ran = await installed.perdure("remember", "Marzipan is nice.", "--user", user, "--confidence", "0.2")
    assert ran.status == 1
    [one] = await asked(installed, "rejected", "--user", user)
    assert "0.2 is below 0.7" in one["reason"]
    assert "Marzipan" not in str(one)
    assert await asked(installed, "held", "--user", user) == []


async def test_an_export_is_as_its_schema_says(installed: Installation, user: str) -> None:
    shown = await installed.perdure("memories", "export", "--schema")
    assert shown.status == 0, shown.err
    assert json.loads(shown.out) == schema()
    one = await told(installed, user, "The standup is at 9.")
    await asked(installed, "correct", one, "The standup is at 10.", "--user", user)
    record = [{"kind": "record", "lane": "pattern", "key": "cores", "payload": {"number": 2}}]
    assert (await installed.fed(json.dumps(record), "remember", "--user", user, "--file", "-")).status == 0
    header, *lines = (await installed.perdure("memories", "export", "--user", user)).out.splitlines()
    assert Header.model_validate_json(header).count == len(lines) == 3
    for one in read([header, *lines]).entries:
        # What no field of a model has is no part of the schema either.
        refuse_unknown(one)


@pytest.mark.slow
async def test_an_export_is_imported_by_somebody_else(installed: Installation, user: str) -> None:
    one = await told(installed, user, "The standup is at 9.")
    await asked(installed, "correct", one, "The standup is at 10.", "--user", user)
    await told(installed, user, "The office is in Ghent.")
    name = f"{uuid4().hex}.jsonl"
    exported = await installed.perdure("memories", "export", "--user", user, "--file", name)
    assert (exported.status, exported.err) == (0, "exported 3 lines\n")
    assert (installed.folder / name).stat().st_mode & 0o077 == 0
    again = await installed.perdure("memories", "export", "--user", user, "--file", name)
    assert "cannot be written" in again.complaint
    heir = f"heir of {user}"
    earlier = "2 entries came with an earlier import of this file, which is not repeated"
    for told_ in (["imported 2 entries"], [earlier, "imported 0 entries"]):
        ran = await installed.perdure("memories", "import", name, "--user", heir)
        assert (ran.status, ran.err.splitlines()[-len(told_) :]) == (0, told_), ran.err
    own = await installed.perdure("memories", "import", name, "--user", user)
    assert own.err.splitlines()[-2:] == ["2 entries were there already", "imported 0 entries"], own.err
    found = await asked(installed, "list", "--user", heir)
    assert sorted((entry["text"], entry["seen"]) for entry in found) == [
        ("The office is in Ghent.", 1),
        ("The standup is at 10.", 1),
    ]
    # A damaged line keeps all of it out.
    lines = (installed.folder / name).read_text(encoding="utf-8").splitlines()
    damaged = installed.write(f"{uuid4().hex}.jsonl", "\n".join(lines).replace("in Ghent", "in Gent"))
    refused = await installed.perdure("memories", "import", damaged, "--user", f"another of {user}")
    assert refused.status == 2
    assert "is not as it was" in refused.complaint
    assert await asked(installed, "list", "--user", f"another of {user}") == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("correct mem_1 --user u", "content: is missing"),
        ("correct mem_1 x --user u --expected 0", "--expected"),
        ("revert mem_1 --user u --version 0", "--version"),
        ("import nothing.jsonl --user u", "cannot be read"),
    ],
)
async def test_bad_input_is_refused(installed: Installation, line: str, problem: str) -> None:
    ran = await installed.perdure("memories", *line.split())
    assert ran.status == 2
    assert problem in ran.err


@pytest.mark.parametrize("confidence", ["nan", "1.5", "-1"])
async def test_a_confidence_that_is_none_is_refused(installed: Installation, user: str, confidence: str) -> None:
    ran = await installed.perdure("remember", "The office is in Ghent.", "--user", user, f"--confidence={confidence}")
    assert ran.status == 2, ran.err
    assert "confidence" in ran.err


@pytest.mark.slow
async def test_what_is_shown_of_an_id_names_the_entry(installed: Installation, user: str) -> None:
    one = await told(installed, user, "The standup is at 9.")
    asked_for = await installed.perdure("recall", "when is the standup?", "--user", user)
    assert (asked_for.status, asked_for.out.split()[1]) == (0, one[:17])
    assert "fallback" not in asked_for.err
    assert "by meaning" not in asked_for.err
    short = one[:17]
    assert (await asked(installed, "show", short, "--user", user))["id"] == one
    assert (await asked(installed, "pin", f"{short}…", "--user", user))["id"] == one
    done = await asked(installed, "correct", short, "The standup is at 10.", "--user", user)
    assert await asked(installed, "history", one[:12], "--user", user)
    other = await told(installed, user, "The standup is at 11.", "--supersedes", done["id"][:17])
    assert [entry["id"] for entry in await asked(installed, "list", "--user", user)] == [other]
    await asked(installed, "forget", other[4:16], "--user", user)
    assert await asked(installed, "list", "--user", user) == []
    unknown = await installed.perdure("memories", "show", "mem_1", "--user", user)
    assert "there is no 'mem_1' of this user" in unknown.complaint
