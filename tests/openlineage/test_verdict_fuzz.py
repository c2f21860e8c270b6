"""Whatever the bytes, there is a verdict; what is accepted is JSON, and reads like what a plain JSON parser sees."""

import json
import pickle
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.openlineage.support import ARRIVAL_US, event, sample_lines, text

from lineage_bridge.openlineage.facets import read
from lineage_bridge.openlineage.verdict import HTTP_STATUS, Clean, Rejected, Repaired, judge

LINES = [line for line in sample_lines() if len(line) < 4000][::7]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)
MEMBERS = st.sampled_from(
    [
        "eventTime",
        "eventType",
        "producer",
        "schemaURL",
        "run",
        "job",
        "dataset",
        "inputs",
        "outputs",
        "namespace",
        "name",
        "runId",
        "facets",
        "inputFacets",
        "outputFacets",
        "sql",
        "schema",
        "fields",
        "_deleted",
        "_producer",
        "parent",
    ]
)
EVENT_LIKE: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=5), max_leaves=20
)


def check(raw: bytes) -> None:
    verdict = judge(raw, ARRIVAL_US)
    assert verdict == judge(raw, ARRIVAL_US)
    if isinstance(verdict, Rejected):
        assert verdict.code in HTTP_STATUS
        assert verdict.path.startswith("$")
        return
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    accepted(raw, verdict)


def accepted(raw: bytes, verdict: Clean | Repaired) -> None:
    found = verdict.event
    whole = json.loads(raw.decode(), parse_constant=int)
    assert (found.kind == "run") == bool(whole.get("job") and whole.get("run"))
    holders = [("job", found.job), ("run", found.run), ("dataset", found.dataset)]
    for where, holder in holders:
        for key, facet in (holder.facets if holder else {}).items():
            json.loads(facet)
            read(where, key, facet)  # type: ignore[arg-type] # one of the literals
    texts = json.dumps([found.job.name if found.job else "", *(d.name for d in (*found.inputs, *found.outputs))])
    assert "\\u0000" not in texts
    assert "\\ud8" not in texts or "\\udc" in texts or "\\ude" in texts or "\\udf" in texts or "\\udd" in texts


@given(st.binary(max_size=200))
def test_any_bytes(raw: bytes) -> None:
    check(raw)


@given(JSON)
def test_any_json(value: object) -> None:
    check(text(value))


@given(EVENT_LIKE, MEMBERS)
def test_events_with_odd_members(value: object, member: str) -> None:
    check(text(event(**{member: value})))


@given(st.dictionaries(MEMBERS, EVENT_LIKE, max_size=8))
def test_objects_of_known_members(value: dict[str, object]) -> None:
    check(text(value))


@given(st.sampled_from(LINES), st.data())
def test_damaged_events(line: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, min(len(line), start + 40)))
    patch = data.draw(
        st.binary(max_size=4) | st.sampled_from([b"\\u0000", b"\\ud800", b"null", b"1e999", b'"', b"\\", b"[", b"}", b"9" * 5000])
    )
    check(line[:start] + patch + line[end:])


@given(st.integers(0, 3000), st.sampled_from([b"[", b'{"a":', b'{"job":', b'[{"inputs":']))
def test_deep_nesting(levels: int, opening: bytes) -> None:
    verdict = judge(opening * levels, ARRIVAL_US)
    assert isinstance(verdict, Rejected)
