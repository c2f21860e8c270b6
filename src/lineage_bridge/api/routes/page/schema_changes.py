"""The route that lists the latest schema changes of all datasets."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import Style, parse_time_argument, position_header
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.schema_versions import SchemaChangeItem, SchemaChangesAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.graph.contents.schema_versions import diff, paths
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.projections.timeline import SchemaChange, read_schema_changes

_WEEK_US: Final = 7 * 24 * 3_600 * 1_000_000
_MOST_FIELDS: Final = 20


def routes(services: Services) -> APIRouter:
    """The route for the latest schema changes of all datasets."""
    router = question_router(services, "history", "/graph")

    @router.get("/schemas/changes", response_model=None, responses=response_docs({200: SchemaChangesAnswer}, writes=False))
    def get_schema_changes(
        since: Annotated[str | None, Query(description="Changes since this time, RFC 3339; by default, of the last seven days")] = None,
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
        names: Style = "standard",
    ) -> Response:
        """The datasets whose schemas changed last, the newest change first, each with the fields that it added, removed and changed."""
        given = parse_time_argument("since", since)
        since_us = services.clock_us() - _WEEK_US if given is None else given
        with services.graph() as reader:
            found = read_schema_changes(reader, since_us, limit)
            answer = SchemaChangesAnswer(
                since=format_time(since_us),
                changes=[_change_item(change) for change in found.changes],
                truncated=found.truncated,
                exhaustive=found.exhaustive,
                settling=reader.progress.settling(),
                position=position_tokens.encode(reader.progress.position()),
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers=position_header(reader.progress))

    return router


def _change_item(change: SchemaChange) -> SchemaChangeItem:
    fields = diff(paths(change.before.fields), paths(change.after.fields))
    return SchemaChangeItem(
        dataset=serialization.dataset_name(change.dataset),
        at=format_time(change.at),
        before=change.before.version,
        after=change.after.version,
        added=serialization.field_items(fields.added[:_MOST_FIELDS]),
        removed=serialization.field_items(fields.removed[:_MOST_FIELDS]),
        changed=serialization.retyped(fields.changed[:_MOST_FIELDS]),
    )
