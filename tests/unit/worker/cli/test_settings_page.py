"""The page of all settings is what the settings say."""

from perdure.settings import Settings
from worker.cli.settings_page import PAGE, settings_page


def test_the_page_has_every_setting_with_its_meaning() -> None:
    page = settings_page()
    assert PAGE.read_text(encoding="utf-8") == page, "make reference writes it anew"
    for name in Settings.model_fields:
        [row] = [line for line in page.splitlines() if line.startswith(f"| `PERDURE_{name.upper()}` |")]
        assert row.split("|")[3].strip(), name
