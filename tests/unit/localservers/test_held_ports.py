"""Nobody takes the port of a server that is stopped for a moment."""

from localservers.held_ports import HeldPorts

PORT = 19_999
"""Below those that servers are given."""


def test_a_port_that_a_fleet_holds_is_no_other_fleets_until_it_lets_go() -> None:
    first, second = HeldPorts(), HeldPorts()
    assert first.hold(PORT)
    assert first.hold(PORT), "it is its own"
    assert not second.hold(PORT)
    first.keep([PORT])
    assert not second.hold(PORT)
    first.keep([])
    assert second.hold(PORT)
    second.keep([])
