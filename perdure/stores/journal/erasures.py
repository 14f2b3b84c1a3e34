"""The erasure log next to the journal: a line for each erasure, outside its user's folder. Never compacted."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from perdure.errors import TenantErased
from perdure.stores import disk
from perdure.tolerance import read_back
from perdure.values.erasures import Erasure, highest, require_none_since, require_unchanged
from perdure.values.losses import Store

_FILE = "erasures.jsonl"


class ErasureLog:
    """The erasures that the journal knows of. Every method raises StoreUnavailable when the folder cannot be used.

    Args:
        folder: The journal's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def all(self) -> dict[str, Erasure]:
        """Return the latest erasure of each user."""
        return await disk.in_thread(Store.JOURNAL, self._all)

    async def add(self, erasure: Erasure) -> None:
        """Log an erasure; on return it is on the disk."""

        def write() -> None:
            disk.make_folder(self._folder)
            with disk.locked(self._folder):
                if erasure.follows(self._all().get(erasure.tenant)):
                    disk.append(self._folder / _FILE, erasure.model_dump_json().encode() + b"\n")

        await disk.in_thread(Store.JOURNAL, write)

    def is_newer(self, tenant: str, epoch: int) -> bool:
        """Return whether a user was erased after an epoch; for a thread that may read files."""
        erased = self._all((tenant,)).get(tenant)
        return erased is not None and erased.epoch > epoch

    def require_epoch(self, tenant: str, epoch: int) -> None:
        """Check that a user was not erased after an epoch. It reads the file: call it in a thread.

        Raises:
            TenantErased: They were.
        """
        if self.is_newer(tenant, epoch):
            raise TenantErased("the user's memory was erased after this was accepted")

    def require_none_since(self, asked_at: datetime, tenants: Collection[str]) -> None:
        """Check that none of these users was erased at a moment or later. It reads the file: call it in a thread.

        Raises:
            TenantErased: One was.
        """
        known = self._all(tenants)
        require_none_since(asked_at, [known.get(tenant) for tenant in tenants])

    def require_unchanged(self, known: Mapping[str, Erasure], tenants: Collection[str]) -> None:
        """Check that none of these users was erased since their erasures were read. Call it in a thread, as above.

        Raises:
            ErasedMeanwhile: One was, or is being erased: read again what names them.
        """
        require_unchanged(known, self._all(tenants), tenants)

    def _all(self, tenants: Collection[str] | None = None) -> dict[str, Erasure]:
        path, found = self._folder / _FILE, list[Erasure]()
        names = None if tenants is None else [tenant.encode() for tenant in tenants]
        for line in path.read_bytes().splitlines() if path.exists() else ():
            if names is not None and not any(name in line for name in names):
                continue
            # A line that a crash left half written was never acknowledged.
            with suppress(ValidationError):
                found.append(read_back(Erasure, line))
        return highest(found)
