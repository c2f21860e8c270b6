"""Which connections give way when there are too many."""

from lineage_bridge.api.connections.limits import ConnectionLimits
from lineage_bridge.api.connections.table import ConnectionTable

ADA, BOB, PROXY = "192.0.2.1", "192.0.2.2", "10.0.0.5"


def table(connections: int, per_address: int) -> "ConnectionTable[str]":
    shared = ConnectionLimits.networks(("10.0.0.0/8",))
    return ConnectionTable(ConnectionLimits(connections, per_address, shared=shared))


def test_the_one_of_an_address_that_waited_longest_gives_way() -> None:
    open_ = table(10, 2)
    assert [open_.add(name, ADA) for name in ("a", "b")] == [("", None)] * 2
    assert open_.add("c", ADA) == ("too_many_connections_of_address", "a")
    assert open_.add("x", BOB) == ("", None)
    open_.set_waiting("b", is_waiting=False)
    assert open_.add("d", ADA) == ("too_many_connections_of_address", "c")
    open_.set_waiting("d", is_waiting=False)
    assert open_.add("e", ADA) == ("too_many_connections_of_address", None), "both are served"
    open_.remove("e")
    open_.set_waiting("b", is_waiting=True)
    assert open_.add("f", ADA) == ("too_many_connections_of_address", "b")
    assert len(open_) == 3


def test_the_one_of_all_that_waited_longest_gives_way() -> None:
    open_ = table(3, 3)
    for name, peer in (("a", ADA), ("b", BOB), ("c", ADA)):
        open_.add(name, peer)
    assert open_.add("d", "192.0.2.3") == ("too_many_connections", "a")
    open_.set_waiting("b", is_waiting=False)
    open_.set_waiting("b", is_waiting=True)
    assert open_.add("e", BOB) == ("too_many_connections", "c")


def test_neighbours_are_one_address_and_proxies_have_no_limit_of_their_own() -> None:
    open_ = table(5, 1)
    open_.add("a", "2001:db8::1")
    assert open_.add("b", "2001:db8::2") == ("too_many_connections_of_address", "a")
    assert [open_.add(name, PROXY) for name in "cde"] == [("", None)] * 3
    assert open_.add("f", "::ffff:10.0.0.5") == ("", None)
    assert open_.add("g", PROXY) == ("too_many_connections", "b")


def test_of_closed_connections_nothing_is_kept() -> None:
    open_ = table(1000, 1000)
    for number in range(500):
        open_.add(str(number), f"192.0.2.{number % 250}")
    for number in range(500):
        open_.remove(str(number))
        open_.remove(str(number))
        open_.set_waiting(str(number), is_waiting=True)
    assert (len(open_), open_.addresses) == (0, 0)
