"""Makes one publication to a target that follows the change feed."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lineage_bridge.catalogs.apply import Publisher
from lineage_bridge.catalogs.continuous.feed import CoveredGraph, OpenGraph
from lineage_bridge.catalogs.continuous.follower import Attempt
from lineage_bridge.catalogs.publish import Publication
from lineage_bridge.catalogs.target import Target
from lineage_bridge.ports.continuous import FollowRepository
from lineage_bridge.ports.targets import PublicationLedger, PublicationReport


@dataclass(frozen=True)
class Attempts:
    """Publishes to targets by plan and apply, in the same way as on request. `wait` is a function of whether the publication is
    stopped, and of the seconds to wait.

    The graph is read for one target at a time.
    """

    graph: OpenGraph
    ledger: PublicationLedger
    repository: FollowRepository
    installation: str
    clock_us: Callable[[], int]
    wait: Callable[[Callable[[], bool], float], None]
    pid: int
    turn: AbstractContextManager[Any] = field(default_factory=threading.Lock)

    def publish(self, target: Target[Any], is_stopped: Callable[[], bool], *, complete: bool) -> Attempt:
        """Publish the graph once; later changes are not included. With `complete`, all objects of the target are read and compared."""
        wait = partial(self.wait, is_stopped)
        publisher = Publisher(target, self.ledger, self.installation, self.clock_us, wait, is_stopped)
        graph = CoveredGraph(self.graph, self.turn)
        report = PublicationReport("running", False, target.settings.prune, False, self.clock_us(), self.pid)
        save = partial(self.repository.save_report, target.name)
        ended = Publication(publisher, graph.reader, report, save, changed_only=not complete).run()
        return Attempt(graph.cursor, ended)
