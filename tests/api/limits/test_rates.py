"""How much callers may send in a time, and what is remembered of them."""

import pytest

from lineage_bridge.api.limits.body_memory import BodyMemory
from lineage_bridge.api.limits.callers import THIS_MACHINE, Caller, caller_of
from lineage_bridge.api.limits.rates import BURST_S, MOST_CALLERS, IngestRates, Rate
from lineage_bridge.errors import OverloadedError
from lineage_bridge.model.access import ALL_SCOPES, AccessScope, Principal

S = 1_000_000
ADA, BOB = Caller("ada"), Caller("bob")


def test_a_caller_may_send_a_burst_and_then_its_rate() -> None:
    rate = Rate(10)
    for _ in range(int(10 * BURST_S) + 1):
        assert rate.wait_s(ADA, 0) == 0
        rate.take(ADA, 1, 0)
    assert rate.wait_s(ADA, 0) == pytest.approx(0.1)
    assert rate.wait_s(BOB, 0) == 0
    assert rate.wait_s(ADA, S // 10) == 0
    rate.take(ADA, 1, S // 10)
    assert rate.wait_s(ADA, S // 10) == pytest.approx(0.1)


def test_a_clock_that_is_set_back_makes_nobody_wait_longer() -> None:
    rate = Rate(1)
    rate.take(ADA, BURST_S + 2, 100 * S)
    assert rate.wait_s(ADA, 100 * S) == rate.wait_s(ADA, 0) == 2


def test_without_a_rate_and_for_who_is_alone_there_is_no_limit() -> None:
    for rate, caller in ((Rate(0), ADA), (Rate(1), THIS_MACHINE)):
        rate.take(caller, 1e9, 0)
        assert (rate.wait_s(caller, 0), rate.remembered) == (0, 0)


def test_however_many_callers_there_are_few_are_remembered() -> None:
    rate = Rate(1)
    rate.take(ADA, BURST_S + 1, 0)
    for number in range(MOST_CALLERS - 1):
        rate.take(Caller(str(number)), 1, 0)
    assert (rate.remembered, rate.wait_s(ADA, 0)) == (MOST_CALLERS, 1)
    rate.take(ADA, 1, 0)
    for number in range(2 * MOST_CALLERS):
        rate.take(Caller(f"more {number}"), 1, 0)
    assert rate.remembered == MOST_CALLERS


def test_the_error_names_the_limit_the_caller_and_when_to_try_again() -> None:
    rates = IngestRates(requests_per_s=1, bytes_per_s=100)
    for _ in range(int(BURST_S) + 3):
        rates.admit(ADA, 0)
        if _ == BURST_S:
            break
    with pytest.raises(OverloadedError, match="ada sent more than 1 requests") as requests:
        rates.admit(ADA, 0)
    assert (requests.value.code, requests.value.retry_after_s) == ("too_many_requests", 1)
    rates.count_bytes(BOB, int(BURST_S * 100) + 250, 0)
    with pytest.raises(OverloadedError, match="bob sent more than 100 bytes") as sent:
        rates.admit(BOB, 0)
    assert (sent.value.code, sent.value.retry_after_s) == ("too_many_bytes", 3)
    assert "ingest_bytes_per_s" in sent.value.hint


def test_bodies_of_one_caller_leave_memory_to_others() -> None:
    memory = BodyMemory(100)
    memory.hold(ADA, 50)
    with pytest.raises(OverloadedError, match="the requests of ada take 51 bytes"):
        memory.hold(ADA, 1)
    memory.hold(BOB, 25)
    with pytest.raises(OverloadedError):
        memory.hold(BOB, 1)
    memory.hold(THIS_MACHINE, 25)
    with pytest.raises(OverloadedError):
        memory.hold(THIS_MACHINE, 1)
    memory.release(ADA, 50)
    memory.hold(BOB, 10)


@pytest.mark.parametrize(
    ("principal", "peer", "caller"),
    [
        (Principal("ada", ALL_SCOPES), "192.0.2.1", Caller("principal ada")),
        (Principal("lineage-bridge", ALL_SCOPES), "127.0.0.1", Caller("principal lineage-bridge", True)),
        (Principal("", ALL_SCOPES), "127.0.0.1", THIS_MACHINE),
        (Principal("", frozenset({AccessScope.READ})), "192.0.2.1", Caller("192.0.2.1")),
        (Principal("", frozenset()), "::ffff:192.0.2.1", Caller("192.0.2.1")),
        (Principal("", frozenset()), "2001:db8:1:2:3:4:5:6", Caller("2001:db8:1:2::/64")),
        (Principal("", frozenset()), "2001:db8:1:2:9::%eth0", Caller("2001:db8:1:2::/64")),
        (Principal("", frozenset()), "testclient", Caller("testclient")),
    ],
)
def test_whom_limits_count(principal: Principal, peer: str, caller: Caller) -> None:
    assert caller_of(principal, peer) == caller
