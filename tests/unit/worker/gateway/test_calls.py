import inspect

from worker.gateway import Gateway

ITS_OWN = {"client", "served", "served_within", "serving", "workers", "unserved"}
"""What reaches an installation, and asks it nothing."""


def test_each_call_names_its_actor() -> None:
    calls = {name: call for name, call in inspect.getmembers(Gateway, inspect.isfunction) if not name.startswith("_")}
    assert calls.keys() > ITS_OWN
    nameless = {name for name, call in calls.items() if "by" not in inspect.signature(call).parameters}
    assert nameless == ITS_OWN
