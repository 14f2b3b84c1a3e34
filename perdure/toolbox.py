"""The collection of a worker's tools."""

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from perdure.errors import InvalidInput
from perdure.frames import said_by
from perdure.modules import module_of
from perdure.packages import PACKAGES
from perdure.suggestions import nearest
from perdure.tools import Effect, Tool, tool


class Toolbox:
    """The tools that a worker has.

    Args:
        tools: The tools.
        reserved: Names that no tool may have.
        beside: Returns a tool that is not among them, if its name is that of one that may appear.
        whose: Whose tools they are, told to whoever names another one.

    Raises:
        InvalidInput: A name is reserved, or two tools share it.
    """

    def __init__(
        self,
        tools: Iterable[Tool[..., Any]] = (),
        *,
        reserved: Collection[str] = (),
        beside: Callable[[str], Tool[..., Any] | None] | None = None,
        whose: str = "",
    ) -> None:
        self._reserved = reserved
        self._beside = beside
        self._whose = whose
        self._tools: dict[str, Tool[..., Any]] = {}
        for one in tools:
            if one.name in reserved:
                raise InvalidInput(f"tool {one.name}", "has a reserved name", fix="give it another name")
            if one.name in self._tools and self._tools[one.name] is not one:
                both = f"it is in {self._tools[one.name].place} and in {one.place}"
                raise InvalidInput(f"tool {one.name}", f"is duplicated: {both}", fix="give one of them another name")
            self._tools[one.name] = one

    @classmethod
    def load(cls, modules: Iterable[str], *, reserved: Collection[str] = ()) -> "Toolbox":
        """Collect the tools of these modules, each named by its import path or its file.

        Raises:
            InvalidInput: When a module cannot be imported or holds no tool, or a name is reserved or duplicated.
        """
        found: list[Tool[..., Any]] = []
        for name in modules:
            try:
                module = module_of(name, f"tools {name}" if name else "tools")
            except InvalidInput as error:
                if (fix := _how_to_declare(error.__cause__)) and not error.fix:
                    raise InvalidInput(error.field, error.problem, fix=fix) from error.__cause__
                raise
            here: list[Tool[..., Any]] = [value for value in vars(module).values() if isinstance(value, Tool)]
            if not here:
                fix = "decorate a function with @tool(effect=…)"
                if name in PACKAGES:
                    fix = f"it is Perdure's own; for a file of yours that is called so, give its path, ./{name}.py"
                raise InvalidInput(f"tools {name}", "holds no tool", fix=fix)
            found.extend(here)
        return cls(found, reserved=reserved)

    def extended(
        self,
        tools: Iterable[Tool[..., Any]],
        beside: Callable[[str], Tool[..., Any] | None] | None = None,
        whose: str = "",
    ) -> "Toolbox":
        """Return a box with more tools.

        Raises:
            InvalidInput: One of them has the name of another.
        """
        return Toolbox([*self, *tools], reserved=self._reserved, beside=beside, whose=whose)

    def __iter__(self) -> Iterator[Tool[..., Any]]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def get(self, name: str, path: str = "tool", error: type[InvalidInput] = InvalidInput) -> Tool[..., Any]:
        """Return a tool.

        Raises:
            InvalidInput: When no tool has this name; the nearest is suggested; of the class ``error``.
        """
        if name not in self._tools:
            if self._beside is not None and (found := self._beside(name)) is not None:
                return found
            raise error(path, f"there is no tool {name!r}", fix=nearest(name, self._tools, self._whose))
        return self._tools[name]


def _how_to_declare(problem: BaseException | None) -> str:
    """Return how a tool is declared, if the decorator was called as it cannot be; otherwise nothing."""
    if not isinstance(problem, TypeError) or not said_by(problem).startswith(f"{tool.__name__}() "):
        return ""
    if unknown := re.search(r"unexpected keyword argument '(\w+)'", str(problem)):
        return nearest(unknown[1], inspect.signature(tool).parameters)
    return f"write @tool(effect=…), in parentheses: {', '.join(one.value for one in Effect)}"
