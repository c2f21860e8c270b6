"""The plane of cluster links, which copy topics to a Kafka cluster."""

from collections.abc import Mapping

from lineage_bridge.sources.common.observer import Observation, Snapshot
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.cluster_links.events import LinkEvents, LinkState
from lineage_bridge.sources.confluent.cluster_links.rest import Link, LinkListing, list_links
from lineage_bridge.sources.confluent.kafka_rest import ClusterPlane, for_each_cluster


class ClusterLinksPlane(ClusterPlane[LinkListing]):
    """Observes the links that copy topics to a cluster. Its snapshot has `links`, the LinkState of each link by its name."""

    name, stage = "links", 5

    def fetch(self, before: Snapshot | None, now_us: int) -> LinkListing:
        """Fetch the links and, if there are any, their mirror topics in a second call. Raises SourceError."""
        del now_us
        return list_links(self.rest(), had_links=bool(before and before["links"]))

    def translate(self, fetched: LinkListing, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Return events for links that started, continue, or were deleted."""
        previous: Mapping[str, LinkState] = (before or {}).get("links", {})
        listed = {link.name for link in fetched.links}
        builder = LinkEvents(self.context, self.cluster, shared, now_us)
        missing = {name: state for name, state in sorted(previous.items()) if name not in listed}
        links = {name: state for name, state in missing.items() if fetched.hidden is None or name in fetched.hidden}
        deleted = [(name, state) for name, state in missing.items() if name not in links and "start" in state]
        events = [builder.end_event("ABORT", name, state) for name, state in deleted]
        for link in fetched.links:
            before_link = previous.get(link.name, {})
            if fetched.hidden is None and _lacks_mirrors(link, before_link):
                links[link.name] = before_link
                continue
            more, links[link.name] = builder.link_events(link, before_link)
            events += more
        return Observation({"links": links}, tuple(events), unseen=fetched.unseen)

    def empty_answer(self) -> LinkListing:
        """Return an answer without links."""
        return LinkListing(())


def _lacks_mirrors(link: Link, before: LinkState) -> bool:
    """Whether a mirror topic that the previous poll found is missing now."""
    return bool(before.get("pairs", {}).items() - {mirror.topic: mirror.source for mirror in link.mirrors}.items())


planes = for_each_cluster(ClusterLinksPlane)
