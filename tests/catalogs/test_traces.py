"""What a publication records of itself as spans."""

from tests.api.support import Server
from tests.catalogs.conftest import published
from tests.servers.collector import recording


def test_reads_and_writes_belong_to_their_publication(ours: Server) -> None:
    ours.targets.add("there", "files", {"events": "jobs"}, replace=True)
    with recording() as collector:
        report = published(ours)
    publication = collector.single("publish")
    writes = collector.named("write objects")
    assert publication.attributes == {"lineage_bridge.target": "there"}
    assert {span.parent for span in collector.spans if span != publication} == {publication.id}
    assert sum(span.attributes["lineage_bridge.objects"] for span in writes) == sum(report.counts.values()) > 0
