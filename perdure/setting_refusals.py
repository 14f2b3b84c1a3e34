"""What is told of settings that cannot be used: of each why, and what to do. Reads no value."""

from pydantic import BaseModel, ValidationError

from perdure.documents import refused
from perdure.errors import InvalidInput
from perdure.suggestions import nearest
from perdure.variables import PREFIX, told_file


def unusable(error: ValidationError, model: type[BaseModel]) -> InvalidInput:
    """Return the refusal of settings, with a line for each that is wrong.

    Args:
        error: What pydantic complains of.
        model: The settings.
    """
    names = {str(one["loc"][0]): one["loc"][0] in model.model_fields for one in error.errors() if one["loc"]}
    first, *others = [_unusable(error, model, name) for name in sorted(names, key=lambda name: names[name])]
    # A field, a problem and a fix are of one thing: the others are in the message alone.
    first.args = ("\n".join(one.message for one in (first, *others)),)
    return first


def _unusable(error: ValidationError, model: type[BaseModel], name: str) -> InvalidInput:
    if name not in model.model_fields:
        return InvalidInput(name, "is not a setting", fix=nearest(name, model.model_fields))
    found = refused(error, model, "", only=name)
    where = f"set {PREFIX}{name.upper()} or its line in {told_file()}"
    return InvalidInput(found.field, found.problem, fix="; ".join(filter(None, (found.fix, where))))
