"""A store is asked within a deadline: one thread waits for the answer, and nobody else does for longer."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lineage_bridge.errors import StoreMissingError, StoreUnreachableError
from lineage_bridge.store.probe import Probe


def test_an_answer_and_an_error_are_those_of_the_question() -> None:
    answers = iter([1, 2])
    probe = Probe(lambda: next(answers))
    assert [probe.answer(), probe.answer()] == [1, 2]

    def fail() -> None:
        raise StoreMissingError("nothing there")

    with pytest.raises(StoreMissingError, match="nothing there"):
        Probe(fail).answer()


def test_a_question_that_is_not_answered_is_asked_once_until_it_ends() -> None:
    asked, goes_on = [], threading.Event()

    def ask() -> int:
        asked.append(threading.current_thread())
        assert goes_on.wait(60)
        return 7

    probe = Probe(ask, 0.1)
    with ThreadPoolExecutor(8) as callers:
        calls = [callers.submit(probe.answer) for _ in range(8)]
        for call in calls:
            with pytest.raises(StoreUnreachableError, match=r"did not answer within 0\.1 s"):
                call.result()
    assert len(asked) == 1
    goes_on.set()
    asked[0].join()
    assert Probe(ask, 60).answer() == probe.answer() == 7


def test_a_timeout_of_the_question_itself_is_its_error() -> None:
    def fail() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        Probe(fail).answer()
