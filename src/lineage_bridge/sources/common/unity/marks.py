"""Marks that LineageBridge writes to tables of Unity Catalog, to recognise the comments and tags that it has written. Pure.

The mark of a table is a table property, or a tag where Databricks does not allow properties. It only contains digests: of the published
content, and of each comment and tag.
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
    """Digests of what was published to a table: of the whole content, and of its properties. For each comment and tag, by its id, digests
    of the values that LineageBridge wrote: the newest, then the one before it.
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
    """Parse a stored mark; None if the text is not a mark."""
    found = _MARK.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    items = (item.partition("=") for item in found[3].split())
    return Marks(found[1], found[2], {item: tuple(values.split(",")) for item, _, values in items})


def marks_in(properties: Any) -> list[Marks]:  # noqa: ANN401  # JSON
    """The marks in a table's properties: one for each installation of LineageBridge that published to the table."""
    if not isinstance(properties, dict):
        return []
    return [found for name, text in properties.items() if str(name).endswith(f".{MARKS}") and (found := parse_marks(text))]


def are_ours(marks: Iterable[Marks], item: str, value: str) -> bool:
    """Whether LineageBridge wrote this value of a comment or tag, by one of these marks."""
    return any(mark.covers(item, value) for mark in marks)


def comment_id(column: str) -> str:
    """The id of a column's comment; with an empty column, that of the table's comment."""
    return COMMENT + short_digest(column.lower())


def tag_id(column: str, key: str) -> str:
    """The id of a column's tag; with an empty column, that of the table's tag."""
    return TAG + short_digest(json.dumps([column.lower(), key]))


def short_digest(value: str) -> str:
    """A digest of eight characters."""
    return urlsafe_b64encode(blake2b(value.encode("utf-8", "surrogatepass"), digest_size=6).digest()).decode()
