"""The page to log in offers the token of this machine where that counts, and says why a browser's cookie does not."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest

from perdure.settings import Settings
from tests.conftest import clean_settings, give_tenant_key
from tests.support.no_servers import NOWHERE, client_of
from worker.access import local_token
from worker.gateway import Gateway
from worker.http.console import session

OFFERED = "<code>http.token</code>"

PASSED_ON = {"X-Forwarded-For": "203.0.113.7"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    give_tenant_key(tmp_path)
    return clean_settings(tmp_path)


@pytest.fixture
async def browser(settings: Settings) -> AsyncGenerator[httpx2.AsyncClient]:
    """A browser that has logged in with the token of this machine."""
    async with Gateway(settings, NOWHERE) as gateway, client_of(settings, gateway) as client:
        token = local_token.made(settings).read_text().strip()
        answer = await client.post("/login", data={"token": token})
        assert answer.headers["location"] == "/inbox"
        assert 'role="alert"' not in (await client.get("/login")).text, "it is logged in"
        yield client


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("headers", [{}, PASSED_ON], ids=["direct", "passed on"])
async def test_the_token_of_this_machine_is_offered_only_where_it_counts(
    settings: Settings, local: bool, headers: dict[str, str]
) -> None:
    async with Gateway(settings, NOWHERE) as gateway, client_of(settings, gateway, local=local) as client:
        asked = await client.get("/login", headers=headers)
        refused = await client.post("/login", data={"token": "nonsense"}, headers=headers)
    assert (OFFERED in asked.text, OFFERED in refused.text) == (local and not headers,) * 2
    assert (asked.status_code, refused.status_code) == (200, 401)


async def told(browser: httpx2.AsyncClient, **headers: str) -> str:
    """Return what a browser shows that opens a page, and is sent to the login."""
    sent = await browser.get("/inbox", headers=headers)
    assert (sent.status_code, sent.headers["location"]) == (303, "/login")
    page = (await browser.get("/login", headers=headers)).text
    return page.partition('role="alert">')[2].partition("</p>")[0]


async def test_whose_cookie_is_refused_reads_why(
    browser: httpx2.AsyncClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "does not count for what a proxy passes on" in await told(browser, **PASSED_ON)
    local_token.file_of(settings).unlink()
    assert await told(browser) == "the token is not valid"
    monkeypatch.setattr(session, "LASTS", -1.0)
    local_token.made(settings)
    token = local_token.file_of(settings).read_text().strip()
    await browser.post("/login", data={"token": token})
    assert await told(browser) == "the session has ended"
    browser.cookies.clear()
    assert await told(browser) == ""


async def test_services_that_started_before_the_tenant_key_was_there_take_each_others_cookies(tmp_path: Path) -> None:
    settings = clean_settings(tmp_path)
    token = local_token.made(settings).read_text().strip()
    async with (
        Gateway(settings, NOWHERE) as gateway,
        client_of(settings, gateway) as one,
        client_of(settings, gateway) as other,
    ):
        for client in (one, other):
            # A cookie from elsewhere has each look for its key.
            refused = await client.get("/inbox", headers={"Cookie": f"{session.COOKIE}=AAAA"})
            assert refused.status_code == 503
        give_tenant_key(tmp_path)
        assert (await one.post("/login", data={"token": token})).headers["location"] == "/inbox"
        cookie = {"Cookie": f"{session.COOKIE}={one.cookies[session.COOKIE]}"}
        for client in (one, other):
            client.cookies.clear()
            assert 'role="alert"' not in (await client.get("/login", headers=cookie)).text, "it is logged in"


async def test_a_refused_cookie_that_is_shown_again_keeps_nobody_out(browser: httpx2.AsyncClient) -> None:
    for _ in range(30):
        assert "a proxy passes on" in (await browser.get("/login", headers=PASSED_ON)).text
    assert (await browser.post("/login", data={"token": "nonsense"})).status_code == 401
