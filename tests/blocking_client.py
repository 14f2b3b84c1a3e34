"""The blocking client is written from the asynchronous one: ``python -m tests.blocking_client`` writes it anew."""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path("perdure/client")
QUOTES = '"""'

WRITTEN = {"transport.py": "blocking_transport.py", "client.py": "blocking_client.py"}
"""Each module that is written, by the one that it is written from."""

_RULES = (
    (r"\bperdure\.client\.transport\b", "perdure.client.blocking_transport"),
    (r"\bServiceConnection\b", "BlockingServiceConnection"),
    (r"\bClient\b", "BlockingClient"),
    (r"\bAsyncClient\b", "Client"),
    (r"\bAsyncGenerator\b", "Generator"),
    (r"\bAwaitable\[(\w+)\]", r"\1"),
    (r"\bAwaitable, ", ""),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\baclose\b", "close"),
    (r"\basyncio\b", "time"),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
)


def written(name: str) -> str:
    """Return what a module of the asynchronous client becomes."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    for pattern, instead in _RULES:
        text = re.sub(pattern, instead, text)
    first, rest = text.split("\n", 1)
    told = (
        f"{first.removesuffix(QUOTES)}\n\nBlocking. Written from ``{name}`` by ``make reference``: change that one.\n"
    )
    sorted_ = _ruff("check", "--select", "I", "--fix-only", given=f"{told}{QUOTES}\n{rest}")
    return _ruff("format", given=sorted_)


def _ruff(*how: str, given: str) -> str:
    command = [
        str(Path(sys.executable).parent / "ruff"),
        *how,
        "--quiet",
        "--stdin-filename",
        "perdure/client/x.py",
        "-",
    ]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Write the modules."""
    for name, target in WRITTEN.items():
        (FOLDER / target).write_text(written(name), encoding="utf-8")


if __name__ == "__main__":
    main()
