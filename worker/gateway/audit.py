"""What can be asked about the audit. Needs the tenant key in this process; some of it no server."""

from datetime import datetime
from typing import TYPE_CHECKING

import localservers
from perdure.errors import InvalidInput
from perdure.values.changes import Actor
from worker.gateway.base import Base, call

if TYPE_CHECKING:
    from perdure.memory.audit.verification import AuditReport
    from perdure.stores.audit.lines import AuditLine


class AuditCalls(Base):
    """Viewing the audit, and removing old parts of it. Anyone with the tenant key is an administrator, not refused."""

    @call
    async def audit(
        self,
        user_id: str = "",
        *,
        of: str | None = None,
        installation: bool = False,
        since: datetime | None = None,
        by: Actor,
    ) -> "list[AuditLine]":
        """Return who wrote, changed or read the memories of a user or an owner, when and why, the oldest first.

        Args:
            user_id: The user.
            of: Or the team or agent.
            installation: Or what concerns the installation: who administered it, and who came in with a token that is
                for all users.
            since: Only what happened then or later.
            by: Who asks.

        Raises:
            InvalidInput: Not one of the three is given, or several are; or the moment has no time zone.
            TenantKeyMissing: This process has no tenant key.
            StoreUnavailable: The files cannot be read.
        """
        from worker import audits  # noqa: PLC0415  it loads Redis's client

        if (given := bool(user_id.strip()) + bool(of) + installation) != 1:
            problem = "is given with something else" if given else "is missing, and all others too"
            raise InvalidInput("user", problem, fix="give either a user, a team or an agent, or the installation")
        if since is not None and since.tzinfo is None:
            raise InvalidInput("since", "has no time zone", fix="give one: datetime.now(UTC)")
        return await audits.show(self._settings, user_id, of, since, by)

    @call
    async def verify_audit(self, *, by: Actor) -> "AuditReport":
        """Return whether a line of the audit is missing or was changed.

        Where no server runs, what only Redis knows (how far each chain came) is not compared.

        Raises:
            TenantKeyMissing: This process has no tenant key.
            StoreUnavailable: The files cannot be read.
        """
        from worker import audits  # noqa: PLC0415  it loads Redis's client

        return await audits.verify(self._settings, self._given or localservers.running(self._settings))

    @call
    async def remove_audit(self, days: int, *, by: Actor) -> list[str]:
        """Remove the files of the audit whose lines are all older than some days; returns their names.

        Raises:
            InvalidInput: The number of days is too small.
            TenantKeyMissing: This process has no tenant key.
            StoreUnavailable: Redis does not answer, or the files cannot be read or written.
        """
        from worker import audits  # noqa: PLC0415  it loads Redis's client

        return await audits.remove(self._settings, self._addresses, days, by)

    @call
    async def accept_audit_losses(self, *, by: Actor) -> list[str]:
        """Accept that what is missing now is lost, so that it is no longer a problem; returns the files.

        Raises:
            TenantKeyMissing: This process has no tenant key.
            StoreUnavailable: Redis does not answer, or the files cannot be read or written.
        """
        from worker import audits  # noqa: PLC0415  it loads Redis's client

        return await audits.accept(self._settings, self._addresses, by)
