"""The sources that a recall can ask, and the inputs of its searches. Values only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from perdure.memory.consent_book import ConsentBook
from perdure.memory.recall.absences import Absences
from perdure.memory.recall.names import Speakers
from perdure.memory.recall.telemetry import RecallTelemetry
from perdure.memory.recall.turns import Asked
from perdure.memory.wholeness import Wholeness
from perdure.memory.writing.planning import WritePolicy
from perdure.models.embedding import Embedder, Vector
from perdure.stores.journal.log import Journal
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.episodes import Episodes
from perdure.stores.redis.leases import Leases
from perdure.stores.spool import Spool
from perdure.stores.weaviate.mapping import Kind
from perdure.stores.weaviate.store import LongTerm


@dataclass(frozen=True, kw_only=True)
class Sources:
    """All that a recall can ask."""

    longterm: LongTerm
    speakers: Speakers
    absences: Absences
    leases: Leases
    episodes: Episodes
    journal: Journal
    spool: Spool
    checks: Checks
    deletions: Deletions
    whole: Wholeness
    embedder: Embedder
    policies: Mapping[str, WritePolicy]
    limit: float
    """Seconds that a recall may take."""
    telemetry: RecallTelemetry
    consents: ConsentBook | None = None
    """None: nobody has said anything."""


class Sought(NamedTuple):
    """What a recall looks for, as its searches need it."""

    asked: Asked
    vector: Vector | None
    """None: only words can be searched."""
    turns: int
    """How many turns the user has."""


class Wanted(NamedTuple):
    """What a search is to return: how many at most of each kind, by meaning and by words."""

    kinds: Sequence[Kind]
    near: int
    words: int
