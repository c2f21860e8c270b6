"""Fully qualified names of OpenMetadata: parts with dots between them; parts that contain a dot or a quote are quoted. Pure."""

import re
from collections.abc import Iterable
from typing import Final

_PART: Final = re.compile(r'"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^."]+)')


def split_name(name: str) -> list[str]:
    """The parts of a fully qualified name; none if it is not well formed."""
    parts: list[str] = []
    at = 0
    while found := _PART.match(name, at):
        parts.append(found["quoted"].replace('""', '"') if found["quoted"] is not None else found["plain"])
        at = found.end()
        if at == len(name):
            return parts
        if name[at] != ".":
            return []
        at += 1
    return []


def join_name(parts: Iterable[str]) -> str:
    """The fully qualified name of these parts."""
    return ".".join('"' + part.replace('"', '""') + '"' if "." in part or '"' in part else part for part in parts)
