"""Marks on tables of Unity Catalog, by which LineageBridge knows the comments and tags that it wrote there. Pure.

The mark of a table is in a property, or in a tag where Databricks lets no properties be set. It has digests only: of the published content,
and of each comment and tag.
"""

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, Final, NamedTuple

MARKS: Final = "marks"
"""The last part of the name of the property: `lineagebridge.marks`. The tag is named by the first part alone."""
COMMENT, TAG = "c", "t"
_DIGEST: Final = "[A-Za-z0-9_-]{8}"
_MARK: Final = re.compile(rf"v1 ({_DIGEST}) ({_DIGEST})((?: [{COMMENT}{TAG}]{_DIGEST}={_DIGEST}(?:,{_DIGEST})*)*)")


class Marks(NamedTuple):
    """What was published to a table: digests of the whole content, and of the properties among it; and for each comment and tag, by its
    id, digests of the values that are ours: the published one, then the one that it replaces.
    """

    content: str = ""
    properties: str = ""
    items: Mapping[str, tuple[str, ...]] = {}

    def covers(self, item: str, value: str) -> bool:
        """Whether a value of a comment or tag is one that LineageBridge wrote."""
        return short_digest(value) in self.items.get(item, ())

    @property
    def text(self) -> str:
        """The mark as it is stored."""
        return " ".join(["v1", self.content, self.properties, *(f"{item}={','.join(found)}" for item, found in sorted(self.items.items()))])


def parse_marks(text: Any) -> Marks | None:  # noqa: ANN401  # JSON
    """Read a stored mark; None if a text is none."""
    found = _MARK.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    items = (item.partition("=") for item in found[3].split())
    return Marks(found[1], found[2], {item: tuple(values.split(",")) for item, _, values in items})


def marks_in(properties: Any) -> list[Marks]:  # noqa: ANN401  # JSON
    """The marks in the properties of a table, of all installations that published to it."""
    if not isinstance(properties, dict):
        return []
    return [found for name, text in properties.items() if str(name).endswith(f".{MARKS}") and (found := parse_marks(text))]


def are_ours(marks: Iterable[Marks], item: str, value: str) -> bool:
    """Whether one of these marks has this value of a comment or tag."""
    return any(mark.covers(item, value) for mark in marks)


def comment_id(column: str) -> str:
    """The id of the comment of a column; of the table's own, if the column is empty."""
    return COMMENT + short_digest(column.lower())


def tag_id(column: str, key: str) -> str:
    """The id of the tag of a column; of the table's own, if the column is empty."""
    return TAG + short_digest(json.dumps([column.lower(), key]))


def short_digest(value: str) -> str:
    """A digest of eight characters."""
    return urlsafe_b64encode(blake2b(value.encode("utf-8", "surrogatepass"), digest_size=6).digest()).decode()
