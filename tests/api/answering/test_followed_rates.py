"""How questions for the pushed pulse are asked: in turns of those who follow them, until the server ends."""

import asyncio
from urllib.parse import urlencode

import anyio
import pytest
from tests.api.routes.page.test_rate_stream import SOON_S, A, moved
from tests.api.support import Server

from lineage_bridge.api.answering.followed_rates import Pulses, RatesFollower, RatesQuestion
from lineage_bridge.api.app import create_question_app
from lineage_bridge.api.limits.callers import Caller

GREEDY = [("greedy", 60 + number) for number in range(6)]


def followed(name: str, window_s: int) -> tuple[RatesQuestion, Caller]:
    return RatesQuestion("/api/v1/graph/pulse", urlencode({**A, "window_s": window_s}), None), Caller(name)


async def answered(server: Server, *every: tuple[str, int]) -> list[str]:
    """The names of those who follow questions, in the order in which they get their first answers."""
    server.send(moved(5, 3600))
    pulses, order = Pulses(server.services, create_question_app(server.services)), list[str]()
    followers = [(which, caller, pulses.join(which, caller)) for which, caller in (followed(*each) for each in every)]

    async def first(which: RatesQuestion, caller: Caller, follower: RatesFollower) -> None:
        assert isinstance(await follower.take(SOON_S), bytes)
        order.append(caller.name)
        pulses.leave(which, follower)

    await asyncio.gather(*(first(*each) for each in followers))
    return order


@pytest.mark.parametrize("theirs", [600, GREEDY[-1][1]], ids=["own", "shared"])
def test_callers_take_turns_however_many_questions_each_follows(server: Server, theirs: int) -> None:
    order = asyncio.run(answered(server, *GREEDY, ("other", theirs)))
    assert len(order) == 7
    assert order.index("other") <= 3, order


def test_who_follows_learns_at_once_that_the_server_ends(server: Server) -> None:
    server.send(moved(5, 3600))

    async def follow() -> None:
        pulses = Pulses(server.services, create_question_app(server.services))
        which, caller = followed("reader", 60)
        quick, slow = pulses.join(which, caller), pulses.join(which, caller)
        assert isinstance(await quick.take(SOON_S), bytes)
        pulses.end()
        assert isinstance(await slow.take(SOON_S), bytes)
        late = pulses.join(*followed("late", 60))
        with anyio.fail_after(SOON_S / 2):
            assert [await each.take(SOON_S) for each in (quick, slow, late)] == [None] * 3
        assert {quick.ended, slow.ended, late.ended} == {"stopping"}

    asyncio.run(follow())
