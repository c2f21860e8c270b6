"""The fully qualified names of datasets: Google's for the systems that its catalog supports, `custom:` names for all others. Pure."""

import re
from hashlib import blake2b
from typing import Final

from lineage_bridge.openlineage.naming import DatasetName

LONGEST_NAME: Final = 4000
"""Characters of a fully qualified name."""
LONGEST_FIELD, DEEPEST_FIELD = 500, 20
"""Characters of the name of a column, and levels of nested ones."""
LONGEST_DISPLAYED: Final = 200
_PLAIN: Final = re.compile(r"[A-Za-z0-9_/-]+")
_NOT_DISPLAYED: Final = re.compile(r"[^\w :&.-]+")
UNKNOWN: Final = "google-lineage://"
"""The beginning of the namespaces of what OpenLineage has no name for."""
_QUOTED: Final = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
_PUBSUB: Final = frozenset(("subscription", "topic"))


def entity_name(namespace: str, name: str) -> str:
    """The fully qualified name of a dataset: Google's own for tables of BigQuery, topics of Pub/Sub and paths of Cloud Storage.

    For all other datasets, it is `custom:` with namespace and name as segments, which is unique.
    """
    parts = name.split(".")
    if namespace == "bigquery" and len(parts) == 3 and all(parts):
        return f"bigquery:{_joined(*parts)}"
    kind, *of = name.split(":")
    if namespace == "pubsub" and kind in _PUBSUB and len(of) == 2 and all(of):
        return f"pubsub:{kind}:{_joined(*of)}"
    scheme, _, bucket = namespace.partition("://")
    if scheme in ("gs", "gcs") and bucket and "/" not in bucket:
        path = name.strip("/")
        return f"gcs:{_joined(bucket, *((path,) if path not in ('', '.') else ()))}"
    return f"custom:{_joined(*((namespace,) if namespace else ()), name)}"


def dataset_name(name: str) -> DatasetName:
    """The dataset with a fully qualified name, the reverse of `entity_name`. For a name of another system or form, the namespace begins
    with UNKNOWN.
    """
    system, _, rest = name.partition(":")
    if system == "pubsub" and rest.partition(":")[0] in _PUBSUB:
        kind, _, rest = rest.partition(":")
        project, *of = _segments(rest)
        return ("pubsub", f"{kind}:{project}:{of[0]}") if len(of) == 1 else (f"{UNKNOWN}pubsub", f"{kind}:{rest}")
    segments = _segments(rest)
    if system == "bigquery" and len(segments) == 3:
        return "bigquery", ".".join(segments)
    if system == "gcs" and len(segments) in (1, 2):
        return f"gs://{segments[0]}", segments[1] if len(segments) == 2 else "/"
    if system == "custom" and len(segments) == 2:
        return segments[0], segments[1]
    return f"{UNKNOWN}{system}", rest or name


def field_path(column: str) -> tuple[str, ...] | None:
    """The path of a column, with a level for each part of its name; None if it is too long for Google."""
    parts = tuple(column.split("."))
    path = parts if all(parts) else (column,)
    return path if len(path) <= DEEPEST_FIELD and all(0 < len(level) <= LONGEST_FIELD for level in path) else None


def process_id(namespace: str, name: str, prefix: str) -> str:
    """The id of the process of a job."""
    digest = blake2b(f"{len(namespace)} {namespace}{name}".encode(), digest_size=16).hexdigest()
    return f"{prefix}-{digest}"


def displayed(text: str) -> str:
    """A display name, limited to the characters that Google accepts."""
    return _NOT_DISPLAYED.sub("_", text)[:LONGEST_DISPLAYED]


def _joined(*segments: str) -> str:
    return ".".join(map(_segment, segments))


def _segment(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else "`" + text.replace("`", "``") + "`"


def _segments(text: str) -> list[str]:
    """The segments of a name without their quotes; a single empty segment if the name is not well formed."""
    found: list[str] = []
    at = 0
    while segment := _QUOTED.match(text, at):
        found.append(segment[1].replace("``", "`") if segment[1] is not None else segment[2])
        at = segment.end()
        if at == len(text):
            return found
        if text[at] != ".":
            break
        at += 1
    return [""]
