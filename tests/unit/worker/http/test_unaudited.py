"""Whom the service lets in is audited: where that cannot be, for want of the tenant key say, it lets nobody in."""

from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from structlog.testing import capture_logs

from perdure import Actor, ActorKind
from perdure.settings import Settings
from perdure.stores.audit.lines import AuditKind
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.tenant_key import TenantKey
from perdure.values.changes import PROGRAM
from tests.conftest import clean_settings, give_tenant_key
from tests.support.no_servers import NOWHERE, client_of
from tests.support.waiting import until
from worker import audits
from worker.access import local_token
from worker.gateway import Gateway
from worker.http import admission
from worker.http.app import make_app
from worker.http.status import Readiness

ADMIN = Actor(kind=ActorKind.PERSON, id="admin")


async def test_without_the_tenant_key_nobody_is_let_in_until_it_is_there(tmp_path: Path) -> None:
    settings = clean_settings(tmp_path)
    token = local_token.made(settings).read_text().strip()
    right, wrong = ({"Authorization": f"Bearer {one}"} for one in (token, "nonsense"))
    async with Gateway(settings, NOWHERE) as gateway, client_of(settings, gateway) as client:
        for headers in (right, wrong, {}):
            refused = await client.get("/openapi.json", headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (503, "PRD206")
            assert str(tmp_path) not in refused.text, "anybody may ask"
        for page in (await client.get("/inbox"), await client.post("/login", data={"token": token})):
            assert (page.status_code, "lets nobody in" in page.text) == (503, True)
            assert "set-cookie" not in page.headers
        asked = await client.get("/login")
        assert (asked.status_code, "cannot read the tenant key" in asked.text) == (200, True)
        assert str(tmp_path) not in asked.text
        assert (await client.get("/livez")).status_code == 200
        # A worker has made the key, and has begun the journal, in which the audit lies.
        give_tenant_key(tmp_path)
        await JournalMarks(settings.journal_folder).begin(TenantKey.load(settings.tenant_key_file).fingerprint)
        assert (await client.get("/openapi.json", headers=wrong)).status_code == 401
        assert (await client.get("/openapi.json", headers=right)).status_code == 200
        assert 'role="alert"' not in (await client.get("/login")).text
        lines = await until(lambda: audits.show(settings, "", None, None, ADMIN), lambda found: len(found) > 1)
    assert [one.kind for one in lines] == [AuditKind.TURNED_AWAY, AuditKind.ADMITTED]


def nothing(_: Settings) -> None:
    """Leave the tenant key away."""


def half_a_key(settings: Settings) -> None:
    settings.tenant_key_file.write_bytes(bytes(16))


def bad_policies(settings: Settings) -> None:
    give_tenant_key(settings.home)
    assert settings.write_policies
    settings.write_policies.write_text("default: {holds: 1}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "named", "code"),
    [
        (nothing, "tenant.key cannot be read", "PRD206"),
        (half_a_key, "tenant.key has 16 bytes, not 32", "PRD206"),
        (bad_policies, "policies.yaml", "PRD200"),
    ],
)
async def test_what_keeps_the_service_from_auditing_is_in_its_log_and_passes_without_a_new_start(
    tmp_path: Path, spoil: Callable[[Settings], None], named: str, code: str
) -> None:
    settings = clean_settings(tmp_path, write_policies=tmp_path / "policies.yaml")
    (tmp_path / "policies.yaml").write_text("{}\n", encoding="utf-8")
    spoil(settings)
    right = {"Authorization": f"Bearer {local_token.made(settings).read_text().strip()}"}
    gateway = Gateway(settings, NOWHERE)
    app = make_app(settings, gateway, local=True)
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1")
    with capture_logs() as said:
        async with app.router.lifespan_context(app), client:
            [warning] = [one for one in said if one["log_level"] == "warning"]
            assert "lets nobody in" in warning["event"]
            assert named in warning["problem"]
            refused = await client.get("/openapi.json", headers=right)
            assert (refused.status_code, refused.json()["code"]) == (503, code)
            assert "retry-after" in refused.headers
            assert str(tmp_path) not in refused.text, "anybody may ask"
            assert (await client.get("/readyz")).status_code == 503
            assert "audit" in await Readiness(gateway).missing()
            give_tenant_key(tmp_path)
            (tmp_path / "policies.yaml").write_text("{}\n", encoding="utf-8")
            assert "audit" not in await Readiness(gateway).missing()
            assert (await client.get("/openapi.json", headers=right)).status_code == 200


async def test_what_an_administrator_does_without_the_tenant_key_is_said_to_be_unaudited(tmp_path: Path) -> None:
    said: list[str] = []
    async with Gateway(clean_settings(tmp_path), NOWHERE, notify=said.append) as gateway:
        await gateway._administered("3f2b", why="create a token", by=PROGRAM)  # pyright: ignore[reportPrivateUsage]
    assert "this is not audited (create a token: 3f2b)" in said[0]
    assert "tenant.key cannot be read" in said[0]


async def test_who_finds_no_place_is_audited_as_turned_away_and_not_as_let_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = clean_settings(tmp_path)
    give_tenant_key(tmp_path)
    await JournalMarks(settings.journal_folder).begin(TenantKey.load(settings.tenant_key_file).fingerprint)
    right = {"Authorization": f"Bearer {local_token.made(settings).read_text().strip()}"}
    for most, status, kind in ((0, 429, AuditKind.TURNED_AWAY), (1, 200, AuditKind.ADMITTED)):
        monkeypatch.setattr(admission, "MOST_OF_ONE", most)
        async with Gateway(settings, NOWHERE) as gateway, client_of(settings, gateway) as client:
            sent = right | {"X-Request-Id": f"most-{most}"}
            assert (await client.get("/openapi.json", headers=sent)).status_code == status
            lines = await until(
                lambda: audits.show(settings, "", None, None, ADMIN),
                lambda found, most=most: any(one.operation == f"most-{most}" for one in found),
            )
        assert [one.kind for one in lines if one.operation == f"most-{most}"] == [kind]
