"""How recall chooses and orders what it returns. Pure values."""

from perdure.model import OpenEnum


class Strategy(OpenEnum):
    """What recall chooses among all that it may return. An unknown strategy counts as ``balanced``."""

    BALANCED = "balanced"
    """What is relevant by meaning and words, cut where relevance falls off."""
    SIMILARITY = "similarity"
    """The same, up to the limit."""
    PRECISE = "precise"
    """Only memories that the question names, what a relation links to them, what replaced them, and pinned ones."""
    STRUCTURED = "structured"
    """Everything within the filters, the newest first, and every constraint besides the limit; no question is needed,
    and none is looked at."""
    HYBRID = "hybrid"
    """What ``balanced`` returns, ordered by confidence, recency, frequency and task alone."""


class ProfileName(OpenEnum):
    """The weights that a result is ordered by. An unknown profile counts as ``relevance-first``."""

    RELEVANCE_FIRST = "relevance-first"
    """Relevance, and a tenth of quality."""
    READER = "reader"
    """Half confidence, .3 recency, .2 frequency (R31), of what relevance chose."""
    HYBRID = "hybrid"
    """.4 confidence, .3 recency, .2 frequency, .1 task (R34), of what relevance chose."""
