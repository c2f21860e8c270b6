"""Callers take turns, and none takes all slots or all of the queue."""

from collections import Counter

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.api.limits.callers import THIS_MACHINE, Caller
from lineage_bridge.api.limits.fair_slots import FairSlots, QueueFullError

GREEDY, MODEST, THIRD = Caller("greedy"), Caller("modest"), Caller("third")


@pytest.mark.parametrize(("size", "most"), [(1, 1), (2, 1), (3, 2), (4, 2), (256, 128)])
def test_one_caller_leaves_slots_to_others(size: int, most: int) -> None:
    async def main() -> None:
        slots = FairSlots(size, 0)
        for _ in range(most):
            await slots.take(GREEDY)
        if size > 1:
            with pytest.raises(QueueFullError):
                await slots.take(GREEDY)
            await slots.take(MODEST)

    anyio.run(main)


def test_who_is_alone_takes_all() -> None:
    async def main() -> None:
        slots = FairSlots(3, 0)
        for _ in range(3):
            await slots.take(THIS_MACHINE)
        with pytest.raises(QueueFullError):
            await slots.take(THIS_MACHINE)

    anyio.run(main)


def test_callers_take_turns() -> None:
    async def main() -> list[str]:
        slots, order = FairSlots(1), []
        await slots.take(THIS_MACHINE)

        async def work(caller: Caller, name: str) -> None:
            async with slots.slot(caller):
                order.append(name)

        async with anyio.create_task_group() as tasks:
            for number in range(3):
                tasks.start_soon(work, GREEDY, f"greedy {number}")
                await anyio.wait_all_tasks_blocked()
            for number in range(2):
                tasks.start_soon(work, MODEST, f"modest {number}")
                await anyio.wait_all_tasks_blocked()
            slots.release(THIS_MACHINE)
        assert slots.waiting == 0
        return order

    assert anyio.run(main) == ["greedy 0", "modest 0", "greedy 1", "modest 1", "greedy 2"]


def test_a_full_queue_makes_room_for_who_has_less_in_it() -> None:
    async def main() -> list[str]:
        slots, ends = FairSlots(1, 3), []
        await slots.take(THIS_MACHINE)

        async def work(caller: Caller, name: str) -> None:
            try:
                async with slots.slot(caller):
                    ends.append(name)
            except QueueFullError as full:
                ends.append(f"{name} dropped{' for its own' if full.by_caller else ''}")

        async with anyio.create_task_group() as tasks:
            for caller, name in [
                *((GREEDY, f"greedy {number}") for number in range(3)),
                (GREEDY, "greedy more"),
                (MODEST, "modest"),
                (THIRD, "third"),
                (THIRD, "third more"),
            ]:
                tasks.start_soon(work, caller, name)
                await anyio.wait_all_tasks_blocked()
            slots.release(THIS_MACHINE)
        return ends

    assert anyio.run(main) == [
        "greedy more dropped for its own",
        "greedy 2 dropped for its own",
        "greedy 1 dropped for its own",
        "third more dropped",
        "greedy 0",
        "modest",
        "third",
    ]


def test_who_goes_while_it_waits_or_is_called_takes_nothing() -> None:
    async def main() -> None:
        slots = FairSlots(1)
        await slots.take(THIS_MACHINE)

        async def work() -> None:
            async with slots.slot(GREEDY):
                await anyio.sleep_forever()

        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(work)
            await anyio.wait_all_tasks_blocked()
            slots.release(THIS_MACHINE)  # calls the first, which is cancelled when it runs on
            tasks.cancel_scope.cancel()
        assert slots.waiting == 0
        with anyio.fail_after(10):
            await slots.take(MODEST)

    anyio.run(main)


@given(
    size=st.integers(1, 4),
    queued=st.integers(0, 5),
    steps=st.lists(st.tuples(st.sampled_from([GREEDY, MODEST, THIRD, THIS_MACHINE]), st.sampled_from(["ask", "done", "go"])), max_size=40),
)
def test_in_any_order_of_events_no_slot_is_lost(size: int, queued: int, steps: list[tuple[Caller, str]]) -> None:
    async def main() -> None:
        slots, holding = FairSlots(size, queued), Counter[str]()
        asked: dict[str, list[tuple[anyio.CancelScope, anyio.Event]]] = {caller.name: [] for caller, _ in steps}

        async def work(caller: Caller, scope: anyio.CancelScope, done: anyio.Event) -> None:
            with scope:
                try:
                    async with slots.slot(caller):
                        holding[caller.name] += 1
                        try:
                            await done.wait()
                        finally:
                            holding[caller.name] -= 1
                except QueueFullError:
                    pass

        async with anyio.create_task_group() as tasks:
            for caller, step in steps:
                if step == "ask":
                    asked[caller.name].append((anyio.CancelScope(), anyio.Event()))
                    tasks.start_soon(work, caller, *asked[caller.name][-1])
                elif asked[caller.name]:
                    scope, done = asked[caller.name].pop(0)
                    done.set() if step == "done" else scope.cancel()
                await anyio.wait_all_tasks_blocked()
                assert holding.total() <= size
                assert slots.waiting <= queued
                assert not slots.waiting or holding.total() == size or max(holding.values()) >= size - holding.total()
            tasks.cancel_scope.cancel()
        assert (slots.waiting, holding.total()) == (0, 0)
        with anyio.fail_after(10):
            for _ in range(size):
                await slots.take(THIS_MACHINE)

    anyio.run(main)
