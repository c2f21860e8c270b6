"""The daemon that forks Spark's Python workers (`spark.python.daemon.module`). It keeps the cost of a task close to that of its fold.

With Spark's own daemon every task does two expensive things. First, it reads Spark's archives again for every package imported from them
(importlib.invalidate_caches), although their code is installed. Second, its garbage collection scans everything that was imported. Together
this takes 0.2 s of CPU, many times the fold of a small batch.
"""

import gc
import importlib
import runpy
import sys
from pathlib import Path

ARCHIVES = ("pyspark.zip", "py4j-*-src.zip", "spark-core_*.jar")
PRELOADED = ("pyspark.worker", "pandas", "lineage_bridge.pipeline.fold", "lineage_bridge.pipeline.source")
"""Modules that tasks use. They are imported once and shared by all workers."""


def is_archive(entry: str) -> bool:
    """Whether an entry of `sys.path` is one of Spark's archives."""
    return any(Path(entry).match(name) for name in ARCHIVES)


def leave_archives() -> None:
    """Remove Spark's archives from `sys.path` of this process, so that imports do not search them."""
    for entry in filter(is_archive, list(sys.path)):
        sys.path.remove(entry)
        sys.path_importer_cache.pop(entry, None)


def preload() -> None:
    """Import the modules that tasks use, and exclude them from garbage collection."""
    for name in PRELOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    leave_archives()
    preload()
    runpy.run_module("pyspark.daemon", run_name="__main__", alter_sys=True)
