"""What every run and every design-time statement amounts to now, computed from scratch: its shape, and the days it spoke."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from lineage_bridge.graph.facts.facet_texts import Texts
from lineage_bridge.graph.facts.fold import Tables
from lineage_bridge.graph.flows.run_shape import Naming, Stated, is_mark, is_snapshot, is_streaming, run_shape, speaker
from lineage_bridge.graph.flows.shape_history import Growth, Saying, newest_content, of_declaration
from lineage_bridge.graph.flows.shapes import NO_SHAPE, Shape
from lineage_bridge.graph.flows.stitching import Sibling, one_side, stitch_id, stitched, stitched_shape
from lineage_bridge.graph.relations import Origin, Row, Side
from lineage_bridge.graph.statements.lineage_sets import OWN

Subject = tuple[bytes, int]
"""Who spoke, and of which job; of a dataset, when a design-time statement names no job."""


class Present(NamedTuple):
    """What a subject amounts to now, the days it spoke with first and last, and since when."""

    shape: Shape
    days: dict[int, tuple[int, int]]
    growth: Growth


class Presents:
    """Fills `out` with the rows of `present`, `present_day`, `subject_statement`, `spoken` and, with `stitch`, `sibling` and `stitch`.

    `shapes` are those that anybody has, `job_shapes` is (job, shape) to the days it was spoken under, each with first and last.
    """

    def __init__(self, tables: Tables, texts: Texts, out: dict[str, set[Row]], *, stitch: bool) -> None:
        self.tables, self.texts, self.out = tables, texts, out
        self.presents: dict[Subject, Present] = {}
        self.streaming: set[Subject] = set()
        self.shapes: dict[int, Shape] = {}
        self.job_shapes: dict[tuple[int, int], dict[int, tuple[int, int]]] = {}
        self._read_subjects()
        if stitch:
            self._read_stitches()

    def _read_subjects(self) -> None:
        namings: dict[Subject, list[Naming]] = defaultdict(list)
        stated: dict[Subject, dict[tuple[int, bytes], tuple[int, int]]] = defaultdict(dict)
        days: dict[Subject, dict[int, tuple[int, int]]] = defaultdict(dict)
        sayings: dict[Subject, list[Saying]] = defaultdict(list)
        origins: dict[Subject, int] = {}
        said_by: dict[Subject, int] = {}
        for (run, job), naming in named_by(self.tables["run_io"]):
            namings[run, job].append(naming)
        for (subject, job, about, side, origin, content, day), (first, first_event, last, event) in self.tables["assertion"].items():
            if own := speaker(job, about, side):
                origins[subject, own] = origin
                said_by[subject, own] = job
                days[subject, own][day] = _widened(days[subject, own].get(day), first, last)
                if origin == Origin.DECLARED and self.texts.speaks_of_flow(content, job):
                    sayings[subject, own].append(Saying(first, first_event, last, event, content))
            if origin == Origin.OBSERVED:
                for statement in self.texts.statements(about, job, side, content):
                    stated[subject, job][statement] = _widened(stated[subject, job].get(statement), first, last)
        spoken = ((*key, *what, span[0]) for key, found in stated.items() for what, span in found.items())
        self.out["run_lineage_set"].update(spoken)
        for (subject, job), origin in origins.items():
            key = subject, job
            self._speak(job, stated[key])
            if any(is_snapshot(meaning) for _, meaning in stated[key]):
                self.out["mentioned_node"].update((row.dataset, job) for row in namings[key])
            shape, growth = run_shape(job, namings[key], [Stated(*what, *span) for what, span in stated[key].items()])
            if origin == Origin.DECLARED:
                shape, growth = self._newest_declared(job, said_by[key], sayings[key]), of_declaration(sayings[key])
            self._present(key, shape, days[key], growth)
            self.streaming.update({key} if any(is_streaming(meaning) for _, meaning in stated[key]) else ())

    def _read_stitches(self) -> None:
        siblings = {key: sibling for key in self.presents if (sibling := self._sibling(key))}
        for (subject, job), sibling in siblings.items():
            now = self.presents[subject, job]
            self.out["sibling"].add((*sibling, now.shape.id, now.growth.reached))
        for writer, reader in stitched(siblings.values()):
            own, read = self.presents[writer[3:5]], self.presents[reader[3:5]]
            reached = max(own.growth.reached, read.growth.reached)
            self.out["stitch"].add((*writer[3:5], *reader[3:5]))
            self._present(
                (stitch_id(*writer[3:5]), writer.job), stitched_shape(read.shape, own.shape), own.days, Growth(reached, reached, None)
            )

    def _sibling(self, key: Subject) -> Sibling | None:
        """What a run is to others of its parent, if it may be stitched."""
        now, parent = self.presents[key], self.tables["run"].get(key, (None,))[0]
        if parent is None or now.shape.origin != Origin.OBSERVED:
            return None
        sides = [side for side, _ in now.shape.members]
        counts = sides.count(Side.INPUT), sides.count(Side.OUTPUT), len(now.shape.statements)
        side = one_side(*counts, streaming=key in self.streaming)
        spans = now.days.values()
        return None if side is None else Sibling(parent, int(side), min(s[0] for s in spans), *key, max(s[1] for s in spans))

    def _speak(self, job: int, statements: Iterable[tuple[int, bytes]]) -> None:
        for meaning in {meaning for _, meaning in statements if not is_mark(meaning)}:
            named = {end for statement in self.texts.meanings[meaning].statements for end in (statement.source, statement.target)}
            self.out["mentioned_node"].update((node, job) for node in named - {OWN})

    def _newest_declared(self, own: int, job: int, sayings: list[Saying]) -> Shape:
        """What the newest content of a design-time statement says; what all of them named is remembered."""
        for content in {saying.content for saying in sayings}:
            shape = self.texts.declared(own, job, content)
            self._speak(own, shape.statements)
            self.out["mentioned_node"].update((dataset, own) for _, dataset in shape.members)
        return self.texts.declared(own, job, newest_content(sayings) or b"")

    def _present(self, key: tuple[bytes, int], shape: Shape, days: dict[int, tuple[int, int]], growth: Growth) -> None:
        first, last = min(d[0] for d in days.values()), max(d[1] for d in days.values())
        self.presents[key] = Present(shape, days, growth)
        self.out["run_shape"].add((*key, shape.origin, shape.id, first, last, *growth))
        self.out["run_shape_day"].update((*key, day, shape.id, *span) for day, span in days.items())
        if shape.id != NO_SHAPE:
            self.shapes.setdefault(shape.id, shape)
            for day, span in days.items():
                spans = self.job_shapes.setdefault((key[1], shape.id), {})
                known = spans.get(day, span)
                spans[day] = min(known[0], span[0]), max(known[1], span[1])


def named_by(run_io: Mapping[Row, Row]) -> Iterator[tuple[Subject, Naming]]:
    """What runs named, each dataset once, over all days."""
    spans: dict[Row, tuple[int, int]] = {}
    for (*who, dataset, side, _), (first, last) in run_io.items():
        key = *who, side, dataset
        spans[key] = _widened(spans.get(key), first, last)
    for (run, job, side, dataset), span in spans.items():
        yield (run, job), Naming(side, dataset, *span)


def _widened(span: tuple[int, int] | None, first: int, last: int) -> tuple[int, int]:
    return (min(span[0], first), max(span[1], last)) if span else (first, last)
