"""What each command prints with ``--json``: a value of a type, several of them, or an object of its own."""

from pydantic import BaseModel

from perdure import (
    ErasureReceipt,
    ForgetResult,
    OpenQuestion,
    Progress,
    Receipt,
    ReconcileResult,
    TaskExplanation,
    TaskResult,
    UndoResult,
)
from perdure.memory.audit.verification import AuditFinding, AuditReport
from perdure.memory.recall.query import RecallResult
from perdure.skills.cases import Rehearsed
from perdure.stores.audit.lines import Ruling
from perdure.values.changes import Actor
from perdure.values.chats import ChatReply
from perdure.values.entries import Memory, Record, Turn
from perdure.values.feedback import GivenFeedback
from perdure.values.holds import Decided, Held
from perdure.values.requests import Consents, Observed, RedateResult
from perdure.values.schedules import TaskSchedule
from perdure.values.updates import Rejection, Updated, Version
from worker.definition_versions import Revision
from worker.doctor import HealthFinding
from worker.gateway.task_list import ListedTask

Values = type[BaseModel] | tuple[type[BaseModel], ...] | list[type[BaseModel]]
"""A value of a type; of one of several; a list of values of these types."""

Meaning = str | type[BaseModel] | list[type[BaseModel]] | tuple[type[BaseModel], str]
"""What a key is for; or the type of its value, of the values in its list, or with what null means."""

Keys = dict[str, Meaning]

PRINTED: dict[str, Values] = {
    "run": TaskResult,
    "fork": TaskResult,
    "status": Progress,
    "explain": TaskExplanation,
    "inbox": [OpenQuestion],
    "tasks list": [ListedTask],
    "tasks show": ListedTask,
    "chat MESSAGE": ChatReply,
    "schedule": TaskSchedule,
    "schedules": [TaskSchedule],
    "recall": RecallResult,
    "remember": Receipt,
    "forget": ForgetResult,
    "forget --undo": UndoResult,
    "forget --redate": RedateResult,
    "memories list": [Memory, Record, Turn],
    "memories show": (Memory, Record, Turn),
    "memories history": [Version],
    **{f"memories {name}": Updated for name in ("correct", "refine", "pin", "unpin", "forget", "merge", "revert")},
    "memories rejected": [Rejection],
    "memories held": [Held],
    "memories approve": Decided,
    "memories reject": Decided,
    "memories consent": Consents,
    "memories import": [Receipt],
    "memories erase": ErasureReceipt,
    "erase": ErasureReceipt,
    "lessons list": [Memory],
    "lessons history": [Version],
    "audit verify": AuditReport,
    "reconcile": ReconcileResult,
    "doctor": [HealthFinding],
}
"""The commands that print values of types that the client and the workflows use too."""

_TASK = "the workflow id of the task"

_ITS_FILE = "and the keys of its file, but for `lessons` where it is not `false`"

_UNUSABLE = "of one that cannot be used only `name` and `problem`"

_DEFINITION: Keys = {
    "version": "the version of its content",
    "place": "its file",
    "problem": "why it cannot be used; empty: it can",
    "": _ITS_FILE,
}

_LISTED: Keys = {"version": "the version of its content", "": f"{_ITS_FILE}; {_UNUSABLE}"}

_SKILL: Keys = {
    "version": "the version of its content, and of the skills and prompts that it uses",
    "inputs": "each by its name, as in its file",
    "": "and the keys of its [header](skills.md), but for `lessons` where it is not `false`",
}

_LOG: Keys = {
    "name": "its name",
    "place": "its file",
    "versions": [Revision],
    "": "the newest version first, at most as many as `--limit` says, without `text`",
}

_DIFF: Keys = {
    "name": "its name",
    "old": Revision,
    "new": Revision,
    "diff": "a unified diff; empty: nothing differs",
}

_STARTED: Keys = {
    "workflow_id": _TASK,
    "new": "whether it was started just now",
    "checked": "whether a worker had checked it before; null: it was there already",
}

_TOKEN: Keys = {
    "id": "what `tokens revoke` takes",
    "name": "what it is for",
    "scopes": "what it permits",
    "user_id": "whom it is for; null: all users",
    "person": "whether a person holds it",
    "created_at": "when it was made",
    "created_by": Actor,
    "expires_at": "until when it counts; null: until it is revoked",
}

_MEMBER: Keys = {
    "of": "the team or agent",
    "user_id": "the user",
    "belongs": "whether the user belongs to it",
}

_TOOL: Keys = {
    "name": "what skills call",
    "effect": "what a second call does",
    "timeout": "seconds that a call may take",
    "description": "what models are told",
    "server": "the MCP server that it comes from; empty: none",
    "secrets": "the names of the secrets that it asks for",
    "arguments": "JSON Schema",
}

OBJECTS: dict[str, Keys | list[Keys]] = {
    "run --detach": _STARTED,
    "fork --detach": _STARTED,
    "answer": {"answered": "the id of the question"},
    "deliver": {"delivered": "the name of what a task waited for"},
    "pause": {"paused": _TASK},
    "resume": {"resumed": _TASK},
    "message": {"told": _TASK},
    "redirect": {"redirected": _TASK},
    "cancel": {"cancelled": _TASK},
    "feedback": {
        "judged": _TASK,
        "succeeded": "whether it counts as a success from now on",
        "credited": "how many recalled memories it counts for",
        "feedback": [GivenFeedback],
        "": "of a task that still runs only `judged`",
    },
    "chat --end": {"session": "which conversation", "ended": "whether it has ended; else it ends once all is answered"},
    "observe": {"observed": Observed, "receipt": (Receipt, "null: nothing was submitted")},
    "memories members add": _MEMBER,
    "memories members remove": _MEMBER,
    "memories members list": [{"user_id": "who belongs to it", "at": "since when", "by": Actor}],
    "lessons promote": {
        "promoted": "the id of the lesson that counts for everybody",
        "fate": "what became of it, as in a [receipt](#itemreceipt)",
        "reason": "why it was refused; empty: it was not",
    },
    "lessons withdraw": {"withdrawn": "the id of the lesson"},
    "audit show": [
        {
            "kind": "what kind of line it is",
            "at": "when",
            "tenant": "the tenant's name, a digest",
            "operation": "which operation",
            "by": (Actor, "null: it is not known"),
            "ids": "ids of entries, by what was done with them",
            "number": "how many, where they are counted and not named",
            "ruling": (Ruling, "null: it is about no call of a tool"),
        }
    ],
    "audit remove": {"removed": "names of files"},
    "audit accept": {
        "accepted": "the files whose missing ends are accepted as lost",
        "problems": [AuditFinding],
    },
    "tokens create": {"text": "the token itself: it is not shown again", "token": "the keys of `tokens list`"},
    "tokens list": [_TOKEN],
    "tokens revoke": {"revoked": "the id of the token"},
    "skills list": [_SKILL | {"": f"{_SKILL['']}; {_UNUSABLE}"}],
    "skills show": {
        "place": "its file",
        "problem": "why it cannot be used; empty: it can",
        "steps": "`path`, `id` and `kind` of each step; `tool`, `skill`, or `called` and `queue`, by its kind",
    }
    | _SKILL,
    "skills log": _LOG,
    "skills diff": _DIFF,
    "skills test": [
        {
            "skill": "its name",
            "version": "its version",
            "case": "the name of the case",
            "ended": (Rehearsed, "null: it could not be tried"),
            "differences": "from what was expected",
            "problem": "what is wrong with the case",
        }
    ],
    "skills trials": [
        {
            "name": "the name of the skill",
            "version": "its version",
            "tasks": "how many tasks count, the last ones",
            "successes": "how many of them did what they should",
        }
    ],
    "policies list": {"version": "of all of them together", "policies": "each with `version`, `outcome` and its keys"},
    "policies log": _LOG,
    "policies diff": _DIFF,
    "policies test": {
        "version": "of all policies together",
        "cases": "`case`, `expect`, `outcome`, `policies` that spoke, and `differences` of each",
    },
    "agents list": [_LISTED],
    "agents show": _DEFINITION,
    "agents log": _LOG,
    "agents diff": _DIFF,
    "prompts list": [_LISTED],
    "prompts show": _DEFINITION,
    "prompts log": _LOG,
    "prompts diff": _DIFF,
    "tools list": {
        "tools": "a list of objects with the keys of `tools show`, but for `problem`",
        "away": "by the name of each MCP server that does not answer: why",
        "unusable": "by the name of each tool of theirs that cannot be used: why",
    },
    "tools show": _TOOL | {"problem": "why it cannot be called; empty: it can"},
    "check": [{"file": "its path", "kind": "what it describes", "notes": "what is doubtful about it"}],
    "secrets": [
        {
            "name": "the secret's name",
            "tools": "which tools ask for it",
            "needed": "whether one of them cannot do without it",
            "found": "whether this process finds it",
            "problem": "why it could not be looked for; empty: it could",
            "fix": "how to give it; empty: it is found",
        }
    ],
    "reconcile --new-journal": {"journal": "the id of the journal", "folder": "where it is"},
    "reconcile --new-collections": {"collections": "always `deleted`"},
    "up": {
        "temporal": "host and port",
        "temporal_ui": "URL of Temporal's web interface; empty: it is not known",
        "weaviate_url": "URL of Weaviate",
        "weaviate_grpc_port": "its port for gRPC",
        "weaviate_open_files": "how many files Weaviate may have open",
        "redis_url": "URL of Redis, without its password",
        "http": "URL of the HTTP service; empty: this command neither started nor found it",
    },
    "restart": {"restarted": "whether a worker ran before"},
    "down": {"stopped": "whether anything ran"},
}
"""The other commands; a list: a list of such objects. What stands under no key is said of all of them."""
