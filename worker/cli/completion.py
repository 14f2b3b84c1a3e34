"""``perdure completion``: scripts that have a shell complete commands and options. Asks no server."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from perdure.errors import InvalidInput
from perdure.suggestions import nearest
from worker.cli import commands

SCRIPTS = {
    "bash": """\
_perdure() {
    local IFS=$'\\n'
    COMPREPLY=($(perdure completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _perdure perdure
""",
    "zsh": """\
#compdef perdure
_perdure() {
    local -a found
    found=(${(f)"$(perdure completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( $#found )); then compadd -- $found; else _files; fi
}
compdef _perdure perdure
""",
    "fish": """\
complete -c perdure -a '(perdure completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
""",
}
"""What each shell reads."""


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    words: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
) -> None:
    """Print a script that has a shell complete commands and options.

    Example: eval "$(perdure completion bash)", in ~/.bashrc; or perdure completion fish | source
    """
    if shell == "words":
        for word in candidates(words or [""]):
            typer.echo(word)
        return
    if shell not in SCRIPTS:
        fixes = dict.fromkeys((nearest(shell, SCRIPTS), nearest("", SCRIPTS)))
        raise InvalidInput("SHELL", f"there is no script for {shell!r}", fix=" ".join(fixes))
    typer.echo(SCRIPTS[shell], nl=False)


def candidates(words: list[str]) -> list[str]:
    """Return what the last of some words may become: a command, or an option of the one before it.

    No command's module is imported for the names, and only its own for its options.

    >>> candidates(["sta"])
    ['status']
    """
    *before, last = words
    table: Mapping[str, str] | None = commands.COMMANDS
    command: Any = typer.main.get_command(commands.app)
    for word in before:
        if table is None or word not in table:
            continue
        with_options = last.startswith("-") or _is_group(table[word])
        command = command.get_command(None, word) if with_options else None
        table = command.table if hasattr(command, "table") else None
    if last.startswith("-"):
        names = [name for one in command.params for name in one.opts if name.startswith("-")] if command else []
        return sorted(name for name in (*names, "--help") if name.startswith(last))
    return sorted(name for name in table or () if name.startswith(last))


def _is_group(entry: str) -> bool:
    return entry.startswith(f"{commands.__name__}:")
