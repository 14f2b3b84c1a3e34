"""Ids: what makes two things the same thing. Pure; never reads a clock, a file or a random number.

Every id is the sha256 of a version tag and its parts, each in RFC 8785 canonical JSON with text in
Unicode NFC. Canonical JSON quotes its strings, so ``("a", "bc")`` and ``("ab", "c")`` differ.
"""

import hashlib
import hmac
import json
import re
import unicodedata
import uuid
from functools import lru_cache
from typing import Annotated, Any, cast

import rfc8785
from pydantic import AfterValidator, Field, JsonValue, TypeAdapter, ValidationError

from perdure.errors import InvalidInput
from perdure.model import spelled

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "perdure")
_OWNERS = ("team:", "agent:")

_PRIVATE = "private-"
_STAND_IN = re.compile(rf"{_PRIVATE}[0-9a-f]{{24}}")

_MAX_SAFE_INTEGER = 2**53 - 1
"""RFC 8785 numbers are IEEE doubles: beyond this, not every integer would survive a round trip."""


def canonical_json(value: JsonValue) -> bytes:
    """Encode a value so that equal values give equal bytes.

    Args:
        value: Anything that JSON can hold.

    Returns:
        UTF-8 bytes in the form of RFC 8785, with all text in Unicode NFC.

    Raises:
        InvalidInput: For what JSON cannot hold exactly: NaN, infinities, integers that no double holds,
            lone surrogates, and keys that become the same key in NFC.
    """
    try:
        return rfc8785.dumps(cast("Any", _normalised(value, "value")))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise InvalidInput("value", f"is not JSON: {error}") from error


def _normalised(value: JsonValue, path: str) -> JsonValue:
    match value:
        case str():
            return unicodedata.normalize("NFC", value)
        case bool():
            return value
        case int() if abs(value) > _MAX_SAFE_INTEGER:
            if not _is_a_double(value):
                raise InvalidInput(path, f"{value} is too large for JSON", fix="write it as a string")
            return float(value)
        case list():
            return [_normalised(item, f"{path}[{index}]") for index, item in enumerate(value)]
        case dict():
            normal = {
                unicodedata.normalize("NFC", key): _normalised(item, f"{path}.{key}") for key, item in value.items()
            }
            if len(normal) != len(value):
                raise InvalidInput(path, "has two keys that are the same in Unicode NFC")
            return normal
        case _:
            return value


def _is_a_double(value: int) -> bool:
    """Return whether this integer is RFC 8785's spelling of a double, i.e. a float that came back from JSON."""
    try:
        return rfc8785.dumps(float(value)) == str(value).encode()
    except (OverflowError, rfc8785.CanonicalizationError):
        return False


def digest(tag: str, *parts: JsonValue) -> str:
    """Return the sha256, in hex, of a tag and its parts.

    Args:
        tag: What kind of id this is, with its version: ``record/1``.
        *parts: The full identity, in a fixed order.
    """
    return hashlib.sha256(canonical_json([tag, *parts])).hexdigest()


def normal_user(user_id: str) -> str:
    """Return a user's id.

    Raises:
        InvalidInput: It is not in Unicode NFC, so that it would share a tenant with the id that is; it has a control
            character; or it begins as the name of a team's or an agent's memory does.
    """
    normal = unicodedata.normalize("NFC", user_id)
    if normal != user_id:
        # What differs between the two may look the same.
        raise InvalidInput("user_id", f"{user_id!a} is not in Unicode NFC", fix=f"write {normal!r}")
    if unseen := next((one for one in user_id if unicodedata.category(one) == "Cc"), ""):
        raise InvalidInput("user_id", f"has the control character U+{ord(unseen):04X}", fix="leave it out")
    if begins := next((kind for kind in _OWNERS if user_id.startswith(kind)), ""):
        problem = f"{user_id[:80]!r} begins with {begins!r}, which names the memory of a team or an agent, and no user"
        raise InvalidInput("user_id", problem, fix="give the user who asks, and name whose memory it is with 'of'")
    return user_id


def _normal(user_id: str) -> str:
    try:
        return normal_user(user_id)
    except InvalidInput as error:
        raise ValueError(f"{error.problem} ({error.fix})") from error


UserId = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_normal)]
"""The id by which the caller knows a user, in Unicode NFC; it is kept out of ids, keys and labels."""

OwnerId = Annotated[
    str,
    Field(examples=["team:ops"]),
    spelled(
        r"(team|agent):[A-Za-z0-9][A-Za-z0-9._-]{0,79}",
        "team or agent",
        "write team:NAME or agent:NAME; NAME: letters, digits, '.', '_', '-'; start with a letter or digit; at most 80",
    ),
]
"""The owner of a memory that is not a user's own: a team or an agent. It is ASCII, and so in Unicode NFC."""

_owner: TypeAdapter[str] = TypeAdapter(OwnerId)


def content_digest(value: JsonValue) -> str:
    """Return a digest that distinguishes one content from another; it is only compared, and is not an id.

    It takes every value that steps can pass on, including integers that canonical JSON refuses.
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def idempotency_key(tenant: str, task_id: str, path: str) -> str:
    """Return the key of a step's effect. It holds no run, so it survives retry, reset and continue-as-new."""
    return digest("effect/1", tenant, task_id, path)


def tenant_id(key: bytes, user_id: str) -> str:
    """Return the tenant of a user: an HMAC that nobody without the key can link to the user.

    Args:
        key: The installation's tenant key, 32 bytes.
        user_id: The id by which the caller knows the user.

    Raises:
        InvalidInput: The id is not in Unicode NFC.
    """
    return _tenant(key, "tenant/1", normal_user(user_id))


def author_id(owner: str, member: str) -> str:
    """Return what stands for a member in the memories of a team or an agent.

    A member has another one with each owner, so that nothing that is kept of their statements leads to their tenant.

    Args:
        owner: The owner's tenant.
        member: The member's.
    """
    return f"author_{digest('author/1', owner, member)[:24]}"


def is_author_id(identifier: str) -> bool:
    """Return whether an id has the form of one that stands for a member."""
    return re.fullmatch(r"author_[0-9a-f]{24}", identifier) is not None


def owner_tenant_id(key: bytes, owner: str) -> str:
    """Return the tenant of a team or an agent, which no user id can produce.

    Args:
        key: The installation's tenant key, 32 bytes.
        owner: ``team:NAME`` or ``agent:NAME``.

    Raises:
        InvalidInput: It is neither.
    """
    try:
        return _tenant(key, "owner/1", _owner.validate_python(owner))
    except ValidationError as error:
        message = error.errors()[0]["msg"]
        raise InvalidInput("of", message.removeprefix("Value error, ")) from None


def installation_tenant_id(key: bytes) -> str:
    """Return the tenant of what counts for all users of an installation, which no user or owner can produce."""
    return _tenant(key, "installation/1", "lessons")


def _tenant(key: bytes, tag: str, name: str) -> str:
    return f"t_{hmac.new(key, canonical_json([tag, name]), hashlib.sha256).hexdigest()[:40]}"


def derived_key(key: bytes, label: str) -> bytes:
    """Return a key that is derived from another one: one block of HKDF-Expand, as the other is random already.

    Args:
        key: 32 random bytes.
        label: What the key is for, with its version.
    """
    return hmac.new(key, canonical_json(["derived-key/1", label]) + b"\x01", hashlib.sha256).digest()


def record_id(tenant: str, lane: str, key: str, payload: JsonValue) -> str:
    """Return the id of an execution record. It is its content, so the same record written twice is one record."""
    return f"exec_{digest('record/1', tenant, lane, key, payload)}"


@lru_cache(maxsize=4_096)
def session_digest(session: str) -> str:
    """Return what stands for a session in keys, in the audit and in names of jobs, where its own name does not.

    A session's stand-in has the same one as its name.
    """
    if _STAND_IN.fullmatch(session):
        return session.removeprefix(_PRIVATE)
    return digest("session/1", session)[:24]


def stand_in(name: str) -> str:
    """Return what is kept instead of the name of a session, an observation or a request that must not be kept itself.

    Equal names have the same one, and a stand-in stands for itself, so it can be compared and shown.

    >>> stand_in(stand_in("ada.byron@analytical.example")) == stand_in("ada.byron@analytical.example")
    True
    """
    return f"{_PRIVATE}{session_digest(name)}"


def turn_id(tenant: str, session: str, position: int, speaker: str, content: str) -> str:
    """Return the id of a turn. It is its place and its content, so a turn that comes again is the same one."""
    return f"turn_{digest('turn/1', tenant, session, position, speaker, content)}"


def memory_id(tenant: str, memory_type: str, content: str) -> str:
    """Return the id of a memory, made of its user, type and words."""
    return f"mem_{digest('memory/1', tenant, memory_type, content)}"


SHORT_ID = 12
"""Characters of a memory's id that a model sees: ``mem_`` and 8 digits. Of 10,000 memories of one user, the
probability that any two share them is 1 %; a correction that names such an id is refused as ambiguous."""


def short_id(identifier: str) -> str:
    """Return the beginning of a memory's id, which is enough to name it among those of its user."""
    return identifier[:SHORT_ID]


def occurrence_id(tenant: str, origin: str, source: str) -> str:
    """Return the id of one observation.

    Args:
        tenant: Whose observation it is.
        origin: What kind of place it came from: ``step``, ``turn`` or ``caller``.
        source: The place itself: a task and step, a turn's id, or the caller's own key.
    """
    return f"occ_{digest('occurrence/1', tenant, origin, source)}"


def object_uuid(tenant: str, identifier: str) -> str:
    """Return the id under which Weaviate keeps a record or memory: uuid5 over the full identity."""
    return str(uuid.uuid5(_NAMESPACE, canonical_json([tenant, identifier]).decode()))


def workflow_id(user_id: str, task_id: str) -> str:
    """Return the id of a task's workflow: readable, and distinct for each user without containing the user id.

    Its suffix is a plain hash, since a caller has no tenant key: somebody who guesses both the user id and the task id
    can confirm the guess.
    """
    return f"task-{task_id}-{digest('workflow/1', user_id, task_id)[:12]}"
