import re
import tomllib
from collections import Counter
from pathlib import Path

from tests import conftest

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


def places_of(pattern: str, *rooms: str) -> set[str]:
    """Return the modules in which a pattern stands."""
    return {path for path, source in modules(*rooms).items() if re.search(pattern, source)}


def room_of(path: str) -> str:
    return str(Path(path).relative_to(Path(__file__).parents[2]))


def test_an_entry_is_changed_in_the_one_validated_way() -> None:
    found = {room_of(path) for path in places_of(r"model_copy\(", *PRODUCT)}
    assert found == {"perdure/model.py", "perdure/tolerance.py"}


def test_commands_are_sent_to_redis_from_its_room_alone() -> None:
    sending = r"(?m)^\s*from perdure\.stores\.redis\.connection import .*\b(ask|Script)\b"
    found = {room_of(path) for path in places_of(sending, *PRODUCT)}
    assert {path for path in found if not path.startswith("perdure/stores/redis/")} == {"worker/components.py"}
    raw = r"\bredis\.(get|set|del(ete)?|h\w+|z\w+|s\w+|l\w+|r\w+|x\w+|execute_command|ping|eval\w*)\("
    assert {room_of(path) for path in places_of(raw, *PRODUCT) if "/stores/redis/" not in path} == set()


def test_files_that_lists_name_exist() -> None:
    root = Path(__file__).parents[2]
    mutmut = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
    named = [*mutmut["only_mutate"], *mutmut["pytest_add_cli_args_test_selection"]]
    named += [f"tests/{name}" for name in (*conftest.ALONE, *conftest.APART, *conftest.SLOW)]
    assert len(named) > 50
    assert [name for name in named if not any(root.glob(name))] == []
