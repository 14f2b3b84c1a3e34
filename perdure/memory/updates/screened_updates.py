"""Removes private data and secrets from a change, before it is sent and again before it is made. Pure."""

from typing import TypeVar

from pydantic import JsonValue

from perdure.errors import InvalidInput
from perdure.memory.extraction.findings.remainder import says_something
from perdure.memory.extraction.private import redacted, screened_json
from perdure.memory.write_policies import WritePolicy
from perdure.values.entries import MARKER
from perdure.values.updates import Correction, MemoryUpdate

U = TypeVar("U", bound=MemoryUpdate)

_DESCRIBING = ("names", "relations", "tags", "scopes")
"""The fields of a correction, besides its text, that may hold anything."""


def screened_update(request: U, policy: WritePolicy) -> U:
    """Return a change as it may be made.

    Raises:
        InvalidInput: The policy refuses what holds private data, or without them nothing is left to say; or a field is
            too long once they are replaced.
    """
    note = _clean(request.note, policy, "note")
    update = request.update
    if isinstance(update, Correction):
        update = _corrected(update, policy)
    return redacted(request, {"update": update, "note": note})


def _corrected(update: Correction, policy: WritePolicy) -> Correction:
    given = update.model_dump(mode="json", include=set(_DESCRIBING), exclude_none=True)
    clean = screened_json(given, policy, "")
    # By field: what is not given stays as it is, and is not said to be given.
    changed = {name: clean[name] for name in given if clean[name] != given[name]} if isinstance(clean, dict) else {}
    if update.asked:
        changed["asked"] = _clean(update.asked, policy, "asked")
    if update.content is not None:
        changed["content"] = screened_text(update.content, policy, "content")
    return redacted(update, changed)


def screened_text(text: str, policy: WritePolicy, field: str) -> str:
    """Return what a memory is to say, as it may be kept.

    Raises:
        InvalidInput: The policy refuses what holds private data, or without them nothing is left to say.
    """
    if MARKER in text:
        raise InvalidInput(field, f"carries {MARKER}", fix="recalled records are not remembered again")
    clean = _clean(text, policy, field)
    if not clean.strip() or ("[" in clean and not says_something(clean)):
        raise InvalidInput(field, "is empty, or says nothing but private data or secrets, which are not kept")
    return clean


def _clean(text: str, policy: WritePolicy, field: str) -> str:
    written: JsonValue = {"content": text}
    clean = screened_json(written, policy, field)
    return str(clean["content"]) if isinstance(clean, dict) else text
