"""The names that datasets and jobs have in OpenMetadata. Pure.

Which entity a dataset is follows from its namespace: the settings give the service, and the scheme says whether it has topics, containers
or tables. Nothing is guessed from the end of a name: tables of the same name in two services would be mixed up.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from lineage_bridge.catalogs.target import Json
from lineage_bridge.openlineage.event_builder import digest_of
from lineage_bridge.openlineage.naming import parts_of
from lineage_bridge.sources.common.openmetadata.fqn import join_name, split_name

TABLE, TOPIC, CONTAINER, PIPELINE = "table", "topic", "container", "pipeline"
NO_SERVICE: Final = "datasets of namespaces that have no service in OpenMetadata"
OTHER_NAMES: Final = "datasets whose names no table, topic or container of OpenMetadata can have"
_TOPICS: Final = frozenset(("kafka", "confluent", "pulsar"))
_CONTAINERS: Final = frozenset(("s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "wasb", "wasbs"))
_DATABASE: Final = "default"
"""The name of the only database of a system that has none, as in OpenMetadata's own ingestion."""
_PARTS: Final = 4
"""How many parts the name of a table has: service, database, schema, table."""
_REPLACED: Final = {"::": "__reserved__colon__", ">": "__reserved__arrow__", '"': "__reserved__quote__"}
"""What OpenMetadata's own ingestion writes instead of texts that names cannot have."""
_LONGEST: Final = 256
_DIGEST: Final = 12


class EntityName(NamedTuple):
    """The type and the fully qualified name of an entity."""

    kind: str
    name: str


class DatasetNames:
    """Finds the entities that a dataset may be. `services` has the service of each namespace, or of a prefix with `*` at the end."""

    def __init__(self, services: Mapping[str, str]) -> None:
        self._services = {namespace: split_name(service) for namespace, service in services.items()}

    def candidates(self, dataset: Json) -> list[EntityName]:
        """The entities that a dataset may be, the likeliest first. Like OpenMetadata, tables that a symlink names come first."""
        return list(dict.fromkeys(name for namespace, of in _identities(dataset) for name in self._candidates(namespace, of)))

    def reason(self, dataset: Json) -> str:
        """Why a dataset without candidates has none."""
        return OTHER_NAMES if any(self._service(namespace) for namespace, _ in _identities(dataset)) else NO_SERVICE

    def _candidates(self, namespace: str, name: str) -> Iterator[EntityName]:
        service = self._service(namespace)
        scheme, _, authority = namespace.partition("://")
        if not service or not name:
            return
        if scheme in _TOPICS:
            yield EntityName(TOPIC, join_name((service[0], name)))
        elif scheme in _CONTAINERS:
            bucket, path = authority.partition("@")[0], name.strip("/")
            yield EntityName(CONTAINER, join_name((service[0], bucket, *([path] if path else ()))))
            yield EntityName(CONTAINER, join_name((service[0], bucket, *filter(None, path.split("/")))))
        else:
            for parts in _tables(service, namespace, name):
                yield EntityName(TABLE, join_name(map(_stored, parts)))

    def _service(self, namespace: str) -> list[str]:
        if namespace in self._services:
            return self._services[namespace]
        prefixes = [key[:-1] for key in self._services if key.endswith("*") and namespace.startswith(key[:-1])]
        return self._services[max(prefixes, key=len) + "*"] if prefixes else []


def _identities(dataset: Json) -> Iterator[tuple[str, str]]:
    links: Any = dataset.get("facets", {}).get("symlinks", {}).get("identifiers")
    for link in links if isinstance(links, list) else ():
        if isinstance(link, dict) and str(link.get("type")).upper() != "LOCATION":
            yield str(link.get("namespace", "")), str(link.get("name", ""))
    yield dataset["namespace"], dataset["name"]


def _tables(service: Sequence[str], namespace: str, name: str) -> Iterator[Sequence[str]]:
    """The parts of a table's name: what the dataset's name lacks comes from the setting, or is the database of systems without any."""
    if namespace.startswith("arn:") and ":glue:" in namespace:
        inner, account = name.split("/")[1:], namespace.split(":")[4]
        databases = [service[1]] if len(service) > 1 else [account, _DATABASE]
    else:
        inner, databases = name.split("."), [_DATABASE] if parts_of(namespace.partition("://")[0]) == _PARTS - 2 else []
    missing = _PARTS - len(inner)
    if missing < 1 or not all(inner):
        return
    if len(service) >= missing:
        yield (*service[:missing], *inner)
    elif len(service) == 1 and missing == _PARTS - 2:
        yield from ((service[0], database, *inner) for database in databases)


def _stored(part: str) -> str:
    for text, replacement in _REPLACED.items():
        part = part.replace(text, replacement)
    return part


def pipeline_name(namespace: str, name: str) -> str:
    """The name of the pipeline of a job: namespace and name as far as a pipeline can have them. No two jobs have the same."""
    whole = f"{namespace}#{name}"
    made = "".join(character if character.isprintable() else " " for character in _stored(whole))
    if made == whole and "#" not in namespace and len(whole) <= _LONGEST:
        return whole
    return f"{made[: _LONGEST - _DIGEST - 1]}-{digest_of([namespace, name])[:_DIGEST]}"
