"""The route for the pulse: the current rates of the jobs around a node, or at some datasets."""

import re
from collections.abc import Mapping
from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from msgspec import UNSET

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.lags import LagsByJob, lag_answer, read_lags
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import KINDS, Mended, Style, parse_time_argument, position_header, require_node
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.routes.questions.neighbourhood import Direction, Kind
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.statistics import PulseAnswer, PulseItem
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RequestError
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.statistics import per_second
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.statistics import StatisticsFilter, StatisticsSeries
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.projections.nodes import node_id_from_text

PULSE: Final = "/graph/pulse"
MOST_SERIES: Final = 5000
MOST_DATASETS: Final = 1000
"""The maximum number of datasets that a question may name by their ids."""
_IDS: Final = re.compile(r"[0-9a-f]{16}(,[0-9a-f]{16})*")
Text = Annotated[str | None, Mended]
RootNamespace = Annotated[Text, Query(description="Namespace of the node, exactly")]
RootName = Annotated[Text, Query(description="Name of the node, exactly")]
Depth = Annotated[int, Query(ge=0, le=20)]
Datasets = Annotated[
    str | None,
    Query(description=f"In place of a node: ids of up to {MOST_DATASETS} datasets, as `id` of nodes has them, separated by commas"),
]
WindowS = Annotated[int, Query(ge=60, le=86_400, description="Length of the window in seconds; it ends now, or at `until`")]
Moment = Annotated[str | None, Query(description="RFC 3339; UTC if it has no zone")]


def routes(services: Services) -> APIRouter:
    """The route for the pulse."""
    router = question_router(services, "graph")

    @router.get(PULSE, response_model=None, responses=response_docs({200: PulseAnswer, 404: ErrorAnswer}, writes=False))
    def get_pulse(
        namespace: RootNamespace = None,
        name: RootName = None,
        kind: Kind = "dataset",
        direction: Direction = "both",
        depth: Depth = 1,
        datasets: Datasets = None,
        window_s: WindowS = 3600,
        until: Moment = None,
        names: Style = "standard",
    ) -> Response:
        """The recent rates at which jobs around a node, or at some datasets, read and write (now, or before `until`), and when they
        last did.
        """
        last = parse_time_argument("until", until)
        now_us = last if last is not None else services.clock_us()
        named = dataset_ids(namespace, name, datasets)
        with services.graph() as reader:
            if namespace is not None and name is not None:
                node = require_node(reader.nodes, KINDS[kind], namespace, name)
                walk = reader.lineage.walk(node, direction, depth, WalkLimits(), now_us=now_us)
                named = frozenset(end.id for end in walk.nodes if end.kind == NodeKind.DATASET)
            which = StatisticsFilter(now_us - window_s * 1_000_000, now_us, datasets=named, limit=MOST_SERIES)
            found = reader.runs.statistics(which)
            lags = read_lags(reader.runs, (series.job for series in found.series), which.since, which.until)
            aliases = reader.nodes.names_of(series.dataset for series in found.series) if lags else {}
            answer = PulseAnswer(
                at=format_time(now_us),
                window_s=window_s,
                flows=[_pulse(series, window_s * 1_000_000, lags, aliases) for series in found.series],
                truncated=found.truncated or len(found.series) == MOST_SERIES,
                settling=reader.progress.settling(),
                position=position_tokens.encode(reader.progress.position()),
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers=position_header(reader.progress))

    return router


def dataset_ids(namespace: str | None, name: str | None, datasets: str | None) -> frozenset[int]:
    """The ids of the datasets that a question names; empty if it names a node. Raises RequestError unless it names either."""
    if (namespace is None) != (name is None) or (name is None) == (datasets is None):
        raise RequestError("name a node or datasets", "send `namespace` and `name` of a node, or `datasets` with ids")
    if datasets is None:
        return frozenset()
    if not _IDS.fullmatch(datasets):
        raise RequestError(
            "`datasets` has an entry that is not the id of a node",
            "separate ids by commas; each has 16 hexadecimal digits, as in GraphNode.id",
        )
    ids = frozenset(map(node_id_from_text, datasets.split(",")))
    if len(ids) > MOST_DATASETS:
        raise RequestError(f"{len(ids):,} datasets are too many", f"name at most {MOST_DATASETS:,}")
    return ids


def _pulse(series: StatisticsSeries, span_us: int, lags: LagsByJob, aliases: Mapping[int, tuple[Node, ...]]) -> PulseItem:
    rate, size, _ = per_second(series.amount, span_us)
    read = series.side == Side.INPUT
    return PulseItem(
        job=serialization.graph_node(series.job),
        dataset=serialization.graph_node(series.dataset),
        side="input" if read else "output",
        last=format_time(series.last),
        rows_per_second=UNSET if rate is None else rate,
        bytes_per_second=UNSET if size is None else size,
        lag=lag_answer(lags, series.job, aliases.get(series.dataset.id, (series.dataset,)), rate) if read else UNSET,
    )
