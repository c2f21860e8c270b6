"""The corpus of quirks through the store: any disorder and any budget gives the same graph, and its flows are those written beside it."""

import json
import random
from collections.abc import Iterator

import pytest
from tests.quirks import quirks
from tests.quirks.builders import Quirk
from tests.quirks.disorder import ARRIVAL, arriving, batches, in_order, seeds
from tests.quirks.small_world import small_world
from tests.store.corpus import corpus_events, put
from tests.store.reading import reader_of
from tests.store.tables import contents, execute
from tests.store.writing import CONTENT_ADDRESSED, NAMES, opened, settle

from lineage_bridge.graph.facts.fold import fold_records, without_erased
from lineage_bridge.graph.flows.derive import derive
from lineage_bridge.graph.relations import BY_NAME
from lineage_bridge.store.derive.verify import MAY_HOLD_MORE
from lineage_bridge.store.write.apply import GraphWriter

BUDGETS = (1, 40, 10_000)
NAMED = """SELECT j.name, s.name, t.name FROM flow f
JOIN node j ON j.id = f.job JOIN node s ON s.id = f.source JOIN node t ON t.id = f.target"""


def exported(writer: GraphWriter) -> list[bytes]:
    return list(reader_of(writer).whole.lines(frozenset(), now_us=ARRIVAL))


@pytest.fixture(scope="module")
def at_once() -> Iterator[GraphWriter]:
    """The corpus in one batch, in its own order."""
    with opened() as writer:
        put(writer, in_order(corpus_events()), 10**9)
        yield writer


@pytest.mark.parametrize("seed", seeds(20))
def test_any_disorder_and_budget_gives_one_graph(at_once: GraphWriter, seed: int) -> None:
    choice = random.Random(seed)
    with opened() as writer:
        for batch in batches(arriving(corpus_events(), seed), seed, most=300):
            put(writer, batch, choice.choice(BUDGETS))
        settle(writer)
        for table in BY_NAME.keys() - CONTENT_ADDRESSED - {"event_record", "quarantine"}:
            assert contents(writer, table) == contents(at_once, table), table
        assert exported(writer) == exported(at_once)
        assert [d for d in reader_of(writer).whole.differences(NAMES) if d.surplus or d.missing] == []


def test_the_store_holds_what_the_plain_fold_gives(at_once: GraphWriter) -> None:
    tables = fold_records(in_order(corpus_events()), NAMES)
    derived = derive(tables, NAMES)
    for name in BY_NAME.keys() - CONTENT_ADDRESSED - {"node"}:
        assert contents(at_once, name) == {key + values for key, values in tables[name].items()}, name
    for name in derived.keys() - {"live", "identity"} - MAY_HOLD_MORE:
        assert contents(at_once, name) == derived[name], name


@pytest.fixture(scope="module")
def flows(at_once: GraphWriter) -> dict[str, set[str]]:
    """Job to its flows, by names."""
    found: dict[str, set[str]] = {}
    for job, source, target in execute(at_once, NAMED):
        found.setdefault(job, set()).add(f"{source} > {target}")
    return found


WRITTEN = [quirk for quirk in quirks() if quirk.flows is not None]


@pytest.mark.parametrize("quirk", WRITTEN, ids=[quirk.clause[:50] for quirk in WRITTEN])
def test_a_quirk_gives_the_flows_written_beside_it(flows: dict[str, set[str]], quirk: Quirk) -> None:
    corpus_events = [json.loads(body) for body in quirk.bodies if b'"job": {' in body or b'"dataset": {' in body]
    jobs = {event.get("job", event.get("dataset"))["name"] for event in corpus_events}
    assert {flow for job in jobs for flow in flows.get(job, set())} == set(quirk.flows or ())


@pytest.mark.parametrize("seed", seeds(60))
def test_its_events_about_a_small_world_give_what_the_plain_fold_gives(seed: int) -> None:
    records = small_world(seed)
    tables = without_erased(fold_records(records, NAMES))
    derived = derive(tables, NAMES)
    exports = []
    for order in (2 * seed, 2 * seed + 1):
        choice = random.Random(order)
        doubled = [*records, *choice.sample(records, len(records) // 4)]
        choice.shuffle(doubled)
        with opened() as writer:
            for batch in batches(doubled, order, most=5):
                put(writer, batch, choice.choice(BUDGETS))
            settle(writer)
            for name in BY_NAME.keys() - CONTENT_ADDRESSED - {"node"}:
                assert contents(writer, name) == {key + values for key, values in tables[name].items()}, name
            for name in derived.keys() - {"live", "identity"} - MAY_HOLD_MORE:
                assert contents(writer, name) == derived[name], name
            assert [d for d in reader_of(writer).whole.differences(NAMES) if d.surplus or d.missing] == []
            exports.append(exported(writer))
    assert exports[0] == exports[1]
