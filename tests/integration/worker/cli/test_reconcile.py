"""What a person does when a store has lost its data."""

import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from localservers import Server
from perdure.values.requests import Reconciled, ReconcileResult
from tests.conftest import OwnServers, Servers
from tests.integration.worker.cli.installation import Installation, installation
from tests.support.waiting import until

pytestmark = pytest.mark.slow


async def test_one_user_is_reconciled(installed: Installation) -> None:
    user = f"user {uuid4().hex}"
    await installed.perdure("remember", "Deploys happen on Tuesdays", "--user", user)

    told = await installed.perdure("reconcile", "--user", user)
    assert (told.status, told.out) == (0, "reconciled 1 user: 1 entry (1 in both)\n")
    as_json = await installed.perdure("reconcile", "--user", user, "--json")
    assert ReconcileResult.model_validate_json(as_json.out).found == Reconciled(tenants=1, origins={"merged": 1})

    needless = await installed.perdure("reconcile", "--new-journal")
    assert needless.status == 2
    assert "nothing was lost" in needless.err


@asynccontextmanager
async def without_its_journal(own_servers: OwnServers, tmp_path: Path) -> AsyncGenerator[Installation]:
    """Make an installation that remembers something and has lost its journal; no worker runs."""
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with installation(Servers.model_validate(fleet.addresses.model_dump()), tmp_path) as given:
        worker = await given.ready_worker()
        await given.perdure("remember", "Deploys happen on Tuesdays", "--user", "ada")
        worker.terminate()
        await worker.wait()
        shutil.rmtree(tmp_path / "home" / "journal")
        yield given


async def test_a_lost_journal_is_begun_anew(own_servers: OwnServers, tmp_path: Path) -> None:
    async with without_its_journal(own_servers, tmp_path) as given:
        refused, log = await given.worker()
        assert await refused.wait() == 3
        assert "PRD231 journal: all of it was lost: mount the folder that the workers share" in log.read_text()
        found = await given.perdure("doctor", "--json")
        bad = [one for one in json.loads(found.out) if not one["ok"] and one["check"] == "journal"]
        assert "--new-journal" in bad[0]["fix"]

        begun = await given.perdure("reconcile", "--new-journal")
        assert begun.status == 0, begun.err
        assert "began the journal" in begun.out
        verified = await given.perdure("audit", "verify")
        assert (verified.status, "accepted that on" in verified.err) == (0, True), verified.out
        for path in (tmp_path / "home" / "journal" / "audit").iterdir():
            path.unlink()
        assert (await given.perdure("audit", "verify")).status == 1, "the control: what is lost later is not accepted"
        assert (await given.perdure("audit", "accept")).status == 0
        verified = await given.perdure("audit", "verify")
        assert (verified.status, "accepted that on" in verified.err) == (0, True), verified.out
        await given.ready_worker()

        async def rebuilt() -> bool:
            found = await given.perdure("doctor", "--json")
            return all(one["ok"] for one in json.loads(found.out) if one["check"] in {"journal", "stores"})

        await until(rebuilt, bool, 60)
        told = await given.perdure("reconcile")
        assert told.out == "reconciled 1 user: 1 entry (1 in both)\n"


async def test_another_language_is_taken_once_the_collections_are_rebuilt(
    own_servers: OwnServers, tmp_path: Path
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with installation(Servers.model_validate(fleet.addresses.model_dump()), tmp_path) as given:
        worker = await given.ready_worker()
        await given.perdure("remember", "Die Auslieferungen beginnen dienstags", "--user", "ada")
        served = await given.perdure("reconcile", "--new-collections")
        assert (served.status, "1 worker serves this installation" in served.err) == (2, True), served.err
        worker.terminate()
        await worker.wait()

        # The worker that has ended is listed for a while, under its own task queue.
        new = {"PERDURE_LANGUAGE": "german", "PERDURE_TASK_QUEUE": f"cli-{uuid4().hex[:10]}"}
        refused, log = await given.worker(**new)
        assert await refused.wait() != 0
        assert "PRD207" in log.read_text()
        assert "reconcile --new-collections" in log.read_text()

        dropped = await given.perdure("reconcile", "--new-collections", **new)
        assert (dropped.status, dropped.out) == (
            0,
            "deleted the collections in Weaviate: the journal has all that is remembered\n",
        ), dropped.err
        degraded = await given.perdure("recall", "Auslieferungen", "--user", "ada", "--json", **new)
        assert json.loads(degraded.out)["degraded"] == ["weaviate"]
        await given.ready_worker(**new)
        told = await given.perdure("reconcile", **new)
        # The worker rebuilds as it starts: whichever of the two is first.
        assert told.out.startswith("reconciled 1 user: 1 entry (1 in "), told
        found = await given.perdure("recall", "wann beginnt die Auslieferung", "--user", "ada", "--json", **new)
        told = json.loads(found.out)
        assert (told["degraded"], len(told["items"])) == ([], 1)


async def test_collections_stay_while_another_store_has_lost_something(own_servers: OwnServers, tmp_path: Path) -> None:
    async with without_its_journal(own_servers, tmp_path) as given:
        refused = await given.perdure("reconcile", "--new-collections", PERDURE_TASK_QUEUE=f"cli-{uuid4().hex[:10]}")
        assert (refused.status, "not all that is deleted would come back" in refused.err) == (3, True), refused.err
