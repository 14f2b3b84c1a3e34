"""What of the audit is not removed."""

from datetime import UTC, datetime

import pytest

from perdure.errors import InvalidInput
from perdure.settings import Addresses, Settings
from perdure.values.changes import Actor, ActorKind
from worker import audits
from worker.gateway import Gateway

BY = Actor(kind=ActorKind.PERSON, id="ada")
NOWHERE = Addresses(
    temporal="127.0.0.1:9", redis_url="redis://127.0.0.1:9", weaviate_url="http://127.0.0.1:9", weaviate_grpc_port=9
)


@pytest.mark.parametrize(
    ("days", "refusal"),
    [
        (29, "older: 29 days are too few (keep 30 days at least)"),
        (1_000_000_000, "older: 1000000000 days are too many (give 36500 days at most)"),
    ],
)
async def test_an_age_that_is_no_age_of_a_file_is_refused(days: int, refusal: str) -> None:
    with pytest.raises(InvalidInput) as failure:
        await audits.remove(Settings(), NOWHERE, days, BY)
    assert str(failure.value) == f"PRD100 {refusal}"


@pytest.mark.parametrize(("user", "of"), [("", None), ("ada", "team:ops")])
async def test_whose_audit_is_shown_is_said_once(user: str, of: str | None) -> None:
    async with Gateway(Settings(), NOWHERE) as gateway:
        with pytest.raises(InvalidInput, match=r"\(give either a user, a team or an agent, or the installation\)"):
            await gateway.audit(user, of=of, since=datetime.now(UTC), by=BY)
