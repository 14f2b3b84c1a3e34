"""Forms of the console: what no page of ours sent changes nothing, whichever route it is for."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.support.belongings import Belongings, belongings
from tests.support.console_browser import browser_with
from tests.support.http_service import Service
from worker.http.app import ROUTES
from worker.http.console.session import LOGIN

PLACES = sorted(
    one.path for room in ROUTES for one in room.endpoints if one.browser and one.method != "GET" and one.path != LOGIN
)
"""Where forms are sent, as the table of routes says. Whoever logs in has no page of ours yet."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def theirs(service: Service) -> AsyncGenerator[Belongings]:
    async with belongings(service) as one:
        yield one


def test_all_that_changes_something_is_tried() -> None:
    assert {"/logout", "/inbox/{workflow_id}", "/memories/{memory_id}/forget", "/holds/{hold_id}", "/erase"} < {*PLACES}


@pytest.mark.parametrize("path", PLACES)
async def test_a_form_that_no_page_of_ours_sent_changes_nothing(
    theirs: Belongings, service: Service, path: str
) -> None:
    browser, before = theirs.browser, await theirs.standing()
    other = await browser_with(service, service.local)
    await other.opens("/inbox")
    unproved: list[dict[str, str]] = [{}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": "é"}, {"csrf": other.proof}]
    await other.client.aclose()
    for proof in unproved:
        answer = await browser.client.post(theirs.place(path), data=theirs.fields | proof)
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False), proof
        assert "was not sent from this page" in answer.text
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example.org"}):
        proved = theirs.fields | {"csrf": browser.proof}
        answer = await browser.client.post(theirs.place(path), data=proved, headers=headers)
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False), headers
        assert "comes from another site" in answer.text
    assert await theirs.standing() == before
