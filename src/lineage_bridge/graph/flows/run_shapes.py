"""Computes the current shape of every run and every design-time statement from scratch, with the days on which it was asserted."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from lineage_bridge.graph.facts.facet_texts import FacetTexts
from lineage_bridge.graph.facts.fold import Tables
from lineage_bridge.graph.facts.run_facets import NO_PARENT
from lineage_bridge.graph.flows.run_shape import NamedDataset, StatedLineage, flow_owner, is_mark, is_snapshot, is_streaming, run_shape
from lineage_bridge.graph.flows.shape_history import DeclaredOnDay, ShapeHistory, declaration_history, newest_facet_set
from lineage_bridge.graph.flows.shapes import NO_SHAPE, Shape
from lineage_bridge.graph.flows.stitching import Sibling, find_stitches, one_side, stitch_id, stitched_shape
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.graph.statements.lineage_sets import OWN

Asserter = tuple[bytes, int]
"""The asserter, and the job that its statement is about; the dataset, if a design-time statement names no job."""


class RunShape(NamedTuple):
    """The shape of an asserter (a run or a declaration), and its history.

    `shape` is the asserter's current shape; `history` says since when the asserter has had it. `days` maps each day on which it asserted
    something to the times of the first and the last assertion of that day (UTC microseconds).
    """

    shape: Shape
    days: dict[int, tuple[int, int]]
    history: ShapeHistory


class RunShapes:
    """Fills `out` with the rows of `run_shape`, `run_shape_day`, `run_lineage_set`, `mentioned_node`; with `stitch`, `sibling`, `stitch`.

    `shapes` has every current shape by its id. `job_shapes` maps (job, shape) to the days on which runs of that shape asserted something,
    each with the first and last time.
    """

    def __init__(self, tables: Tables, texts: FacetTexts, out: dict[str, set[Row]], *, stitch: bool) -> None:
        self.tables, self.texts, self.out = tables, texts, out
        self.by_asserter: dict[Asserter, RunShape] = {}
        self.streaming: set[Asserter] = set()
        self.shapes: dict[int, Shape] = {}
        self.job_shapes: dict[tuple[int, int], dict[int, tuple[int, int]]] = {}
        self._read_asserters()
        if stitch:
            self._read_stitches()

    def _read_asserters(self) -> None:
        named: dict[Asserter, list[NamedDataset]] = defaultdict(list)
        stated: dict[Asserter, dict[tuple[int, bytes], tuple[int, int]]] = defaultdict(dict)
        days: dict[Asserter, dict[int, tuple[int, int]]] = defaultdict(dict)
        declarations: dict[Asserter, list[DeclaredOnDay]] = defaultdict(list)
        origins: dict[Asserter, int] = {}
        asserted_job: dict[Asserter, int] = {}
        for (run, job), dataset_named in named_datasets(self.tables["run_io"]):
            named[run, job].append(dataset_named)
        for (asserted_by, job, node, side, origin, facet_set, day), (first, first_event, last, event) in self.tables["assertion"].items():
            if own := flow_owner(job, node, side):
                origins[asserted_by, own] = origin
                asserted_job[asserted_by, own] = job
                days[asserted_by, own][day] = _widened(days[asserted_by, own].get(day), first, last)
                if origin == Origin.DECLARED and self.texts.states_flows(facet_set, job):
                    declarations[asserted_by, own].append(DeclaredOnDay(first, first_event, last, event, facet_set))
            if origin == Origin.OBSERVED:
                for statement in self.texts.stated_lineage(node, job, side, facet_set):
                    stated[asserted_by, job][statement] = _widened(stated[asserted_by, job].get(statement), first, last)
        rows_of_runs = ((*key, *what, period[0]) for key, found in stated.items() for what, period in found.items())
        self.out["run_lineage_set"].update(rows_of_runs)
        for (asserted_by, job), origin in origins.items():
            key = asserted_by, job
            self._note_mentioned(job, stated[key])
            if any(is_snapshot(lineage_set) for _, lineage_set in stated[key]):
                self.out["mentioned_node"].update((row.dataset, job) for row in named[key])
            shape, history = run_shape(job, named[key], [StatedLineage(*what, *period) for what, period in stated[key].items()])
            if origin == Origin.DECLARED:
                shape, history = self._newest_declared(job, asserted_job[key], declarations[key]), declaration_history(declarations[key])
            self._add_run_shape(key, shape, days[key], history)
            self.streaming.update({key} if any(is_streaming(lineage_set) for _, lineage_set in stated[key]) else ())

    def _read_stitches(self) -> None:
        siblings = {key: sibling for key in self.by_asserter if (sibling := self._sibling(key))}
        for (asserted_by, job), sibling in siblings.items():
            now = self.by_asserter[asserted_by, job]
            self.out["sibling"].add((*sibling, now.shape.id, now.history.current_since))
        for writer, reader in find_stitches(siblings.values()):
            own, read = self.by_asserter[writer.key], self.by_asserter[reader.key]
            since = max(own.history.current_since, read.history.current_since)
            self.out["stitch"].add((*writer.key, *reader.key))
            self._add_run_shape(
                (stitch_id(*writer.key), writer.job), stitched_shape(read.shape, own.shape), own.days, ShapeHistory(since, since, None)
            )

    def _sibling(self, key: Asserter) -> Sibling | None:
        """The sibling row of a run that may be stitched to another run of its parent; None for other runs."""
        now = self.by_asserter[key]
        parent, parent_job, *_, sure = self.tables["run"].get(key, NO_PARENT)[:8]
        if parent is None or not sure or now.shape.origin != Origin.OBSERVED:
            return None
        sides = [side for side, _ in now.shape.members]
        counts = sides.count(Side.INPUT), sides.count(Side.OUTPUT), len(now.shape.lineage_sets)
        side = one_side(*counts, streaming=key in self.streaming)
        if side is None:
            return None
        first, last = min(first for first, _ in now.days.values()), max(last for _, last in now.days.values())
        return Sibling(parent, parent_job, int(side), first, *key, last)

    def _note_mentioned(self, job: int, statements: Iterable[tuple[int, bytes]]) -> None:
        for lineage_set in {lineage_set for _, lineage_set in statements if not is_mark(lineage_set)}:
            named = {end for statement in self.texts.lineage_sets[lineage_set].statements for end in (statement.source, statement.target)}
            self.out["mentioned_node"].update((node, job) for node in named - {OWN})

    def _newest_declared(self, own: int, job: int, declarations: list[DeclaredOnDay]) -> Shape:
        """The shape of a design-time statement's newest facet set. Also adds to `mentioned_node` the nodes that any facet set of the
        statement names.
        """
        for facet_set in {declaration.facet_set for declaration in declarations}:
            shape = self.texts.declared_shape(own, job, facet_set)
            self._note_mentioned(own, shape.lineage_sets)
            self.out["mentioned_node"].update((dataset, own) for _, dataset in shape.members)
        return self.texts.declared_shape(own, job, newest_facet_set(declarations) or b"")

    def _add_run_shape(self, key: tuple[bytes, int], shape: Shape, days: dict[int, tuple[int, int]], history: ShapeHistory) -> None:
        first, last = min(d[0] for d in days.values()), max(d[1] for d in days.values())
        self.by_asserter[key] = RunShape(shape, days, history)
        self.out["run_shape"].add((*key, shape.origin, shape.id, first, last, *history))
        self.out["run_shape_day"].update((*key, day, shape.id, *period) for day, period in days.items())
        if shape.id != NO_SHAPE:
            self.shapes.setdefault(shape.id, shape)
            for day, period in days.items():
                periods = self.job_shapes.setdefault((key[1], shape.id), {})
                merged = periods.get(day, period)
                periods[day] = min(merged[0], period[0]), max(merged[1], period[1])


def named_datasets(run_io: Mapping[Row, Row]) -> Iterator[tuple[Asserter, NamedDataset]]:
    """The datasets that each run named, each once as an input and once as an output, with the first and last time over all days."""
    periods: dict[Row, tuple[int, int]] = {}
    for (*who, dataset, side, _), (first, last) in run_io.items():
        key = *who, side, dataset
        periods[key] = _widened(periods.get(key), first, last)
    for (run, job, side, dataset), period in periods.items():
        yield (run, job), NamedDataset(side, dataset, *period)


def _widened(period: tuple[int, int] | None, first: int, last: int) -> tuple[int, int]:
    return (min(period[0], first), max(period[1], last)) if period else (first, last)
