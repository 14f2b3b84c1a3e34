"""Recall over all tiers: one call, one context block, an explanation of each score. Never writes.

``fuse``, ``local`` and ``render`` decide and are pure; ``service`` asks the stores.
"""

from perdure.recall.fuse import RELEVANCE_FIRST, Profile
from perdure.recall.model import Phase, Query, RecalledItem, RecallResult, Trigger
from perdure.recall.service import Recall

__all__ = [
    "RELEVANCE_FIRST",
    "Phase",
    "Profile",
    "Query",
    "Recall",
    "RecallResult",
    "RecalledItem",
    "Trigger",
]
