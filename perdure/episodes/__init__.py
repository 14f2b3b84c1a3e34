"""Episodes in Redis: what happened in a session, for a day. Never decides what is worth an episode."""

from perdure.episodes.connection import connect
from perdure.episodes.store import EPISODES_KEPT, LIFETIME, Episodes
from perdure.records import Episode, EpisodeKind

__all__ = ["EPISODES_KEPT", "LIFETIME", "Episode", "EpisodeKind", "Episodes", "connect"]
