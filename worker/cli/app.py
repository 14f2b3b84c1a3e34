"""The command line's table of contents. A command's module is imported when it is called, and no other."""

import asyncio
import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from perdure.documents import nearest
from worker.exit import leave_after

COMMANDS = {
    "up": "worker.cli.servers:up",
    "down": "worker.cli.servers:down",
    "worker": "worker.cli.worker:worker",
    "run": "worker.cli.tasks:run",
    "status": "worker.cli.tasks:status",
    "answer": "worker.cli.tasks:answer",
    "cancel": "worker.cli.tasks:cancel",
    "recall": "worker.cli.memory:recall",
    "remember": "worker.cli.memory:remember",
    "forget": "worker.cli.memory:forget",
    "reconcile": "worker.cli.reconcile:reconcile",
    "doctor": "worker.cli.doctor:doctor",
    "demo": "demo.command:demo",
}


class _Table(TyperGroup):
    """All clients together take 2.9 s to import (measured), and asking for a status needs a third of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            ctx.fail(f"there is no command {cmd_name!r} ({nearest(cmd_name, COMMANDS)})")
        module, _, name = COMMANDS[cmd_name].partition(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        app.command(name=cmd_name)(_synchronous(function))
        return get_command(app)

    def invoke(self, ctx: Any) -> Any:
        # Its console takes a moment to import, which "--help" need not wait for.
        from worker.terminal.output import explained  # noqa: PLC0415

        with explained():
            return super().invoke(ctx)


def _synchronous(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that runs its coroutine to the end; one that is not a coroutine function stays as it is."""
    if not inspect.iscoroutinefunction(command):
        return command

    @functools.wraps(command)
    def run(**parameters: Any) -> None:
        asyncio.run(command(**parameters))

    return run


app = typer.Typer(
    name="perdure",
    cls=_Table,
    help="Durable agent tasks that survive crashes and remember what they learned.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _perdure() -> None:
    """Durable agent tasks that survive crashes and remember what they learned."""


def main() -> None:
    """Run the command line, and leave with its status."""
    leave_after(app)
