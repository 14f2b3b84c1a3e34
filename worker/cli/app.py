"""The command line's table of contents."""

import sys

import typer

from worker import process
from worker.cli import doctor, memory, servers, tasks
from worker.demo import command as demo

app = typer.Typer(
    name="perdure",
    help="Durable agent tasks that survive crashes and remember what they learned.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command()(servers.up)
app.command()(servers.down)
app.command()(tasks.run)
app.command()(tasks.status)
app.command()(tasks.answer)
app.command()(tasks.cancel)
app.command()(memory.recall)
app.command()(memory.remember)
app.command()(memory.forget)
app.command()(doctor.doctor)
app.command()(demo.demo)


@app.command()
def worker() -> None:
    """Serve tasks in this process until Ctrl-C."""
    sys.exit(process.main())


def main() -> None:
    """Run the command line."""
    app()
