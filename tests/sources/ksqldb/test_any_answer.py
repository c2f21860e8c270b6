"""Whatever a server answers is read, description by description, or refused."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.events import T0
from tests.sources.ksqldb.server import shop

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.ksqldb.answers import parse
from lineage_bridge.sources.common.ksqldb.settings import KsqldbSettings
from lineage_bridge.sources.common.ksqldb.translate import shared_metadata, translate
from lineage_bridge.sources.common.shared_metadata import NO_METADATA

SETTINGS = KsqldbSettings(url="http://k:8088")
_JUNK = st.sampled_from([None, True, -1, "", "x", [], [None], ["x"], {}, {"x": None}, {"type": "STRUCT"}, [{"name": "x"}], 2**70, 1.5])


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """All (container, key) within a JSON value."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()):
        yield value, key
        yield from places(inner)


PLACES = len(list(places(shop().entities())))


@given(st.lists(st.tuples(st.integers(0, PLACES - 1), _JUNK), min_size=1, max_size=2))
def test_any_answer(changes: list[tuple[int, Any]]) -> None:
    server = shop()
    entities = json.loads(json.dumps(server.entities()))
    here = list(places(entities))
    for at, junk in changes:
        container, key = here[at]
        container[key] = junk
    try:
        state = parse(server.info(), entities)
    except SourceError:
        return
    first = translate(state, None, NO_METADATA, T0, SETTINGS)
    kept = json.loads(json.dumps(first.snapshot))
    assert all(encode(event) for event in first.events)
    shared_metadata(kept)
    again = translate(state, kept, NO_METADATA, T0 + 1, SETTINGS)
    assert {event.get("eventType") for event in again.events} <= {"RUNNING"}
    assert translate(state, kept, NO_METADATA, T0 + 1, SETTINGS) == again
