"""Creates all planes of an organization.

There is a package for each kind of plane, with the same module names: `plane.py` has `planes(context)`, which yields one plane for each
scope, and fetches; `client.py` or `rest.py` sends requests; `parse.py` reads answers into plain values; `events.py` translates those values
into OpenLineage events.
"""

from collections.abc import Callable

from lineage_bridge.sources.common.stepwise import EVERYTHING, Selection
from lineage_bridge.sources.confluent.audit import plane as audit
from lineage_bridge.sources.confluent.catalog import plane as catalog
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.cluster_links import plane as cluster_links
from lineage_bridge.sources.confluent.connect import plane as connect
from lineage_bridge.sources.confluent.flink import plane as flink
from lineage_bridge.sources.confluent.groups import plane as groups
from lineage_bridge.sources.confluent.identities import plane as identities
from lineage_bridge.sources.confluent.ksqldb import plane as ksqldb
from lineage_bridge.sources.confluent.metrics import plane as metrics
from lineage_bridge.sources.confluent.organization import Organization
from lineage_bridge.sources.confluent.plane import AnyPlane, PlaneContext, Planes
from lineage_bridge.sources.confluent.registry import plane as registry
from lineage_bridge.sources.confluent.schema_links import plane as schema_links
from lineage_bridge.sources.confluent.settings import ConfluentSettings
from lineage_bridge.sources.confluent.tableflow import plane as tableflow
from lineage_bridge.sources.confluent.topics import plane as topics

Factory = Callable[[PlaneContext], Planes]
"""Creates the planes of one kind."""
PLANE_FACTORIES: tuple[Factory, ...] = (
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


class PlaneFactory:
    """Creates the planes of one observer."""

    def __init__(self, settings: ConfluentSettings, clients: Clients, factories: tuple[Factory, ...] = PLANE_FACTORIES) -> None:
        self._settings, self._clients, self._factories = settings, clients, factories
        # Read here, once: a file that cannot be read is an error of the settings, and not of each cluster.
        self._classes = settings.classes

    def create(self, organization: Organization, only: Selection = EVERYTHING) -> list[AnyPlane]:
        """Create all planes that are selected and not switched off, in the order in which they are translated."""
        context = self._context(organization, only)
        off = frozenset(context.settings.off)
        found = [plane for planes in self._factories for plane in planes(context) if plane.name not in off]
        return sorted(found, key=lambda plane: (plane.stage, plane.key))

    def selection(self, only: Selection = EVERYTHING) -> Selection:
        """Return what both the settings and the caller select."""
        settings = self._settings
        environments, clusters = frozenset(settings.environments), frozenset(settings.clusters)
        return Selection(
            _intersection(environments, only.environments), _intersection(clusters, only.clusters), frozenset(settings.off) | only.off
        )

    def _context(self, organization: Organization, only: Selection) -> PlaneContext:
        selection = self.selection(only)
        settings = self._settings.model_copy(update={"off": tuple(sorted(selection.off))})
        return PlaneContext(organization.narrowed(selection), organization, self._clients, settings)


def _intersection(some: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """Intersect two sets, where an empty set means everything."""
    if some and others:
        return (some & others) or frozenset(("(none)",))
    return some or others
