"""Names of tables and columns as tuples of parts, and their text with dots."""

import re
from collections.abc import Iterable

Name = tuple[str, ...]

_ODD = re.compile(r"[.`\s]")
_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


def written(name: Iterable[str]) -> str:
    """The text of a name: its parts joined by dots. A part that contains a dot, a back quote or white space is put in back quotes."""
    return ".".join(f"`{part.replace('`', '``')}`" if _ODD.search(part) else part for part in name)


def parsed(text: str) -> Name:
    """Split a written name into its parts."""
    return tuple(quoted.replace("``", "`") if quoted else plain for quoted, plain in _PART.findall(text))
