"""Memories returned to what they said before, on the real stores: what was said since gives way."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from perdure.crashpoints import CrashPoint
from perdure.errors import InvalidInput
from perdure.values.entries import State
from perdure.values.updates import Correction, Removal, Reversion, UpdateRequest
from tests.integration.conftest import Stores
from tests.integration.memory.updates.test_updater import ADA, by_an_agent, change, stored, told
from tests.support.dying import dying_in_the_door


async def test_what_is_reverted_holds_and_all_that_replaced_it_gives_way(stores: Stores, tenant: str) -> None:
    [rome] = await told(stores, tenant, "The office is in Rome.")
    ghent = (await change(stores, tenant, rome, Correction(content="The office is in Ghent."))).id
    leeds = (await change(stores, tenant, ghent, Correction(content="The office is in Leeds."))).id
    done = await change(stores, tenant, rome, Reversion(version=1))
    found = {one: await stored(stores, tenant, one) for one in (rome, ghent, leeds)}
    assert [one.state for one in found.values()] == [State.CURRENT, State.SUPERSEDED, State.SUPERSEDED]
    assert (found[leeds].superseded_by, found[rome].superseded_by) == (rome, "")
    assert done.versions == {rome: 3, leeds: 2}
    # And back: what was current before is what holds again, alone.
    await change(stores, tenant, leeds, Reversion(version=1))
    assert [(await stored(stores, tenant, one)).state for one in (rome, leeds)] == [State.SUPERSEDED, State.CURRENT]


@pytest.mark.slow
async def test_what_else_was_said_gives_way_to_what_is_reverted(stores: Stores, tenant: str) -> None:
    [rome] = await told(stores, tenant, "The office is in Rome.")
    ghent = (await change(stores, tenant, rome, Correction(content="The office is in Ghent."))).id
    await change(stores, tenant, ghent, Removal())
    [oslo] = await told(stores, tenant, "The office is in Oslo.", at=datetime.now(UTC))
    assert (await stored(stores, tenant, oslo)).state is State.CURRENT
    await change(stores, tenant, rome, Reversion(version=1))
    assert (await stored(stores, tenant, rome)).state is State.CURRENT
    assert (await stored(stores, tenant, oslo)).superseded_by == rome


async def test_an_agents_reversion_does_not_override_what_a_person_said(stores: Stores, tenant: str) -> None:
    [tea] = await told(stores, tenant, "I prefer tea for breakfast.", memory_type="preference")
    coffee = (await change(stores, tenant, tea, Correction(content="I prefer coffee for breakfast."))).id
    with pytest.raises(InvalidInput, match=f"version: it contradicts what a person said: {coffee} .*have a person"):
        await by_an_agent(stores, tenant, tea, Reversion(version=1))
    assert (await stored(stores, tenant, coffee)).state is State.CURRENT
    await change(stores, tenant, tea, Reversion(version=1))
    assert (await stored(stores, tenant, coffee)).state is State.SUPERSEDED, "the control: by a person"


async def test_what_was_over_since_is_not_reverted_to(stores: Stores, tenant: str) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=1)
    [one] = await told(stores, tenant, "The office is in Rome.", valid_until=soon.isoformat())
    ghent = (await change(stores, tenant, one, Correction(content="The office is in Ghent."))).id
    request = UpdateRequest(user_id="u", id=one, update=Reversion(version=1), by=ADA)
    with pytest.raises(InvalidInput, match="what it said at 1 was over on"):
        await stores.updater.update(tenant, request, operation="late", at=soon)
    assert (await stored(stores, tenant, ghent)).state is State.CURRENT


@pytest.mark.slow
async def test_a_reversion_that_died_in_between_is_finished(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [rome] = await told(stores, tenant, "The office is in Rome.")
    ghent = (await change(stores, tenant, rome, Correction(content="The office is in Ghent."))).id
    operation = f"update:{uuid4().hex}"
    with dying_in_the_door(monkeypatch, CrashPoint.APPLY_WRITTEN):
        await change(stores, tenant, rome, Reversion(version=1), operation=operation)
    done = await change(stores, tenant, rome, Reversion(version=1), operation=operation)
    assert done.versions == {rome: 3, ghent: 2}
    assert [(await stored(stores, tenant, one)).state for one in (rome, ghent)] == [State.CURRENT, State.SUPERSEDED]
