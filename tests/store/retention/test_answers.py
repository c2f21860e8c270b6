"""Answers before and after retention, now and as of times since what went was old, for made-up histories of sixty days."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import pytest
from tests.events import T0, dataset, facet, records_of, run_event, schema
from tests.store.reading import read_as_of, reader_of
from tests.store.retention.removing import graph_of, is_in, put, retain, tables
from tests.store.walks import around, edges, labels, nodes, ports
from tests.store.writing import NAMES, empty_store

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.model.keeping.retention import Cutoffs
from lineage_bridge.model.lineage import TraceOptions
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.store.write.apply import GraphWriter

DAYS, KEPT_DAYS = 60, 15
HOUR_US = DAY_US // 24
BEGAN = T0 - DAYS * DAY_US
CUTOFF = T0 - KEPT_DAYS * DAY_US
LIMITS = WalkLimits(nodes=2_000, edges=2_000, seconds=60)
SCHEMAS = [schema("id"), schema("id", "x"), schema("id", "y")]


@contextmanager
def stitching() -> Iterator[GraphWriter]:
    with TemporaryDirectory() as folder:
        (Path(folder) / "graph.db").write_bytes(empty_store())
        writer = GraphWriter(Path(folder) / "graph.db", NAMES, stitch=True)
        yield writer
        writer.close()


def history(choice: Random) -> list[StoredRecord]:
    """Runs of a few jobs, which change what they do, some of which last for weeks, never end, or belong to a parent."""
    bodies: list[bytes] = []
    for number in range(90):
        job = choice.choice(["load", "copy", "stream"])
        at = BEGAN + choice.randrange(DAYS * 24) * HOUR_US
        end = min(T0, at + choice.choice([1, 2, 5, 24, 24 * 20]) * HOUR_US)
        way = choice.choice(["a", "a", "a", "b", "c"])
        columns = choice.choice(SCHEMAS) if way != "b" else None
        sides: dict[str, Any] = {"inputs": [dataset("in", schema=columns)], "outputs": [dataset(f"{job} {way}", schema=columns)]}
        if job != "load":
            sides.pop(choice.choice(["inputs", "outputs"]))
        run_facets = {"parent": facet(run={"runId": str(UUID(int=900 + at // (10 * DAY_US)))}, job={"namespace": "jobs", "name": "app"})}
        job_facets = {"jobType": facet(processingType="STREAMING" if job == "stream" else "BATCH", integration="SPARK")}
        types = ["START", *["RUNNING"] * choice.randrange(3), choice.choice(["COMPLETE", "COMPLETE", "FAIL", "OTHER"])]
        for index, type_ in enumerate(types):
            time_us = at + (end - at) * index // (len(types) - 1)
            bodies.append(run_event(type_, str(UUID(int=number + 1)), job, time_us, run_facets=run_facets, job_facets=job_facets, **sides))
    return records_of(bodies, arrival=T0)


def answers(reader: GraphReader, now_us: int, at_us: int | None) -> list[Any]:
    found: list[Any] = []
    for node in nodes(reader):
        walk = around(reader, node, "both", at_us, now_us, 2)
        found.append((edges(walk), ports(walk), labels(walk), set(walk.columns), walk.canonical))
        for direction in ("upstream", "downstream"):
            options = TraceOptions("", direction, indirect=True, proofs=False)
            trace = reader.lineage.trace(node, options, LIMITS, at_us)
            impact = reader.lineage.impact([node], direction, 5, LIMITS, at_us)
            found.append((trace.flows, trace.columns, trace.coverage, impact.affected))
    return found


def all_answers(writer: GraphWriter, moments: list[int]) -> list[Any]:
    reader = reader_of(writer)
    found: list[Any] = [answers(reader, T0, None), graph_of(writer)]
    for at_us in moments:
        with read_as_of(writer, NAMES, at_us) as then:
            exported = [line for line in then.whole.lines(frozenset(), now_us=at_us) if not line.startswith(b'{"type":"run"')]
        found.append((answers(reader, at_us, at_us), exported))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_answers_since_the_cutoff_are_the_same(seed: int) -> None:
    records = history(Random(seed))
    moments = [CUTOFF, CUTOFF + 5 * DAY_US + HOUR_US]
    cutoffs = Cutoffs(CUTOFF, CUTOFF, CUTOFF, CUTOFF)
    with stitching() as writer, stitching() as again:
        put(writer, records)
        before = all_answers(writer, moments)
        counts, gone = retain(writer, cutoffs)
        assert counts.runs > 10
        for was, is_ in zip(before, all_answers(writer, moments), strict=True):
            assert was == is_
        assert [d for d in reader_of(writer).whole.differences(NAMES) if d.surplus or d.missing] == []
        put(again, [record for record in records if not is_in(record, gone)])
        retain(again, cutoffs)
        mine, theirs = tables(writer), tables(again)
        for name in mine:
            assert mine[name] == theirs[name], name
