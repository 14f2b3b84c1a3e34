"""Every kind of error by its name, for errors that come from another process."""

from perdure import errors, refusals
from perdure.base_error import PerdureError
from perdure.models import errors as model_errors
from perdure.secrets import sources
from perdure.values import call_limits, erasures

KINDS: dict[str, type[PerdureError]] = {
    kind.__name__: kind
    for room in (errors, call_limits, erasures, refusals, sources, model_errors)
    for kind in vars(room).values()
    if isinstance(kind, type) and issubclass(kind, PerdureError)
}
"""The classes, by their names."""
