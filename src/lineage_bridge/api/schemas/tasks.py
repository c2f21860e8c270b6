"""The requests and responses of the routes for tasks. Members that are always present are null if they have no value."""

from typing import Any

from msgspec import Struct


class KeyPair(Struct, frozen=True, forbid_unknown_fields=True):
    """An API key for a task. It is used for this task and not stored."""

    api_key: str
    api_secret: str

    def __repr__(self) -> str:
        return "KeyPair(...)"


class Credentials(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """API keys for one task: of the organization, and of clusters, environments and registries by their ids; `*` for all."""

    cloud_credentials: KeyPair | None = None
    metrics_credentials: KeyPair | None = None
    cluster_credentials: dict[str, KeyPair] | None = None
    sr_credentials: dict[str, KeyPair] | None = None
    flink_credentials: dict[str, KeyPair] | None = None
    ksqldb_credentials: dict[str, KeyPair] | None = None
    tableflow_credentials: dict[str, KeyPair] | None = None


class ExtractionRequest(Credentials, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What to extract: a `source` (by default the only organization of Confluent Cloud), and environments and clusters by their ids.

    All members apply to this extraction only. `off`: planes to skip; a switch that is false skips its planes. `sr_endpoints`: addresses of
    registries by environment. `enable_enrichment`: true also reads all catalogs, false reads none; if it is absent, only catalogs are read
    that cost nothing but requests.
    """

    source: str | None = None
    environment_ids: list[str] | None = None
    cluster_ids: list[str] | None = None
    off: list[str] | None = None
    enable_connect: bool = True
    enable_ksqldb: bool = True
    enable_flink: bool = True
    enable_schema_registry: bool = True
    enable_stream_catalog: bool = True
    enable_tableflow: bool = True
    enable_enrichment: bool | None = None
    enable_metrics: bool | None = None
    metrics_lookback_hours: float | None = None
    sr_endpoints: dict[str, str] | None = None


class EnrichmentRequest(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which catalogs to read: the one of the source or target `name`; all catalogs if `name` is absent. `enable_catalog` cannot be false,
    nor `enable_metrics` true: metrics are read by extractions.
    """

    name: str | None = None
    enable_catalog: bool = True
    enable_metrics: bool = False
    metrics_lookback_hours: float | None = None


class PlaneItem(Struct, frozen=True):
    """The outcome of a plane in one scope. `why`: what could not be read, and the reason; `hints`: what to do about it.

    `state`: `observed`, `partly`, `failed`, `not_observed` (no credential), `skipped`, `gone` (its scope was deleted), or, while the
    task runs, `asked` (read, but no events sent yet).
    """

    plane: str
    scope: str
    state: str
    why: list[str]
    events: int
    requests: int
    took_s: float
    hints: list[str]


class UnknownItem(Struct, frozen=True):
    """A plane that could not be read completely. The graph keeps the results of earlier reads."""

    plane: str
    scope: str
    state: str
    why: list[str]


class TaskResult(Struct, frozen=True):
    """The size of the graph when the task was done."""

    graph_id: str
    node_count: int
    edge_count: int


class TaskItem(Struct, frozen=True):
    """A task. `status` is pending, running, completed or failed; `progress` is a summary of `planes` in words.

    A completed task may have `unknown` planes. A failed task has the reason in `error` and what to do in `hint`; `resumable`: it was
    cancelled, or its process ended. `params` is the request without credentials; `credentials` names those that it contained.
    `enrichments` are the ids of the tasks that read catalogs beside it.
    """

    task_id: str
    task_type: str
    status: str
    created_at: str
    started_at: str | None
    completed_at: str | None
    progress: list[str]
    result: TaskResult | None
    error: str | None
    hint: str
    params: dict[str, Any]
    source: str
    planes: list[PlaneItem]
    unknown: list[UnknownItem]
    events: int
    cancelled: bool
    resumable: bool
    enrichments: list[str]


class EnrichmentItem(TaskItem, frozen=True):
    """The first of the tasks that read catalogs; `task_ids` has the ids of all of them, one for each catalog."""

    task_ids: list[str]
