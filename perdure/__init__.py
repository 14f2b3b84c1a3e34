"""Perdure: durable agent tasks that survive crashes and remember what they learned.

A tool author needs ``tool`` and ``ToolCall``; a caller starts an ``AgentTask`` and gets a ``TaskResult``.
"""

from perdure.changes import Actor, ActorKind
from perdure.entries import Lane, MemoryType
from perdure.errors import InvalidInput, NotDone, PerdureError
from perdure.jobs import Receipt
from perdure.memory.recall.query import RecalledItem, RecallResult
from perdure.model import Model
from perdure.questions import Answer, AnswerType, Question
from perdure.requests import ForgetRequest, ForgetResult, RecallRequest, RememberRequest, UndoRequest, UndoResult
from perdure.tasks import AgentTask, Limits, MemoryMode, Progress, TaskResult
from perdure.tools import Tool, ToolCall, tool

__all__ = [
    "Actor",
    "ActorKind",
    "AgentTask",
    "Answer",
    "AnswerType",
    "ForgetRequest",
    "ForgetResult",
    "InvalidInput",
    "Lane",
    "Limits",
    "MemoryMode",
    "MemoryType",
    "Model",
    "NotDone",
    "PerdureError",
    "Progress",
    "Question",
    "RecallRequest",
    "RecallResult",
    "RecalledItem",
    "Receipt",
    "RememberRequest",
    "TaskResult",
    "Tool",
    "ToolCall",
    "UndoRequest",
    "UndoResult",
    "tool",
]
