"""The tenant key: the one secret that turns user ids into tenants. Never writes over a key that is there."""

import secrets
from pathlib import Path

from perdure.errors import InvalidInput, StoreUnavailable, TenantKeyMismatch, TenantKeyMissing
from perdure.identity import derived_key, digest, installation_tenant_id, owner_tenant_id, tenant_id
from perdure.stores.disk import create_once

KEY_BYTES = 32


class TenantKey:
    """The key of one installation. Without it, nobody's memories can be found.

    Args:
        secret: Its 32 random bytes.
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) != KEY_BYTES:
            raise InvalidInput(
                "tenant_key", f"has {len(secret)} bytes, not {KEY_BYTES}", fix="restore it from a backup"
            )
        self._secret = secret

    def __repr__(self) -> str:
        return f"TenantKey({self.fingerprint})"

    @classmethod
    def load(cls, path: Path) -> "TenantKey":
        """Read the key from its file.

        Raises:
            InvalidInput: When what is there is not a key.
            TenantKeyMissing: There is no such file, or it cannot be read.
        """
        try:
            return cls(path.read_bytes())
        except InvalidInput as error:
            raise InvalidInput(error.field, f"{path} {error.problem}", fix=error.fix) from None
        except OSError as error:
            fix = "start a worker with this data folder (perdure up), or copy the key of the installation there"
            raise TenantKeyMissing(f"{path} cannot be read: {error.strerror}; {fix}") from error

    @classmethod
    def load_or_create(cls, path: Path) -> "TenantKey":
        """Read the key, or make it if there is none yet.

        Of two processes that start at once, one makes the key and both use it. A crash leaves either
        no key or a whole one: the file appears under its name only when it is on the disk.
        """
        if not path.exists():
            try:
                create_once(path, secrets.token_bytes(KEY_BYTES))
            except OSError as error:
                raise StoreUnavailable("tenant key", f"{path} cannot be made: {error.strerror}") from error
        return cls.load(path)

    @property
    def fingerprint(self) -> str:
        """What can be stored and shown to tell one key from another, and gives nothing of it away."""
        return digest("tenant-key/1", self._secret.hex())[:16]

    def derived(self, label: str) -> bytes:
        """Return a key for one purpose, which gives nothing away of this one or of those for others."""
        return derived_key(self._secret, label)

    def tenant_of(self, user_id: str) -> str:
        """Return the tenant of a user."""
        return tenant_id(self._secret, user_id)

    def tenant_of_owner(self, owner: str) -> str:
        """Return the tenant of a team or an agent."""
        return owner_tenant_id(self._secret, owner)

    @property
    def tenant_of_installation(self) -> str:
        """The tenant of the lessons that count for all users."""
        return installation_tenant_id(self._secret)

    def require(self, fingerprint: str) -> None:
        """Check that this is the key that some stored data was written under.

        Raises:
            TenantKeyMismatch: When it is another one.
        """
        if fingerprint != self.fingerprint:
            raise TenantKeyMismatch(
                f"the data was written under the tenant key {fingerprint}, the key here is {self.fingerprint}: "
                "restore the key that belongs to the data"
            )
