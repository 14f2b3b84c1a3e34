from pathlib import Path

ROOMS = ("activities", "bench", "chaos", "demo", "localservers", "perdure", "playbooks", "worker", "workflows")
LONGEST = 350


def test_every_module_is_small() -> None:
    root = Path(__file__).parents[2]
    modules = [path for room in ROOMS for path in (root / room).rglob("*.py")]
    assert len(modules) > 100
    long = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules}
    assert not {path: lines for path, lines in long.items() if lines > LONGEST}
