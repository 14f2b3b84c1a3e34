"""Every kind of error by its name, for errors that come from another process."""

from perdure import errors, limits, refusals
from perdure.base_error import PerdureError
from perdure.models import errors as model_errors

KINDS: dict[str, type[PerdureError]] = {
    kind.__name__: kind
    for room in (errors, limits, refusals, model_errors)
    for kind in vars(room).values()
    if isinstance(kind, type) and issubclass(kind, PerdureError)
}
"""The classes, by their names."""
