"""Models of other providers: a module that a setting names, with a function that opens one."""

from collections.abc import Sequence
from typing import Any

from perdure.errors import InvalidInput, PerdureError
from perdure.frames import class_of, said_by
from perdure.modules import module_of, printing_aside

_LONGEST = 500
"""Characters that are told of why a module's function failed; a choice."""


def provided(name: str, opens: str, needs: Sequence[str], *, field: str, **how: Any) -> Any:
    """Open a model of a provider that an installation brings along.

    Args:
        name: ``<module>:<model>``, the module by its import path or by its file.
        opens: The name of the module's function that opens a model.
        needs: What the opened model must have.
        field: The setting, for errors.
        how: What the function is given besides the model's name.

    Raises:
        InvalidInput: The module cannot be imported, has no such function, fails, or opens something else.
    """
    module, _, model = name.partition(":")
    function = getattr(module_of(module, field), opens, None)
    if not callable(function):
        raise InvalidInput(field, f"{module} has no function {opens}", fix="see docs/models.md")
    try:
        with printing_aside():
            opened = function(model, **how)
    except PerdureError:
        raise
    except Exception as error:
        problem = f"{opens} of {module} failed: {class_of(error)}: {said_by(error)}"
        raise InvalidInput(field, problem[:_LONGEST], fix="give it what it needs; see docs/models.md") from error
    if lacking := [one for one in needs if not hasattr(opened, one)]:
        fix = "see docs/models.md"
        raise InvalidInput(field, f"what {opens} of {module} returns lacks {', '.join(lacking)}", fix=fix)
    return opened
