"""The known fields of a record on its way through a connector, and the original fields from which each comes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

IDENTITY = "IDENTITY"
TRANSFORMATION = "TRANSFORMATION"
WHOLE = ""
"""The path of a whole key or value without fields."""

KEY = "key"
VALUE = "value"
HEADER = "header"


class RecordField(NamedTuple):
    """A field of a record. `part`: key, value or header. `path`: its dotted path; empty if the part is a single value."""

    part: str
    path: str


class FieldOrigin(NamedTuple):
    """An original field from which a field comes. `field`: the field before the first transform. The subtype is IDENTITY if the value
    is unchanged, and `masking` tells whether it is masked.

    `maybe`: this may not be true of every record, because a predicate or filter decides.
    """

    field: RecordField
    subtype: str = IDENTITY
    masking: bool = False
    maybe: bool = False


Origins = frozenset[FieldOrigin]


@dataclass(frozen=True)
class Record:
    """The fields of a record, each with its origins (none if a transform creates it), and the parts whose fields are unknown."""

    fields: Mapping[RecordField, Origins]
    unknown: frozenset[str] = frozenset()

    @staticmethod
    def starting(keys: Iterable[str] = (), values: Iterable[str] = ()) -> "Record":
        """Make the record before the first transform, in which each field is its own origin."""
        fields = [*(RecordField(KEY, path) for path in keys), *(RecordField(VALUE, path) for path in values)]
        return Record({field: frozenset((FieldOrigin(field),)) for field in fields})

    @staticmethod
    def nothing_known() -> "Record":
        """Return a record without known fields."""
        return Record({}, frozenset((KEY, VALUE)))

    def part(self, part: str) -> dict[str, Origins]:
        """Return the fields of a part, by path."""
        return {field.path: origins for field, origins in self.fields.items() if field.part == part}

    def with_part(self, part: str, fields: Mapping[str, Origins]) -> "Record":
        """Return a copy with other fields in a part. If the part is unknown, it stays unknown."""
        if part in self.unknown:
            return self
        others = {field: origins for field, origins in self.fields.items() if field.part != part}
        return replace(self, fields={**others, **{RecordField(part, path): origins for path, origins in fields.items()}})

    def forgetting(self, parts: Iterable[str]) -> "Record":
        """Return a copy in which the fields of these parts are unknown."""
        gone = frozenset(parts)
        kept = {field: origins for field, origins in self.fields.items() if field.part not in gone}
        return Record(kept, self.unknown | gone)

    def knowing(self, part: str, fields: Mapping[str, Origins]) -> "Record":
        """Return a copy with other fields in a part, which becomes known."""
        return replace(self, unknown=self.unknown - {part}).with_part(part, fields)


def either(first: Record, other: Record) -> Record:
    """Merge the two records that may result from a transform. Fields that only one of the records has become `maybe`."""
    merged: dict[RecordField, Origins] = {}
    for field in {**first.fields, **other.fields}:
        here, there = first.fields.get(field, frozenset()), other.fields.get(field, frozenset())
        both = here & there
        merged[field] = both | frozenset(origin._replace(maybe=True) for origin in (here | there) - both)
    return Record(merged, first.unknown | other.unknown).forgetting(first.unknown | other.unknown)


def changed(origins: Origins, masking: bool = False) -> Origins:
    """Return origins for a value that is computed from another one. `origins` are those of the other value."""
    return frozenset(origin._replace(subtype=TRANSFORMATION, masking=origin.masking or masking) for origin in origins)


def is_in(path: str, name: str) -> bool:
    """Whether a path is this field or nested in it."""
    return path == name or path.startswith(name + ".")


def moved(fields: Mapping[str, Origins], name: str, to: str) -> dict[str, Origins]:
    """Return the origins of a field and of the fields inside it under their new paths, after the field was moved to `to` (empty: the
    top level).
    """
    found = {}
    for path, origins in fields.items():
        if is_in(path, name):
            rest = path[len(name) :]
            found[(to + rest) if to else rest.lstrip(".")] = origins
    return found


def mapped(fields: Mapping[str, Origins], names: Iterable[str], how: Callable[[Origins], Origins]) -> dict[str, Origins]:
    """Apply the function `how` to the origins of the named fields and of the fields inside them. Returns all fields."""
    patterns = list(names)
    return {path: how(origins) if any(is_in(path, name) for name in patterns) else origins for path, origins in fields.items()}


def dropped(start: Record, end: Record) -> list[RecordField]:
    """Return the fields at the start from which no field at the end comes, sorted. Empty if a part of the end is unknown."""
    origin_fields = {origin.field for origins in end.fields.values() for origin in origins}
    return [] if end.unknown else sorted(field for field in start.fields if field not in origin_fields)
