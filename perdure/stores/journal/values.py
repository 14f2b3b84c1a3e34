"""Large values of tasks in the journal's folder: what Redis loses of them is read here. Decides nothing.

``<tenant>/values/<name>.json`` is there whole or not at all. A name is whose the value is and, after the last dot, the
value's digest. Its age counts from when it was last kept or touched.
"""

import hashlib
import os
import secrets
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from perdure.errors import StoreLost, TenantErased
from perdure.stores import disk
from perdure.stores.journal.erasures import ErasureLog
from perdure.stores.journal.marks import known_id
from perdure.values.losses import Store

_VALUES = "values"
_SUFFIX = ".json"


class ValueFiles:
    """The values of all tenants. Every method raises StoreUnavailable when the folder cannot be used.

    Args:
        folder: The journal's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._erasures = ErasureLog(folder)

    async def keep(self, tenant: str, name: str, content: bytes, *, epoch: int | None = None) -> None:
        """Write a value, if it is not there; on return it is on the disk.

        Args:
            tenant: Whose value it is.
            name: Its name.
            content: The value.
            epoch: The tenant's epoch that it was begun under; None: not known.

        Raises:
            TenantErased: The user was erased since.
            StoreLost: The folder does not hold the journal: it is not mounted, say.
        """
        await disk.in_thread(Store.JOURNAL, lambda: self._keep(tenant, name, content, epoch))

    async def read(self, tenant: str, name: str) -> bytes | None:
        """Return a value; None where it is not there, or no longer what was written.

        Raises:
            StoreLost: It is not there, and neither is the journal.
        """
        path = self._path(tenant, name)

        def read() -> bytes | None:
            if not path.exists():
                self._require_journal()
                return None
            content = path.read_bytes()
            return content if hashlib.sha256(content).hexdigest() == name.rpartition(".")[2] else None

        return await disk.in_thread(Store.JOURNAL, read)

    async def tenants(self) -> list[str]:
        """Return the tenants that have values."""
        return await disk.in_thread(
            Store.JOURNAL, lambda: sorted(path.parent.name for path in self._folder.glob(f"*/{_VALUES}"))
        )

    async def older(self, tenant: str, seconds: float) -> list[str]:
        """Return the names of the values that are older than this; of a tenant that is erased meanwhile, none."""
        found = await disk.in_thread(Store.JOURNAL, lambda: self._older(tenant, seconds))
        return [path.name.removesuffix(_SUFFIX) for path in found if path.name.endswith(_SUFFIX)]

    async def touch(self, tenant: str, names: Collection[str]) -> None:
        """Count the age of values from now."""

        def touch() -> None:
            for name in names:
                with suppress(FileNotFoundError):
                    os.utime(self._path(tenant, name))

        await disk.in_thread(Store.JOURNAL, touch)

    async def remove_older(self, tenant: str, seconds: float) -> None:
        """Remove the values that are older than this, and what a crash left of one half written."""

        def remove() -> None:
            with suppress(FileNotFoundError), disk.locked(self._of(tenant)):
                for path in self._older(tenant, seconds):
                    path.unlink(missing_ok=True)

        await disk.in_thread(Store.JOURNAL, remove)

    def _keep(self, tenant: str, name: str, content: bytes, epoch: int | None) -> None:
        self._require_journal()
        # An erasure is logged under this lock before it removes anything: it finds the file, or the file is refused.
        with disk.locked(self._folder, shared=True):
            if epoch is not None and self._erasures.is_newer(tenant, epoch):
                raise TenantErased("the user was erased after this began")
            self._write(tenant, name, content)

    def _write(self, tenant: str, name: str, content: bytes) -> None:
        path = self._path(tenant, name)
        for folder in (path.parent.parent, path.parent):
            disk.make_folder(folder)
        # What is kept again while old values are removed stays.
        with disk.locked(path.parent, shared=True):
            if path.exists() and path.stat().st_size == len(content):
                os.utime(path)
            else:
                disk.replace(path, content, path.with_name(f".{name}.{secrets.token_hex(8)}"))

    def _require_journal(self) -> None:
        if known_id(self._folder) is None:
            raise StoreLost(Store.JOURNAL, f"{self._folder} does not hold it: mount it, or restore its backup")

    def _older(self, tenant: str, seconds: float) -> list[Path]:
        before, folder, found = time.time() - seconds, self._of(tenant), list[Path]()
        with suppress(FileNotFoundError):
            found.extend(path for path in folder.iterdir() if path.name != disk.LOCK and path.stat().st_mtime < before)
        return found

    def _path(self, tenant: str, name: str) -> Path:
        return self._of(tenant) / f"{name}{_SUFFIX}"

    def _of(self, tenant: str) -> Path:
        return self._folder / tenant / _VALUES
