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
from lineage_bridge.sources.common.registry.subjects import context_of
from lineage_bridge.sources.confluent.organization import SchemaRegistry

_ANY, _ANY_CONTEXT = "*", ":*:"
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
    if any(_has_pattern(info) for info, _ in found.values()):
        (subjects,) = http.map(lambda _: RegistryClient(RegistrySettings(url=registry.url), http).subjects(), (0,))
    if isinstance(subjects, SourceError):
        unseen.append(Unseen("subjects of exporters", str(subjects)))
        found = {name: answer for name, answer in found.items() if not _has_pattern(answer[0])}
        subjects = []
    exporters = tuple(_parse_exporter(name, answer, subjects, find_registry) for name, answer in sorted(found.items()))
    return ExporterListing(exporters, frozenset(answers.keys() - found.keys()), tuple(unseen))


def renamed_subject(subject: str, kind: str, context: str, rename: str) -> str:
    """Return a subject's name in the destination. The exporter's format may rename it, and its context may be placed below that of the
    exporter.
    """
    subject_context, name = context_of(subject)
    new_name = rename.replace("${subject}", name)
    if kind in ("AUTO", "CUSTOM") and context.strip(".:"):
        subject_context = f".{context.strip('.:')}{subject_context}"
    return f":{subject_context}:{new_name}" if subject_context else new_name


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
    rename, patterns = str(info.get("subjectRenameFormat") or "${subject}"), _patterns(info)
    copied = sorted({subject for pattern in patterns for subject in _matching(pattern, subjects)})
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


def _patterns(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the patterns of subjects that an exporter copies; all subjects if it names none."""
    listed = info.get("subjects")
    return tuple(map(str, listed)) if isinstance(listed, list) and listed else (_ANY,)


def _has_pattern(info: Mapping[str, Any]) -> bool:
    return any(_ANY in pattern for pattern in _patterns(info))


def _matching(pattern: str, subjects: Iterable[str]) -> Iterable[str]:
    """Return the subjects that a pattern matches: the one with this name, or all with the prefix before the star.

    A pattern without a context matches subjects of the default context.
    """
    if not pattern.endswith(_ANY) and pattern != _ANY_CONTEXT:
        return (pattern,)
    if pattern.startswith(_ANY_CONTEXT):
        start = pattern.removeprefix(_ANY_CONTEXT).removesuffix(_ANY)
        return [subject for subject in subjects if context_of(subject)[1].startswith(start)]
    context, start = context_of(pattern.removesuffix(_ANY))
    return [subject for subject in subjects if context_of(subject)[0] == context and context_of(subject)[1].startswith(start)]
