"""Lock files of three formats, and files that are not lock files."""

from pathlib import Path

import pytest
from packaging.markers import default_environment

from perdure.errors import InvalidInput
from playbooks.dependency_audit.lockfiles import LockedPackage, read_packages

ENVIRONMENT = {name: str(value) for name, value in default_environment().items()} | {"sys_platform": "linux"}

PIP = """
# a comment
numpy==2.4.6 ; sys_platform == 'linux' \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via something
Colorama==0.4.6 ; sys_platform == 'win32' --hash=sha256:cc
--index-url https://example.invalid
Typing_Extensions==4.16.0
"""
UV = """
version = 1
[[package]]
name = "numpy"
version = "2.4.6"
source = { registry = "https://example.invalid/simple" }
[[package]]
name = "me"
version = "0.1"
source = { editable = "." }
"""
PYLOCK = """
lock-version = "1.0"
[[packages]]
name = "numpy"
version = "2.4.6"
[[packages]]
name = "colorama"
version = "0.4.6"
marker = "sys_platform == 'win32'"
"""
NUMPY = LockedPackage(name="numpy", version="2.4.6")


@pytest.mark.parametrize(
    ("name", "text", "packages"),
    [
        ("requirements.lock", PIP, [NUMPY, LockedPackage(name="typing-extensions", version="4.16.0")]),
        ("uv.lock", UV, [NUMPY]),
        ("pylock.toml", PYLOCK, [NUMPY]),
    ],
)
def test_a_lock_file_gives_what_it_pins_here(name: str, text: str, packages: list[LockedPackage]) -> None:
    assert read_packages(name, text, ENVIRONMENT) == packages


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.lock", "numpy>=2\n"),
        ("requirements.lock", "once upon a time\n"),
        ("requirements.lock", ""),
        ("uv.lock", "not = [toml"),
        ("pyproject.toml", "[project]\nname = 'x'\n"),
        ("pylock.toml", "[[packages]]\nversion = '1'\n"),
    ],
)
def test_what_is_no_lock_file_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        read_packages(name, text, ENVIRONMENT)


def test_this_projects_own_lock_file_can_be_audited() -> None:
    lock = Path("requirements-dev.lock")
    assert len(read_packages(lock.name, lock.read_text(), ENVIRONMENT)) >= 25
