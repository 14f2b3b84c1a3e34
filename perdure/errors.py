"""The errors: each has a code that can be searched for, and says what to do. ``error_kinds`` draws their tree."""

from perdure.base_error import InvalidInput, PerdureError


class InvalidTask(InvalidInput):
    """A task that cannot start, or is none."""

    code = "PRD101"


class Unconfirmed(InvalidTask):
    """A task that differs from what its id stands for, which a person can confirm.

    Args:
        field: The invalid field.
        problem: What differs.
        fix: How it is confirmed.
        confirmation: The code of just this difference.
    """

    code = "PRD115"
    parts = ("field", "problem", "fix", "confirmation")
    place = ""

    def __init__(self, field: str, problem: str, *, fix: str = "", confirmation: str = "") -> None:
        self.confirmation = confirmation
        super().__init__(field, problem, fix=fix)


class TaskConflict(InvalidTask):
    """A request that a task does not take in the state that it is in: it is paused, is ending, or has ended."""

    code = "PRD117"


class InvalidSkill(InvalidInput):
    """A skill that is malformed, or names a tool that no worker has."""

    code = "PRD102"


class InvalidExpression(InvalidInput):
    """A ``${…}`` expression that does not parse, or refers to a name that does not exist.

    Args:
        field: The field that it is in.
        problem: What is wrong.
        fix: What to write instead.
        place: The file that it is written in, and the line.
        of_types: Whether a value has a type that an operator or a function does not take.
    """

    code = "PRD103"
    of_types: bool = False

    def __init__(self, field: str, problem: str, *, fix: str = "", place: str = "", of_types: bool = False) -> None:
        self.of_types = of_types
        super().__init__(field, problem, fix=fix, place=place)


class InvalidArguments(InvalidInput):
    """Arguments that do not match the tool's signature."""

    code = "PRD104"


class InvalidItem(InvalidInput):
    """An item that cannot be remembered."""

    code = "PRD105"


class InvalidAnswer(InvalidInput):
    """An answer that is not taken: its question does not exist, has an answer, or wants one of another kind."""

    code = "PRD106"


class InvalidEvent(InvalidInput):
    """An event that no step of a task waits for, or that the task has no room for."""

    code = "PRD114"


class InvalidAgent(InvalidInput):
    """An agent that is malformed, or names a tool that no worker has."""

    code = "PRD108"


class InvalidPolicy(InvalidInput):
    """A policy that is malformed, or contradicts another one."""

    code = "PRD109"


class UnknownOwner(InvalidInput):
    """A team or an agent that does not exist, or that the user does not belong to; it never says which of the two."""

    code = "PRD107"


class ResultTooLarge(PerdureError):
    """A tool or a recall has more than can be carried at once."""

    code = "PRD110"


class ExpectationFailed(PerdureError):
    """A step's result does not satisfy its ``expect``."""

    code = "PRD111"


class ToolFailed(PerdureError):
    """A tool raised an exception of its own.

    Args:
        tool: The tool's name.
        kind: The exception's class.
        text: Its message. It may contain content, so it is kept out of this error's message, which is logged.
        raised: The exception.
    """

    code = "PRD112"
    retryable = True
    kind: str = ""
    text: str = ""
    raised: BaseException | None = None

    def __init__(self, tool: str, kind: str, text: str = "", raised: BaseException | None = None) -> None:
        self.kind, self.text, self.raised = kind, text, raised
        super().__init__(f"tool {tool!r} raised {kind}")


class ResultExpired(PerdureError):
    """A value was too large for the history, and is no longer kept."""

    code = "PRD113"


class Unavailable(PerdureError):
    """Base of errors about something that is missing now and may be available later."""

    code = "PRD209"
    retryable = True


class StoreUnavailable(Unavailable):
    """A server or a disk (``store``: redis, journal …) did not answer; ``problem`` is its client's message."""

    code = "PRD200"
    parts = ("store",)

    def __init__(self, store: str, problem: str) -> None:
        self.store = store
        super().__init__(f"{store}: {problem}")


class StoreLost(StoreUnavailable):
    """A store answers, but has lost its data: nothing is written to it until it is rebuilt."""

    code = "PRD231"


class StoreRefused(PerdureError):
    """A server answers, but refuses this client's login or rights: the same call would be refused again."""

    code = "PRD232"
    parts = ("store", "problem", "fix")

    def __init__(self, store: str, problem: str, *, fix: str) -> None:
        self.store, self.problem, self.fix = store, problem, fix
        super().__init__(f"{store} refuses this client: {problem} ({fix})")


class WorkerUnavailable(Unavailable):
    """No worker serves the task queue, or this one lacks what the work needs."""

    code = "PRD204"


class NothingRuns(Unavailable):
    """No servers are configured, and none run here.

    Args:
        problem: Where it is that nothing runs.
        fix: How it is started.
    """

    code = "PRD205"
    parts = ("problem", "fix")

    def __init__(self, problem: str, *, fix: str = "start it with 'perdure up'") -> None:
        self.problem, self.fix = problem, fix
        super().__init__(f"{problem} ({fix})")


class TenantKeyMissing(Unavailable):
    """This process cannot read the tenant key."""

    code = "PRD206"


class EmbeddingMismatch(PerdureError):
    """The configured embedding model is not the one that stored vectors, or those of an answer, come from."""

    code = "PRD201"


class TenantKeyMismatch(PerdureError):
    """The stored data was written under another tenant key."""

    code = "PRD202"


class SchemaMismatch(PerdureError):
    """A collection has a form or a language that this build, as it is set up, cannot use; it cannot be changed."""

    code = "PRD207"


class NamespaceUnusable(PerdureError):
    """The Temporal namespace does not exist, or lacks search attributes that could not be registered."""

    code = "PRD208"


class VectorIndexDamaged(PerdureError):
    """The search by meaning fails for a tenant whose entries are stored, after a write that was cut off."""

    code = "PRD230"
    retryable = True


class EntryUnreadable(PerdureError):
    """What is stored of an entry is none that this build can read; a newer one may."""

    code = "PRD237"
    retryable = True


class JournalMismatch(PerdureError):
    """The journal here (``found``) is not that of a store (``shared``); a worker with the right folder can go on."""

    code = "PRD203"
    retryable = True

    def __init__(self, store: str, shared: str, found: str, folder: str) -> None:
        super().__init__(
            f"{store} belongs to the journal {shared}, the one in {folder} is {found}: set PERDURE_JOURNAL to the "
            f"folder that the installation's workers share, or the address of {store} to the installation's own"
        )


class VersionConflict(PerdureError):
    """A memory is no longer at the version that a plan expected, or the user's consents have changed since."""

    code = "PRD300"
    retryable = True


class LeaseLost(PerdureError):
    """The lease on a tenant has expired, or expires too soon to write under it."""

    code = "PRD301"
    retryable = True


class ClaimLost(PerdureError):
    """Another attempt took over this effect."""

    code = "PRD302"
    retryable = True


class NotDone(PerdureError):
    """Raised by a tool that knows its effect did not happen, so that the step is simply retried."""

    code = "PRD303"
    retryable = True


class Blocked(PerdureError):
    """A policy does not let a tool act: nothing has happened."""

    code = "PRD305"
    benign = True


class TaskFailed(PerdureError):
    """A task ended as failed; the message says at which step and why."""

    code = "PRD400"


class JobFailed(PerdureError):
    """An ingest job ended as failed."""

    code = "PRD401"


class WorkflowFailed(PerdureError):
    """A workflow ended with an error that is not Perdure's, or was terminated."""

    code = "PRD403"


class WorkflowCancelled(PerdureError):
    """What is waited for was cancelled."""

    code = "PRD404"


class StillRunning(PerdureError):
    """What is waited for has not ended yet."""

    code = "PRD402"
    retryable = True


class TenantErased(PerdureError):
    """A user's memory was erased after this change was accepted, so the change is not written."""

    code = "PRD304"
