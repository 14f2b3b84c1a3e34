"""Secrets in what is written: replaced by their names, in the spellings in which they travel."""

import base64
import json
from urllib.parse import quote

import pytest

from perdure.errors import NotDone, StoreRefused
from perdure.secrets.redaction import MOST, Redactor

VALUE = 'p/w+"1ü 5Zq'


@pytest.fixture
def redactor() -> Redactor:
    one = Redactor()
    one.learn("door", VALUE)
    return one


@pytest.mark.parametrize(
    "spelled",
    [
        VALUE,
        quote(VALUE, safe=""),
        json.dumps(VALUE)[1:-1],
        json.dumps(VALUE, ensure_ascii=False)[1:-1],
        base64.b64encode(VALUE.encode()).decode(),
        base64.urlsafe_b64encode(VALUE.encode()).decode().rstrip("="),
    ],
)
def test_each_usual_spelling_is_replaced(redactor: Redactor, spelled: str) -> None:
    assert redactor.text(f"<{spelled.rstrip('=')}>") == "<[secret door]>"


def test_values_are_cleaned_with_the_names_of_their_fields(redactor: Redactor) -> None:
    assert redactor.value({VALUE: [f"a {VALUE}", 1, None, True]}) == {
        "[secret door]": ["a [secret door]", 1, None, True]
    }


def test_an_error_loses_it_in_its_message_its_parts_and_what_it_was_raised_from(redactor: Redactor) -> None:
    problem = StoreRefused("api", f"no {VALUE}", fix=f"not {VALUE}")
    problem.__cause__ = ValueError(VALUE)
    redactor.error(problem)
    assert VALUE not in f"{problem} {problem.args} {problem.carried()}"
    assert problem.__cause__ is None


def test_without_a_known_secret_an_error_stays_as_it_is() -> None:
    problem, cause = NotDone("b"), ValueError("a")
    problem.__cause__ = cause
    Redactor().error(problem)
    assert (problem.__cause__, str(problem)) == (cause, "PRD303 b")


def test_a_key_of_several_lines_is_found_line_by_line() -> None:
    redactor, line = Redactor(), "MIIEvQIBADANBgkqhkiG9w0B"
    redactor.learn("key", f"-----BEGIN PRIVATE KEY-----\n{line}\nshort\n-----END PRIVATE KEY-----\n")
    assert (
        redactor.text(f"{line} short -----BEGIN PRIVATE KEY-----") == "[secret key] short -----BEGIN PRIVATE KEY-----"
    )


def test_a_longer_secret_goes_before_one_that_is_part_of_it() -> None:
    redactor = Redactor()
    redactor.learn("user", "abcdef")
    redactor.learn("login", "abcdef:ghijkl")
    assert redactor.text("abcdef:ghijkl abcdef") == "[secret login] [secret user]"


def test_a_short_value_is_left_alone() -> None:
    redactor = Redactor()
    redactor.learn("pin", "12345")
    assert redactor.text("12345") == "12345"


def test_only_the_newest_are_looked_for() -> None:
    redactor = Redactor()
    for number in range(MOST + 1):
        redactor.learn("hourly", f"token-{number:06}-x")
    assert redactor.text("token-000000-x") == "token-000000-x"
    assert redactor.text(f"token-{MOST:06}-x") == "[secret hourly]"
