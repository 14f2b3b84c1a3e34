"""The limit of open files is raised as far as the system allows, and never lowered."""

import subprocess
import sys

import pytest

RAISED = """
import resource
from localservers.processes import raised_file_limit

hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
print(raised_file_limit(), *resource.getrlimit(resource.RLIMIT_NOFILE))
import subprocess, sys
child = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True).stdout.strip())
"""


def limits(soft: int, hard: int) -> tuple[list[int], int]:
    """Return what a process with these limits is told, its own limits then, and that of its child."""
    code = RAISED.format(soft=soft, hard=hard)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    own, child = ran.stdout.splitlines()
    return [int(number) for number in own.split()], int(child)


@pytest.mark.parametrize(("soft", "hard"), [(64, 512), (256, 256), (100, 1000)])
def test_the_limit_of_open_files_is_raised_for_the_process_and_its_children(soft: int, hard: int) -> None:
    assert limits(soft, hard) == ([hard, hard, hard], hard)
