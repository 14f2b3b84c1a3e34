"""All that crosses into Temporal: data converter, failures, plugin. The only folder that imports its SDK."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.temporal.plugin import Plugin

__all__ = ["Plugin"]


def __getattr__(name: str) -> Any:
    """Import the plugin when it is asked for: Temporal's client takes a second, and ``perdure down`` needs none."""
    if name == "Plugin":
        from perdure.temporal.plugin import Plugin  # noqa: PLC0415

        return Plugin
    raise AttributeError(name)
