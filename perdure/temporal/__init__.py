"""All that crosses into Temporal: data converter, failures, plugin, memory for others' workflows.

The only folder that imports its SDK.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.temporal.memory import recall, remember, until_searchable
    from perdure.temporal.plugin import Plugin

__all__ = ["Plugin", "recall", "remember", "until_searchable"]


def __getattr__(name: str) -> Any:
    """Import a name when it is needed: Temporal's client takes a second, and ``perdure down`` does not need it."""
    if name in __all__:
        return getattr(import_module(f"perdure.temporal.{'plugin' if name == 'Plugin' else 'memory'}"), name)
    raise AttributeError(name)
