from pathlib import Path

from localservers import SettingsOrigin
from tests.conftest import clean_settings
from worker.restart_checks import lost_tools

TOOL = """
from perdure import tool

@tool(effect="read")
def {}() -> int: ...
"""


def test_what_a_restart_takes_away_is_named(tmp_path: Path) -> None:
    for name, tool in (("shop.py", "ship"), ("more.py", "weigh"), ("here.py", "weigh")):
        (tmp_path / name).write_text(TOOL.format(tool))
    before = SettingsOrigin(
        folder="/shop",
        tools=(*(str(tmp_path / name) for name in ("shop.py", "more.py")), "no.such.module"),
        mcp_servers=("/shop/mcp",),
    )

    lost = lost_tools(before, clean_settings(tmp_path / "home", tools=(str(tmp_path / "here.py"),)))

    assert lost == ["ship", "those of no.such.module", "those of the MCP servers in /shop/mcp"]
    assert lost_tools(SettingsOrigin(), clean_settings(tmp_path / "home")) == []
