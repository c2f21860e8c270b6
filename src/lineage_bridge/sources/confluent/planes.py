"""All planes of an estate: each module has `planes(around)`, one plane for each scope that it observes."""

from collections.abc import Callable

from lineage_bridge.sources.confluent.audit import plane as audit
from lineage_bridge.sources.confluent.catalog import plane as catalog
from lineage_bridge.sources.confluent.cluster_links import plane as cluster_links
from lineage_bridge.sources.confluent.connect import plane as connect
from lineage_bridge.sources.confluent.flink import plane as flink
from lineage_bridge.sources.confluent.groups import plane as groups
from lineage_bridge.sources.confluent.identities import plane as identities
from lineage_bridge.sources.confluent.ksqldb import plane as ksqldb
from lineage_bridge.sources.confluent.metrics import plane as metrics
from lineage_bridge.sources.confluent.plane import AnyPlane, Around, Planes
from lineage_bridge.sources.confluent.registry import plane as registry
from lineage_bridge.sources.confluent.schema_links import plane as schema_links
from lineage_bridge.sources.confluent.tableflow import plane as tableflow
from lineage_bridge.sources.confluent.topics import plane as topics

MODULES: tuple[Callable[[Around], Planes], ...] = (
    identities.planes,
    topics.planes,
    ksqldb.planes,
    connect.planes,
    cluster_links.planes,
    groups.planes,
    tableflow.planes,
    metrics.planes,
    audit.planes,
    flink.planes,
    registry.planes,
    catalog.planes,
    schema_links.planes,
)


def planes_of(around: Around, modules: tuple[Callable[[Around], Planes], ...] = MODULES) -> list[AnyPlane]:
    """Every plane that is not left out, in the order in which they are told."""
    off = frozenset(around.settings.off)
    found = [plane for planes in modules for plane in planes(around) if plane.name not in off]
    return sorted(found, key=lambda plane: (plane.stage, plane.key))
