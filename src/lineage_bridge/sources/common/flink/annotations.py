"""Users' annotations of jobs in YAML: datasets read and written, owner, description. Pure except for reading files.

A document describes one job, or has a list `jobs` of jobs:

    job:
      name: order-enrichment
      lineage:
        inputs: [kafka://commerce.public.orders]
        outputs: [kafka://order-events-enriched]
        owner: data-platform-team
        description: Joins orders with customer data

Members of `job` and `lineage` may also be at the top level.
"""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import yaml

from lineage_bridge.errors import ConfigError
from lineage_bridge.openlineage import naming
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.shared_metadata import SharedMetadata

_KNOWN = frozenset(("name", "job", "jobs", "lineage", "inputs", "outputs", "owner", "owners", "description", "tags", "groups"))


class JobAnnotation(NamedTuple):
    """What an annotation states about all jobs with a matching name. The name may contain `*` and `?`.

    `inputs` and `outputs` are None if they are not annotated; `groups` are consumer groups whose topics are inputs too.
    """

    job: str
    inputs: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None
    groups: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    description: str = ""
    tags: tuple[tuple[str, str], ...] = ()


def read_folder(address: str) -> tuple[JobAnnotation, ...]:
    """Read the annotations in a file, or in all YAML files of a folder. Raises ConfigError."""
    path = Path(address).expanduser()
    try:
        files = sorted(file for file in path.rglob("*") if file.suffix in (".yaml", ".yml")) if path.is_dir() else [path]
        return tuple(found for file in files for found in read_text(file.read_text(encoding="utf-8"), str(file)))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(
            f"the annotations in {address} cannot be read: {reason}", "name a YAML file, or a folder of YAML files"
        ) from error


def read_text(text: str, where: str) -> tuple[JobAnnotation, ...]:
    """Parse the annotations in a YAML text. Raises ConfigError, whose message names `where`, the file of the text."""
    try:
        documents = [document for document in yaml.safe_load_all(text) if document is not None]
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"{where} is not YAML: {reason}", "write one document per job, or a list `jobs`") from error
    return tuple(_annotation(job, where) for document in documents for job in _jobs(document, where))


def _jobs(document: Any, where: str) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401  # YAML
    listed = document if isinstance(document, list) else document.get("jobs", [document]) if isinstance(document, dict) else None
    if not isinstance(listed, list) or not all(isinstance(job, dict) for job in listed):
        raise ConfigError(f"{where} has no job", "write an object with `job`, or with a list `jobs`")
    yield from listed


def _annotation(document: Mapping[str, Any], where: str) -> JobAnnotation:
    given: dict[str, Any] = {}
    job = document.get("job")
    for level in (document, job, document.get("lineage"), job.get("lineage") if isinstance(job, dict) else None):
        if isinstance(level, dict):
            given.update({str(key): value for key, value in level.items() if value is not None})
    unknown = sorted(given.keys() - _KNOWN)
    if unknown:
        raise ConfigError(f"{where} has unknown members: {', '.join(unknown)}", f"use only {', '.join(sorted(_KNOWN))}")
    name = given.get("name") or (given["job"] if isinstance(given.get("job"), str) else "")
    if not name:
        raise ConfigError(f"{where} has a job without a name", "write it as name: order-enrichment")
    return JobAnnotation(
        str(name),
        _texts(given, "inputs", where),
        _texts(given, "outputs", where),
        _texts(given, "groups", where) or (),
        (_texts(given, "owner", where) or ()) + (_texts(given, "owners", where) or ()),
        " ".join(str(given.get("description", "")).split()),
        _tags(given.get("tags"), where),
    )


def _texts(mapping: Mapping[str, Any], key: str, where: str) -> tuple[str, ...] | None:
    value = mapping.get(key)
    if value is None:
        return None
    listed = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str | int) or _is_named(item) for item in listed):
        raise ConfigError(f"{key} in {where} is not a list of names", "write each name as text, or as an object with namespace and name")
    return tuple(f"{item['namespace']}\n{item['name']}" if isinstance(item, dict) else str(item) for item in listed)


def _is_named(item: Any) -> bool:  # noqa: ANN401  # YAML
    return isinstance(item, dict) and item.keys() == {"namespace", "name"}


def _tags(value: Any, where: str) -> tuple[tuple[str, str], ...]:  # noqa: ANN401  # YAML
    if isinstance(value, dict):
        return tuple((str(key), str(value_text)) for key, value_text in value.items())
    if value is not None and not isinstance(value, list):
        raise ConfigError(f"tags in {where} are not a list", "write them as tags: [pii, 'team=payments']")
    pairs = [str(tag).partition("=") for tag in value or ()]
    return tuple((key, value_text if mark else "true") for key, mark, value_text in pairs)


def annotation_of(job: str, annotations: tuple[JobAnnotation, ...]) -> JobAnnotation | None:
    """Return the annotation for a job: one with exactly its name, else the first one whose pattern matches."""
    exact = next((annotation for annotation in annotations if annotation.job == job), None)
    return exact or next((annotation for annotation in annotations if fnmatchcase(job, annotation.job)), None)


def dataset_of(text: str, shared: SharedMetadata, kafka: str) -> DatasetName | None:
    """Parse a text that names a dataset. `kafka`: the bootstrap servers of topics that are named without a cluster.

    `kafka://topic` is a topic of the only known cluster, `kafka://host:port/topic` a topic of that cluster. None if the text is not an
    address, or names a topic and no cluster is known.
    """
    if "\n" in text:
        namespace, _, name = text.partition("\n")
        return namespace, name
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if parts.scheme == "kafka" or not parts.scheme:
        return _topic(parts.netloc, parts.path.strip("/"), text if not parts.scheme else "", shared, kafka)
    path = naming.path(text)
    return path or naming.dataset(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", parts.path.lstrip("/"))


def _topic(address: str, rest: str, bare: str, shared: SharedMetadata, kafka: str) -> DatasetName | None:
    if rest and address:
        return shared.namespace("", address), rest
    namespace = sole_namespace(address or bare, shared, kafka)
    return None if namespace is None else (namespace, address or bare)


def sole_namespace(topic: str, shared: SharedMetadata, kafka: str) -> str | None:
    """Return the namespace of a topic that is named without its cluster: the one of the servers in `kafka`, else of the only cluster
    that has the topic.
    """
    if kafka:
        return shared.namespace("", kafka)
    having = [cluster for cluster in shared.clusters if cluster.topics is None or topic in cluster.topics]
    found = {cluster.namespace for cluster in having} or {cluster.namespace for cluster in shared.clusters}
    return found.pop() if len(found) == 1 else None
