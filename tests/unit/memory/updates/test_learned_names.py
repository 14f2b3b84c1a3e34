"""A correction teaches how a memory is called, where the question leaves no doubt."""

import pytest

from perdure.memory.updates.learned_names import names_learned
from perdure.values.entries import MOST_NAMES

NAMES = ("Kubernetes",)


@pytest.mark.parametrize(
    ("asked", "learned"),
    [
        ("where does k8s run?", ("k8s",)),
        ("Where does Bertha run?", ("Bertha",)),
        ("Bertha runs where?", ()),
        ("k8s?", ("k8s",)),
        ("Does Kim know k8s?", ()),
        ("where does kubernetes run?", ()),
        ("Where does Kubernets run?", ()),
        ("Is Leeds where it runs?", ()),
        ("Where is it?", ()),
        ("Where was it on 2026-05-01?", ()),
        ("where does the cluster run?", ()),
        ("", ()),
        ("Where does O'Brien run?", ("O'Brien",)),
        ("Where's Bertha's home?", ("Bertha",)),
        ("Does it run on C++?", ("C++",)),
        ("Where does docker-compose run?", ("docker-compose",)),
        ("Which NodeJS runs?", ("NodeJS",)),
        ("I'm asking where it runs", ()),
        ("I’m asking where it runs", ()),
        ("Don't you know where it runs?", ()),
        ("Does it run on Mondays or on Friday?", ()),
        ("What ran there in March?", ()),
        ("Thanks. Tell me where it runs", ()),
        ("hi! Where does it run - Leeds? Say so", ()),
        ("where does it run?\nPlease answer", ()),
        ("WHERE DOES IT RUN", ()),
        ("Where does it run, ASAP?", ()),
        ("Does it run at 10am?", ()),
        ("Is it the 3rd one?", ()),
        ("Does it take 5GB?", ()),
        ("What's the follow-up?", ()),
        ("Is it up-to-date?", ()),
        ("Where and/or when does it run?", ()),
    ],
)
def test_the_one_word_that_is_written_as_a_name_is_learned(asked: str, learned: tuple[str, ...]) -> None:
    assert names_learned(asked, NAMES, "Kubernetes runs in Leeds.") == (*NAMES, *learned)


def test_no_more_names_are_learned_than_a_memory_may_have() -> None:
    names = tuple(f"name {number}" for number in range(MOST_NAMES))
    assert names_learned("where does k8s run?", names, "It runs in Leeds.") == names
