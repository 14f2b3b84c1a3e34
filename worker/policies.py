"""The write policies and retention rules of an installation, read from their files."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from perdure.documents import unreadable, validated
from perdure.errors import InvalidInput
from perdure.memory.retention import RetentionRules
from perdure.memory.write_policies import POLICIES, WritePolicy, read_policies
from perdure.settings import Settings
from perdure.yaml_text import read_document


def policies_of(settings: Settings) -> dict[str, WritePolicy]:
    """Return the write policies: those that every installation has, as changed by its file.

    Raises:
        InvalidInput: The file cannot be read; naming the field.
    """
    path = settings.write_policies
    if path is None:
        return dict(POLICIES)
    with _naming(path):
        return read_policies(_text(path, "write_policies"), path.name)


def rules_of(settings: Settings) -> RetentionRules:
    """Return the retention rules: fields that their file leaves out have their defaults.

    Raises:
        InvalidInput: The file cannot be read; naming the field.
    """
    path = settings.retention_rules
    if path is None:
        return RetentionRules()
    with _naming(path):
        return validated(RetentionRules, read_document(_text(path, "retention_rules"), path.name), "")


@contextmanager
def _naming(path: Path) -> Generator[None]:
    """Name the file in errors about its content."""
    try:
        yield
    except InvalidInput as error:
        field = error.field if str(path) in str(error) else f"{path}: {error.field}".removesuffix(f": {path.name}")
        raise InvalidInput(field, error.problem, fix=error.fix) from None


def _text(path: Path, setting: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = unreadable(path, error)
        raise InvalidInput(setting, f"{path} {problem.problem}", fix=problem.fix) from error
