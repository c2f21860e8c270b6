"""Pushes the pulse to those who follow it: a question is asked once for all of its followers, and only if the graph has changed.

One question at a time is asked for all followers; callers take turns, however many questions each follows. After its answer, each question
pauses for many times the time that the answer took. While nothing changes, it is asked once a minute, because the window moves.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

import msgspec
from anyio import move_on_after, to_thread
from starlette.types import ASGIApp, Message

from lineage_bridge.api import position_tokens
from lineage_bridge.api.answering.lanes import CURRENT_TURN
from lineage_bridge.api.answering.visibility import CURRENT_VISIBILITY
from lineage_bridge.api.limits.callers import Caller, set_caller
from lineage_bridge.api.limits.fair_slots import FairSlots
from lineage_bridge.api.readiness import store_progress
from lineage_bridge.api.responses import error_response
from lineage_bridge.api.schemas.statistics import PulseAnswer, PulseChange, PulseEnd, PulseItem
from lineage_bridge.api.services import Services
from lineage_bridge.errors import LineageBridgeError, StoreError, UnavailableError
from lineage_bridge.model.access import Visibility

PAUSED: Final = 60
"""A question is asked again after this many times the time that its answer took, at most after `StreamPace.slowest_s`."""
_ANSWERS: Final = msgspec.json.Decoder(PulseAnswer)
_ASKING: Final = Caller("followed rates")
_PASSED_ON: Final = frozenset({b"content-type", b"retry-after"})
_log = logging.getLogger(__name__)
Side = Literal["input", "output"]
Flow = tuple[str, str, Side]
"""The ids of the job and of the dataset, and the side."""
Ended = Literal["stopping", "failed"]


class RatesQuestion(NamedTuple):
    """A question, and what its followers may see. Followers for whom both are equal share the answers."""

    path: str
    query: str
    visibility: Visibility | None


@dataclass(frozen=True)
class RatesProblem:
    """An answer that is an error."""

    status: int
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Tick:
    """An answer, and how it differs from the previous one."""

    answer: PulseAnswer
    changed: list[PulseItem]
    gone: list[Flow]

    @property
    def is_same(self) -> bool:
        """Whether no rate has changed."""
        return not self.changed and not self.gone

    @cached_property
    def whole(self) -> bytes:
        """The message with all rates."""
        return self._message(True, self.answer.flows, [])

    @cached_property
    def change(self) -> bytes:
        """The message with what has changed."""
        return self._message(False, self.changed, self.gone)

    def _message(self, is_whole: bool, flows: list[PulseItem], gone: list[Flow]) -> bytes:
        of = self.answer
        ends = [PulseEnd(*flow) for flow in gone]
        change = PulseChange(of.at, of.window_s, is_whole, flows, ends, of.truncated, of.settling, of.position)
        return event("rates", msgspec.json.encode(change))


def event(name: str, data: bytes) -> bytes:
    """A server-sent event; `data` has no line breaks."""
    return b"event: %b\ndata: %b\n\n" % (name.encode(), data)


class RatesFollower:
    """A client that follows a question. If a message comes before it has taken the last one, it gets all current rates instead."""

    def __init__(self) -> None:
        self._ready = asyncio.Event()
        self._next: bytes | RatesProblem | None = None
        self._needs_whole = True
        self.ended: Ended | None = None

    async def take(self, seconds: float) -> bytes | RatesProblem | None:
        """The next message; None if there is none within some seconds, or if the stream has ended (`ended`)."""
        with move_on_after(0 if self.ended else seconds):
            await self._ready.wait()
        self._ready.clear()
        found, self._next = self._next, None
        return found

    def offer(self, news: Tick | RatesProblem, *, is_due: bool) -> None:
        """Offer the follower a message. An answer without changes is only offered if `is_due`."""
        if isinstance(news, RatesProblem):
            self._next, self._needs_whole = news, True
        elif self._needs_whole or self._next is not None:
            self._next, self._needs_whole = news.whole, False
        elif is_due or not news.is_same:
            self._next = news.change
        else:
            return
        self._ready.set()

    def end(self, why: Ended) -> None:
        """Record that no message follows, and why."""
        self.ended = why
        self._ready.set()


@dataclass(eq=False)
class _Following:
    """The followers of a question with their callers, and a hash of each flow of its last answer."""

    followers: dict[RatesFollower, Caller] = field(default_factory=dict)
    joined: asyncio.Event = field(default_factory=asyncio.Event)
    known: dict[Flow, int] = field(default_factory=dict)
    sent_s: float = float("-inf")
    task: "asyncio.Task[None] | None" = None

    def publish(self, news: PulseAnswer | RatesProblem, now: float, quiet_s: float) -> None:
        """Give an answer to all followers."""
        if isinstance(news, RatesProblem):
            for follower in self.followers:
                follower.offer(news, is_due=True)
            return
        flows = {(flow.job.id, flow.dataset.id, flow.side): flow for flow in news.flows}
        hashes = {key: hash(flow) for key, flow in flows.items()}
        changed = [flow for key, flow in flows.items() if self.known.get(key) != hashes[key]]
        tick = Tick(news, changed, [*(self.known.keys() - hashes.keys())])
        is_due = not tick.is_same or now - self.sent_s >= quiet_s
        if is_due:
            self.sent_s = now
        self.known = hashes
        for follower in self.followers:
            follower.offer(tick, is_due=is_due)


class Pulses:
    """Asks the followed questions, with `app`, and gives the answers to their followers. Belongs to one event loop."""

    def __init__(self, services: Services, app: ASGIApp) -> None:
        self._services, self._app, self.pace = services, app, services.pace
        self._all: dict[RatesQuestion, _Following] = {}
        self._turn = FairSlots(1)
        self._is_ending = False
        self._looking = asyncio.Lock()
        self._looked = float("-inf")
        self._applied: tuple[position_tokens.Position, bool] | None = None

    def join(self, followed: RatesQuestion, caller: Caller) -> RatesFollower:
        """Follow a question from now on, until `leave`."""
        following = self._all.get(followed)
        if following is None:
            following = self._all[followed] = _Following()
            following.task = asyncio.create_task(self._follow(followed, following))
        follower = RatesFollower()
        following.followers[follower] = caller
        following.joined.set()
        if self._is_ending:
            follower.end("stopping")
        return follower

    def leave(self, followed: RatesQuestion, follower: RatesFollower) -> None:
        """End what `join` began."""
        following = self._all.get(followed)
        if following is None:
            return
        following.followers.pop(follower, None)
        if not following.followers:
            del self._all[followed]
            if following.task:
                following.task.cancel()

    def end(self) -> None:
        """End the streams of all followers, because the server stops."""
        self._is_ending = True
        for following in self._all.values():
            for follower in following.followers:
                follower.end("stopping")

    async def _follow(self, followed: RatesQuestion, following: _Following) -> None:
        """Ask a question repeatedly for its followers, until cancelled."""
        CURRENT_VISIBILITY.set(followed.visibility)
        CURRENT_TURN.set(None)
        loop, failures = asyncio.get_running_loop(), 0
        try:
            while True:
                async with self._turn.slot(self._caller(following)):
                    following.joined.clear()
                    applied, began = await self._progress(), loop.time()
                    news = await self._ask(followed)
                    following.publish(news, loop.time(), self.pace.quiet_s)
                    took = loop.time() - began
                failures = failures + 1 if isinstance(news, RatesProblem) else 0
                pause = max(self.pace.tick_s, min(PAUSED * took, self.pace.slowest_s)) * 2 ** min(failures, 3)
                until = loop.time() + self.pace.refresh_s
                while await self._rests(following, pause) and not failures:
                    pause = self.pace.tick_s
                    if loop.time() >= until or await self._progress() != applied:
                        break
        except Exception as error:  # noqa: BLE001 - the boundary of a loop: its followers learn of it
            _log.error("pages that follow the pulse get no further rates: %r", error)
            for follower in following.followers:
                follower.end("failed")
            if self._all.get(followed) is following:
                del self._all[followed]

    async def _rests(self, following: _Following, seconds: float) -> bool:
        """Wait, and return whether nobody has joined meanwhile."""
        with move_on_after(seconds):
            await following.joined.wait()
        return not following.joined.is_set()

    def _caller(self, following: _Following) -> Caller:
        """Of the callers who follow a question, the one who follows the fewest."""
        every = self._all.values()
        return min({*following.followers.values()}, key=lambda caller: sum(caller in other.followers.values() for other in every))

    async def _ask(self, followed: RatesQuestion) -> PulseAnswer | RatesProblem:
        """Ask a question once."""
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": followed.path,
            "raw_path": followed.path.encode(),
            "root_path": "",
            "query_string": followed.query.encode(),
            "headers": [],
            "client": None,
            "server": None,
        }
        set_caller(scope, _ASKING)  # those who share an answer may not see each other's names
        gone: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        messages: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]
        status, headers, body = 0, {}, bytearray()

        async def receive() -> Message:
            return messages.pop() if messages else await gone

        async def collect(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = {name.decode(): value.decode() for name, value in message["headers"] if name in _PASSED_ON}
            body.extend(message.get("body", b""))

        try:
            await self._app(scope, receive, collect)
        except LineageBridgeError as error:
            return _failure(error)
        return _ANSWERS.decode(body) if status == 200 else RatesProblem(status, bytes(body), headers)

    async def _progress(self) -> tuple[position_tokens.Position, bool] | None:
        """What the graph has applied, as it was at most a tick ago; None if that is not known."""
        async with self._looking:
            loop = asyncio.get_running_loop()
            if loop.time() - self._looked >= self.pace.tick_s:
                self._applied = await to_thread.run_sync(self._read_progress, limiter=self._services.waiting_threads)
                self._looked = loop.time()
        return self._applied

    def _read_progress(self) -> tuple[position_tokens.Position, bool] | None:
        try:
            return self._services.progress() if self._services.progress else store_progress(self._services.graph)
        except StoreError:
            return None


def _failure(error: LineageBridgeError) -> RatesProblem:
    response = error_response(error)
    headers = {name: value for name, value in response.headers.items() if name.encode() in _PASSED_ON}
    return RatesProblem(response.status_code, bytes(response.body), headers)


def late() -> RatesProblem:
    """The error for a follower whose first message does not come in time."""
    return _failure(UnavailableError("the rates could not be read in time", "ask again in a moment"))
