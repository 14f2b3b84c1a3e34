"""What a browser does with the console, without its scripts: it keeps a cookie, and sends the forms of a page."""

import re
from html import unescape
from typing import Any

import httpx2

from tests.support.http_service import Service


class Browser:
    """What a browser keeps: a cookie, and the page that it shows."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client
        self.text = ""

    @property
    def proof(self) -> str:
        """What the forms of the page that is shown carry."""
        found = re.search(r'name="csrf" value="([0-9a-f]+)"', self.text)
        assert found, self.text
        return found[1]

    async def opens(self, place: str, *, status: int = 200) -> str:
        """Show a page, and return what a person reads there."""
        answer = await self.client.get(place)
        assert answer.status_code == status, answer.text
        self.text = answer.text
        return unescape(answer.text)

    async def sends(self, place: str, *, status: int = 303, **fields: Any) -> httpx2.Response:
        """Send a form of the page that is shown."""
        answer = await self.client.post(place, data={"csrf": self.proof, **fields})
        assert answer.status_code == status, answer.text
        return answer


async def browser_with(service: Service, token: str) -> Browser:
    """Return a browser that has logged in with a token."""
    client = httpx2.AsyncClient(base_url=service.url, timeout=60, trust_env=False, follow_redirects=False)
    answer = await client.post("/login", data={"token": token})
    assert (answer.status_code, answer.headers["location"] != "/login") == (303, True), answer.text
    return Browser(client)
