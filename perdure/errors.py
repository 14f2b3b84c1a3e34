"""The exception tree: every refusal has a code that can be searched for, and names its fix.

PerdureError
├── InvalidInput            PRD100  refused where it entered; names the field and the fix
│   ├── InvalidTask         PRD101
│   ├── InvalidSkill        PRD102
│   ├── InvalidExpression   PRD103
│   ├── InvalidArguments    PRD104  of a tool
│   ├── InvalidItem         PRD105  of a batch to remember
│   └── InvalidAnswer       PRD106
├── ResultTooLarge          PRD110
├── ExpectationFailed       PRD111  a step's result is not what its skill expects
├── ToolFailed              PRD112  a tool raised something of its own; tried again a few times
├── StoreUnavailable        PRD200  a server or a disk does not answer; tried again
├── EmbeddingMismatch       PRD201  a collection was made with another embedding model
├── TenantKeyMismatch       PRD202  the key does not open the data that is there
├── JournalMismatch         PRD203  the journal folder here is not the one that the installation shares
├── LocalServersError       PRD210  the local servers (localservers.problems)
│   ├── ServerNotFound      PRD211  with each route that was tried, and what to install
│   ├── ServerNotStarted    PRD212
│   └── HomeUnusable        PRD213
├── VersionConflict         PRD300  somebody else changed the memory; planned again
├── LeaseLost               PRD301  the tenant's lease is no longer ours; tried again
├── ClaimLost               PRD302  another attempt owns this effect now; tried again
├── NotDone                 PRD303  a tool knows that nothing happened; tried again
└── TenantErased            PRD304  the user was erased after the change was accepted
"""

from typing import ClassVar


class PerdureError(Exception):
    """Base of every error that Perdure raises on purpose."""

    code: ClassVar[str] = "PRD000"
    retryable: ClassVar[bool] = False
    """Whether the same call can succeed later with nothing changed by its caller."""

    def __str__(self) -> str:
        return f"{self.code} {super().__str__()}"


class InvalidInput(PerdureError):
    """Something was refused where it entered.

    Args:
        field: Path of the offending field, as the user wrote it.
        problem: What is wrong with it.
        fix: What to write instead.
    """

    code = "PRD100"

    def __init__(self, field: str, problem: str, *, fix: str = "") -> None:
        self.field = field
        self.problem = problem
        self.fix = fix
        super().__init__(f"{field}: {problem}" + (f" ({fix})" if fix else ""))


class InvalidTask(InvalidInput):
    """A task that cannot start."""

    code = "PRD101"


class InvalidSkill(InvalidInput):
    """A skill that is not well formed, or names a tool that no worker has."""

    code = "PRD102"


class InvalidExpression(InvalidInput):
    """A ``${…}`` expression that does not parse, or names a thing that is not there."""

    code = "PRD103"


class InvalidArguments(InvalidInput):
    """Arguments that do not fit the tool's signature."""

    code = "PRD104"


class InvalidItem(InvalidInput):
    """An item that cannot be remembered."""

    code = "PRD105"


class InvalidAnswer(InvalidInput):
    """An answer to a question that nobody asked, or that was answered already."""

    code = "PRD106"


class ResultTooLarge(PerdureError):
    """A tool returned more than a step may carry."""

    code = "PRD110"


class ExpectationFailed(PerdureError):
    """A step's result is not what its ``expect`` says."""

    code = "PRD111"


class ToolFailed(PerdureError):
    """A tool raised an exception of its own.

    Args:
        tool: The tool's name.
        kind: The exception's class.
        text: What it said. It can hold content, so it is kept out of the message, which is logged.
    """

    code = "PRD112"
    retryable = True

    def __init__(self, tool: str, kind: str, text: str = "") -> None:
        self.text = text
        super().__init__(f"tool {tool!r} raised {kind}")


class StoreUnavailable(PerdureError):
    """A server or a disk did not answer.

    Args:
        store: The server's name: ``redis``, ``weaviate``, ``journal`` …
        problem: What the client reported, without any content.
    """

    code = "PRD200"
    retryable = True

    def __init__(self, store: str, problem: str) -> None:
        self.store = store
        super().__init__(f"{store}: {problem}")


class EmbeddingMismatch(PerdureError):
    """A collection was made with another embedding model than the one configured."""

    code = "PRD201"


class TenantKeyMismatch(PerdureError):
    """The tenant key is not the one that the stored data was written under."""

    code = "PRD202"


class JournalMismatch(PerdureError):
    """The journal folder is not the one that all workers of the installation share.

    Args:
        shared: The id of the installation's journal.
        found: The id of the journal in the folder.
        folder: The folder.
    """

    code = "PRD203"

    def __init__(self, shared: str, found: str, folder: str) -> None:
        super().__init__(
            f"the workers of this installation share the journal {shared}, the one in {folder} is {found}: "
            "set PERDURE_JOURNAL to the folder that they share"
        )


class VersionConflict(PerdureError):
    """A memory is no longer at the version that a plan expected."""

    code = "PRD300"
    retryable = True


class LeaseLost(PerdureError):
    """The lease on a tenant ran out, or has too little left to write under."""

    code = "PRD301"
    retryable = True


class ClaimLost(PerdureError):
    """Another attempt took over this effect."""

    code = "PRD302"
    retryable = True


class NotDone(PerdureError):
    """Raised by a tool that knows that its effect did not happen: the step is simply retried."""

    code = "PRD303"
    retryable = True


class TenantErased(PerdureError):
    """A user's memory was erased after this change was accepted, so the change is not written."""

    code = "PRD304"
