"""What is told of settings that cannot be used: of each why, and what to do. Says where each was set."""

import json
import os
import re
from collections.abc import Collection

from pydantic import BaseModel, ValidationError

from perdure.documents import refused
from perdure.errors import InvalidInput
from perdure.suggestions import nearest
from perdure.variables import PREFIX, settings_file, told_file


def unusable(error: ValidationError, model: type[BaseModel], given: Collection[str]) -> InvalidInput:
    """Return the refusal of settings, with a line for each that is wrong.

    Args:
        error: What pydantic complains of.
        model: The settings.
        given: Those that a caller gave, which were read from nowhere.
    """
    names = {str(one["loc"][0]): one["loc"][0] in model.model_fields for one in error.errors() if one["loc"]}
    first, *others = [
        _unusable(error, model, name, "" if name in given else _place_of(name))
        for name in sorted(names, key=lambda name: names[name])
    ]
    # A field, a problem and a fix are of one thing: the others are in the message alone.
    first.args = ("\n".join(one.message for one in (first, *others)),)
    return first


def not_a_list(name: str) -> InvalidInput:
    """Return the refusal of a variable that is no list, with what it holds as one."""
    variable = PREFIX + name.upper()
    given = re.split(r"[,\n]", os.environ.get(variable, "").strip("[] "))
    values = [one.strip(" '\"") for one in given if one.strip(" '\"")] or ["first", "second"]
    fix = f"write it as JSON: {variable}='{json.dumps(values, ensure_ascii=False)}'"
    return InvalidInput(name, "is not a list", fix=fix)


def _unusable(error: ValidationError, model: type[BaseModel], name: str, place: str) -> InvalidInput:
    if name not in model.model_fields:
        return InvalidInput(name, "is not a setting", fix=nearest(name, model.model_fields), place=place)
    found = refused(error, model, "", only=name)
    where = f"set {PREFIX}{name.upper()} or its line in {told_file()}"
    fix = "; ".join(filter(None, (found.fix, where)))
    return InvalidInput(found.field, found.problem, fix=fix, place=place)


def _place_of(name: str) -> str:
    """Return the file of settings and the line in it that a setting has its value from; empty: it is not from there."""
    path, variable = settings_file(), PREFIX + name.upper()
    if path is None or os.environ.get(variable) or os.environ.get(f"{variable}_FILE"):
        return ""
    key = re.compile(rf"""[\[\s]*["']?{re.escape(name)}["']?\s*[=.\]]""")
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return next((f"{path}:{number}" for number, line in lines if key.match(line)), str(path))
