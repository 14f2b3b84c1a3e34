"""Errors of models' providers. Their place in the tree of all errors stands in ``perdure.error_kinds``."""

from perdure.base_error import PerdureError
from perdure.errors import StoreUnavailable


class ModelBusy(StoreUnavailable):
    """A model's provider asks to wait before the next call, for ``retry_after`` seconds."""

    code = "PRD222"

    def __init__(self, provider: str, problem: str, retry_after: float) -> None:
        super().__init__(provider, problem)
        self.retry_after = retry_after


class ReplyUnusable(StoreUnavailable):
    """A model's provider answered with something that cannot be used; the next answer may be another."""

    code = "PRD224"


class ModelFileDamaged(PerdureError):
    """The file of a model that computes here holds other weights than its name says: install it again."""

    code = "PRD225"


class ModelRefused(PerdureError):
    """A model's provider, by its name in the settings, refused a call: the same call would be refused again."""

    code = "PRD220"

    def __init__(self, provider: str, problem: str) -> None:
        super().__init__(f"{provider} refuses: {problem}; check the key, the model's name and the account's rights")


class ContextExceeded(ModelRefused):
    """A request is longer than the model can read."""

    code = "PRD221"


class ModelKeyRefused(ModelRefused):
    """The provider refuses this process's key, or has no such model for it: a process with another key may succeed."""

    code = "PRD223"
