"""Reads parts of a catalog's answers. A value of an unexpected form counts as absent."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lineage_bridge.errors import ForbiddenError, MissingError, SourceError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName


@contextmanager
def hints(rights: str, address: str) -> Iterator[None]:
    """A context manager that adds hints to the errors of a call: `rights` if the catalog forbids the call, `address` if the catalog has no
    such path.
    """
    try:
        yield
    except ForbiddenError as error:
        raise type(error)(str(error), rights) from error
    except MissingError as error:
        raise MissingError(str(error), address) from error


def text_in(value: Any, *path: str) -> str:  # noqa: ANN401  # JSON
    """The text at a path of members, without spaces around it; empty if there is none."""
    for member in path:
        value = value.get(member) if isinstance(value, dict) else None
    return value.strip() if isinstance(value, str) else ""


def object_in(value: Any, *path: str) -> Mapping[str, Any]:  # noqa: ANN401  # JSON
    """The object at a path of members; empty if there is none."""
    for member in path:
        value = value.get(member) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def list_in(value: Any, *path: str) -> list[Any]:  # noqa: ANN401  # JSON
    """The list at a path of members; empty if there is none."""
    *above, last = path
    found = object_in(value, *above).get(last)
    return found if isinstance(found, list) else []


def required_list(answer: Any, member: str, named: str, hint: str) -> list[Any]:  # noqa: ANN401  # JSON
    """The list that an answer must have. Raises SourceError if the answer has no such list, which does not mean that the list is empty."""
    found = answer.get(member) if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise SourceError(f"{named} did not return a list", hint)
    return found


def source_of(name: DatasetName, column: str = "") -> Json:
    """A dataset, or one of its columns, as a source in the facet `lineage`."""
    return {"type": "DATASET", "namespace": name[0], "name": name[1], **({"field": column} if column else {})}


def nested(columns: Iterable[SchemaField]) -> list[SchemaField]:
    """Convert columns whose names are dotted paths to columns with fields. A column whose record is not among the columns keeps its whole
    path as its name.
    """
    found = {column.name: column for column in columns}
    below: dict[str, list[str]] = {}
    for path in found:
        above = next((path[:at] for at in _dots(path) if path[:at] in found), "")
        below.setdefault(above, []).append(path)

    def built(path: str, above: str) -> SchemaField:
        column = found[path]
        inner = tuple(built(child, path) for child in below.get(path, ())) or None
        name = path[len(above) + 1 :] if above else path
        return SchemaField(name=name, type=column.type, description=column.description, fields=inner)

    return [built(path, "") for path in below.get("", ())]


def _dots(path: str) -> Iterator[int]:
    at = path.rfind(".")
    while at > 0:
        yield at
        at = path.rfind(".", 0, at)
