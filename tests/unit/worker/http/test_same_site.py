"""Which forms come from a page of ours, by what browsers and proxies say of them."""

import re
from pathlib import Path

import pytest
from starlette.requests import Request

from perdure.refusals import NotPermitted
from tests.conftest import clean_settings, give_tenant_key
from tests.support.no_servers import NOWHERE, client_of
from worker.access import local_token
from worker.gateway import Gateway
from worker.http.console.session import require_same_site

OURS, THEIRS = "https://perdure.example.org", "https://elsewhere.example.org"
HERE, UPSTREAM = "perdure.example.org", "127.0.0.1:8321"


@pytest.mark.parametrize(
    ("headers", "ours"),
    [
        ({"host": HERE}, True),
        ({"host": HERE, "origin": OURS}, True),
        ({"host": HERE, "origin": "http://perdure.example.org"}, True),
        ({"host": UPSTREAM, "origin": "http://127.0.0.1:8321"}, True),
        ({"host": UPSTREAM, "origin": "http://127.0.0.1:8322"}, False),
        ({"host": HERE, "origin": THEIRS}, False),
        ({"host": HERE, "origin": "null"}, False),
        ({"origin": "null"}, False),
        ({"host": HERE, "origin": f"https://elsewhere.example.org/?://{HERE}"}, False),
        ({"host": UPSTREAM, "origin": OURS}, False),
        ({"host": UPSTREAM, "origin": OURS, "sec-fetch-site": "same-origin"}, True),
        ({"host": UPSTREAM, "origin": "null", "sec-fetch-site": "none"}, True),
        ({"host": UPSTREAM, "sec-fetch-site": "same-origin"}, True),
        ({"host": HERE, "origin": OURS, "sec-fetch-site": "same-origin"}, True),
        ({"host": HERE, "origin": OURS, "sec-fetch-site": "cross-site"}, False),
        ({"host": HERE, "origin": OURS, "sec-fetch-site": "same-site"}, False),
        ({"host": HERE, "origin": OURS, "sec-fetch-site": "what comes next"}, False),
        ({"host": HERE, "origin": THEIRS, "sec-fetch-site": "cross-site"}, False),
        ({"host": HERE, "sec-fetch-site": "cross-site"}, False),
    ],
)
def test_a_form_is_ours_by_what_its_browser_says_or_else_by_its_origin(headers: dict[str, str], ours: bool) -> None:
    sent = [(name.encode(), value.encode()) for name, value in headers.items()]
    request = Request({"type": "http", "method": "POST", "path": "/login", "headers": sent})
    if ours:
        require_same_site(request)
    else:
        with pytest.raises(NotPermitted, match="another site"):
            require_same_site(request)


PASSED_ON = dict(re.findall(r"proxy_set_header (\S+) (\S+);", Path("docs/http.md").read_text(encoding="utf-8")))
"""What the documented nginx says of a request, by its variables."""


async def test_the_documented_proxy_lets_people_log_in_and_keeps_the_token_of_this_machine_out(tmp_path: Path) -> None:
    give_tenant_key(tmp_path)
    settings = clean_settings(tmp_path)
    told = {"$host": HERE, "$remote_addr": "203.0.113.7", "$scheme": "https"}
    passed = {name: told[variable] for name, variable in PASSED_ON.items()}
    local = local_token.made(settings).read_text().strip()
    async with Gateway(settings, NOWHERE) as gateway, client_of(settings, gateway) as client:
        ours = await client.post("/login", data={"token": local}, headers={**passed, "Origin": OURS})
        theirs = await client.post("/login", data={"token": local}, headers={**passed, "Origin": THEIRS})
        direct = await client.post("/login", data={"token": local}, headers={"Origin": "http://127.0.0.1"})
    assert (ours.status_code, "does not count for what a proxy passes on" in ours.text) == (401, True)
    assert (theirs.status_code, "comes from another site" in theirs.text) == (403, True)
    assert direct.headers["location"] == "/inbox"
