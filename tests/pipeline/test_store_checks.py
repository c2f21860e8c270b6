"""What is wrong with the store is noticed while the pipeline is busy with it, too."""

from contextlib import closing
from pathlib import Path

import pytest
from tests.events import KEY

from lineage_bridge.errors import StoreDamagedError
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.pipeline.serve import Limits, Serve
from lineage_bridge.store.write.apply import GraphWriter


def test_a_file_that_was_deleted_is_noticed_while_a_commit_is_under_way(tmp_path: Path) -> None:
    with closing(GraphWriter(tmp_path / "graph.db", Names(KEY))) as store:
        serve = Serve(store, KEY, Limits(), lambda *_: None)
        serve.check()
        with serve.store_lock, closing(serve):
            (tmp_path / "graph.db").unlink()
            with pytest.raises(StoreDamagedError):
                serve.check()
