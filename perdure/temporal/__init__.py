"""All that crosses into Temporal: data converter, failures, plugin, memory and questions for others' workflows.

The only folder that imports its SDK.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.temporal.agent_session import AgentSession
    from perdure.temporal.memory import recall, remember, until_searchable
    from perdure.temporal.people import ask_person
    from perdure.temporal.plugin import Plugin

__all__ = ["AgentSession", "Plugin", "ask_person", "recall", "remember", "until_searchable"]

_MODULES = {"AgentSession": "agent_session", "Plugin": "plugin", "ask_person": "people"}


def __getattr__(name: str) -> Any:
    """Import a name when it is needed: Temporal's client takes a second, and ``perdure down`` does not need it."""
    if name in __all__:
        return getattr(import_module(f"perdure.temporal.{_MODULES.get(name, 'memory')}"), name)
    raise AttributeError(name)
