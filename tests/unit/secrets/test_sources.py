"""Where secrets are found: environment, files, and what an installation plugs in."""

import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from perdure.errors import InvalidInput
from perdure.secrets.redaction import KNOWN
from perdure.secrets.sources import LARGEST_SECRET, SecretKeeper, SecretUnreadable
from perdure.settings import Settings


class Vault:
    """What an installation may plug in."""

    def __init__(self, found: Any = "from the vault") -> None:
        self.found = found

    async def has(self, name: str) -> bool:
        return name == "door"

    async def get(self, name: str) -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found if name == "door" else None


def locked() -> Vault:
    raise PermissionError("hunter2-opens-nothing")


def made_late(name: str) -> Vault:
    """Make what is asked of a module, as one does that imports lazily."""
    if name == "late":
        return locked()
    raise AttributeError(name)


def revealed(found: Any) -> str | None:
    return found and found.get_secret_value()


@pytest.fixture
def plugged_in(monkeypatch: pytest.MonkeyPatch) -> str:
    module: Any = ModuleType("vault_of_a_test")
    module.vault, module.Vault, module.nothing, module.locked = Vault(), Vault, 7, locked
    module.__getattr__ = made_late
    monkeypatch.setitem(sys.modules, "vault_of_a_test", module)
    return "vault_of_a_test:vault"


async def test_the_environment_goes_first_then_files_then_what_is_plugged_in(
    tmp_path: Path, plugged_in: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = SecretKeeper.of((tmp_path,), plugged_in)
    assert revealed(await keeper.get("door")) == "from the vault"
    (tmp_path / "door").write_text("from a file\r\n", encoding="utf-8")
    assert revealed(await keeper.get("door")) == "from a file"
    monkeypatch.setenv("PERDURE_SECRET_DOOR", "from the environment")
    assert revealed(await keeper.get("door")) == "from the environment"
    assert await keeper.get("window") is None
    assert [await keeper.has(name) for name in ("door", "window")] == [True, False]


async def test_names_with_signs_are_upper_case_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_SECRET_TRACKER_TOKEN_2", "a value of it")
    assert revealed(await SecretKeeper.of(()).get("tracker-token.2")) == "a value of it"


async def test_an_empty_one_counts_as_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_SECRET_DOOR", "")
    (tmp_path / "door").write_text("\n", encoding="utf-8")
    assert await SecretKeeper.of((tmp_path,)).get("door") is None


async def test_what_was_found_is_known_to_the_redactor_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_SECRET_DOOR", "quite-a-secret-8")
    assert KNOWN.text("quite-a-secret-8") == "quite-a-secret-8"
    found = await SecretKeeper.of(()).get("door")
    assert "quite" not in f"{found!r} {found}"
    assert KNOWN.text("is quite-a-secret-8") == "is [secret door]"


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x" * (LARGEST_SECRET + 1)], ids=["binary", "large"])
async def test_a_file_that_cannot_be_one_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "door").write_bytes(content)
    with pytest.raises(SecretUnreadable, match="'door'"):
        await SecretKeeper.of((tmp_path,)).get("door")


@pytest.mark.parametrize("found", [ValueError("hunter2-is-it"), 7])
async def test_what_a_source_raises_or_returns_wrongly_tells_nothing_of_it(found: object) -> None:
    with pytest.raises(SecretUnreadable, match=r"ValueError|int") as raised:
        await SecretKeeper((Vault(found),)).get("door")
    assert "hunter2" not in str(raised.value)
    assert raised.value.__suppress_context__ or found == 7


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("vault_of_a_test", "write module:name"),
        ("vault_of_a_test:nothing", "no source of secrets .*async has"),
        ("vault_of_a_test:absent", "vault_of_a_test has no absent .correct the name"),
        ("vault_of_a_test:late", "raised PermissionError as it was made"),
        ("vault_of_a_test:locked", "raised PermissionError as it was made"),
        ("no_such_module_of_ours:vault", "cannot be imported: ModuleNotFoundError.*install it"),
    ],
)
def test_what_cannot_be_plugged_in_is_refused_with_the_fix(plugged_in: str, place: str, problem: str) -> None:
    assert plugged_in
    with pytest.raises(InvalidInput, match=f"secrets_from: .*{problem}") as refused:
        SecretKeeper.of((), place)
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))


def test_a_class_that_makes_one_can_be_named(plugged_in: str) -> None:
    assert SecretKeeper.of((), plugged_in.replace(":vault", ":Vault"))


async def test_it_can_be_in_a_file_which_a_relative_path_leads_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vault.py").write_text(
        """
class Vault:
    async def has(self, name): return True
    async def get(self, name): return "from the file"
"""
    )
    monkeypatch.chdir(tmp_path)
    place = Settings(secrets_from="./vault.py:Vault").secrets_from
    monkeypatch.chdir("/")
    keeper = SecretKeeper.of((), place)
    assert revealed(await keeper.get("door")) == "from the file"
