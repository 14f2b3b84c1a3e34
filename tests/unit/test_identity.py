"""Ids: equal things have equal ids, and different things different ones."""

import json
import unicodedata
import uuid
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from perdure.errors import InvalidInput
from perdure.identity import (
    author_id,
    canonical_json,
    content_digest,
    derived_key,
    digest,
    idempotency_key,
    installation_tenant_id,
    memory_id,
    object_uuid,
    occurrence_id,
    owner_tenant_id,
    record_id,
    session_digest,
    stand_in,
    tenant_id,
    workflow_id,
)
from perdure.values.requests import RecallRequest, RememberRequest
from perdure.values.tasks import AgentTask
from tests.recorded.identities import WRITTEN, recipes

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(text.map(lambda t: unicodedata.normalize("NFC", t)), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(st.dictionaries(text.map(lambda t: unicodedata.normalize("NFC", t)), json_values, max_size=6), st.randoms())
def test_the_order_of_keys_does_not_matter(value: dict[str, JsonValue], random: Random) -> None:
    items = list(value.items())
    random.shuffle(items)
    assert canonical_json(dict(items)) == canonical_json(value)


@given(json_values)
def test_what_was_encoded_can_be_read_and_encoded_again(value: JsonValue) -> None:
    assert canonical_json(json.loads(canonical_json(value))) == canonical_json(value)


@given(text)
def test_composed_and_decomposed_text_is_the_same_text(word: str) -> None:
    assert canonical_json(unicodedata.normalize("NFD", word)) == canonical_json(unicodedata.normalize("NFC", word))


@given(text, text, text)
def test_moving_a_boundary_between_parts_gives_another_id(one: str, two: str, three: str) -> None:
    if two:
        assert digest("t", one + two, three) != digest("t", one, two + three)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (float("nan"), "is not JSON"),
        (2**53 + 1, "too large"),
        ("\ud800", "is not JSON"),
        ({"é": 1, "e\u0301": 2}, "the same in Unicode NFC"),
    ],
)
def test_what_json_cannot_hold_exactly_is_refused(value: JsonValue, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        canonical_json(value)


def test_a_number_that_came_back_from_json_as_an_integer_is_the_same_number() -> None:
    assert canonical_json(10**20) == canonical_json(1e20) == b"100000000000000000000"
    assert canonical_json(-(10**20)) == canonical_json(-1e20)
    with pytest.raises(InvalidInput, match="too large for JSON"):
        canonical_json(10**20 + 2**14)  # a double, and yet not the digits that one is written with


def test_ids_stay_what_they_are_for_ever() -> None:
    """Stored data is found by these ids: a change here is a migration."""
    assert canonical_json({"b": 1.0, "a": [True, None, "é"]}) == '{"a":[true,null,"é"],"b":1}'.encode()
    assert (
        record_id("t_1", "pattern", "numpy", {"version": "2.4"})
        == "exec_409a2be7d968a196ac1b00782ed644c68fec9764e15be3c1997fdb1be4d593c1"
    )
    assert (
        memory_id("t_1", "fact", "The lead is Kim.")
        == "mem_f472680f3cb7e7143fb8c6f086bf67d623ba1733a6ad42ed87c86a6281ce3e58"
    )
    assert (
        occurrence_id("t_1", "caller", "o1") == "occ_9868c49f064c8dfbe57da3c16097e310df4cbf6aa58f1b399429c1fbd4218207"
    )
    assert tenant_id(bytes(32), "ada") == "t_9ef2aa05c3285b6b7f6c8297a4ecd7e026c9a4c8"
    assert object_uuid("t_1", "mem_1") == "53256b30-6754-584f-9359-3c426a37a62b"
    assert workflow_id("ada", "audit-1") == "task-audit-1-987463d38828"
    assert idempotency_key("t_1", "t", "a[1].b") == "3e972e5c0da9784b30993338a3ca0b640d979b4b21b6bcc37be45ab359e508b3"
    assert (
        content_digest({"b": 2**60, "a": ["é"]}) == "45cbaf521d7bbeb7af8e2e7b6481e58d61c34e83957c7ffa08698ca4fbe77bf8"
    )


def test_the_order_of_keys_makes_no_other_content() -> None:
    assert content_digest({"b": 1, "a": 2}) == content_digest({"a": 2, "b": 1}) != content_digest({"a": 1, "b": 2})
    with pytest.raises(InvalidInput, match="too large for JSON"):
        canonical_json(2**1024)


def test_one_users_ids_tell_nothing_of_the_user_without_the_key() -> None:
    assert tenant_id(bytes(32), "ada") != tenant_id(b"x" * 32, "ada")
    assert "ada" not in tenant_id(bytes(32), "ada") + workflow_id("ada", "t1")


def test_what_stands_for_a_name_is_stable_and_leads_to_the_same_session() -> None:
    assert stand_in("ada@example.com") == "private-e381b2b85295fffb6a097471"
    assert stand_in(stand_in("ada@example.com")) == stand_in("ada@example.com") != stand_in("bob@example.com")
    assert session_digest(stand_in("ada@example.com")) == session_digest("ada@example.com")
    assert session_digest("private-call") != session_digest("call")


def test_weaviate_ids_are_version_5() -> None:
    assert uuid.UUID(object_uuid("t_1", "mem_1")).version == 5


@pytest.mark.parametrize("given", ["\u212aim", "caf\u0065\u0301", "\u2126", "\u037e"])
def test_a_user_id_that_is_not_in_nfc_is_refused_with_the_form_that_is_taken(given: str) -> None:
    normal = unicodedata.normalize("NFC", given)
    assert tenant_id(bytes(32), normal)
    assert canonical_json(given) == canonical_json(normal), "the control: both would have one tenant"
    for refused in (
        lambda: tenant_id(bytes(32), given),
        lambda: RecallRequest(user_id=given),
        lambda: RememberRequest(user_id=given, key="k", items=()),
        lambda: AgentTask(task_id="t", user_id=given, skill="s"),
    ):
        with pytest.raises((InvalidInput, ValidationError)) as failure:
            refused()
        assert "is not in Unicode NFC" in str(failure.value)
        assert f"write {normal!r}" in str(failure.value)


def test_keys_and_tenants_that_are_derived_stay_what_they_are_for_ever() -> None:
    key = b"k" * 32
    assert derived_key(key, "audit").hex() == "1e8040646ca8c8aa1ede47795a4cd17a4ee51787fe62b8063372a44b7b9c7dbd"
    assert owner_tenant_id(key, "team:apollo") == "t_97acdf2586f8d3cc018af6873ea3a4be28a16dd2"
    assert installation_tenant_id(key) == "t_617c559cdd0227a056fbdf94c3e7eddfc2d08b71"
    assert author_id("t_ops", "t_ada") == "author_3d8296b5e273beb379800f4d"


def test_what_identities_are_made_of_changes_with_their_names_alone() -> None:
    """Otherwise a build that runs beside another one takes what that has done for something else."""
    assert recipes() == json.loads(WRITTEN.read_text(encoding="utf-8"))
    assert len(recipes()) > 50
