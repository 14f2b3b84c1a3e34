"""The words that a text is searched by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.words import languages, stems


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Kim's running shoes weren't found!", ["kim", "run", "shoe", "weren", "found"]),
        ("the THE The", []),
        ("db-1 and db_2", ["db", "1", "db", "2"]),
        ("ﬁsh Ｆｉｓｈ", ["fish", "fish"]),
        ("Straße", ["strass"]),
        ("äpfel", ["äpfel"]),
        ("Привет, мир", ["привет", "мир"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("京", ["京"]),
        ("ไทย", ["ไท", "ทย"]),
        ("हिन्दी किताबें", ["हिन्दी", "किताबें"]),
        ("🦊 fox\x00fox", ["fox", "fox"]),
        ("", []),
    ],
)
def test_the_stems_of_a_text(text: str, expected: list[str]) -> None:
    assert stems(text) == expected


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Кот спит на диване.", "где кот?"),
        ("Η γάτα κοιμάται.", "πού είναι η γάτα;"),
        ("القطة تنام على الأريكة.", "أين القطة؟"),
        ("החתול ישן על הספה.", "איפה החתול?"),
        ("猫在沙发上睡觉。", "沙发在哪里？"),
        ("猫はソファで寝ています。", "ソファはどこ？"),
        ("고양이 소파에서 자요.", "고양이 어디?"),
        ("แมวนอนบนโซฟา", "โซฟาอยู่ไหน"),
        ("बिल्ली सोफ़े पर सो रही है।", "बिल्ली कहाँ है?"),
        ("Կատուն քնում է։", "Որտե՞ղ է կատուն"),
        ("კატა დივანზე სძინავს.", "სად არის კატა?"),
        ("Die Äpfel liegen im Keller.", "wo sind die ÄPFEL?"),
    ],
)
def test_text_and_question_share_words_in_every_script(text: str, question: str) -> None:
    assert set(stems(text)) & set(stems(question))
    assert not set(stems(text)) & set(stems("Kim likes peanuts."))


@pytest.mark.parametrize(
    ("language", "text", "question"),
    [
        ("german", "Die Häuser am Fluss.", "Welches Haus?"),
        ("french", "Nous lisons des journaux.", "Quel journal ?"),
        ("russian", "Книги лежат на столе.", "Где мой стол?"),
        ("turkish", "Kitaplar masada.", "kitap"),
    ],
)
def test_words_meet_in_their_own_language(language: str, text: str, question: str) -> None:
    assert set(stems(text, language)) & set(stems(question, language))
    assert not set(stems(text)) & set(stems(question)), "the control: by English endings"


def test_the_stop_words_of_english_are_words_of_other_languages() -> None:
    assert stems("was will er") == ["er"]
    assert stems("was will er", "german") == ["was", "will", "er"]


@pytest.mark.parametrize("language", sorted(languages()))
def test_every_language_can_be_used(language: str) -> None:
    assert stems("2026 ok", language)


@given(st.text(max_size=200))
def test_stems_hold_no_separators_and_are_stable(text: str) -> None:
    found = stems(text)
    assert all(one and one == one.strip() and " " not in one for one in found)
    assert stems(text) == found
