"""Every key in Redis, in one style.

A tenant's keys are ``perdure:{<tenant>}:…``: the braces keep them on one node of a cluster, as scripts that touch
several of them need. Names that callers choose (sessions, say) stay out of keys; only digests of them go in.
"""

from perdure.identity import digest, session_digest

DUE = "perdure:due"
"""A sorted set: each tenant that has something to forget, by its next due date."""

DUE_MOMENTS = "{perdure:due}:moments"
"""A set: the moments of the lists of due tenants."""

CHECKS = "perdure:{checks}"
"""A sorted set: each tenant that was written since its indexes were compared, by when that is to happen."""

WRITTEN = "perdure:{checks}:written"
"""A sorted set: each tenant whose indexes are to be compared, by its last write."""

ACTIVE = "perdure:active"
"""A sorted set: each tenant that Weaviate has open, by when it was last used."""

TENANT_KEY = "perdure:tenant-key"
"""The fingerprint of the tenant key that the data was written under."""

RULES = "perdure:rules"
"""The version of the retention rules that everything was dated by when a pass of redating last ended."""

ACCESSED = "perdure:accessed"
"""A sorted set: each tenant of which something was recalled that is not written yet, by when."""

PROMOTING = "perdure:promoting"
"""A sorted set: each tenant with episodes to be promoted, by when the first of its sessions may be due."""

CHANGED = "perdure:changed"
"""A sorted set: each tenant that memories were written for since they were consolidated, by when last."""

CONSOLIDATED = "perdure:consolidated"
"""When the last pass of consolidation that visited everybody began."""

SWEEP = "perdure:sweep"
"""The workflow id of the sweep whose turn it is, or was last."""

MARKS = "perdure:marks"
"""What Redis says of itself: a hash with the id of its journal, since when nothing was lost, and the marks."""


UNFILED = "perdure:unfiled"
"""A sorted set, all of one score: the large values that could not be written to a file yet, each after its tenant."""


ERASURES = "perdure:erasures"
"""A hash: each tenant that was erased, with its latest erasure."""


ACCESS_TOKENS = "perdure:{access-tokens}"
"""A hash: each token by which somebody may come in to a service, by its id; without its secret."""


AUDIT = "perdure:audit"
"""A hash: each chain of the audit whose head no other chain holds, with that head."""


def due_listed(moment: str) -> str:
    """Return the key of the tenants that a sweep visits, all with one score: a sorted set, on the node of ``DUE``."""
    return f"{{perdure:due}}:listed:{moment}"


def swept(sweep: str) -> str:
    """Return the key of the tenants of which a sweep forgot something: a set."""
    return f"perdure:swept:{sweep}"


def index(tenant: str) -> str:
    """Return the key of a tenant's index: a sorted set of its keys that expire, by the time at which they do."""
    return _of(tenant, "index")


def epoch(tenant: str) -> str:
    """Return the key of a tenant's epoch: an integer that each erasure raises, when it begins and when it removes."""
    return _of(tenant, "epoch")


def lease(tenant: str) -> str:
    """Return the key of the lease on a tenant."""
    return _of(tenant, "lease")


def writer(tenant: str) -> str:
    """Return the key of who held the lease on a tenant last."""
    return _of(tenant, "writer")


def rewrites(tenant: str) -> str:
    """Return the key of the entries that are being deleted and written anew: a set."""
    return _of(tenant, "rewrites")


def deletions(tenant: str) -> str:
    """Return the key of a tenant's deletion log: a hash from id to line."""
    return _of(tenant, "deletions")


def wordings(tenant: str) -> str:
    """Return the key of the other wordings of what is in a tenant's deletion log: a hash from their ids to its ids."""
    return _of(tenant, "wordings")


def sweeps(tenant: str) -> str:
    """Return the key of the sweeps that forgot something of a tenant: a set."""
    return _of(tenant, "sweeps")


def consents(tenant: str) -> str:
    """Return the key of what a user consents to: a hash by purpose."""
    return _of(tenant, "consents")


def members(tenant: str) -> str:
    """Return the key of who belongs to a team or an agent: a hash by the members' tenants."""
    return _of(tenant, "members")


def named(tenant: str) -> str:
    """Return the key of the tenants in whose lists of members a user may be named: a set."""
    return _of(tenant, "named")


def former(tenant: str) -> str:
    """Return the key of who belonged to a team or an agent when its erasure emptied it, until it is proved: a set."""
    return _of(tenant, "former")


def access_tokens_of(user_id: str) -> str:
    """Return the key of the ids of the tokens that are bound to a user, whom they name: a set, on their node."""
    return f"perdure:{{access-tokens}}:{digest('token-user/1', user_id)[:24]}"


def requested(mark: str) -> str:
    """Return the key of what was asked of a service under an idempotency key: a digest of the request."""
    return f"perdure:requested:{mark}"


def places(tenant: str, limit: str) -> str:
    """Return the key of the calls that have a place in a limit: a user's own, or, without a tenant, everybody's."""
    return _of(tenant, f"places:{limit}") if tenant else f"perdure:places:{limit}"


def claim(tenant: str, key: str) -> str:
    """Return the key of the claim on an effect."""
    return _of(tenant, f"claim:{key}")


def task(tenant: str, task_id: str) -> tuple[str, str]:
    """Return a task's keys: what it is bound to, and a set of the claims and large values that live as long as it."""
    return task_of(tenant, task_name(task_id))


def task_of(tenant: str, name: str) -> tuple[str, str]:
    """Return the keys of the task that has this name."""
    place = _of(tenant, f"task:{name}")
    return f"{place}:binding", f"{place}:keys"


def task_name(task_id: str) -> str:
    """Return what a task is called in keys and in names of files."""
    return digest("task/1", task_id)[:24]


def trials(version: str) -> tuple[str, str]:
    """Return the keys of the last tasks that ran a version of a skill, by when they ended, and of those that succeeded.

    Skills are the installation's, and so is the tenant.
    """
    place = _of("skills", f"trials:{version}")
    return f"{place}:tasks", f"{place}:successes"


def recalled(tenant: str, task_id: str) -> str:
    """Return the key of the memories that a task has recalled: a set of ids."""
    return _of(tenant, f"task:{task_name(task_id)}:recalled")


def credited(tenant: str, task_id: str) -> str:
    """Return the key of the memories that a task has recalled and that are credited with its end: a set of ids."""
    return _of(tenant, f"task:{task_name(task_id)}:credited")


def judged(tenant: str, task_id: str, first_run: str) -> str:
    """Return the key of what people said of a task's run after it had ended: a hash by the ids of what they said."""
    return _of(tenant, f"task:{task_name(task_id)}:judged:{first_run}")


def tokens(tenant: str, task_id: str, message: str) -> str:
    """Return the key of a reply while a model gives it: a stream."""
    return _of(tenant, f"task:{task_name(task_id)}:tokens:{digest('message/1', message)[:24]}")


def output(tenant: str, kind: str, reference: str) -> str:
    """Return the key of a large value: a task's ``output``, or the ``result`` of a recall that waits to be fetched."""
    return _of(tenant, f"{kind}:{reference}")


def episodes(tenant: str, session: str) -> tuple[str, str, str]:
    """Return a session's keys: its episodes by id, their order in time, and their order by importance."""
    place = _session(tenant, session)
    return f"{place}:content", f"{place}:time", f"{place}:importance"


def session_of(key: str, tenant: str) -> str | None:
    """Return the digest of the session whose episodes a key holds; None: it is another key."""
    place = _of(tenant, "episodes:")
    return (
        key.removeprefix(place).removesuffix(":content") if key.startswith(place) and key.endswith(":content") else None
    )


def session_items(tenant: str, session: str) -> str:
    """Return the key of the items of an agent's session: a list."""
    return _of(tenant, f"items:{session_digest(session)}:list")


def items_session_of(key: str, tenant: str) -> str | None:
    """Return the digest of the session whose items a key holds; None: it is another key."""
    place = _of(tenant, "items:")
    return key.removeprefix(place).removesuffix(":list") if key.startswith(place) and key.endswith(":list") else None


def session_change(tenant: str, session: str, change: str) -> str:
    """Return the key of a change of a session's items that was made: what it returned."""
    return _of(tenant, f"items:{session_digest(session)}:{digest('change/1', change)[:24]}")


def promotion(tenant: str, session: str) -> tuple[str, str]:
    """Return the keys of a session's episodes that wait to be promoted, and of those that are being: sorted by time."""
    place = _session(tenant, session)
    return f"{place}:waiting", f"{place}:taken"


def sessions(tenant: str) -> str:
    """Return the key of a tenant's sessions that have something to be promoted: a sorted set by their last episode."""
    return _of(tenant, "sessions")


def accesses(tenant: str) -> tuple[str, str]:
    """Return the keys of what was recalled of a tenant, hashes: what waits, and what is being written."""
    place = _of(tenant, "accesses")
    return f"{place}:waiting", f"{place}:taken"


def written(tenant: str, session: str) -> str:
    """Return the key of where the memories were observed that a session has added: a set of digests."""
    return _of(tenant, f"written:{session_digest(session)}")


def put_on_hold(tenant: str, session: str) -> str:
    """Return the key of where the memories were observed that a session has put on hold: a set of digests."""
    return _of(tenant, f"held:{session_digest(session)}")


def observed(tenant: str, behaviour: str) -> str:
    """Return the key of where a behaviour was observed: a set of digests."""
    return _of(tenant, f"observed:{behaviour}")


def fixed(tenant: str) -> tuple[str, ...]:
    """Return the keys that a tenant has once each; the index lists the others."""
    kinds = (index, epoch, lease, writer, rewrites, deletions, wordings, sweeps, consents, members, named, former)
    return tuple(key(tenant) for key in kinds)


def _session(tenant: str, session: str) -> str:
    return _of(tenant, f"episodes:{session_digest(session)}")


def _of(tenant: str, rest: str) -> str:
    return f"perdure:{{{tenant}}}:{rest}"
