"""What the docstrings under the fields of models, and under the members of enumerations, say."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from enum import Enum
from functools import cache
from itertools import pairwise
from typing import Any, get_args

from pydantic import BaseModel

Described = type[BaseModel] | type[Enum]


def meanings(described: Described) -> dict[str, str]:
    """Return what is said of each field or member that has a docstring, in Markdown.

    >>> from perdure.values.questions import AnswerSpec
    >>> meanings(AnswerSpec)
    {'type': 'What an answer may be.', 'choices': 'For the type `choice`: one of these.'}
    """
    found: dict[str, str] = {}
    for one in reversed(described.__mro__):
        if issubclass(one, BaseModel | Enum) and one.__module__.startswith("perdure"):
            found |= _of_its_own(one)
    fields = described.model_fields if issubclass(described, BaseModel) else described.__members__
    return {name: found[name] for name in fields if name in found}


@cache
def _of_its_own(described: Described) -> dict[str, str]:
    """Return what a class itself says, kept: to find and parse one takes 5 ms (measured), and most are asked often."""
    [written] = ast.parse(textwrap.dedent(inspect.getsource(described))).body
    return dict(_said(written.body)) if isinstance(written, ast.ClassDef) else {}


def about(described: Described) -> str:
    """Return the first paragraph of a class's docstring, in Markdown."""
    return _plain((described.__doc__ or "").split("\n\n")[0])


def _said(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, said in pairwise(body):
        match field, said:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, _plain(text)
            case _:
                pass


def _plain(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def described_by(model: Described) -> dict[str, Described]:
    """Return the models and enumerations that a model is made of, itself included, by their names."""
    found: dict[str, Described] = {}
    _gather(model, found)
    return found


def _gather(annotation: Any, found: dict[str, Described]) -> None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel | Enum):
        if annotation.__name__ in found:
            return
        found[annotation.__name__] = annotation
        if issubclass(annotation, BaseModel):
            for field in annotation.model_fields.values():
                _gather(field.annotation, found)
    for inner in get_args(annotation):
        _gather(inner, found)
