"""Where Spark's Python workers are forked from (`spark.python.daemon.module`), so that a task costs what its fold costs.

Spark's own daemon leaves two things to every task. It reads Spark's archives anew, once for every package imported from them
(importlib.invalidate_caches), though their code is installed; and it collects garbage among all that was imported. Together that is
0.2 s of CPU, many times the fold of a small batch.
"""

import gc
import importlib
import runpy
import sys
from pathlib import Path

ARCHIVES = ("pyspark.zip", "py4j-*-src.zip", "spark-core_*.jar")
PRELOADED = ("pyspark.worker", "pandas", "lineage_bridge.pipeline.fold", "lineage_bridge.pipeline.source")
"""What tasks use: imported once, shared by all workers."""


def is_archive(entry: str) -> bool:
    """Whether an entry of the path is one of Spark's archives."""
    return any(Path(entry).match(name) for name in ARCHIVES)


def leave_archives() -> None:
    """Take Spark's archives off the path of this process."""
    for entry in filter(is_archive, list(sys.path)):
        sys.path.remove(entry)
        sys.path_importer_cache.pop(entry, None)


def preload() -> None:
    """Import what tasks use, and let no garbage collection look at it again."""
    for name in PRELOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    leave_archives()
    preload()
    runpy.run_module("pyspark.daemon", run_name="__main__", alter_sys=True)
