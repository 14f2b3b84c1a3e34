"""Which labels are the same, and which of them a text names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.values.labels import asked_labels, halves, label, labels_of, misspelt, named, without_determiner

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = st.text(LETTERS, min_size=5, max_size=12)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Node.js", "node JS"),
        ("NodeJS", "node-js"),
        ("  New   York ", "new york"),
        ("K8S", "k8s"),
        (".NET", "dotnet"),
        ("U.S.", "US"),
        ("Straße", "STRASSE"),
        ("Kubernetes", "Kubernetes"),
        ("#general", "general"),
        ("Kim's", "kim"),
    ],
)
def test_case_spaces_and_punctuation_do_not_count(one: str, other: str) -> None:
    assert label(one) == label(other) != ""


@pytest.mark.parametrize(("one", "other"), [("C", "C++"), ("C", "C#"), ("net", ".NET"), ("Kim", "Kimi")])
def test_what_is_another_thing_has_another_label(one: str, other: str) -> None:
    assert label(one) != label(other)


@pytest.mark.parametrize(
    ("text", "names", "found"),
    [
        ("What does Kubernetes run?", ["Kubernetes", "k8s"], {"Kubernetes": True}),
        ("Which version of node js is it?", ["Node.js"], {"Node.js": True}),
        ("What do we use kube for?", ["Kubernetes"], {}),
        ("Tell me about JavaScript", ["Java"], {}),
        ("Where does Maria Lopez work?", ["Maria", "Maria Lopez"], {"Maria Lopez": True}),
        ("Do Maria and Maria Lopez know each other?", ["Maria", "Maria Lopez"], {"Maria": True, "Maria Lopez": True}),
        ("Is it C or C++?", ["C", "C++", "C#"], {"C": True, "C++": True}),
        ("What is Kim's address?", ["Kim"], {"Kim": True}),
        ("What did as Ana said?", ["Asana"], {}),
        ("Who owns the IT budget?", ["IT"], {"IT": True}),
        ("IT budget", ["IT"], {"IT": True}),
        ("Who owns it?", ["IT"], {}),
        ("Will it rain?", ["Will"], {}),
        ("When does Will arrive?", ["Will"], {"Will": True}),
        ("东京的天气怎么样？", ["东京", "京都"], {"东京": True}),
        ("Какая база у проекта Орион?", ["Орион"], {"Орион": True}),
        ("nothing at all", ["🚀"], {}),
        ("Is Terrafrom used?", ["Terraform"], {"Terraform": False}),
        ("Is Terraform or Terraforn right?", ["Terraform", "Terraforn"], {"Terraform": True, "Terraforn": True}),
        ("Is Sigma meant?", ["Figma", "Sigma"], {"Sigma": True}),
        ("Is Terraform meant?", ["Terraforn", "Terraform"], {"Terraform": True}),
        ("Is Terraform meant?", ["Terraforn"], {"Terraforn": False}),
        ("What about New Delih?", ["Delhi", "New Delhi"], {"New Delhi": False}),
        ("What about New Yrok City?", ["New York City"], {}),
        ("the checkuot service", ["Checkout Service"], {"Checkout Service": False}),
        ("the checkuot servcie", ["Checkout Service"], {}),
        ("Is Terrafrom the same as Terraform?", ["Terraform"], {"Terraform": True}),
        ("Is New Delih the NewDelhi they mean?", ["New Delhi"], {"New Delhi": True}),
    ],
)
def test_a_text_names_whole_labels_and_the_longest(text: str, names: list[str], found: dict[str, bool]) -> None:
    assert named(text, names) == found


@pytest.mark.parametrize(
    ("word", "typed", "meant"),
    [
        ("kubernetes", "kubernets", True),
        ("kubernetes", "kubernetees", True),
        ("kubernetes", "kubermetes", True),
        ("kubernetes", "kubenretes", True),
        ("kubernetes", "ubernetes", False),
        ("kubernetes", "ukbernetes", True),
        ("mother", "other", False),
        ("kubernetes", "kubermets", False),
        ("kubernetes", "kubernetes", False),
        ("redis", "reids", True),
        ("redis", "redi", False),
        ("rust", "trust", False),
        ("java", "lava", False),
        ("trust", "rust", False),
        ("trust", "tust", True),
        ("alexa", "alex", False),
        ("martin", "martina", False),
        ("martina", "martin", False),
        ("postgres", "postgress", True),
        ("deployment", "deployments", True),
        ("deployments", "deployment", True),
        ("rediss", "redis", True),
        ("phase1", "phase2", False),
        ("phase1", "phase", False),
        ("theme", "there", False),
    ],
)
def test_one_letter_may_be_wrong_in_a_word_of_five(word: str, typed: str, meant: bool) -> None:
    assert misspelt(word, typed) is meant


@given(WORDS, st.integers(0, 12), st.sampled_from(LETTERS), st.sampled_from(["drop", "add", "change", "swap"]))
def test_the_halves_of_a_question_find_whatever_it_may_misspell(word: str, at: int, letter: str, how: str) -> None:
    at %= len(word)
    typed = {
        "drop": word[:at] + word[at + 1 :],
        "add": word[:at] + letter + word[at:],
        "change": word[:at] + letter + word[at + 1 :],
        "swap": word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
    }[how]
    if misspelt(word, typed):
        assert named(typed, [word]) == {word: False}
        assert halves(word) & set(asked_labels(typed)[1])


@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, max_size=6), st.lists(WORDS, max_size=6))
def test_what_stands_in_a_text_is_asked_for(name: list[str], before: list[str], after: list[str]) -> None:
    text = " ".join([*before, *name, *after])
    assert label(" ".join(name)) in asked_labels(text)[0]
    assert named(text, [" ".join(name)]) == {" ".join(name): True}


@given(st.text(max_size=300), st.lists(st.text(max_size=30), max_size=5))
def test_any_text_can_be_asked(text: str, names: list[str]) -> None:
    labels, wanted = asked_labels(text)
    assert set(named(text, names)) <= set(names)
    assert all(labels)
    assert all(wanted)


def test_a_long_text_asks_for_a_bounded_number_of_labels() -> None:
    labels, wanted = asked_labels(" ".join(f"wordnumber{number}" for number in range(1_500)))
    assert len(labels) <= 1_600
    assert len(wanted) <= 4_200


@pytest.mark.parametrize(
    ("subject", "left"), [("my team lead", "team lead"), ("the deploys", "deploys"), ("I", ""), ("user", "user")]
)
def test_articles_and_pronouns_begin_no_name(subject: str, left: str) -> None:
    assert without_determiner(subject) == left


def test_labels_are_each_given_once() -> None:
    assert labels_of(["K8s", "k8s", "🚀", "kube"]) == ["k8s", "kube"]


def test_short_and_long_labels_are_not_misspelt() -> None:
    assert halves("k8s") == halves("one two three four fives") == set()
    assert halves("Kubernetes") == {"10<kuber", "10>netes"}
    assert halves("one two three") == {"11<onetw", "11>othree"}
    assert asked_labels("fig") == (["fig"], [])
    assert asked_labels("figs")[1], "a letter of five may be missing"
