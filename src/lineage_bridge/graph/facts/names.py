"""Computes the node ids of datasets and jobs from their names."""

from collections.abc import Callable
from functools import lru_cache

from lineage_bridge.graph.ids import NodeKind, node_id


class Names:
    """Node ids of names under the key of one installation (at most 64 bytes); recent ones are cached.

    Names in `refused` (kind, namespace, name) share an id with another name: an event that uses one is not folded.
    """

    def __init__(self, key: bytes, refused: frozenset[tuple[int, str, str]] = frozenset()) -> None:
        self.key = key
        self.refused = refused
        self._of: Callable[[NodeKind, str, str], int] = lru_cache(200_000)(self._compute)

    def _compute(self, kind: NodeKind, namespace: str, name: str) -> int:
        if (int(kind), namespace, name) in self.refused:
            raise RefusedNameError(kind, namespace, name)
        return node_id(self.key, kind, namespace, name)

    def node(self, kind: NodeKind, namespace: str, name: str) -> int:
        """The node id of a name of this kind. Raises RefusedNameError."""
        return self._of(kind, namespace, name)

    def dataset(self, namespace: str, name: str) -> int:
        """The node id of a dataset. Raises RefusedNameError."""
        return self._of(NodeKind.DATASET, namespace, name)

    def job(self, namespace: str, name: str) -> int:
        """The node id of a job. Raises RefusedNameError."""
        return self._of(NodeKind.JOB, namespace, name)


class RefusedNameError(Exception):
    """An event uses a name whose node id belongs to another name."""

    def __init__(self, kind: int, namespace: str, name: str) -> None:
        super().__init__(f"the id of {NodeKind(kind).name.lower()} {namespace!r} {name!r} belongs to another name")
