"""Sends requests in batches: as few as Kafka's protocol allows, each for many topics, groups or partitions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from lineage_bridge.sources.common.kafka.protocol.wire import KafkaProtocol, error_name
from lineage_bridge.sources.common.observer import Unseen

_ItemT = TypeVar("_ItemT")


class Failures:
    """The failed requests of a poll. Failures of the same kind are reported as a single one, with some of the names."""

    def __init__(self) -> None:
        self._whole: dict[str, str] = {}
        self._parts: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))

    def add_listing(self, what: str, why: object) -> None:
        """Record that a listing failed, and why."""
        self._whole.setdefault(what, str(why))

    def add_name(self, what: str, why: str | int, name: str) -> None:
        """Add one name for which a request failed; `why` may be an error code of the protocol."""
        self._parts[what][error_name(why) if isinstance(why, int) else why].append(name)

    def unseen(self) -> tuple[Unseen, ...]:
        """All failures, sorted, as reports of what could not be observed; one for each kind."""
        reasons = {what: [why] for what, why in self._whole.items()}
        for what, by in self._parts.items():
            reasons.setdefault(what, []).extend(_several(why, names) for why, names in sorted(by.items()))
        return tuple(Unseen(what, "; ".join(whys)) for what, whys in sorted(reasons.items()))


def _several(why: str, names: Sequence[str]) -> str:
    some = sorted(set(names))
    return f"{why} ({len(some)}: {', '.join(some[:3])}{', ...' if len(some) > 3 else ''})"


def batches(items: Iterable[_ItemT], size: int) -> Iterator[list[_ItemT]]:
    """Split the items into lists of at most `size`."""
    held = list(items)
    for start in range(0, len(held), size):
        yield held[start : start + size]


def by_leader(leaders: dict[str, tuple[int, ...]], size: int) -> Iterator[tuple[int, dict[str, list[int]]]]:
    """Group partitions by the broker that leads them, about `size` partitions at a time. Partitions without a leader are left out."""
    held: dict[int, dict[str, list[int]]] = defaultdict(dict)
    counts: Counter[int] = Counter()
    for topic, nodes in leaders.items():
        for partition, node in enumerate(nodes):
            if node >= 0:
                held[node].setdefault(topic, []).append(partition)
                counts[node] += 1
        for node in {node for node in nodes if counts[node] >= size}:
            yield node, held.pop(node)
            del counts[node]
    yield from sorted(held.items())


def request_each(wire: KafkaProtocol, requests: Sequence[tuple[int, Any]]) -> Iterator[tuple[int, Any, Any]]:
    """Send requests to their brokers. Yields the broker, the request, and the response or SourceError of each."""
    for (node, request), answer in zip(requests, wire.request_all(requests), strict=True):
        yield node, request, answer
