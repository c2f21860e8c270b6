"""Compares schemas: whether two schema facets are the same version, which versions a dataset had, and how two versions differ."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import groupby
from typing import Any, NamedTuple

from lineage_bridge.openlineage.facets import SchemaField

SETTLING_US = 600_000_000
"""If a job states several schema versions within this time (microseconds) of each other, only the last of them counts."""
WITHDRAWN = ""
"""The version of a dataset whose schema facet was ended by a tombstone."""
Path = tuple[str, ...]
"""The names of the fields from a column to a nested field."""


def schema_version(fields: Iterable[SchemaField]) -> str:
    """The id of a schema version: a hash, as 32 hex digits, of the tree of (name, type). Other properties of the fields do not matter."""
    return blake2b(repr(_tree(fields)).encode("utf-8", "surrogatepass"), digest_size=16, person=b"schema").hexdigest()


def _tree(fields: Iterable[SchemaField]) -> list[Any]:
    return [(field.name, field.type, _tree(field.fields or ())) for field in fields]


# history


class Mention(NamedTuple):
    """A statement by one event, at one time (UTC microseconds), that a dataset has this version. `job` is 0 if the event has no job."""

    time: int
    event: bytes
    job: int
    version: str


class VersionPeriod(NamedTuple):
    """A period in which a dataset had a version; `first` and `last` are (time, event) of the first and last mention.

    `brief`: the job that stated the version stated another one within ten minutes.
    """

    version: str
    first: tuple[int, bytes]
    last: tuple[int, bytes]
    jobs: frozenset[int]
    brief: bool


def history(mentions: Iterable[Mention]) -> list[VersionPeriod]:
    """The versions that a dataset had, oldest first; the one that was mentioned last is the current version.

    If a job states several versions within ten minutes of each other, the last of them counts. The other versions are left out if the job
    had stated them before (Debezium repeats its past versions at each start); otherwise their periods are brief. Jobs are evaluated
    separately, so two jobs that disagree give two periods instead of a change at each event.
    """
    by_job: dict[int, set[Mention]] = defaultdict(set)
    for mention in mentions:
        by_job[mention.job].add(mention)
    periods = [period for job, stated in by_job.items() for period in _of_job(job, sorted(stated))]
    merged: list[VersionPeriod] = []
    for period in sorted(periods, key=lambda period: (period.first, period.version)):
        index = next((n for n in range(len(merged) - 1, -1, -1) if _joins(merged, n, period)), None)
        if index is None:
            merged.append(period)
        else:
            earlier = merged[index]
            last, jobs = max(earlier.last, period.last), earlier.jobs | period.jobs
            merged[index] = VersionPeriod(earlier.version, earlier.first, last, jobs, earlier.brief and period.brief)
    return merged


def _joins(merged: list[VersionPeriod], index: int, period: VersionPeriod) -> bool:
    """Whether a period continues the earlier period at `index`: both have the same version, and they overlap, or the earlier one is the
    last so far.
    """
    earlier = merged[index]
    return earlier.version == period.version and (index == len(merged) - 1 or earlier.last >= period.first)


def current(periods: Iterable[VersionPeriod]) -> VersionPeriod | None:
    """The period of the current version, which is the version mentioned last; None if there are no periods."""
    return max(periods, key=lambda period: (period.last, period.version), default=None)


def _of_job(job: int, mentions: list[Mention]) -> list[VersionPeriod]:
    """The periods in which one job stated versions. Its mentions must be in order of time."""
    blocks = [list(block) for _, block in groupby(mentions, key=lambda mention: mention.version)]
    periods: list[VersionPeriod] = []
    seen: set[str] = set()
    held: VersionPeriod | None = None
    for cluster in _clusters(blocks):
        for version, of_version in _by_version(cluster).items():
            settled = version == cluster[-1][0].version
            if held is not None and version == held.version:
                last = of_version[-1] if settled else cluster[0][-1] if cluster[0][0].version == version else None
                periods[periods.index(held)] = held = held._replace(last=last[:2] if last else held.last)
            elif settled or version not in seen:
                periods.append(VersionPeriod(version, of_version[0][:2], of_version[-1][:2], frozenset({job}), not settled))
            seen.add(version)
        held = next((period for period in reversed(periods) if period.version == cluster[-1][0].version), None)
    return periods


def _clusters(blocks: list[list[Mention]]) -> Iterator[list[list[Mention]]]:
    """Group blocks of mentions, each of one version: a block that begins within ten minutes of the end of the previous one joins its
    group.
    """
    cluster: list[list[Mention]] = []
    for block in blocks:
        if cluster and block[0].time - cluster[-1][0].time > SETTLING_US:
            yield cluster
            cluster = []
        cluster.append(block)
    if cluster:
        yield cluster


def _by_version(cluster: list[list[Mention]]) -> dict[str, list[Mention]]:
    found: dict[str, list[Mention]] = {}
    for block in cluster:
        found.setdefault(block[0].version, []).extend(block)
    return found


# difference


class FieldChange(NamedTuple):
    """A field whose type changed between two schemas. A type is None if it was not stated."""

    path: Path
    before: str | None
    after: str | None


class SchemaDiff(NamedTuple):
    """The fields, by path, that were added, removed or changed between two versions, including nested ones."""

    added: tuple[tuple[Path, str | None], ...]
    removed: tuple[tuple[Path, str | None], ...]
    changed: tuple[FieldChange, ...]


def paths(fields: Iterable[SchemaField], above: Path = ()) -> dict[Path, str | None]:
    """The types of all fields of a schema, by path. Nested fields come after the field that contains them."""
    out: dict[Path, str | None] = {}
    for field in fields:
        path = (*above, field.name)
        out[path] = field.type
        out.update(paths(field.fields or (), path))
    return out


def diff(before: Mapping[Path, str | None], after: Mapping[Path, str | None]) -> SchemaDiff:
    """The differences between two schemas, given as types by path; sorted by path."""
    return SchemaDiff(
        tuple((path, after[path]) for path in sorted(after.keys() - before.keys())),
        tuple((path, before[path]) for path in sorted(before.keys() - after.keys())),
        tuple(FieldChange(path, before[path], after[path]) for path in sorted(before.keys() & after.keys()) if before[path] != after[path]),
    )
