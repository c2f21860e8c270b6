"""All planes of an estate: each module has `planes(around)`, one plane for each scope that it observes."""

from collections.abc import Callable

from lineage_bridge.sources.confluent import (
    audit,
    catalog,
    connect,
    flink,
    groups,
    ksqldb,
    links,
    metrics,
    names,
    registry,
    schemalinks,
    tableflow,
    topics,
)
from lineage_bridge.sources.confluent.plane import AnyPlane, Around, Planes

MODULES: tuple[Callable[[Around], Planes], ...] = (
    names.planes,
    topics.planes,
    ksqldb.planes,
    connect.planes,
    links.planes,
    groups.planes,
    tableflow.planes,
    metrics.planes,
    audit.planes,
    flink.planes,
    registry.planes,
    catalog.planes,
    schemalinks.planes,
)


def planes_of(around: Around, modules: tuple[Callable[[Around], Planes], ...] = MODULES) -> list[AnyPlane]:
    """Every plane that is not left out, in the order in which they are told."""
    off = frozenset(around.settings.off)
    found = [plane for planes in modules for plane in planes(around) if plane.name not in off]
    return sorted(found, key=lambda plane: (plane.stage, plane.key))
