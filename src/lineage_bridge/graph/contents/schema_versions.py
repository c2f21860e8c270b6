"""Schemas: when two schema facets are one version, which versions a dataset had, and how two differ."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import groupby
from typing import Any, NamedTuple

from lineage_bridge.openlineage.facets import SchemaField

SETTLING_US = 600_000_000
"""Versions that a job names within this time of each other settle on the last of them."""
WITHDRAWN = ""
"""Stands for the version of a dataset whose schema was taken back."""
Path = tuple[str, ...]
"""The names from a column down to a nested field."""


def schema_version(fields: Iterable[SchemaField]) -> str:
    """The id of a schema version: a hash, as 32 hex digits, of the tree of (name, type), whatever else is told of the fields."""
    return blake2b(repr(_tree(fields)).encode("utf-8", "surrogatepass"), digest_size=16, person=b"schema").hexdigest()


def _tree(fields: Iterable[SchemaField]) -> list[Any]:
    return [(field.name, field.type, _tree(field.fields or ())) for field in fields]


# history


class Mention(NamedTuple):
    """A job (0: none, the dataset itself) said at one time, by one event, that a dataset has this version."""

    time: int
    event: bytes
    job: int
    version: str


class Stint(NamedTuple):
    """A stretch of time in which a version held; first and last are (time, event) of the mentions that prove it.

    `brief`: the job that named it named another within ten minutes.
    """

    version: str
    first: tuple[int, bytes]
    last: tuple[int, bytes]
    jobs: frozenset[int]
    brief: bool


def history(mentions: Iterable[Mention]) -> list[Stint]:
    """The versions a dataset had, oldest first; the one mentioned last is its version now.

    Versions that one job names within ten minutes of each other settle on the last of them. Of the others, those it had named before are
    a replay of its past (Debezium does that at each start) and no history; those it had not are brief. Each job is followed by itself, so
    two that disagree are two stretches, not a change at each event.
    """
    by_job: dict[int, set[Mention]] = defaultdict(set)
    for mention in mentions:
        by_job[mention.job].add(mention)
    stints = [stint for job, said in by_job.items() for stint in _of_job(job, sorted(said))]
    merged: list[Stint] = []
    for stint in sorted(stints, key=lambda s: (s.first, s.version)):
        place = next((n for n in range(len(merged) - 1, -1, -1) if _joins(merged, n, stint)), None)
        if place is None:
            merged.append(stint)
        else:
            known = merged[place]
            last, jobs = max(known.last, stint.last), known.jobs | stint.jobs
            merged[place] = Stint(known.version, known.first, last, jobs, known.brief and stint.brief)
    return merged


def _joins(merged: list[Stint], place: int, stint: Stint) -> bool:
    """Whether a stretch goes on with one that began before it."""
    known = merged[place]
    return known.version == stint.version and (place == len(merged) - 1 or known.last >= stint.first)


def current(stints: Iterable[Stint]) -> Stint | None:
    """The version now: the one mentioned last."""
    return max(stints, key=lambda stint: (stint.last, stint.version), default=None)


def _of_job(job: int, said: list[Mention]) -> list[Stint]:
    """The stretches of one job, whose mentions are given in the order of time."""
    blocks = [list(block) for _, block in groupby(said, key=lambda mention: mention.version)]
    stints: list[Stint] = []
    met: set[str] = set()
    held: Stint | None = None
    for cluster in _clusters(blocks):
        for version, part in _by_version(cluster).items():
            settled = version == cluster[-1][0].version
            if held is not None and version == held.version:
                last = part[-1] if settled else cluster[0][-1] if cluster[0][0].version == version else None
                stints[stints.index(held)] = held = held._replace(last=last[:2] if last else held.last)
            elif settled or version not in met:
                stints.append(Stint(version, part[0][:2], part[-1][:2], frozenset({job}), not settled))
            met.add(version)
        held = next((stint for stint in reversed(stints) if stint.version == cluster[-1][0].version), None)
    return stints


def _clusters(blocks: list[list[Mention]]) -> Iterator[list[list[Mention]]]:
    """Blocks of one version each, put together where one begins within ten minutes of the one before."""
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


class Change(NamedTuple):
    """A field whose type changed; a type that was not told is None."""

    path: Path
    before: str | None
    after: str | None


class SchemaDiff(NamedTuple):
    """What has to be done to the fields of one version to have those of another, nested ones too, each by its path."""

    added: tuple[tuple[Path, str | None], ...]
    removed: tuple[tuple[Path, str | None], ...]
    changed: tuple[Change, ...]


def paths(fields: Iterable[SchemaField], above: Path = ()) -> dict[Path, str | None]:
    """All fields of a schema, nested ones behind the one they are in: path to type."""
    out: dict[Path, str | None] = {}
    for field in fields:
        path = (*above, field.name)
        out[path] = field.type
        out.update(paths(field.fields or (), path))
    return out


def diff(before: Mapping[Path, str | None], after: Mapping[Path, str | None]) -> SchemaDiff:
    """How two schemas, as path to type, differ; in the order of their paths."""
    return SchemaDiff(
        tuple((path, after[path]) for path in sorted(after.keys() - before.keys())),
        tuple((path, before[path]) for path in sorted(before.keys() - after.keys())),
        tuple(Change(path, before[path], after[path]) for path in sorted(before.keys() & after.keys()) if before[path] != after[path]),
    )
