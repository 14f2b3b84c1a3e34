"""Who may come in to a service, and what a token lets them do. Pure; never reads a store or a clock."""

import hashlib
import hmac
import secrets
from typing import Annotated

from pydantic import Field

from perdure.errors import InvalidInput
from perdure.identity import UserId, normal_user
from perdure.model import Instant, Model, Name, OpenEnum, Request, Stored
from perdure.refusals import NotPermitted, UnknownThing
from perdure.values.changes import PROGRAM, Actor, ActorKind

PREFIX = "perdure"
"""What a token's text begins with, so that scanners of repositories recognise one."""

_SECRET_BYTES = 32

_LONGEST = 200
"""Characters of a text that may be a token; one has 64."""


class TokenScope(OpenEnum):
    """What a token permits. An unknown scope permits nothing."""

    READ = "read"
    """Recall, and look at memories and skills."""
    WRITE = "write"
    """Remember, correct, pin and forget memories, and decide on those on hold."""
    TASKS = "tasks"
    """Start tasks, follow, steer and cancel them, answer their questions."""
    OPERATE = "operate"
    """See the state of the installation, and its metrics."""
    ERASE = "erase"
    """Erase all that is kept of a user; forget what the rules no longer keep, and undo that."""


class AccessToken(Stored):
    """A token as it is kept: without its secret, of which the digest alone is known."""

    id: Name
    name: Name
    """What its holder is called, in the audit too."""
    digest: str
    scopes: tuple[TokenScope, ...]
    user_id: UserId | None = None
    """The one user whose memory and tasks it reaches; None: everybody's."""
    person: bool = False
    """Whether a person holds it: only people answer questions."""
    created_at: Instant
    created_by: Actor = PROGRAM
    expires_at: Instant | None = None
    """From when on it no longer counts; None: until it is revoked."""

    def is_expired(self, at: Instant) -> bool:
        """Return whether it no longer counts at a moment."""
        return self.expires_at is not None and self.expires_at <= at


class TokenRequest(Request):
    """A token that is to be made.

    >>> TokenRequest(name="billing", scopes=(TokenScope.READ,), user_id="ada").person
    False
    """

    name: Name
    scopes: Annotated[tuple[TokenScope, ...], Field(min_length=1, max_length=20)]
    user_id: UserId | None = None
    person: bool = False
    expires_at: Instant | None = None


class NewToken(Model):
    """A token that was just made: the only time that its text is seen."""

    text: str
    token: AccessToken


class Caller(Model):
    """Who asks a service: whom a token that counts stands for, and what it permits."""

    token: str
    """Identifies the token in the audit; no secret."""
    actor: Actor
    scopes: frozenset[TokenScope]
    user_id: UserId | None = None
    """The one user for whom it may ask; None: for anybody."""
    expires_at: Instant | None = None

    def require(self, scope: TokenScope) -> None:
        """Check that the token permits something.

        Raises:
            NotPermitted: It does not.
        """
        if scope not in self.scopes:
            raise NotPermitted(
                f"the token lacks the scope {scope.value!r} (perdure tokens create --scope {scope.value})"
            )

    def require_person(self) -> None:
        """Check that a person holds the token.

        Raises:
            NotPermitted: A program does.
        """
        if self.actor.kind is not ActorKind.PERSON:
            raise NotPermitted(
                "only people may do this, and no person holds the token (perdure tokens create --person)"
            )

    def user(self, given: str | None) -> str:
        """Return the user for whom is asked.

        Args:
            given: The user that the request names; None or empty: it names nobody.

        Raises:
            InvalidInput: It names nobody, and the token is for anybody; or it names what cannot be a user.
            UnknownThing: The token is another user's; what it asks for counts as nonexistent.
        """
        if self.user_id is None:
            if not given:
                raise InvalidInput("user_id", "is missing", fix="name the user: this token is for any user")
            return normal_user(given)
        if given and given != self.user_id:
            raise UnknownThing("user_id", "there is no such user")
        return self.user_id


def new_token(request: TokenRequest, at: Instant, by: Actor) -> NewToken:
    """Return a new token, with a secret that nobody can guess.

    Raises:
        InvalidInput: A scope is unknown, or its end has passed.
    """
    if unknown := next((one for one in request.scopes if not one.known), None):
        fix = f"there are: {', '.join(TokenScope)}"
        raise InvalidInput("scopes", f"{unknown.value!r} is not a scope", fix=fix)
    if request.expires_at is not None and request.expires_at <= at:
        raise InvalidInput("expires_at", "has passed", fix="give a moment that is still to come")
    identifier, secret = secrets.token_hex(6), secrets.token_hex(_SECRET_BYTES)
    kept = AccessToken(
        id=identifier,
        name=request.name,
        digest=digest_of(secret),
        scopes=tuple(dict.fromkeys(request.scopes)),
        user_id=request.user_id,
        person=request.person,
        created_at=at,
        created_by=by,
        expires_at=request.expires_at,
    )
    return NewToken(text=f"{PREFIX}_{identifier}_{secret}", token=kept)


def parts_of(text: str) -> tuple[str, str] | None:
    """Return the id and the secret that a token's text consists of; None: it is no such text."""
    parts = text.split("_") if len(text) <= _LONGEST and text.isascii() else []
    return (parts[1], parts[2]) if len(parts) == 3 and parts[0] == PREFIX and all(parts) else None


def digest_of(secret: str) -> str:
    """Return what is kept of a secret. It is 256 random bits, so that a plain hash gives nothing away."""
    return hashlib.sha256(secret.encode()).hexdigest()


def caller_of(token: AccessToken, secret: str, at: Instant) -> Caller | None:
    """Return whom a kept token stands for; None: the secret is another one, or the token has expired."""
    if not hmac.compare_digest(token.digest, digest_of(secret)) or token.is_expired(at):
        return None
    return Caller(
        token=token.id,
        actor=acting(token.name, token.user_id, person=token.person),
        scopes=frozenset(one for one in token.scopes if one.known),
        user_id=token.user_id,
        expires_at=token.expires_at,
    )


def acting(name: str, user_id: str | None, *, person: bool) -> Actor:
    """Return who acts by a token: its user, where it is a person's own; otherwise whom it is named after."""
    if person:
        return Actor(kind=ActorKind.PERSON, id=user_id or name)
    return Actor(kind=ActorKind.AGENT, id=name)
