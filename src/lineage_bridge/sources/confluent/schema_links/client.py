"""Fetches the exporters of a registry, which copy subjects to another registry, as plain values."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Unseen
from lineage_bridge.sources.common.registry.client import RegistryClient
from lineage_bridge.sources.common.registry.settings import RegistrySettings
from lineage_bridge.sources.confluent.organization import SchemaRegistry
from lineage_bridge.sources.confluent.schema_links.subjects import has_pattern, matching_subjects, patterns_of, renamed_subject

_Answer = tuple[Mapping[str, Any], Mapping[str, Any]]
"""An exporter's settings and its status."""


class Exporter(NamedTuple):
    """An exporter of a registry, which copies subjects to another registry. `pairs`: for each subject, its name in the destination.

    `target_namespace` and `destination` are the namespace and id of the destination, or its address if it is not in the organization.
    `trace`: why the exporter fails.
    """

    name: str
    target_namespace: str
    destination: str
    state: str
    trace: str
    kind: str
    context: str
    patterns: tuple[str, ...]
    rename: str
    pairs: tuple[tuple[str, str], ...]


class ExporterListing(NamedTuple):
    """The exporters of a registry. `hidden`: names of exporters that could not be fetched."""

    exporters: tuple[Exporter, ...] = ()
    hidden: frozenset[str] = frozenset()
    unseen: tuple[Unseen, ...] = ()


def list_exporters(http: HttpClient, registry: SchemaRegistry, find_registry: Callable[[str], SchemaRegistry | None]) -> ExporterListing:
    """Fetch the list of exporters, two answers about each, and all subjects if an exporter has a pattern. Raises SourceError.

    `find_registry` returns the organization's registry at an address.
    """
    names = http.get("/exporters")
    if not isinstance(names, list):
        raise SourceError("GET /exporters did not return a list", "check that the address is that of Confluent's Schema Registry")
    answers = dict(zip(map(str, names), http.map(lambda name: _get_exporter(http, str(name)), names), strict=True))
    unseen = [Unseen(f"exporter {name}", str(answer)) for name, answer in answers.items() if isinstance(answer, SourceError)]
    found = {name: answer for name, answer in answers.items() if not isinstance(answer, SourceError)}
    subjects: list[str] | SourceError = []
    if any(has_pattern(info) for info, _ in found.values()):
        (subjects,) = http.map(lambda _: RegistryClient(RegistrySettings(url=registry.url), http).subjects(), (0,))
    if isinstance(subjects, SourceError):
        unseen.append(Unseen("subjects of exporters", str(subjects)))
        found = {name: answer for name, answer in found.items() if not has_pattern(answer[0])}
        subjects = []
    exporters = tuple(_parse_exporter(name, answer, subjects, find_registry) for name, answer in sorted(found.items()))
    return ExporterListing(exporters, frozenset(answers.keys() - found.keys()), tuple(unseen))


def _get_exporter(http: HttpClient, name: str) -> _Answer:
    path = f"/exporters/{quote(name, safe='')}"
    info, status = http.get(path), http.get(f"{path}/status")
    if not isinstance(info, Mapping) or not isinstance(status, Mapping):
        raise SourceError(f"GET {path} did not return an object", "check that the address is that of Confluent's Schema Registry")
    if not _destination(info):
        raise SourceError(f"GET {path} does not name the registry that the exporter copies to", "check the exporter's configuration")
    return info, status


def _destination(info: Mapping[str, Any]) -> str:
    """The address of the registry that an exporter copies to; empty if it is missing."""
    config = info.get("config")
    return str(config.get("schema.registry.url") or "").split(",")[0].rstrip("/") if isinstance(config, Mapping) else ""


def _parse_exporter(name: str, answer: _Answer, subjects: Iterable[str], find_registry: Callable[[str], SchemaRegistry | None]) -> Exporter:
    info, status = answer
    address = _destination(info)
    destination = find_registry(address)
    kind, context = str(info.get("contextType") or ""), str(info.get("context") or "")
    rename, patterns = str(info.get("subjectRenameFormat") or "${subject}"), patterns_of(info)
    copied = sorted({subject for pattern in patterns for subject in matching_subjects(pattern, subjects)})
    return Exporter(
        name,
        destination.namespace if destination else address,
        destination.id if destination else address,
        str(status.get("state") or ""),
        mask_text(str(status.get("trace") or "")),
        kind,
        context,
        patterns,
        rename,
        tuple((subject, renamed_subject(subject, kind, context, rename)) for subject in copied),
    )
