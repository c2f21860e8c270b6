"""Converts namespaces and names to DataHub's names of datasets and columns (URNs), and URNs back. Pure.

A URN has a platform, a name and an environment, but no address. So the namespace of a dataset only follows from its URN for object stores
and BigQuery; for all other platforms, settings have to give the namespace.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, get_args
from urllib.parse import quote

from lineage_bridge.openlineage.naming import DatasetName

_PLATFORMS: Final[Mapping[str, str]] = {
    "abfs": "abs",
    "abfss": "abs",
    "awsathena": "athena",
    "azurecosmos": "cosmosdb",
    "gs": "gcs",
    "s3a": "s3",
    "s3n": "s3",
    "sqlserver": "mssql",
    "unitycatalog": "databricks",
    "wasb": "abs",
    "wasbs": "abs",
}
_OF_BUCKETS: Final = {"s3": "s3", "gcs": "gs", "abs": "abfss"}
"""Platforms whose names begin with the bucket, each with the scheme of its namespaces."""
_WITHOUT_ADDRESS: Final = frozenset(("bigquery",))
"""Platforms that are a namespace themselves."""
Environment = Literal["PROD", "DEV", "TEST", "QA", "UAT", "EI", "PRE", "STG", "NON_PROD", "CORP"]
"""An environment of DataHub, as URNs have it."""
UNKNOWN: Final = "datahub://"
"""The beginning of the namespaces that stand for datasets of platforms for which no namespace is known."""
_RESERVED: Final = str.maketrans({sign: quote(sign) for sign in ",()\u241f"})
_ENCODED: Final = re.compile(r"%2C|%28|%29|%E2%90%9F", re.IGNORECASE)
_DATASET: Final = re.compile(r"urn:li:dataset:\(urn:li:dataPlatform:(?P<platform>[^,()]+),(?P<name>.+),(?P<env>[A-Z_]+)\)", re.DOTALL)
_FIELD: Final = re.compile(r"urn:li:schemaField:\((?P<dataset>urn:li:dataset:\(.+\)),(?P<field>[^,()]+)\)", re.DOTALL)
_PATH_PART: Final = re.compile(r"\[[^\]]*\]|[^.\[]+")
_KEY_PART: Final = "[key=True]"
KEY_COLUMN: Final = "_key"


def encoded(text: str) -> str:
    """Encode a text as a part of a URN."""
    return text.translate(_RESERVED)


def decoded(text: str) -> str:
    """Decode a part of a URN."""
    return _ENCODED.sub(lambda found: {"%2C": ",", "%28": "(", "%29": ")"}.get(found[0].upper(), "\u241f"), text)


class DataHubNames:
    """The names of datasets in one environment of DataHub.

    `platforms` and `instances` have the platform and the platform instance of namespaces, if they are not the usual ones; `namespaces` are
    other namespaces of datasets that DataHub may contain. `ambiguous`: pairs of namespaces whose datasets would have the same URNs.
    """

    def __init__(self, env: str, platforms: Mapping[str, str], instances: Mapping[str, str], namespaces: Iterable[str] = ()) -> None:
        self._env, self._platforms, self._instances = env, platforms, instances
        self._known: dict[tuple[str, str], str] = {}
        self.ambiguous: list[tuple[str, str]] = []
        for namespace in sorted({*platforms, *instances, *namespaces}):
            platform = self.platform(namespace)
            bucket = _bucket(namespace) if platform in _OF_BUCKETS else ""
            beginning = ".".join(filter(None, (instances.get(namespace), bucket)))
            other = self._known.setdefault((platform, beginning), namespace)
            self.ambiguous += [(other, namespace)] if other != namespace else []

    def platform(self, namespace: str) -> str:
        """The platform of the datasets of a namespace."""
        scheme, _, rest = namespace.partition("://")
        if f"{scheme}://" == UNKNOWN and rest:
            scheme = rest
        if _is_glue(namespace):
            scheme = "glue"
        return self._platforms.get(namespace) or _PLATFORMS.get(scheme, scheme) or "external"

    def key(self, namespace: str, name: str) -> dict[str, Any]:
        """The key aspect of a dataset: platform, name and environment."""
        platform = self.platform(namespace)
        bucket = _bucket(namespace)
        if platform in _OF_BUCKETS and bucket and not namespace.startswith(UNKNOWN):
            name = f"{bucket}/{name.lstrip('/')}"
        if _is_glue(namespace) and name.startswith("table/"):
            name = name.removeprefix("table/").replace("/", ".", 1)
        instance = self._instances.get(namespace)
        named = f"{instance}.{name}" if instance else name
        return {"platform": f"urn:li:dataPlatform:{encoded(platform)}", "name": named, "origin": self._env}

    def urn(self, namespace: str, name: str) -> str:
        """The URN of a dataset."""
        key = self.key(namespace, name)
        return f"urn:li:dataset:({key['platform']},{encoded(key['name'])},{key['origin']})"

    def field_urn(self, namespace: str, name: str, column: str) -> str:
        """The URN of a column of a dataset."""
        return f"urn:li:schemaField:({self.urn(namespace, name)},{encoded(column)})"

    def parts(self, urn: object) -> tuple[str, str] | None:
        """The platform and the name in the URN of a dataset in this environment; None for any other value."""
        found = _DATASET.fullmatch(urn) if isinstance(urn, str) else None
        return (decoded(found["platform"]), decoded(found["name"])) if found and found["env"] == self._env else None

    def dataset(self, urn: object) -> DatasetName | None:
        """The namespace and name of the dataset with a URN; None if it is not the URN of a dataset in this environment."""
        found = self.parts(urn)
        if found is None:
            return None
        platform, name = found
        if platform in _OF_BUCKETS:
            return self._in_bucket(platform, name)
        for instance in (*_beginnings(name), ""):
            if namespace := self._known.get((platform, instance)):
                name = name[len(instance) + 1 :] if instance else name
                return namespace, _with_folders(name) if _is_glue(namespace) else name
        return (platform if platform in _WITHOUT_ADDRESS else f"{UNKNOWN}{platform}"), name

    def is_elsewhere(self, cluster: str) -> bool:
        """Whether the cluster in the URN of a data flow is another environment of DataHub. It may also be a name that the orchestrator
        gives its cluster; that is no other environment.
        """
        return cluster.upper() in get_args(Environment) and cluster.upper() != self._env

    def field(self, urn: object) -> tuple[DatasetName, str] | None:
        """The dataset and the column with a URN; None if it is not the URN of a column in this environment."""
        found = _FIELD.fullmatch(urn) if isinstance(urn, str) else None
        dataset = self.dataset(found["dataset"]) if found else None
        return (dataset, column_of(decoded(found["field"]))) if found and dataset else None

    def _in_bucket(self, platform: str, name: str) -> DatasetName:
        bucket, _, path = name.strip("/").partition("/")
        is_bucket = bool(bucket) and (platform != "abs" or "@" in bucket)
        namespace = self._known.get((platform, bucket)) or f"{_OF_BUCKETS[platform]}://{bucket}"
        return (namespace, path or "/") if is_bucket else (f"{UNKNOWN}{platform}", name)


def column_of(path: str) -> str:
    """The column to which a field path of DataHub belongs. Paths of version 2 have types between the names, and mark the key of a topic."""
    if "[" not in path:
        return path
    parts = [(found[0], found.start()) for found in _PATH_PART.finditer(path)]
    names = [part for part, _ in parts if not part.startswith("[")]
    is_key = any(part == _KEY_PART for part, _ in parts)
    return ".".join([KEY_COLUMN, *names] if is_key else names) or path


def _beginnings(name: str) -> Iterator[str]:
    """The beginnings of a name that can be its platform instance, the longest first."""
    at = name.rfind(".")
    while at > 0:
        yield name[:at]
        at = name.rfind(".", 0, at)


def _bucket(namespace: str) -> str:
    return namespace.partition("://")[2].strip("/")


def _is_glue(namespace: str) -> bool:
    return namespace.startswith("arn:") and ":glue:" in namespace


def _with_folders(name: str) -> str:
    """The name of a table in Glue, as OpenLineage writes it."""
    database, _, table = name.partition(".")
    return f"table/{database}/{table}" if table else name
