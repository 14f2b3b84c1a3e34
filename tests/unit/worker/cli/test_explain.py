"""How an explanation reads: what there was, what is missing of it, and how much is not listed."""

import pytest

from perdure.values.changes import Refusal
from perdure.values.entries import Purpose
from perdure.values.explanations import NotListed, RecallSummary, TaskExplanation
from perdure.values.filters import Omission
from perdure.values.jobs import SettledJob
from worker.cli.explain import show


def test_nothing_is_left_away_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    recall = RecallSummary(
        step="look",
        recalled=23,
        ids=("mem_1",),
        scores=(0.5,),
        why="23 semantic",
        degraded=False,
        milliseconds=1.0,
        left_out={Omission.RELEVANCE: 3, Omission.LIMIT: 1},
        withheld=(Purpose.EXTRACTED,),
    )
    refused = (Refusal(index=0, reason="too vague"), Refusal(index=2, reason="needs approval", held=True))
    show(
        TaskExplanation(
            recalls=(recall,),
            running=("job-4",),
            failed={"job-2": "PRD200 weaviate: down"},
            settled=(SettledJob(job="job-1", ids=("mem_1",), refused=refused),),
            gone=("job-3",),
            refused=("step: no",),
            not_listed=NotListed(recalls=1, jobs=2, refused=3),
            texts={"mem_1": "Kim leads."},
        )
    )
    assert capsys.readouterr().out.splitlines() == [
        "1 earlier recall not listed",
        "look recalled 23 items: 23 semantic",
        "  0.500  mem_1  Kim leads.",
        "  22 more not listed",
        "  left out: 3 below relevance, 1 over the limit",
        "  left out without consent: what is extracted",
        "2 earlier jobs not listed",
        "changed (says the journal)  mem_1  Kim leads.",
        "ignored (says the journal)  job-1[0]: too vague",
        "asked a person about (says the journal)  job-1[2]: needs approval",
        "is writing: job-4",
        "failed: job-2: PRD200 weaviate: down",
        "no longer known: job-3: neither Temporal nor the journal knows what it did",
        "3 earlier refusals not listed",
        "ignored: step: no",
    ]


def test_what_is_complete_says_nothing_of_what_is_not_listed(capsys: pytest.CaptureFixture[str]) -> None:
    show(TaskExplanation())
    assert capsys.readouterr().out == "recalled nothing\n"
