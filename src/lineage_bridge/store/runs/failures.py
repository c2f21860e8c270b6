"""Finds the reasons for the failures of runs in their events: error messages, failed tests and failed assertions."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.openlineage.facets import DataQualityAssertionsFacet, ErrorMessageRunFacet, Facet, TestRunFacet, Where, read
from lineage_bridge.store.chunks import batches, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.nodes import Nodes

_OF_RUNS = """WITH wanted (run, job) AS (VALUES {}) SELECT s.asserted_by, s.job, s.node, c.key, f.text, s.last, s.last_event
FROM wanted w STRAIGHT_JOIN assertion s ON s.asserted_by = w.run AND s.job = w.job AND s.node = w.job AND s.side = 3
STRAIGHT_JOIN facet_set c ON c.facet_set = s.facet_set AND c.key IN ('errorMessage', 'test')
STRAIGHT_JOIN facet f ON f.facet = c.facet AND f.deleted = 0"""
_OF_INPUTS = """SELECT s.asserted_by, s.job, s.node, c.key, f.text, s.last, s.last_event
FROM assertion s STRAIGHT_JOIN facet_set c ON c.facet_set = s.facet_set AND c.key = 'dataQualityAssertions'
STRAIGHT_JOIN facet f ON f.facet = c.facet AND f.deleted = 0 WHERE s.asserted_by IN ({}) AND s.side IN (0, 4)"""
_WHERE: dict[str, Where] = {"errorMessage": "run", "test": "run", "dataQualityAssertions": "input"}
_MOST_CHARACTERS = 4_000
"""The maximum characters of one reason for a failure."""
_MOST = 20
"""The maximum number of reasons that are listed for one run."""


def failures(
    connection: StoreConnection, nodes: Nodes, runs: Sequence[tuple[bytes, int]], failed: Sequence[bytes]
) -> dict[tuple[bytes, int], list[str]]:
    """For each (run, job) the reasons for a failure in its newest facets, error messages first. Runs without a reason are left out.

    Assertions on inputs are only read for the runs in `failed`, because a run may have very many.
    """
    newest: dict[tuple[bytes, int, str, int], tuple[int, bytes, str]] = {}
    for run, job, node, key, text, last, event in chain(_of_runs(connection, runs), _of_inputs(connection, failed)):
        source = run, job, key, node
        newest[source] = max(newest.get(source, (last, event, text)), (last, event, text))
    nodes.load({node for _, _, _, node in newest})
    found: dict[tuple[bytes, int], list[tuple[bool, str]]] = defaultdict(list)
    for (run, job, key, node), (_, _, text) in newest.items():
        reasons = _reasons(read(_WHERE[key], key, text.encode()), nodes.by_id(node).name)
        found[run, job] += [(key != "errorMessage", reason[:_MOST_CHARACTERS]) for reason in reasons]
    return {run: [reason for _, reason in sorted(some)[:_MOST]] for run, some in found.items() if some}


def _of_runs(connection: StoreConnection, runs: Sequence[tuple[bytes, int]]) -> Iterator[Row]:
    for some in batches(runs):
        values = ", ".join(["(?, ?)"] * len(some))
        yield from connection.execute(_OF_RUNS.format(values), [value for key in some for value in key])


def _of_inputs(connection: StoreConnection, runs: Sequence[bytes]) -> Iterator[Row]:
    for some in batches(runs):
        yield from connection.execute(_OF_INPUTS.format(marks(some)), some)


def _reasons(facet: Facet | None, node: str) -> Iterator[str]:
    if isinstance(facet, ErrorMessageRunFacet):
        yield facet.message
    elif isinstance(facet, TestRunFacet):
        failed = [test for test in facet.tests if test.status.lower().startswith(("fail", "error"))]
        yield from (_sentence("test", test.name, "", test.description) for test in failed)
    elif isinstance(facet, DataQualityAssertionsFacet):
        for assertion in facet.assertions:
            if not assertion.success:
                on = f" on {node}.{assertion.column}" if assertion.column else f" on {node}"
                yield _sentence("assertion", assertion.name or assertion.assertion, on, assertion.description)


def _sentence(what: str, name: str, on: str, description: str | None) -> str:
    return f"{what} {name}{on} failed" + (f": {description}" if description else "")
