from pathlib import Path

import pytest

from localservers import SettingsOrigin

SHOP = SettingsOrigin(file="/shop/perdure.toml", folder="/shop")
NONE = SettingsOrigin(folder="/else")


@pytest.mark.parametrize(
    ("before", "here", "told"),
    [
        (SHOP, SHOP, ""),
        (SHOP, NONE, "it uses /shop/perdure.toml; here, that is no perdure.toml in /else"),
        (NONE, SHOP, "it uses no perdure.toml in /else; here, that is /shop/perdure.toml"),
        (SHOP, SettingsOrigin(file="/shop/perdure.toml", folder="/else"), ""),
        (NONE, SettingsOrigin(folder="/shop"), ""),
        (SettingsOrigin(), SHOP, ""),
    ],
    ids=["the same", "none here", "none there", "from another folder", "none at all", "of an older build"],
)
def test_it_says_how_two_places_differ(before: SettingsOrigin, here: SettingsOrigin, told: str) -> None:
    assert before.difference(here) == told


NAMED = SettingsOrigin(file="/etc/one.toml", named=True, folder="/shop")


@pytest.mark.parametrize(
    ("before", "here", "how"),
    [
        (SHOP, NONE, "work in /shop"),
        (NAMED, NONE, "set PERDURE_CONFIG=/etc/one.toml"),
        (SettingsOrigin(named=True, folder="/shop"), NONE, "set PERDURE_CONFIG=/dev/null"),
        (SHOP, NAMED, "unset PERDURE_CONFIG and work in /shop"),
    ],
    ids=["by folder", "by variable", "no file by variable", "by variable only here"],
)
def test_it_says_how_to_have_the_settings_of_another(before: SettingsOrigin, here: SettingsOrigin, how: str) -> None:
    assert before.how_to_use(here) == how


def test_it_is_found_where_a_process_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PERDURE_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    assert SettingsOrigin.here() == SettingsOrigin(folder=str(tmp_path))

    (tmp_path / "perdure.toml").touch()
    assert SettingsOrigin.here().file == str(tmp_path / "perdure.toml")

    monkeypatch.setenv("PERDURE_CONFIG", "/dev/null")
    assert SettingsOrigin.here() == SettingsOrigin(named=True, folder=str(tmp_path))
