"""Perdure: durable agent tasks that survive crashes and remember what they learned.

A tool author needs ``tool`` and ``ToolCall``; a caller starts an ``AgentTask`` and gets a ``TaskResult``.
"""

from perdure.changes import Actor, ActorKind
from perdure.entries import EntryKind, Lane, MemoryType
from perdure.errors import (
    InvalidInput,
    NotDone,
    PerdureError,
    StoreUnavailable,
    TaskFailed,
    TenantErased,
    WorkerUnavailable,
)
from perdure.jobs import Receipt
from perdure.memberships import MemberRequest
from perdure.memory.recall.query import RecalledItem, RecallResult
from perdure.model import Model
from perdure.questions import Answer, AnswerType, Question
from perdure.requests import (
    ConsentRequest,
    EraseRequest,
    ForgetRequest,
    ForgetResult,
    ObserveRequest,
    RecallHandle,
    RecallRequest,
    ReconcileRequest,
    RememberRequest,
    UndoRequest,
    UndoResult,
)
from perdure.tasks import AgentTask, Limits, MemoryMode, Phase, Progress, TaskResult
from perdure.tools import Tool, ToolCall, tool
from perdure.updates import Correction, Feedback, Merger, Pinning, Removal, Reversion, UpdateRequest

__all__ = [
    "Actor",
    "ActorKind",
    "AgentTask",
    "Answer",
    "AnswerType",
    "ConsentRequest",
    "Correction",
    "EntryKind",
    "EraseRequest",
    "Feedback",
    "ForgetRequest",
    "ForgetResult",
    "InvalidInput",
    "Lane",
    "Limits",
    "MemberRequest",
    "MemoryMode",
    "MemoryType",
    "Merger",
    "Model",
    "NotDone",
    "ObserveRequest",
    "PerdureError",
    "Phase",
    "Pinning",
    "Progress",
    "Question",
    "RecallHandle",
    "RecallRequest",
    "RecallResult",
    "RecalledItem",
    "Receipt",
    "ReconcileRequest",
    "RememberRequest",
    "Removal",
    "Reversion",
    "StoreUnavailable",
    "TaskFailed",
    "TaskResult",
    "TenantErased",
    "Tool",
    "ToolCall",
    "UndoRequest",
    "UndoResult",
    "UpdateRequest",
    "WorkerUnavailable",
    "tool",
]
