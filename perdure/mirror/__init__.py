"""The local append-only copy of every accepted write. Never the place that recall reads first.

A write is accepted when it is here; the long-term store may follow later. One folder a tenant,
readable by its owner alone.
"""

from perdure.mirror.lines import BatchLine, DeletionLine, EpisodeLine, MirrorLine, MirrorView, RestorationLine
from perdure.mirror.log import Mirror
from perdure.mirror.reconcile import Origin, Reconciled, reconcile

__all__ = [
    "BatchLine",
    "DeletionLine",
    "EpisodeLine",
    "Mirror",
    "MirrorLine",
    "MirrorView",
    "Origin",
    "Reconciled",
    "RestorationLine",
    "reconcile",
]
