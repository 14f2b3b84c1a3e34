"""Every kind of error by its name, for errors that come from another process, and the tree of all of them.

PerdureError
├── InvalidInput            PRD100  refused where it entered, with the field and the fix
│   ├── InvalidTask         PRD101
│   │   ├── Unconfirmed     PRD115  it differs from what its id stands for, which a person can confirm
│   │   └── TaskConflict    PRD117  a request that the task does not take in the state that it is in
│   ├── InvalidSkill        PRD102
│   ├── InvalidExpression   PRD103
│   ├── InvalidArguments    PRD104  of a tool
│   ├── InvalidItem         PRD105  of a batch to remember
│   ├── InvalidAnswer       PRD106
│   ├── InvalidEvent        PRD114  no step of the task waits for it, or there is no room for it
│   ├── InvalidAgent        PRD108
│   ├── InvalidPolicy       PRD109
│   ├── UnknownThing        PRD116  there is nothing under the id that is this user's
│   └── UnknownOwner        PRD107  there is no such team or agent, or the user does not belong to it
├── ResultTooLarge          PRD110
├── ExpectationFailed       PRD111  a step's result is not what its skill expects
├── ToolFailed              PRD112  a tool raised its own exception; retried a few times
├── ResultExpired           PRD113  a large value is no longer kept
├── Unavailable             PRD209  something that is needed is not there now; retried
│   ├── StoreUnavailable    PRD200  a server or a disk does not answer
│   │   ├── StoreLost       PRD231  a store has lost its data; writes wait until it is rebuilt
│   │   ├── ModelBusy       PRD222  a model's provider (perdure.models.errors) asks to wait; retried then
│   │   └── ReplyUnusable   PRD224  a model's provider answers, but nothing that can be used; retried
│   ├── WorkerUnavailable   PRD204  no worker serves the task queue, or none with what the work needs
│   ├── LimitReached        PRD233  a tool is called as often as it may be (perdure.values.call_limits); retried
│   ├── NothingRuns         PRD205  no servers are configured, and none run here
│   ├── TenantKeyMissing    PRD206  this process cannot read the tenant key
│   └── SecretUnreadable    PRD236  a source of secrets (perdure.secrets.sources) fails; retried
├── EmbeddingMismatch       PRD201  vectors of different embedding models would be mixed
├── ModelFileDamaged        PRD225  a local model's file has other weights than its name says
├── TenantKeyMismatch       PRD202  the stored data was written under another tenant key
├── JournalMismatch         PRD203  the journal folder here is not the one that the installation shares
├── SchemaMismatch          PRD207  a collection is not as this build needs it, and cannot be brought up to it
├── NamespaceUnusable       PRD208  the Temporal namespace lacks what tasks need, and it cannot be registered
├── VectorIndexDamaged      PRD230  the search by meaning fails after a write that was cut off; repaired
├── EntryUnreadable         PRD237  what is stored of an entry is none that this build can read; retried
├── ContentRefused          PRD235  Weaviate refuses an entry for what is in it
├── LocalServersError       PRD210  the local servers (localservers.problems)
│   ├── ServerNotFound      PRD211  with every route that was tried, and what to install
│   ├── ServerNotStarted    PRD212
│   ├── ServerNotStopped    PRD214
│   └── HomeUnusable        PRD213
├── StoreRefused            PRD232  a server refuses this client's login or rights; not retried
├── AnswerUnusable          PRD234  a service's response is not what its interface says
├── ModelRefused            PRD220  a model's provider refuses the key or the request; not retried
│   ├── ContextExceeded     PRD221  the request is longer than the model can read
│   └── ModelKeyRefused     PRD223  the provider refuses the key, or knows no such model for it
├── VersionConflict         PRD300  another change of the memory, or of a consent, came first; planned again
├── LeaseLost               PRD301  this process no longer holds the tenant's lease; retried
├── ErasedMeanwhile         PRD306  somebody whom a change names was erased after it was read; retried
├── ClaimLost               PRD302  another attempt owns this effect now; retried
├── NotDone                 PRD303  a tool knows that nothing happened; retried
├── TenantErased            PRD304  the user was erased after the change was accepted
├── Blocked                 PRD305  a policy does not let a tool act; not retried
├── TaskFailed              PRD400  a task ended as failed
├── JobFailed               PRD401  an ingest job ended as failed
├── WorkflowFailed          PRD403  a workflow ended with an error that is not Perdure's, or was terminated
├── WorkflowCancelled       PRD404  what is waited for was cancelled
├── NotAuthenticated        PRD500  a service request has no token, or an invalid one
├── NotPermitted            PRD501  what asks is not permitted to: a token lacks the scope, or a form is another site's
├── TooManyRequests         PRD502  asked too often; retried after the seconds that it names
├── KeyReused               PRD503  an idempotency key was sent before with another request
├── RequestRefused          PRD510  a service request is malformed as a whole
│   ├── NoSuchPath          PRD511
│   ├── NoSuchMethod        PRD512
│   ├── BodyTooLarge        PRD513
│   ├── BodyUnsupported     PRD514
│   └── BodyTooSlow         PRD515
└── StillRunning            PRD402  not an error: what is waited for has not ended yet
"""

from perdure import errors, refusals
from perdure.base_error import PerdureError
from perdure.models import errors as model_errors
from perdure.secrets import sources
from perdure.values import call_limits, erasures

KINDS: dict[str, type[PerdureError]] = {
    kind.__name__: kind
    for room in (errors, call_limits, erasures, refusals, sources, model_errors)
    for kind in vars(room).values()
    if isinstance(kind, type) and issubclass(kind, PerdureError)
}
"""The classes, by their names."""
