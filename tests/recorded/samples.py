"""Samples of all that is stored or crosses builds; ``python -m tests.recorded.samples`` writes those of ``next``.

A sample has every field filled in. A type without a sample fails a test, and so does a sample that cannot be read.
"""

import importlib
import inspect
import json
import pkgutil
import types
from collections import Counter
from datetime import UTC, date, datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import AwareDatetime, BaseModel, JsonValue, SecretStr, TypeAdapter
from pydantic.fields import FieldInfo

import activities
import localservers
import perdure
import worker
import workflows
from perdure.model import Passed, Request, Stored

FOLDER = Path(__file__).parent / "next" / "samples"

_SCALARS: dict[Any, Any] = {
    SecretStr: "x",
    str: "text",
    int: 3,
    float: 0.5,
    bool: True,
    AwareDatetime: datetime(2026, 5, 1, 12, tzinfo=UTC),
    date: date(2026, 5, 1),
    bytes: b"bytes",
}


def types_of_builds() -> dict[str, type[BaseModel]]:
    """Return every concrete type that is stored or crosses builds, by its name.

    Raises:
        ValueError: Two of them have one name, and so one sample.
    """
    for package in (perdure, activities, workflows, worker, localservers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith(".__main__"):
                importlib.import_module(module.name)
    own = [
        one
        for one in dict.fromkeys(subclasses(Passed))
        if one not in (Request, Stored)
        and one.model_config.get("extra") == "allow"
        and not one.__module__.startswith("tests.")
    ]
    names = Counter(one.__name__ for one in own)
    if twice := sorted(name for name, count in names.items() if count > 1):
        raise ValueError(f"types that are stored or cross builds have the same name: {', '.join(twice)}")
    return {one.__name__: one for one in sorted(own, key=lambda one: one.__name__)}


def sample(model: type[BaseModel], *, depth: int = 0) -> dict[str, Any]:
    """Return a value of a model as JSON, with every field filled in as far as its types go."""
    fields = {
        name: (field.examples or [_value(field.annotation, depth + 1)])[0] for name, field in model.model_fields.items()
    }
    return model.model_validate(fields).model_dump(mode="json")


def subclasses(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Return all models that are derived from one, however far."""
    return [one for child in model.__subclasses__() for one in (child, *subclasses(child))]


def _value(hint: Any, depth: int) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        examples = [one for part in parts[1:] if isinstance(part, FieldInfo) for one in part.examples or ()]
        return examples[0] if examples else _value(parts[0], depth)
    if hint is JsonValue:
        return {"a": [1, None, "x"]}
    if origin in (Union, types.UnionType):
        return None if depth > 6 and type(None) in parts else _value(parts[0], depth)
    if origin is Literal:
        return parts[0]
    if origin is tuple and parts[-1] is not Ellipsis:
        return [_value(part, depth) for part in parts]
    if origin in (list, tuple, frozenset, set):
        return [_value(parts[0], depth)]
    if origin is dict:
        return {_key(parts[0], depth): _value(parts[1], depth)}
    if inspect.isclass(hint) and issubclass(hint, Enum):
        return next(iter(hint)).value
    if inspect.isclass(hint) and issubclass(hint, BaseModel):
        return sample(hint, depth=depth)
    return _SCALARS.get(hint, {"a": 1})


def _key(hint: Any, depth: int) -> str:
    return str(TypeAdapter(str).validate_python(_value(hint, depth)))


def main() -> None:
    """Write the samples of the release to come."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.glob("*.json"):
        path.unlink()
    for name, model in types_of_builds().items():
        (FOLDER / f"{name}.json").write_text(json.dumps(sample(model), indent=1, sort_keys=True) + "\n")
    print(f"{len(types_of_builds())} samples in {FOLDER}")


if __name__ == "__main__":
    main()
