"""Routes for schema versions, facets over time, and lifecycle changes of datasets."""

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from msgspec import UNSET, Raw

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import (
    KINDS,
    Mended,
    Namespace,
    NodeName,
    Offset,
    Style,
    page,
    page_link,
    parse_time_argument,
    position_header,
    require_node,
)
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.routes.questions.neighbourhood import Kind
from lineage_bridge.api.schemas.names import ErrorAnswer, Text
from lineage_bridge.api.schemas.schema_versions import (
    ColumnItem,
    FacetHistoryAnswer,
    FacetVersion,
    LifeAnswer,
    LifeEvent,
    SchemaDiffAnswer,
    SchemasAnswer,
    SchemaVersionItem,
    Seen,
)
from lineage_bridge.api.services import Services
from lineage_bridge.errors import NotFoundError, RequestError
from lineage_bridge.graph.contents.schema_versions import diff, paths
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.history import FacetEntry, FacetPage, LifeEntry, SchemaHistory, SchemaVersion
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.history_reader import HistoryReader

Limit = Annotated[int, Query(ge=1, le=1000)]
At = Annotated[str | None, Query(description="The schema as it was stated at this time: RFC 3339; UTC if it has no zone")]
Pick = Annotated[str | None, Query(description="A version: eight or more digits of its id, or a time"), Mended]
_LEAST_DIGITS = 8
_NOT_FOUND = {404: ErrorAnswer}


def routes(services: Services) -> APIRouter:
    """The routes for schema versions, facet history and lifecycle changes."""
    router = question_router(services, "history", "/graph")
    _schema_routes(router, services)
    _diff_route(router, services)
    _facet_route(router, services)
    _life_route(router, services)
    return router


def _schema_routes(router: APIRouter, services: Services) -> None:
    @router.get("/schemas", response_model=None, responses=response_docs({200: SchemasAnswer, **_NOT_FOUND}, writes=False))
    def get_schemas(
        request: Request,
        namespace: Namespace,
        name: NodeName,
        at: At = None,
        names: Style = "standard",
        fields: Annotated[bool, Query(description="Include the fields of each version")] = True,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Response:
        """The schema versions of a dataset, the newest first."""
        at_us = parse_time_argument("at", at)
        with services.graph() as reader:
            node = require_node(reader.nodes, NodeKind.DATASET, namespace, name)
            history = reader.history.schemas(node, at_us)
            versions, link = page(request, history.versions[::-1][offset : offset + limit + 1], limit, offset)
            answer = SchemasAnswer(
                dataset=serialization.dataset_name(node),
                evidence=history.evidence,
                versions=[_version(version, fields=fields) for version in versions],
                renamed_from=serialization.dataset_names(history.renamed_from),
                truncated=history.truncated,
                settling=reader.progress.settling(),
                position=position_tokens.encode(reader.progress.position()),
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers={**link, **position_header(reader.progress)})


def _diff_route(router: APIRouter, services: Services) -> None:
    @router.get("/schemas/diff", response_model=None, responses=response_docs({200: SchemaDiffAnswer, **_NOT_FOUND}, writes=False))
    def get_schema_diff(
        namespace: Namespace, name: NodeName, before: Pick = None, after: Pick = None, names: Style = "standard"
    ) -> Response:
        """How two schema versions of a dataset differ; by default the current version and the one before it.

        A version may be of an earlier name of the dataset.
        """
        with services.graph() as reader:
            node = require_node(reader.nodes, NodeKind.DATASET, namespace, name)
            own = reader.history.schemas(node)
            old = _pick_version(reader.history, node, own, before) if before else _previous_version(reader.history, node, own)
            new = _pick_version(reader.history, node, own, after) if after else (node, _current_version(own))
            change = diff(paths(old[1].fields), paths(new[1].fields))
            answer = SchemaDiffAnswer(
                dataset=serialization.dataset_name(node),
                before=old[1].version,
                after=new[1].version,
                added=serialization.field_items(change.added),
                removed=serialization.field_items(change.removed),
                changed=serialization.retyped(change.changed),
                renamed=serialization.dataset_names(n for n in (old[0], new[0]) if n != node),
                settling=reader.progress.settling(),
                position=position_tokens.encode(reader.progress.position()),
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers=position_header(reader.progress))


_NamedVersion = tuple[Node, SchemaVersion]
"""A schema version, and the name of the dataset at that time."""


def _current_version(history: SchemaHistory) -> SchemaVersion:
    found = next((version for version in history.versions if version.current), None)
    if found is None:
        raise NotFoundError("no event has stated a schema for this dataset", "send an event with its `schema` facet")
    return found


def _previous_version(reader: HistoryReader, node: Node, history: SchemaHistory) -> _NamedVersion:
    """Find the version before the current one. If the dataset has had only one version under its own name, it is the last version of an
    earlier name.
    """
    now = _current_version(history)
    before = [version for version in history.versions if version.version != now.version and version.first < now.last]
    lasting = [version for version in before if not version.brief] or before
    if lasting:
        return node, max(lasting, key=lambda version: (version.last, version.first))
    for name in history.renamed_from:
        old = [version for version in reader.schemas(name).versions if version.current]
        if old:
            return name, old[0]
    raise NotFoundError(
        "the dataset has only one schema version, so there is no earlier one to compare with",
        "GET /api/v1/graph/schemas lists its versions",
    )


def _pick_version(reader: HistoryReader, node: Node, history: SchemaHistory, text: str) -> _NamedVersion:
    """Find a schema version by the beginning of its id, or by a time at which it was current. It may be a version that the dataset had
    under an earlier name.
    """
    is_id = len(text) >= _LEAST_DIGITS and all(digit in "0123456789abcdef" for digit in text)
    at_us = None if is_id else parse_time_argument("a version", text)
    for name in (node, *history.renamed_from):
        versions = history.versions if name == node and at_us is None else reader.schemas(name, at_us).versions
        matching = [v for v in versions if (v.version.startswith(text) if at_us is None else v.current)]
        if matching:
            return name, matching[-1]
    if at_us is None:
        raise NotFoundError(f"the dataset has no schema version {text!r}", "GET /api/v1/graph/schemas lists its versions")
    raise RequestError(f"no event stated a schema before {text}", "use a later time; GET /api/v1/graph/schemas lists the versions")


def _version(version: SchemaVersion, *, fields: bool) -> SchemaVersionItem:
    return SchemaVersionItem(
        version=version.version,
        first=_seen(version.first),
        last=_seen(version.last),
        jobs=serialization.job_names(version.jobs),
        current=version.current,
        brief=version.brief,
        fields=_columns(version.fields) if fields else UNSET,
    )


def _columns(fields: Iterable[SchemaField]) -> list[ColumnItem]:
    return [ColumnItem(f.name, _text(f.type), _text(f.description), _columns(f.fields) if f.fields else UNSET) for f in fields]


def _seen(mention: tuple[int, bytes]) -> Seen:
    return Seen(format_time(mention[0]), mention[1].hex())


def _facet_route(router: APIRouter, services: Services) -> None:
    @router.get("/facets/history", response_model=None, responses=response_docs({200: FacetHistoryAnswer, **_NOT_FOUND}, writes=False))
    def get_facet_history(
        request: Request,
        namespace: Namespace,
        name: NodeName,
        key: Annotated[str, Query(description="The facet's key"), Mended],
        kind: Kind = "dataset",
        at: At = None,
        names: Style = "standard",
        texts: Annotated[bool, Query(description="Include the JSON of the facets")] = True,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Response:
        """The history of one facet of a dataset or job, the latest version first."""
        at_us = parse_time_argument("at", at)
        with services.graph() as reader:
            node = require_node(reader.nodes, KINDS[kind], namespace, name)
            history = reader.history.facet(node, key, at_us, FacetPage(limit, offset, services.max_page_bytes if texts else None))
            link = page_link(request, limit, offset + len(history.entries)) if history.more else {}
            shown = [_facet_version(entry, texts=texts) for entry in history.entries]
            answer = FacetHistoryAnswer(
                key, shown, history.truncated, reader.progress.settling(), position_tokens.encode(reader.progress.position())
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers={**link, **position_header(reader.progress)})


def _facet_version(entry: FacetEntry, *, texts: bool) -> FacetVersion:
    return FacetVersion(
        hash=entry.facet.hex(),
        side=entry.side.name.lower(),  # type: ignore[arg-type]  # the names of Side are the words of the model
        first=_seen(entry.first),
        last=_seen(entry.last),
        jobs=serialization.job_names(entry.jobs),
        deleted=entry.deleted,
        facet=Raw(entry.text.encode()) if texts else UNSET,
    )


def _life_route(router: APIRouter, services: Services) -> None:
    @router.get("/life", response_model=None, responses=response_docs({200: LifeAnswer, **_NOT_FOUND}, writes=False))
    def get_life(
        request: Request, namespace: Namespace, name: NodeName, names: Style = "standard", limit: Limit = 100, offset: Offset = 0
    ) -> Response:
        """Lifecycle changes of a dataset (CREATE, ALTER, DROP, RENAME, TRUNCATE, OVERWRITE), the newest first."""
        with services.graph() as reader:
            node = require_node(reader.nodes, NodeKind.DATASET, namespace, name)
            entries, link = page(request, reader.history.lifecycle(node, limit + 1, offset), limit, offset)
            answer = LifeAnswer(
                [_life_event(entry) for entry in entries], reader.progress.settling(), position_tokens.encode(reader.progress.position())
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers={**link, **position_header(reader.progress)})


def _life_event(entry: LifeEntry) -> LifeEvent:
    return LifeEvent(
        change=entry.change,
        dataset=serialization.dataset_name(entry.dataset),
        first=_seen((entry.first, entry.event)),
        last_seen=format_time(entry.last),
        job=serialization.job_name(entry.job) if entry.job else UNSET,
        previous=serialization.dataset_name(entry.previous) if entry.previous else UNSET,
    )


def _text(text: str | None) -> Text:
    return UNSET if text is None else text
