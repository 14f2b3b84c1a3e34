"""A store that comes back as an older copy says who may do what as it was: nobody believes it, not for a moment."""

import shutil
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from localservers import Server
from perdure.errors import StoreUnavailable, UnknownOwner
from perdure.stores.audit.files import FOLDER as AUDIT
from perdure.stores.redis.marks import RedisMarks
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Purpose
from tests.conftest import OwnServers
from tests.deployment import Deployment, deployment
from tests.integration.memory.reconciliation.test_losses import copied

ADMIN = Actor(kind=ActorKind.PERSON, id="admin")


async def say(here: Deployment, user: str, team: str, *, may: bool) -> None:
    """Write that a user belongs to a team and consents to extraction, or that neither is so."""
    services, now = here.services, datetime.now(UTC)
    tenant, operation = services.tenant_key.tenant_of(user), uuid4().hex
    await services.members.say(team, user, belongs=may, operation=operation, by=ADMIN, at=now)
    purposes = [Purpose.EXTRACTED]
    grant, withdraw = (purposes, []) if may else ([], purposes)
    await services.consents.say(tenant, grant=grant, withdraw=withdraw, operation=operation, by=ADMIN, at=now)


async def may(here: Deployment, user: str, team: str) -> set[str]:
    """Return what is believed that a user may do."""
    services, found = here.services, set[str]()
    try:
        await services.members.tenant(user, team)
        found.add("belong")
    except UnknownOwner:
        pass
    if (await services.consents.of(services.tenant_key.tenant_of(user)))[Purpose.EXTRACTED].granted:
        found.add("be extracted")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("counted", [True, False], ids=["", "control"])
async def test_an_older_copy_of_redis_is_not_believed_though_it_was_compared_a_moment_ago(
    own_servers: OwnServers, tmp_path: Path, team: str, user: str, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not counted:
        monkeypatch.setattr(RedisMarks, "connections", 0)
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with deployment(fleet.addresses, tmp_path / "home", serving=False) as here:
        await say(here, user, team, may=True)
        restore = await copied(fleet, Server.REDIS, tmp_path / "copy")
        await say(here, user, team, may=False)
        assert await may(here, user, team) == set()
        await fleet.stop(Server.REDIS)
        restore()
        await fleet.start(Server.REDIS)
        assert await may(here, user, team) == (set() if counted else {"belong", "be extracted"})


@pytest.mark.slow
@pytest.mark.parametrize("older", [True, False], ids=["older", "control"])
async def test_an_older_copy_of_the_journal_tells_nothing_while_redis_is_lost(
    own_servers: OwnServers, tmp_path: Path, team: str, user: str, older: bool
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with deployment(fleet.addresses, tmp_path / "home", serving=False) as here:
        folder = here.services.journal.folder
        await say(here, user, team, may=True)
        shutil.copytree(folder, tmp_path / "copy")
        await say(here, user, team, may=False)
        await fleet.stop(Server.REDIS)
        if not older:
            assert await may(here, user, team) == set()
            return
        for kept in [path for path in folder.iterdir() if path.name != AUDIT]:
            shutil.rmtree(kept) if kept.is_dir() else kept.unlink()
        shutil.copytree(tmp_path / "copy", folder, ignore=shutil.ignore_patterns(AUDIT), dirs_exist_ok=True)
        here.services.whole.doubt()
        for asked in (
            here.services.members.tenant(user, team),
            here.services.consents.of(here.services.tenant_key.tenant_of(user)),
        ):
            with pytest.raises(StoreUnavailable, match="cannot tell"):
                await asked
