"""Ids of events, computed from their bytes, and of nodes, computed from their names.

A node id is a signed 64-bit hash, keyed per installation, so that nobody can craft two names with one id.
"""

from enum import IntEnum
from hashlib import blake2b
from uuid import UUID

DAY_US = 86_400_000_000


class NodeKind(IntEnum):
    """The kind of a node: dataset or job."""

    DATASET = 1
    JOB = 2
    COLUMN = 3


def event_id(raw: bytes) -> bytes:
    """The 16-byte id of an event: a hash of exactly the bytes that are stored."""
    return blake2b(raw, digest_size=16).digest()


def text_hash(text: bytes) -> bytes:
    """The 16-byte hash under which a text is stored."""
    return blake2b(text, digest_size=16, person=b"content").digest()


def node_id(key: bytes, kind: NodeKind, namespace: str, name: str) -> int:
    """The signed 64-bit id of a node, keyed by `key` (at most 64 bytes). It is a hash of the kind, the namespace with its length, and
    the name.
    """
    space = namespace.encode("utf-8", "surrogatepass")
    payload = b"%d:%d:%b%b" % (kind, len(space), space, name.encode("utf-8", "surrogatepass"))
    return int.from_bytes(blake2b(payload, digest_size=8, key=key).digest(), "big", signed=True)


def statement_id(kind: NodeKind, namespace: str, name: str, producer: str) -> bytes:
    """The 16-byte `asserted_by` of a design-time statement: a hash of the node it is about and its producer."""
    parts = "\x00".join((str(int(kind)), namespace, name, producer))
    return blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=16, person=b"statement").digest()


def day_of(time_us: int) -> int:
    """The UTC day of a time in microseconds since the epoch, as days since the epoch."""
    return time_us // DAY_US


def graph_id(key: bytes) -> str:
    """The UUID of the installation's graph, derived from its key. It does not reveal the key."""
    return str(UUID(bytes=blake2b(b"the graph", digest_size=16, key=key).digest(), version=4))
