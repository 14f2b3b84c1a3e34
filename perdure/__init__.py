"""Perdure: durable agent tasks that survive crashes and remember what they learned."""

from perdure.errors import NotDone
from perdure.questions import Answer
from perdure.tasks import AgentTask, TaskResult
from perdure.tools import Tool, ToolCall, tool

__all__ = ["AgentTask", "Answer", "NotDone", "TaskResult", "Tool", "ToolCall", "tool"]
