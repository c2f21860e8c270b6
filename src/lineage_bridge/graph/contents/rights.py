"""Reads who may read and write a dataset from the dataset's facet `kafka_access`, in which observers of Kafka report it."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

KEY: Final = "kafka_access"
"""The facet's key."""


class _KafkaAccess(msgspec.Struct, frozen=True, rename="camel"):
    may_read: list[str]
    may_write: list[str]
    except_read: list[str] = []
    except_write: list[str] = []
    names: dict[str, str] = {}
    rules: int | None = None


_DECODER: Final = msgspec.json.Decoder(_KafkaAccess)


class Rights(NamedTuple):
    """Who may read and who may write a dataset, as principals such as `User:alice`, each list sorted; `User:*` is everybody.

    `not_read` and `not_write` are those who may not although everybody may. `names` has the names of principals that have one, such as
    service accounts. `ruled`: whether a rule of the system is for the dataset.
    """

    may_read: tuple[str, ...]
    may_write: tuple[str, ...]
    not_read: tuple[str, ...]
    not_write: tuple[str, ...]
    names: Mapping[str, str]
    ruled: bool = True

    @property
    def lists(self) -> tuple[tuple[str, ...], ...]:
        """The four lists of principals, in the order of the members."""
        return self.may_read, self.may_write, self.not_read, self.not_write


def read_rights(text: str) -> Rights | None:
    """The rights that the text of a facet states; None if it is empty, a tombstone or malformed: then they are not known.

    A facet that lists nobody and does not say how many rules there are is also no answer: observers have written it of clusters without
    access control, where everybody may.
    """
    try:
        facet = _DECODER.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    may_read, may_write, not_read, not_write = (
        tuple(sorted(set(some))) for some in (facet.may_read, facet.may_write, facet.except_read, facet.except_write)
    )
    if facet.rules is None and not (may_read or may_write):
        return None
    return Rights(may_read, may_write, not_read, not_write, facet.names, facet.rules is None or facet.rules > 0)
