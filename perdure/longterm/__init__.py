"""Long-term memory in Weaviate: records and memories, a tenant each. Never ranks, decides or embeds.

A change comes in as a whole entry and is written absolutely; who may change what, and when, is the
business of whoever calls ``put``.
"""

from perdure.longterm.queries import Hit
from perdure.longterm.schema import Embedding
from perdure.longterm.store import LongTerm

__all__ = ["Embedding", "Hit", "LongTerm"]
