"""The graphs about which the benchmark of answers asks."""

from pathlib import Path

from bench.components import JOBS, NAMESPACE, NODES, events, source_name
from bench.generator import BASE_US
from bench.synthetic import Folder

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.store.reader import ReaderPool


def test_a_component_is_all_that_is_around_its_source(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "graph.db")
    folder.fold(events(2 * JOBS))
    folder.close()
    pool = ReaderPool(tmp_path / "graph.db")
    with pool.reader() as reader:
        node = reader.nodes.find(NodeKind.DATASET, NAMESPACE, source_name(1))
        assert node
        walk = reader.lineage.walk(node, "both", 20, WalkLimits(), now_us=BASE_US)
    assert len({*walk.nodes, *(port.job for port in walk.ports)}) == NODES
    pool.close()
