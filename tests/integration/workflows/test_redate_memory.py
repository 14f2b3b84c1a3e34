"""The pass that dates anew what other rules dated: for everybody, once for each change of the rules."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from activities import due_dates
from localservers import Server
from perdure.values.requests import RedateRequest, RedateResult
from tests.conftest import OwnServers, Servers
from tests.deployment import Deployment, deployment
from tests.integration.workflows.test_forget_memory import note, write


async def redated(here: Deployment, **request: Any) -> RedateResult:
    return await here.client.execute_workflow(
        "RedateMemory",
        RedateRequest(**request),
        id=f"redate-{uuid4().hex}",
        task_queue=here.queue,
        result_type=RedateResult,
    )


@pytest.mark.slow
async def test_a_pass_redates_everybody_and_the_next_one_has_nothing_to_do(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of its own, as everybody on the shared ones is some hundred users of other tests.
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    servers = Servers.model_validate(fleet.addresses.model_dump())
    tenants = [f"t_{uuid4().hex}" for _ in range(3)]
    rules = tmp_path / "rules.yaml"
    rules.write_text("unused_days: 9000\n")
    async with deployment(servers, tmp_path) as here:
        for tenant in tenants:
            await write(here, tenant, note(1, valid_until=None), note(2, valid_until=None))
    # A call ends after each tenant, so that the cursor is what makes it visit everybody once.
    monkeypatch.setattr(due_dates, "SECONDS", 0.0)
    async with deployment(servers, tmp_path, settings={"retention_rules": rules}) as here:
        first = await redated(here)
        assert first.failed == ()
        assert (first.tenants, first.redated) == (3, 6)
        for tenant in tenants:
            entries = (await here.services.longterm.everything(tenant)).values()
            assert {(one.version, one.rules_version) for one in entries} == {(2, here.services.forgetter.rules_version)}
        assert await redated(here) == RedateResult(), "the rules are the same"
        assert await redated(here, again=True) == first.changed(redated=0)
    async with deployment(servers, tmp_path) as here:
        assert (await redated(here)).redated == 6, "another change of the rules"
