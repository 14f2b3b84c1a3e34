"""The audit as a person looks at it: verified, shown, old parts of it removed. Needs the tenant key."""

import contextlib
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime, timedelta

from perdure.errors import InvalidInput, StoreUnavailable
from perdure.memory.audit.audit import Audit
from perdure.memory.audit.reader import removable, shown, verified
from perdure.memory.audit.verification import AuditReport
from perdure.memory.membership import members_of
from perdure.settings import Addresses, Settings
from perdure.stores import disk
from perdure.stores.audit import files
from perdure.stores.audit.chain import LABEL
from perdure.stores.audit.files import FOLDER
from perdure.stores.audit.lines import AuditHead, AuditLine
from perdure.stores.journal.log import Journal
from perdure.stores.redis.audit_heads import AuditHeads
from perdure.stores.redis.connection import connect
from perdure.stores.redis.installation import Installation
from perdure.stores.tenant_key import TenantKey
from perdure.values.changes import Actor

_STORE = "audit"

LEAST_DAYS = 30
"""Files with younger lines stay; a choice."""

MOST_DAYS = 36_500
"""A choice: no audit is older, and the moment that lies so many days back has to be a date."""


async def verify(settings: Settings, addresses: Addresses | None) -> AuditReport:
    """Verify the audit.

    Args:
        settings: Where the journal's folder and the tenant key are.
        addresses: Where Redis is, which knows how far the chains came; None: it does not run.

    Raises:
        TenantKeyMissing: The key is not here.
        StoreUnavailable: The files cannot be read.
    """
    key = TenantKey.load(settings.tenant_key_file).derived(LABEL)
    known: list[AuditHead] | None = None
    if addresses is not None:
        with contextlib.suppress(StoreUnavailable):
            known = await _known(addresses)
    return await disk.in_thread(_STORE, lambda: verified(settings.journal_folder / FOLDER, key, known))


async def show(settings: Settings, user_id: str, of: str | None, since: datetime | None, by: Actor) -> list[AuditLine]:
    """Return who wrote, changed or read a user's or an owner's memories, when and why, in the order of their times.

    Of neither, what concerns the installation: who administered it, and who came in with a token for all users.

    A line holds a person's tenant. The user, the owner's members and the one who asks are named; of anybody else, and
    of who was erased, only the tenant is known.

    Anyone with the tenant key is an administrator, so no membership is checked.

    Raises:
        TenantKeyMissing: The key is not here.
        StoreUnavailable: The files cannot be read.
    """
    key = TenantKey.load(settings.tenant_key_file)
    folder, tenant = settings.journal_folder / FOLDER, key.tenant_of_installation
    if user_id.strip() or of:
        tenant = key.tenant_of_owner(of) if of else key.tenant_of(user_id)
    lines = await disk.in_thread(_STORE, lambda: shown(folder, key.derived(LABEL), tenant, since))
    members = members_of(await Journal(settings.journal_folder).read(tenant)) if of else {}
    names = {one.member: one.user_id for one in members.values() if one.user_id}
    for known in (user_id, by.id):
        with contextlib.suppress(InvalidInput):
            names[key.tenant_of(known)] = known
    return [_naming(line, names) for line in lines]


async def remove(settings: Settings, addresses: Addresses, days: int, by: Actor) -> list[str]:
    """Remove the files of which every line is older than some days; returns their names.

    Another chain records that first, so that it can be distinguished from tampering.

    Raises:
        InvalidInput: ``days`` is too small or too large.
        TenantKeyMissing: The key is not here.
        StoreUnavailable: Redis does not answer, or the files cannot be read or written.
    """
    if days < LEAST_DAYS:
        raise InvalidInput("older", f"{days} days are too few", fix=f"keep {LEAST_DAYS} days at least")
    if days > MOST_DAYS:
        raise InvalidInput("older", f"{days} days are too many", fix=f"give {MOST_DAYS} days at most")
    key, folder = TenantKey.load(settings.tenant_key_file), settings.journal_folder / FOLDER
    known = await _known(addresses)
    before = datetime.now(UTC) - timedelta(days=days)
    removal = await disk.in_thread(_STORE, lambda: removable(folder, key.derived(LABEL), known, before))
    if removal.files:
        async with writing(settings, addresses, key) as (audit, heads):
            await audit.removing(removal, by)
            await disk.in_thread(_STORE, lambda: files.remove(folder, removal.files))
            await heads.forget(removal.files)
    return list(removal.files)


async def accept(settings: Settings, addresses: Addresses, by: Actor) -> list[str]:
    """Record that a person accepts that what is missing now is lost; returns the files.

    It is still shown, but no longer as a problem. Changed lines cannot be accepted, nor can later losses.

    Raises:
        TenantKeyMissing: The key is not here.
        StoreUnavailable: Redis does not answer, or the files cannot be read or written.
    """
    key, folder = TenantKey.load(settings.tenant_key_file), settings.journal_folder / FOLDER
    known = await _known(addresses)
    found = await disk.in_thread(_STORE, lambda: verified(folder, key.derived(LABEL), known))
    if found.missing:
        async with writing(settings, addresses, key) as (audit, _):
            await audit.accepting(list(found.missing.values()), by)
    return sorted(found.missing)


@contextlib.asynccontextmanager
async def writing(settings: Settings, addresses: Addresses, key: TenantKey) -> AsyncGenerator[tuple[Audit, AuditHeads]]:
    """Begin a chain of this process's own, which ends with the block.

    Raises:
        TenantKeyMismatch: The installation has another key: no later check could read what is written under this one.
        StoreUnavailable: Redis does not answer.
    """
    async with contextlib.aclosing(connect(addresses.redis_url)) as redis:
        await Installation(redis).require(key)
        heads = AuditHeads(redis)
        audit = Audit(settings.journal_folder / FOLDER, key, heads)
        try:
            yield audit, heads
        finally:
            await audit.close()


def _naming(line: AuditLine, names: Mapping[str, str]) -> AuditLine:
    by = line.by
    return line if by is None or by.id not in names else line.changed(by=by.changed(id=names[by.id]))


async def _known(addresses: Addresses) -> list[AuditHead]:
    async with contextlib.aclosing(connect(addresses.redis_url)) as redis:
        return [one.head for one in await AuditHeads(redis).all()]
