"""Plays both quickstarts as a newcomer does, from a wheel in an empty environment: ``make first-hour``.

The binaries of the servers are taken from the cache; everything else begins with nothing.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from localservers import find_all
from perdure.settings import Settings
from tests.support.pages import clean_environment, play

PAGES = (Path("docs/quickstart-python.md"), Path("docs/quickstart-skills.md"))

AT_MOST = 180.0
"""Seconds that both may take, with the servers there."""


def main() -> int:
    """Play them, and print what took how long."""
    settings = Settings()
    find_all(settings, print)
    with tempfile.TemporaryDirectory(prefix="perdure-first-hour-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", name], check=True)
        environment = clean_environment(folder / "home", settings.cache)
        (folder / "home").mkdir()
        began = time.monotonic()
        try:
            for page in PAGES:
                here = folder / page.stem
                here.mkdir()
                if page is PAGES[0]:
                    for wheel in folder.glob("*.whl"):
                        wheel.rename(here / wheel.name)
                    shutil.copy("requirements.lock", here)
                for block in play(page, here, environment):
                    first = block.text.splitlines()[0]
                    sys.stdout.write(f"{time.monotonic() - began:6.1f} s  {page.stem}: {first}\n")
                    sys.stdout.flush()
                # The second page begins where the first one has installed Perdure.
                environment["PATH"] = f"{folder / PAGES[0].stem / '.venv' / 'bin'}:{environment['PATH']}"
        finally:
            command = folder / PAGES[0].stem / ".venv" / "bin" / "perdure"
            if command.exists():
                subprocess.run([command, "down"], env=environment, cwd=folder, check=False)
        took = time.monotonic() - began
    sys.stdout.write(f"both quickstarts did what they say, in {took:.0f} s (at most {AT_MOST:.0f})\n")
    return 0 if took <= AT_MOST else 1


if __name__ == "__main__":
    sys.exit(main())
