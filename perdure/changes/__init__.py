"""The one door through which every memory changes. It decides nothing: what to write is its caller's."""

from perdure.changes.door import Door

__all__ = ["Door"]
