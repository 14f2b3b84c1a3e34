"""What a person sent with a form, and the one place where a form that no page of ours sent is turned away."""

from collections.abc import Mapping
from urllib.parse import parse_qs

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from perdure.errors import PerdureError
from perdure.refusals import RequestRefused
from worker.http.console.pages import problem_page
from worker.http.console.session import FIELD, LOGIN, require_own, require_same_site

_MOST_FIELDS = 50
"""Fields of one form; none of ours has a third of them."""


class Form:
    """The fields of a form, each a text.

    Args:
        fields: By name.
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = fields

    def text(self, name: str) -> str:
        """Return a field; empty: it was not sent."""
        return self._fields.get(name, "")

    def line_text(self, name: str) -> str:
        """Return a field of several lines, which forms end in their own way."""
        return self.text(name).replace("\r\n", "\n")

    def has(self, name: str) -> bool:
        """Return whether a field was sent with something in it, as a box that was ticked is."""
        return bool(self._fields.get(name))


class OwnForms:
    """Passes a form on only if a page of ours sent it, so that no route has to see to that.

    Args:
        app: The application, behind what reads bodies.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        if scope["type"] == "http" and scope["method"] != "GET" and scope["state"].get("form", False):
            request = Request(scope, receive)
            try:
                _require_ours(request)
            except PerdureError as error:
                await problem_page(request, error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _require_ours(request: Request) -> None:
    # Whoever logs in has no cookie yet of which the form could carry a digest.
    if request.scope["path"] == LOGIN:
        require_same_site(request)
    else:
        require_own(request, form_of(request).text(FIELD))


def form_of(request: Request) -> Form:
    """Return the form that was sent.

    Raises:
        RequestRefused: It is none, or has too many fields.
    """
    body: bytes = getattr(request.state, "body", b"")
    try:
        found = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise RequestRefused("the form cannot be read") from error
    return Form({name: values[0] for name, values in found.items()})
