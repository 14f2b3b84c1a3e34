"""LangGraph's long-term store on an installation's memory: ``PerdureStore``."""

from perdure.langgraph.store import PerdureStore

__all__ = ["PerdureStore"]
