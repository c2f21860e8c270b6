"""The thread of the pipeline's process that reads inputs of the form `stream` while the log is being folded."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lineage_bridge.pipeline.process import STOP_S
from lineage_bridge.pipeline.streams.feed import SparkFeed


def _nothing(feed: SparkFeed, stop: threading.Event) -> None:
    """Do nothing: no input has to be read."""
    _ = feed, stop


@dataclass(frozen=True)
class Streams:
    """The inputs of the form `stream`: the Java archives that they need, and a function that reads them until it is stopped."""

    jars: Sequence[Path] = ()
    read: Callable[[SparkFeed, threading.Event], None] = _nothing


NO_STREAMS = Streams()


class StreamThread(threading.Thread):
    """A thread that first folds the archive's records that the store lacks, and then reads the inputs. If `failure` is set, the process has
    to end.
    """

    def __init__(self, streams: Streams, feed: SparkFeed) -> None:
        super().__init__(name="streams", daemon=True)
        self.streams, self.feed, self.stop = streams, feed, threading.Event()
        self._failure: Exception | None = None

    def run(self) -> None:
        """Run until `stop` is set, or something fails."""
        try:
            self.feed.catch_up(self.stop)
            self.streams.read(self.feed, self.stop)
        except Exception as error:  # noqa: BLE001 - the boundary of a thread: the main thread reports it and ends the process
            self._failure = error

    @property
    def failure(self) -> Exception | None:
        """The error that has to end the process; None if there is none."""
        return self.feed.failure or self._failure


@contextmanager
def run_streams(streams: Streams, feed: SparkFeed) -> Iterator[StreamThread]:
    """A context manager that reads the inputs in a thread."""
    thread = StreamThread(streams, feed)
    thread.start()
    try:
        yield thread
    finally:
        thread.stop.set()
        thread.join(STOP_S)
        feed.close()
