"""How a command is called: which of its arguments are values, which are refused, and that its coroutine is run."""

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import typer
from typer.core import TyperCommand

_NEGATIVE = re.compile(r"-(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def flowing(text: str) -> str:
    r"""Return a docstring with each paragraph on a line: a terminal narrower than the code breaks them anew.

    >>> flowing("One\ntwo.\n\nThree.")
    'One two.\n\nThree.'
    """
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)


def plain_flags(parameters: list[Any]) -> list[Any]:
    """Return parameters of which flags show no type in the help: they take no value."""
    for one in parameters:
        if getattr(one, "is_bool_flag", False) and one.metavar is None:
            one.metavar = ""
    return parameters


_CHOOSING = {
    "--user": "whose",
    "--of": "which team or agent",
    "--from": "which step",
    "--agent": "which agent",
    "--sweep": "which sweep",
}
"""Options that choose what a command is about, and what to say instead of nothing."""

_WITHOUT = ("MissingParameter", "BadOptionUsage")
"""The errors about what was left out, which say nothing of how it is written."""


class CliCommand(TyperCommand):
    """A command that takes a negative number as a value: no option is a number."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its parameters, as the help shows them."""
        return plain_flags(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read arguments; what is left out is complained of with an example of the command."""
        try:
            rest = super().parse_args(ctx, self._numbers_last(args))
        except typer.TyperException as caught:
            error: Any = caught
            if type(caught).__name__ in _WITHOUT:
                # The parser of options knows no context, without which nothing tells how the command is used.
                error.ctx = error.ctx or ctx
                example = re.search(r"^Example: (.+)$", self.help or "", re.MULTILINE)
                error.message = f"{error.message} For example: {example[1]}".strip() if example else error.message
            if type(caught).__name__ == "NoSuchOption":
                error.possibilities = None
                error.message = f"{error.message} {self._meant(error.option_name)}".strip()
            raise
        self._require_chosen(ctx)
        return rest

    def _meant(self, option: str) -> str:
        """Return which option may be meant by one that is none; empty: none is like it."""
        from perdure.suggestions import closest  # noqa: PLC0415

        # Their dashes make all alike.
        known = [name.removeprefix("--") for one in self.params for name in one.opts if name.startswith("--")]
        meant = closest(option.lstrip("-"), known)
        return f"(did you mean '--{meant}'?)" if meant else ""

    def _require_chosen(self, ctx: Any) -> None:
        """Refuse an empty choice: ``--user "$WHO"`` of a script that does not set it must not mean everybody.

        Raises:
            InvalidInput: Naming the option.
        """
        for one in self.params:
            option = next((name for name in one.opts if name in _CHOOSING), None)
            if not option or one.required or ctx.params.get(one.name) != "":
                continue
            if ctx.get_parameter_source(one.name).name == "COMMANDLINE":
                from perdure.errors import InvalidInput  # noqa: PLC0415

                raise InvalidInput(option, "is empty", fix=f"say {_CHOOSING[option]}, or leave {option} out")

    def _numbers_last(self, args: list[str]) -> list[str]:
        """Return arguments with all values from the first negative number on behind ``--``."""
        taking = {name for one in self.params if not getattr(one, "is_flag", True) for name in one.opts}
        before = args[: args.index("--")] if "--" in args else args
        numbers = [
            place
            for place, one in enumerate(before)
            if _NEGATIVE.fullmatch(one) and not (place and before[place - 1] in taking)
        ]
        # Behind "--" nothing is an option: from the first number on, all that is no option goes there in its order.
        return _behind(args, numbers[0], taking) if numbers else args


def _behind(args: list[str], first: int, taking: set[str]) -> list[str]:
    options, values, rest = args[:first], list[str](), iter(args[first:])
    for one in rest:
        if one == "--":
            values += rest
        elif one in taking:
            options += [one, *([value] if (value := next(rest, None)) is not None else [])]
        elif one.startswith("-") and one != "-" and not _NEGATIVE.fullmatch(one):
            options.append(one)
        else:
            values.append(one)
    return [*options, "--", *values]


def synchronous(command: Callable[..., Any], spelled: Mapping[str, str]) -> Callable[..., Any]:
    """Return a command that refuses what is not text, and runs its coroutine, if it has one, to the end.

    Args:
        command: The command.
        spelled: Its parameters as a person types them, by name.
    """

    @functools.wraps(command)
    def run(**parameters: Any) -> None:
        for name, value in parameters.items():
            _require_text(spelled[name], value)
        called = command(**parameters)
        if inspect.iscoroutine(called):
            import asyncio  # noqa: PLC0415  it takes 30 ms of the 400 in which help is there

            asyncio.run(called)

    return run


def _require_text(name: str, value: object) -> None:
    """Refuse bytes that are not UTF-8, which no server can be sent; a file may have any name.

    Raises:
        InvalidInput: Naming the argument.
    """
    if isinstance(value, list | tuple):
        for one in cast("Iterable[object]", value):
            _require_text(name, one)
    elif isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            from perdure.errors import InvalidInput  # noqa: PLC0415

            raise InvalidInput(name, "is not UTF-8 text") from None
