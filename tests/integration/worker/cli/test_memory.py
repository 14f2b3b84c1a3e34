"""Memory as a person meets it: told, asked, let go, brought back."""

import json
from uuid import uuid4

import pytest
from pydantic import JsonValue

from perdure.memory.recall.query import RecallResult
from perdure.values.jobs import Fate, Receipt
from perdure.values.requests import ForgetResult
from tests.integration.worker.cli.installation import Installation


@pytest.mark.slow
async def test_what_is_remembered_is_recalled(installed: Installation, user: str) -> None:
    told = await installed.perdure("remember", "Deploys happen on Tuesdays", "--user", user)
    assert told.status == 0, told.err
    assert told.out.startswith("searchable  insert     mem_")

    asked = await installed.perdure("recall", "when do deploys happen", "--user", user)
    assert asked.status == 0
    assert "Deploys happen on Tuesdays" in asked.out
    assert "relevance" in asked.out
    assert "1 item in " in asked.err

    found = RecallResult.model_validate_json(
        (await installed.perdure("recall", "deploys", "--user", user, "--json")).out
    )
    assert [item.text for item in found.items] == ["Deploys happen on Tuesdays"]


@pytest.mark.slow
async def test_nothing_is_shown_where_nobody_can_say_what_the_user_consents_to(
    installed: Installation, user: str
) -> None:
    assert (await installed.perdure("remember", "Deploys happen on Tuesdays", "--user", user)).status == 0
    away = {"PERDURE_REDIS_URL": "redis://127.0.0.1:1", "PERDURE_JOURNAL": str(installed.folder / "not mounted")}
    asked = await installed.perdure("recall", "when do deploys happen", "--user", user, **away)
    assert "Tuesdays" not in asked.out
    assert "left out as nothing tells now what the user consents to: what is given, extracted" in asked.err
    assert "without consent" not in asked.err


@pytest.mark.slow
async def test_why_scores_do_not_fall_and_why_more_was_searched_is_said_in_words(
    installed: Installation, user: str
) -> None:
    for text, confidence in (("The office is in Ghent.", "0.95"), ("Deploys happen on Tuesdays.", "0.75")):
        assert (await installed.perdure("remember", text, "--user", user, "--confidence", confidence)).status == 0
    record = [{"kind": "record", "lane": "pattern", "key": "cores", "payload": {"number": 2}}]
    assert (await installed.fed(json.dumps(record), "remember", "--user", user, "--file", "-")).status == 0

    newest = await installed.perdure("recall", "--user", user, "--strategy", "structured", "--type", "fact")
    scores = [float(line.split()[0]) for line in newest.out.splitlines()[::2]]
    assert scores == sorted(scores)
    assert newest.err.splitlines()[0].startswith("the newest first, whatever their scores")

    by_key = await installed.perdure("recall", "deploys", "--user", user, "--lane", "pattern", "--key", "cores")
    assert "searched by meaning too, as few are under these keys" in by_key.err
    plain = await installed.perdure("recall", "deploys", "--user", user)
    assert plain.err.count("\n") == 1
    assert "by meaning" not in plain.err


@pytest.mark.slow
async def test_what_is_taken_out_is_said_and_items_come_from_stdin_too(installed: Installation, user: str) -> None:
    item = {"kind": "memory", "content": "Deploys happen on Tuesdays, ask ada@example.org.", "confidence": 0.9}
    ran = await installed.fed(json.dumps([item]), "remember", "--user", user, "--file", "-")
    assert ran.status == 0, ran.err
    assert ran.out.rstrip().endswith("kept without what identifies somebody or gives access: [email]")
    assert "ask [email]" in (await installed.perdure("memories", "list", "--user", user)).out


@pytest.mark.slow
async def test_the_same_items_under_the_same_key_are_the_same_job(installed: Installation, user: str) -> None:
    line = ("remember", "The build has two cores", "--user", user, "--key", "k", "--json")
    first, again = [await installed.perdure(*line) for _ in range(2)]
    assert (again.status, again.out) == (0, first.out)
    assert "ingest-" in again.err
    assert again.err == first.err

    items = [{"kind": "record", "lane": "pattern", "key": "cores", "payload": {"number": 2}}]
    file = installed.write(f"{uuid4().hex}.json", json.dumps(items))
    from_file = ("remember", "--user", user, "--key", "f", "--file", file, "--json")
    assert (await installed.perdure(*from_file)).out == (await installed.perdure(*from_file)).out
    shown = await installed.perdure("recall", "--user", user, "--lane", "pattern", "--key", "cores")
    assert '{"number": 2}' in shown.out
    assert "seen 1×" in shown.out

    # The control: a date that the caller writes is part of what is remembered.
    dated = installed.write(file, json.dumps([items[0] | {"occurred_at": "2026-05-01T12:00:00Z"}]))
    other = Receipt.model_validate_json((await installed.perdure(*from_file[:-2], dated, "--json")).out)
    assert "known already" in other.items[0].reason


@pytest.mark.slow
async def test_a_record_in_a_lane_is_told_and_found_by_its_key(installed: Installation, user: str) -> None:
    of = ("--lane", "pattern", "--key", "nodeenv", "--user", user)
    told = ("remember", "nodeenv is BSD.", *of, "--field", "licence=BSD", "--field", "cores=2", "--occurrence", "one")
    assert (await installed.perdure(*told)).out.startswith("searchable  insert     exec_")
    assert "known already" in (await installed.perdure(*told)).out
    found = RecallResult.model_validate_json((await installed.perdure("recall", *of, "--json")).out)
    assert [(one.text, one.payload, one.seen) for one in found.items] == [
        ("nodeenv is BSD.", {"licence": "BSD", "cores": 2}, 1)
    ]


@pytest.mark.slow
async def test_one_bad_item_does_not_keep_the_good_ones_out(installed: Installation, user: str) -> None:
    past = {"occurred_at": "2019-12-01T00:00:00Z", "valid_until": "2020-01-01T00:00:00Z"}
    items: list[JsonValue] = [
        {"kind": "record", "lane": "feedback", "key": "freeze", "payload": {"answer": "yes"}, **past},
        {"kind": "record", "lane": "feedbak", "key": "x", "payload": {}},
        {"kind": "record", "lane": "feedback", "key": "policy", "payload": {"correction": {"since": 2024}}},
    ]
    file = installed.write(f"{uuid4().hex}.json", json.dumps(items))

    told = await installed.perdure("remember", "--user", user, "--file", file)
    assert told.status == 1
    fates = [line.split()[0] for line in told.out.splitlines()]
    assert fates == [Fate.SEARCHABLE, Fate.REJECTED, Fate.SEARCHABLE]
    assert "is not one of the choices (did you mean 'feedback'?)" in told.out
    assert told.out.splitlines()[0].endswith("kept, and not recalled: it was over on 2020-01-01")

    # What is there can be forgotten and restored.
    dry = await installed.perdure("forget", "--user", user, "--dry-run", "--json")
    planned = ForgetResult.model_validate_json(dry.out)
    assert (planned.dry_run, planned.report.forgotten, planned.report.reasons) == (True, 1, {"expired": 1})

    forgot = await installed.perdure("forget", "--user", user)
    assert forgot.status == 0
    assert forgot.out.startswith("forgot 1 entry, purged 0, in the memory of 1 user\n  1 × expired\n")
    asked = await installed.perdure("recall", "--user", user, "--lane", "feedback", "--json")
    assert {item.key for item in RecallResult.model_validate_json(asked.out).items} == {"policy"}

    undo = forgot.out.splitlines()[-1].partition("undo: ")[2]
    undone = await installed.typed(undo)
    assert undone.status == 0
    assert undone.out.startswith("restored 1 entry of the sweep ")


@pytest.mark.slow
async def test_consent_is_shown_granted_and_withdrawn(installed: Installation, user: str) -> None:
    whose = ("memories", "consent", "--user", user)
    shown = await installed.perdure(*whose)
    assert (shown.status, shown.out) == (0, "given       granted\nextracted   not granted\n")
    granted = await installed.perdure(*whose, "--grant", "extracted", "--withdraw", "given", "--json")
    assert json.loads(granted.out)["granted"] == {"given": False, "extracted": True}
    observed = await installed.perdure("observe", "I always drink tea.", "--user", user, "--session", "s1")
    assert observed.status == 0, observed.err
    refused = await installed.perdure("remember", "The office is in Ghent.", "--user", user)
    assert (refused.status, "--grant given" in refused.out) == (1, True)
    withdrawn = await installed.perdure(*whose, "--withdraw", "extracted")
    assert withdrawn.out == "given       not granted\nextracted   not granted\n"
    for wrong, problem in (
        (("--grant", "given", "--withdraw", "given"), "grant: given is also withdrawn (say one of the two)"),
        (("--grant", "gven"), "gven"),
    ):
        ran = await installed.perdure(*whose, *wrong)
        assert ran.status == 2
        assert problem in ran.err


async def test_what_is_extracted_without_consent_is_refused_in_one_line(installed: Installation, user: str) -> None:
    ran = await installed.perdure("observe", "I always drink tea.", "--user", user, "--session", "s1")
    assert (ran.status, ran.out) == (2, "")
    assert [line[:22] for line in ran.err.splitlines()] == ["error: PRD100 consent:"]
