"""A correction loses private data wherever it gives some, and is refused where something is found by it."""

import pytest

from perdure.errors import InvalidInput
from perdure.memory.updates.screened_updates import screened_update
from perdure.memory.write_policies import Private, WritePolicy
from perdure.model import LONGEST_TEXT
from perdure.values.entries import Relation
from perdure.values.updates import Correction, Pinning, UpdateRequest

POLICY = WritePolicy()
STRICT = WritePolicy(private=Private.REFUSE)
EMAIL = "lena.m@example.com"
CARD = "4111111111111111"


def asked(correction: Correction) -> UpdateRequest:
    return UpdateRequest(user_id="ada", id="mem_1", update=correction)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (Correction(content=f"Bills go to {EMAIL} on Mondays."), Correction(content="Bills go to [email] on Mondays.")),
        (Correction(names=("Lena", EMAIL)), Correction(names=("Lena",))),
        (Correction(asked=f"Who is {EMAIL}?"), Correction(asked="Who is [email]?")),
        (Correction(relations=(Relation(kind="of", to=EMAIL), Relation(kind="of", to="Kim"))), None),
    ],
    ids=["content", "names", "asked", "relations"],
)
def test_it_is_taken_out_of_what_is_given(given: Correction, kept: Correction | None) -> None:
    clean = screened_update(asked(given), POLICY).update
    assert clean == (kept or Correction(relations=(Relation(kind="of", to="Kim"),)))
    assert clean.model_fields_set == given.model_fields_set
    with pytest.raises(InvalidInput, match="it holds email"):
        screened_update(asked(given), STRICT)


@pytest.mark.parametrize(
    ("given", "field"), [(Correction(tags=(CARD,)), "tags"), (Correction(scopes=(CARD,)), "scopes")]
)
def test_what_it_is_found_by_is_refused_with_the_field(given: Correction, field: str) -> None:
    with pytest.raises(InvalidInput, match=f"{field}: holds card number"):
        screened_update(asked(given), POLICY)


@pytest.mark.parametrize("update", [Correction(names=("Lena",), content="Lena is in Leeds."), Pinning(pinned=True)])
def test_what_has_none_stays_as_it_is(update: Correction | Pinning) -> None:
    request = UpdateRequest(user_id="ada", id="mem_1", update=update, note="she said so")
    assert screened_update(request, STRICT) == request
    noted = screened_update(request.changed(note=f"see {EMAIL}"), POLICY)
    assert noted.note == "see [email]"


@pytest.mark.parametrize(("field", "length"), [("note", 500), ("asked", 2_000), ("content", LONGEST_TEXT)])
def test_what_no_longer_fits_without_it_is_refused_with_the_field(field: str, length: int) -> None:
    def given(length: int) -> UpdateRequest:
        text = ("the printers of team blue run there, " * length)[:length] + " host 1.2.3.4"
        request = asked(Correction(content="It runs."))
        if field == "note":
            return request.changed(note=text)
        return request.changed(update=Correction(**{field: text}))  # pyright: ignore[reportArgumentType]

    with pytest.raises(InvalidInput, match=rf"{field}: .* at most {length} characters \(shorten it, or ") as problem:
        screened_update(given(length - len(" host 1.2.3.4")), POLICY)
    assert "1.2.3.4" not in str(problem.value)
    screened_update(given(length // 2), POLICY)
