"""The command line's table of contents. A command's module is imported when it is called, and no other."""

import functools
import importlib
import importlib.util
import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from worker.cli.command_call import CliCommand, flowing, plain_flags, synchronous

COMMANDS = {
    "up": "worker.cli.servers:up",
    "restart": "worker.cli.servers:restart",
    "down": "worker.cli.servers:down",
    "worker": "worker.cli.worker:worker",
    "serve": "worker.cli.serve:serve",
    "tokens": "worker.cli.commands:tokens",
    "run": "worker.cli.tasks:run",
    "fork": "worker.cli.tasks:fork",
    "chat": "worker.cli.chat:chat",
    "tasks": "worker.cli.commands:tasks",
    "status": "worker.cli.tasks:status",
    "explain": "worker.cli.explain:explain",
    "inbox": "worker.cli.inbox:inbox",
    "answer": "worker.cli.tasks:answer",
    "deliver": "worker.cli.tasks:deliver",
    "pause": "worker.cli.steering:pause",
    "resume": "worker.cli.steering:resume",
    "message": "worker.cli.steering:message",
    "redirect": "worker.cli.steering:redirect",
    "feedback": "worker.cli.steering:feedback",
    "cancel": "worker.cli.steering:cancel",
    "schedule": "worker.cli.schedules:schedule",
    "schedules": "worker.cli.schedules:schedules",
    "unschedule": "worker.cli.schedules:unschedule",
    "recall": "worker.cli.memory:recall",
    "remember": "worker.cli.memory:remember",
    "observe": "worker.cli.observe:observe",
    "forget": "worker.cli.memory:forget",
    "memories": "worker.cli.commands:memories",
    "lessons": "worker.cli.commands:lessons",
    "erase": "worker.cli.erase:erase",
    "audit": "worker.cli.commands:audit",
    "skills": "worker.cli.commands:skills",
    "policies": "worker.cli.commands:policies",
    "agents": "worker.cli.commands:agents",
    "prompts": "worker.cli.commands:prompts",
    "tools": "worker.cli.commands:tools",
    "check": "worker.cli.check:check",
    "schema": "worker.cli.schema:schema",
    "secrets": "worker.cli.secrets:secrets",
    "mcp": "worker.cli.mcp:mcp",
    "reconcile": "worker.cli.reconcile:reconcile",
    "doctor": "worker.cli.doctor:doctor",
    "completion": "worker.cli.completion:completion",
    "demo": "demo.command:demo",
}

MEMORIES = {
    "list": "worker.cli.memories:list_",
    "show": "worker.cli.memories:show",
    "history": "worker.cli.memories:history",
    "correct": "worker.cli.memories:correct",
    "refine": "worker.cli.memories:refine",
    "pin": "worker.cli.memories:pin",
    "unpin": "worker.cli.memories:unpin",
    "forget": "worker.cli.memories:forget",
    "merge": "worker.cli.memories:merge",
    "revert": "worker.cli.memories:revert",
    "rejected": "worker.cli.memories:rejected",
    "held": "worker.cli.held:held",
    "approve": "worker.cli.held:approve",
    "reject": "worker.cli.held:reject",
    "consent": "worker.cli.transfers:consent",
    "export": "worker.cli.transfers:export",
    "import": "worker.cli.transfers:import_",
    "erase": "worker.cli.erase:erase",
    "members": "worker.cli.commands:members",
}
"""The commands of ``perdure memories``."""

MEMBERS = {
    "add": "worker.cli.members:add",
    "remove": "worker.cli.members:remove",
    "list": "worker.cli.members:list_",
}
"""The commands of ``perdure memories members``."""

LESSONS = {
    "list": "worker.cli.lessons:list_",
    "promote": "worker.cli.lessons:promote",
    "history": "worker.cli.lessons:history",
    "withdraw": "worker.cli.lessons:withdraw",
}
"""The commands of ``perdure lessons``."""

AUDIT = {
    "verify": "worker.cli.audit:verify",
    "show": "worker.cli.audit:show",
    "remove": "worker.cli.audit:remove",
    "accept": "worker.cli.audit:accept",
}
"""The commands of ``perdure audit``."""

TOKENS = {
    "create": "worker.cli.tokens:create",
    "list": "worker.cli.tokens:list_",
    "revoke": "worker.cli.tokens:revoke",
}
"""The commands of ``perdure tokens``."""

SKILLS = {
    "list": "worker.cli.skills:list_",
    "show": "worker.cli.skills:show",
    "log": "worker.cli.definition_versions:skills_log",
    "diff": "worker.cli.definition_versions:skills_diff",
    "test": "worker.cli.skills:try_",
    "trials": "worker.cli.trials:trials",
    "propose": "worker.cli.trials:propose",
}
"""The commands of ``perdure skills``."""

AGENTS = {
    "list": "worker.cli.agents:list_",
    "show": "worker.cli.agents:show",
    "log": "worker.cli.definition_versions:agents_log",
    "diff": "worker.cli.definition_versions:agents_diff",
}
"""The commands of ``perdure agents``."""

TASKS = {
    "list": "worker.cli.task_list:list_",
    "show": "worker.cli.task_list:show",
}
"""The commands of ``perdure tasks``."""

TOOLS = {
    "list": "worker.cli.tools:list_",
    "show": "worker.cli.tools:show",
}
"""The commands of ``perdure tools``."""

PROMPTS = {
    "list": "worker.cli.prompts:list_",
    "show": "worker.cli.prompts:show",
    "log": "worker.cli.definition_versions:prompts_log",
    "diff": "worker.cli.definition_versions:prompts_diff",
}
"""The commands of ``perdure prompts``."""

POLICIES = {
    "list": "worker.cli.policies:list_",
    "log": "worker.cli.definition_versions:policies_log",
    "diff": "worker.cli.definition_versions:policies_diff",
    "test": "worker.cli.policies:try_",
}
"""The commands of ``perdure policies``."""


def _refuse_hidden() -> None:
    """Refuse to go on where a module of somebody else's stands for one of Perdure's.

    Raises:
        InvalidInput: Naming the file, and what to do.
    """
    # After the check of the name: the models behind these take .15 s to import.
    from perdure.errors import InvalidInput  # noqa: PLC0415
    from perdure.packages import hidden_packages  # noqa: PLC0415

    for name, origin in hidden_packages(Path(__file__).parents[2]):
        fix = f"rename it, or take its folder off PYTHONPATH and name the file: PERDURE_TOOLS='[\"{origin}\"]'"
        raise InvalidInput(origin, f"hides Perdure's own package {name}", fix=fix)


def docstring_of(module: str, name: str) -> str:
    """Return the docstring of a module's function without importing the module; empty: it has no such function."""
    # To parse the modules of all commands would take as long as all else that "--help" does.
    beginning = rf'^(?:async )?def {name}\(.*?\) -> [^\n]*:\n    """(.*?)"""'
    said = re.search(beginning, _source(module), re.MULTILINE | re.DOTALL)
    return inspect.cleandoc(said[1]) if said else ""


@functools.cache
def _source(module: str) -> str:
    found = importlib.util.find_spec(module)
    return Path(found.origin).read_text(encoding="utf-8") if found and found.origin else ""


_AS_JSON = "perdure.as_json"
"""Where the context keeps whether the command that is called prints JSON for a script."""


class _Table(TyperGroup):
    """All clients together take 2.9 s to import (measured), and asking for a status needs a third of them."""

    _lists = False
    table: ClassVar[Mapping[str, str]] = COMMANDS

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[_AS_JSON] = "--json" in args[: args.index("--") if "--" in args else None]
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        return plain_flags(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.table)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        # The list of commands needs a line of each, for which importing all of them takes 1.5 s.
        self._lists = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._lists = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.table:
            # The models that stand behind it take .15 s to import, which "--help" need not wait for.
            from perdure.suggestions import nearest  # noqa: PLC0415

            ctx.fail(f"there is no command {cmd_name!r} ({nearest(cmd_name, self.table)})")
        module, _, name = self.table[cmd_name].partition(":")
        if self._lists and (about := docstring_of(module, name)):
            return TyperCommand(cmd_name, help=about)
        if not self._lists:
            _refuse_hidden()
        found: Any = getattr(importlib.import_module(module), name)
        if isinstance(found, typer.Typer):
            return get_command(found)
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        spelled: dict[str, str] = {}
        about = flowing(inspect.getdoc(found) or "")
        app.command(name=cmd_name, cls=CliCommand, help=about)(synchronous(found, spelled))
        command = get_command(app)
        spelled.update({str(parameter.name): parameter.opts[0] for parameter in command.params})
        return command

    def invoke(self, ctx: Any) -> Any:
        # Its console takes a moment to import, which "--help" need not wait for.
        from worker.terminal.output import explained  # noqa: PLC0415

        with explained(as_json=ctx.meta.get(_AS_JSON, False)):
            return super().invoke(ctx)


class _Inner(_Table):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        # The first command of a group is the one to begin with.
        module, _, name = next(iter(self.table.values())).partition(":")
        example = re.search(r"^Example: .+$", docstring_of(module, name), re.MULTILINE)
        about = self.help
        self.help = f"{about}\n\n{example[0]}" if example else about
        try:
            super().format_help(ctx, formatter)
        finally:
            self.help = about

    def invoke(self, ctx: Any) -> Any:
        return TyperGroup.invoke(self, ctx)


app = typer.Typer(
    name="perdure",
    cls=_Table,
    help="Durable agent tasks that survive crashes and remember what they learned.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _group(name: str, entries: dict[str, str], about: str) -> typer.Typer:
    """Return a command with subcommands, which lists them if it is called without one."""

    class Group(_Inner):
        table = entries

    group = typer.Typer(
        name=name,
        cls=Group,
        help=about,
        no_args_is_help=True,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    group.callback()(lambda: None)
    return group


memories = _group(
    "memories",
    MEMORIES,
    "What is remembered of a user, a team or an agent, memory by memory: view it, correct it, export it.",
)
members = _group(
    "members",
    MEMBERS,
    "Who belongs to a team or an agent, whose memory its members share. Anyone who can run this is an administrator: "
    "nobody's membership is checked.",
)
lessons = _group(
    "lessons",
    LESSONS,
    "What tasks have learned from failures: list it, promote it to everybody, withdraw it. Anyone who can run this is "
    "an administrator.",
)
audit = _group("audit", AUDIT, "Who wrote, changed or read which memory: check it, show it, remove what is old.")
tokens = _group(
    "tokens",
    TOKENS,
    "By which token somebody may use the services: make one, list them, revoke one. Anyone who can run this is an "
    "administrator.",
)
tasks = _group("tasks", TASKS, "Which tasks there are, as Temporal lists them; no worker is needed.")
skills = _group("skills", SKILLS, "What tasks can run: list it, try it out.")
agents = _group("agents", AGENTS, "Who works towards goals: show them, and what changed in them.")
tools = _group("tools", TOOLS, "What skills and agents can call, MCP servers' tools included: show it.")
prompts = _group("prompts", PROMPTS, "Texts that skills and agents use by name: show them, and what changed in them.")
policies = _group(
    "policies", POLICIES, "What no tool may do here, or only with a person's approval: show it, try it out."
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415  it takes 50 ms of the 400 in which help is there

        typer.echo(f"perdure {version('perdure')}")
        raise typer.Exit


@app.callback()
def _perdure(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version and leave.")
    ] = False,
) -> None:
    """Durable agent tasks that survive crashes and remember what they learned."""
