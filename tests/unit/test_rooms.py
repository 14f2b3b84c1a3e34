import re
from collections import Counter
from pathlib import Path

PRODUCT = ("activities", "localservers", "perdure", "worker", "workflows")
ROOMS = (*PRODUCT, "bench", "chaos", "demo", "playbooks")
LONGEST = 350


def modules(*rooms: str) -> dict[str, str]:
    """Return the sources of rooms, by their paths."""
    root = Path(__file__).parents[2]
    found = {str(path): path.read_text(encoding="utf-8") for room in rooms for path in (root / room).rglob("*.py")}
    assert len(found) > 100
    return found


def test_every_module_is_small() -> None:
    lengths = {path: len(source.splitlines()) for path, source in modules(*ROOMS).items()}
    assert not {path: lines for path, lines in lengths.items() if lines > LONGEST}


def test_no_two_classes_share_a_name() -> None:
    sources = modules(*PRODUCT).values()
    names = Counter(name for source in sources for name in re.findall(r"^class ([A-Z]\w*)", source, re.MULTILINE))
    assert {name for name, count in names.items() if count > 1} == set()
