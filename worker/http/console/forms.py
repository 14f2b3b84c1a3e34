"""What a person sent with a form."""

from collections.abc import Mapping
from urllib.parse import parse_qs

from fastapi import Request

from perdure.refusals import RequestRefused
from worker.http.console.session import FIELD, require_own

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


def form_of(request: Request) -> Form:
    """Return the form that was sent, whoever sent it.

    Raises:
        RequestRefused: It is none, or has too many fields.
    """
    body: bytes = getattr(request.state, "body", b"")
    try:
        found = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise RequestRefused("the form cannot be read") from error
    return Form({name: values[0] for name, values in found.items()})


def own_form(request: Request) -> Form:
    """Return the form that was sent from a page of ours; see ``form_of``.

    Raises:
        NotPermitted: It comes from somewhere else.
    """
    form = form_of(request)
    require_own(request, form.text(FIELD))
    return form
