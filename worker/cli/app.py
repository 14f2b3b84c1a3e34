"""The command's beginning. It loads nothing itself, so that Ctrl-C ends the command in silence from then on."""

import signal


def main() -> None:
    """Run the command line, and leave with its status."""
    # Loading the commands takes some tenths of a second, in which Ctrl-C would print where it was.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from worker.terminal.streams import prepare, reporting_loss  # noqa: PLC0415

    # Before the commands are loaded: their consoles look at the width then.
    lost = prepare()
    from worker.cli.commands import app  # noqa: PLC0415
    from worker.exit import leave_after  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.default_int_handler)
    leave_after(lambda: reporting_loss(app, lost))
