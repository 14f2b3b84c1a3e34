"""Which statements about consent are one, however often they are requested."""

from typing import Any

from perdure.memory.consent_book import operation_of
from perdure.values.entries import Purpose
from perdure.values.requests import ConsentRequest

GIVEN, EXTRACTED = Purpose.GIVEN, Purpose.EXTRACTED


def operation(run: str = "r", *, tenant: str = "t", **fields: Any) -> str:
    given = {"user_id": "ada", "grant": [EXTRACTED], "sending": "s", "by": {"kind": "person", "id": "ada"}}
    return operation_of(tenant, ConsentRequest.model_validate(given | fields), run)


def test_a_statement_that_names_its_sending_is_the_same_operation_whoever_runs_it() -> None:
    assert operation("r") == operation("s")
    assert operation(grant=[EXTRACTED, GIVEN]) == operation(grant=[GIVEN, EXTRACTED])
    others = [
        operation(tenant="u"),
        operation(sending="another"),
        operation(grant=[GIVEN]),
        operation(grant=[], withdraw=[EXTRACTED]),
        operation(by={"kind": "agent", "id": "ada"}),
        operation(by={"kind": "person", "id": "eve"}),
    ]
    assert len({operation(), *others}) == len(others) + 1
    assert (operation("r", sending=""), operation("s", sending="")) == ("consent:r", "consent:s")
