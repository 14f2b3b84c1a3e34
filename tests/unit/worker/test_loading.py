"""What a worker consists of is loaded without the garbage collector, which goes on afterwards."""

import subprocess
import sys

import pytest

LOADS = """
import gc
import importlib

from worker.loading import loaded

collections = []
gc.callbacks.append(lambda phase, _: collections.append(phase))
before = gc.get_freeze_count()
{load}("pydantic")
print(bool(collections), gc.isenabled(), gc.get_freeze_count() > before + 1_000)
"""


@pytest.mark.parametrize(
    ("load", "told"),
    [("loaded", "False True True"), ("importlib.import_module", "True True False")],
    ids=["loaded", "control"],
)
def test_nothing_is_collected_while_a_module_is_loaded_and_all_of_it_is_left_alone_later(load: str, told: str) -> None:
    code = [sys.executable, "-c", LOADS.format(load=load)]
    assert subprocess.run(code, capture_output=True, text=True, check=True).stdout.strip() == told
