"""The plane of schema links: a registry's exporters, which copy subjects to another registry.

A run begins when an exporter is first seen. It is aborted while the exporter is paused, fails with it, and what is copied after that is
another run.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple
from urllib.parse import quote

from lineage_bridge.errors import MissingError, SourceError
from lineage_bridge.openlineage.event_builder import EventBuilder, Json, run_id
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.kafka.events.builder import digest
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.registry.client import RegistryClient
from lineage_bridge.sources.common.registry.settings import RegistrySettings
from lineage_bridge.sources.common.registry.subjects import context_of
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.organization import Registry
from lineage_bridge.sources.confluent.plane import Around, Plane, Planes
from lineage_bridge.sources.confluent.registry.plane import registries, registry_http, registry_lacks

OUT = EventBuilder("https://lineagebridge.dev/sources/confluent/schema-links")
_ENDS = {"PAUSED": "ABORT", "ERROR": "FAIL"}
_ANY, _EVERYWHERE = "*", ":*:"


class Exporter(NamedTuple):
    """An exporter. `pairs`: subjects to what they are called in the destination, whose namespace is `there`. `trace`: why it fails."""

    name: str
    there: str
    destination: str
    state: str
    trace: str
    kind: str
    context: str
    patterns: tuple[str, ...]
    rename: str
    pairs: tuple[tuple[str, str], ...]


class Exported(NamedTuple):
    """All exporters of a registry. `hidden` are those of which nothing could be had."""

    exporters: tuple[Exporter, ...] = ()
    hidden: frozenset[str] = frozenset()
    unseen: tuple[Unseen, ...] = ()


class SchemaLinks(Plane[Exported]):
    """The exporters of a registry."""

    name: ClassVar[str] = "schema-links"
    stage: ClassVar[int] = 5

    def __init__(self, around: Around, registry: Registry) -> None:
        super().__init__(around, f"{registry.environment}/{registry.id}")
        self.registry = registry

    def lacks(self) -> str:
        """A registry that can be asked."""
        return registry_lacks(self.around, self.registry)

    def fetch(self, before: Snapshot | None, now_us: int) -> Exported:
        """The list, two calls for each exporter, and the subjects where one copies by a pattern. Raises SourceError."""
        del now_us
        http = registry_http(self.around, self.registry, self.key)
        try:
            names = http.get("/exporters")
        except MissingError:
            if before and before["exporters"]:
                raise
            return Exported()
        if not isinstance(names, list):
            raise SourceError("GET /exporters answered no list")
        told = dict(zip(map(str, names), http.map(lambda name: _asked(http, str(name)), names), strict=True))
        unseen = [Unseen(f"exporter {name}", str(one)) for name, one in told.items() if isinstance(one, SourceError)]
        seen = {name: one for name, one in told.items() if not isinstance(one, SourceError)}
        subjects: list[str] | SourceError = []
        if any(_ANY in pattern for info, _ in seen.values() for pattern in _patterns(info)):
            (subjects,) = http.map(lambda _: RegistryClient(RegistrySettings(url=self.registry.url), http).subjects(), (0,))
        if isinstance(subjects, SourceError):
            unseen.append(Unseen("subjects of exporters", str(subjects)))
            seen = {name: one for name, one in seen.items() if not any(_ANY in pattern for pattern in _patterns(one[0]))}
            subjects = []
        found = tuple(self._exporter(name, *one, subjects) for name, one in sorted(seen.items()))
        return Exported(found, frozenset(told.keys() - seen.keys()), tuple(unseen))

    def _exporter(self, name: str, info: Mapping[str, Any], status: Mapping[str, Any], subjects: Iterable[str]) -> Exporter:
        config = info.get("config")
        address = str(config.get("schema.registry.url") or "").split(",")[0].rstrip("/") if isinstance(config, Mapping) else ""
        known = next((one for one in registries(replace(self.around, estate=self.around.whole)) if one.url and one.url == address), None)
        kind, context = str(info.get("contextType") or ""), str(info.get("context") or "")
        rename, patterns = str(info.get("subjectRenameFormat") or "${subject}"), _patterns(info)
        copied = sorted({subject for pattern in patterns for subject in _fitting(pattern, subjects)})
        pairs = tuple((subject, renamed(subject, kind, context, rename)) for subject in copied)
        return Exporter(
            name,
            known.space if known else address,
            known.id if known else address,
            str(status.get("state") or ""),
            mask_text(str(status.get("trace") or "")),
            kind,
            context,
            patterns,
            rename,
            pairs,
        )

    def tell(self, fetched: Exported, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """Exporters that began, go on, or ended."""
        del around
        was: Mapping[str, Any] = (before or {}).get("exporters", {})
        events: list[Json] = []
        told: dict[str, Any] = {}
        for one in fetched.exporters:
            told[one.name], more = self._told(one, was.get(one.name), now_us)
            events += more
        for name, entry in sorted(was.items()):
            if name in fetched.hidden:
                told[name] = entry
            elif name not in told and not entry["ended"]:
                events.append(OUT.run_event("ABORT", now_us, entry["run"], self._job(name)))
        return Observation({"exporters": told}, tuple(events), unseen=fetched.unseen)

    def nothing(self) -> Exported:
        """No exporter."""
        return Exported()

    def _job(self, name: str) -> DatasetName:
        return self.registry.space, f"schema-link/{name}"

    def _told(self, one: Exporter, was: Mapping[str, Any] | None, now_us: int) -> tuple[dict[str, Any], list[Json]]:
        job, facets = self._job(one.name), self._facets(one)
        inputs = [OUT.dataset((self.registry.space, subject)) for subject, _ in one.pairs]
        outputs = [OUT.dataset((one.there, subject)) for _, subject in one.pairs]
        ended, shape = one.state in _ENDS, digest([one.pairs, one.there])
        goes_on = was is not None and not was["ended"] and was["shape"] == shape
        stays = was is not None and was["ended"] and ended and was["shape"] == shape
        began = was["began"] if was and (goes_on or stays) else now_us
        run = str(run_id("schema-link", self.registry.space, one.name, began))
        entry = {"run": run, "began": began, "ended": ended, "shape": shape, "told": digest([facets, one.state])}
        events: list[Json] = []
        if stays:
            return entry, events
        if was and not goes_on and not was["ended"]:
            events.append(OUT.run_event("COMPLETE", now_us - 2, was["run"], job))
        if not goes_on:
            events.append(OUT.run_event("START", now_us - 1, run, job, job_facets=facets, inputs=inputs, outputs=outputs))
        is_new = goes_on and was is not None and was["told"] != entry["told"]
        failed = {"errorMessage": OUT.error_message(one.trace or "the exporter failed; the registry does not say why", one.trace)}
        kind = _ENDS.get(one.state, "RUNNING")
        events.append(
            OUT.run_event(
                kind,
                now_us,
                run,
                job,
                run_facets=failed if kind == "FAIL" else {},
                job_facets=facets if is_new else {},
                inputs=inputs,
                outputs=outputs,
            )
        )
        return entry, events

    def _facets(self, one: Exporter) -> dict[str, Json]:
        here = self.registry.space
        entries = [
            {"type": "DATASET", "namespace": one.there, "name": to, "inputs": [{"type": "DATASET", "namespace": here, "name": of}]}
            for of, to in one.pairs
        ]
        members = {
            "exporter": one.name,
            "environment_id": self.registry.environment,
            "source_registry_id": self.registry.id,
            "destination": one.destination,
            "context_type": one.kind,
            "context": one.context,
            "subjects": list(one.patterns),
            "rename": one.rename,
            "state": one.state,
        }
        told = {key: value for key, value in members.items() if value}
        return {
            "jobType": OUT.job_type("STREAMING", "CONFLUENT", "SCHEMA_LINK", self.settings.heartbeat_s),
            "confluent_schema_link": OUT.own_facet("1-0-0", "ConfluentSchemaLinkJobFacet", **told),
            "lineage": OUT.lineage(entries),
        }


def planes(around: Around) -> Planes:
    """One plane for each registry."""
    for registry in registries(around):
        yield SchemaLinks(around, registry)


def renamed(subject: str, kind: str, context: str, rename: str) -> str:
    """What a subject is called in the destination: another name in the same context, or in one below the exporter's."""
    where, name = context_of(subject)
    called = rename.replace("${subject}", name)
    if kind in ("AUTO", "CUSTOM") and context.strip(".:"):
        where = f".{context.strip('.:')}{where}"
    return f":{where}:{called}" if where else called


def _asked(http: HttpClient, name: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    path = f"/exporters/{quote(name, safe='')}"
    info, status = http.get(path), http.get(f"{path}/status")
    if not isinstance(info, Mapping) or not isinstance(status, Mapping):
        raise SourceError(f"GET {path} answered no object")
    return info, status


def _patterns(info: Mapping[str, Any]) -> tuple[str, ...]:
    """The subjects that an exporter copies; all, if it names none."""
    listed = info.get("subjects")
    return tuple(map(str, listed)) if isinstance(listed, list) and listed else (_ANY,)


def _fitting(pattern: str, subjects: Iterable[str]) -> Iterable[str]:
    """The subjects of a pattern: a name, or the beginning of names with a star; without a context, those of the default one."""
    if not pattern.endswith(_ANY) and pattern != _EVERYWHERE:
        return (pattern,)
    if pattern.startswith(_EVERYWHERE):
        start = pattern.removeprefix(_EVERYWHERE).removesuffix(_ANY)
        return [subject for subject in subjects if context_of(subject)[1].startswith(start)]
    context, start = context_of(pattern.removesuffix(_ANY))
    return [subject for subject in subjects if context_of(subject)[0] == context and context_of(subject)[1].startswith(start)]
