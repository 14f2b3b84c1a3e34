"""Refuses to go on where a store has lost data, or does not say so, with what to do about it. Pure."""

from collections.abc import Iterable

from perdure.errors import StoreLost, StoreUnavailable
from perdure.values.losses import Loss, Store, Told

WHAT_TO_DO = {
    Store.JOURNAL: "mount the folder that the workers share, restore its backup, or begin it anew with "
    "'perdure reconcile --new-journal'",
    Store.REDIS: "a worker rebuilds it; 'perdure reconcile' shows how that goes",
    Store.WEAVIATE: "a worker rebuilds it; 'perdure reconcile' shows how that goes",
}


def require_answers(told: dict[Store, Told]) -> dict[Store, Told]:
    """Check that every store has said which marks it has, and return them.

    Raises:
        StoreUnavailable: One has not answered.
    """
    for store in Store:
        if store not in told:
            raise StoreUnavailable(store, "does not answer, so whether it has lost something is not known")
    return told


def require_whole(found: Iterable[Loss]) -> None:
    """Check that no store has lost data.

    Raises:
        StoreLost: One has.
    """
    for loss in found:
        raise StoreLost(loss.store, f"{loss.kind.told}: {WHAT_TO_DO[loss.store]}")
