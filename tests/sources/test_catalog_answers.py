"""What sources that read catalogs make of answers in which a member is null or absent: it ends no poll, and no other asset."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.catalogs.standins.datahub import DataHub
from tests.catalogs.standins.openmetadata import OpenMetadata
from tests.catalogs.standins.server import answering
from tests.events import T0
from tests.sources.datahub import test_observer as datahub
from tests.sources.google_lineage import test_observer as google
from tests.sources.openmetadata import test_observer as openmetadata

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Observation, Observer
from lineage_bridge.sources.common.shared_metadata import NO_METADATA

Path = tuple[Any, ...]


@pytest.fixture
def source(request: pytest.FixtureRequest) -> Iterator[Observer[Any]]:
    if request.param == "google":
        location = google.Catalog()
        with answering(location.handle) as location.url:
            location.there.plant("a", "r", google.NOON, (google.TOPIC, google.RAW))
            location.there.plant("b", "r", google.LATER, (f"{google.RAW} total", f"{google.REVENUE} net"))
            yield location.source()
    elif request.param == "datahub":
        hub = DataHub()
        with answering(hub.handle) as url:
            entities = datahub.Catalog(hub, url)
            entities.plant_estate()
            yield entities.source()
    else:
        om = OpenMetadata()
        with answering(om.handle) as url:
            documents = openmetadata.Catalog(om, url)
            documents.plant_estate()
            yield documents.source()


def paths(value: Any, above: Path = ()) -> Iterator[Path]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*above, key)
        yield from paths(member, (*above, key))


def changed(answer: Any, path: Path, *, is_absent: bool) -> Any:
    made = copy.deepcopy(answer)
    at = made
    for key in path[:-1]:
        at = at[key]
    if is_absent:
        del at[path[-1]]
    else:
        at[path[-1]] = None
    return made


@pytest.mark.parametrize(
    ("source", "method", "entries"),
    [("datahub", "send", ("entities",)), ("openmetadata", "get", ("hits", "hits")), ("google", "get", None)],
    indirect=["source"],
)
def test_a_member_that_is_null_or_absent_ends_nothing_else(
    source: Observer[Any], method: str, entries: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, oddity = dict[str, Any](), dict[str, tuple[Path, bool]]()
    answered = getattr(HttpClient, method)

    def answer(client: HttpClient, *asked: Any, **parameters: Any) -> Any:
        key = json.dumps([asked, parameters], sort_keys=True)
        if key not in known:
            known[key] = answered(client, *asked, **parameters)
        path, is_absent = oddity.get(key, ((), False))
        return changed(known[key], path, is_absent=is_absent) if path else copy.deepcopy(known[key])

    def poll(before: str) -> Observation:
        return source.observe(json.loads(before), NO_METADATA, T0)

    monkeypatch.setattr(HttpClient, method, answer)
    before = json.dumps(poll("null").snapshot)
    assert poll(before).events == ()
    tried = [(key, path, is_absent) for key, whole in list(known.items()) for path in paths(whole) for is_absent in (False, True)]
    touched = 0
    for key, path, is_absent in tried:
        oddity.clear()
        oddity[key] = path, is_absent
        try:
            seen = poll(before)
        except SourceError:
            continue
        names = {(event.get("dataset") or event["job"])["name"] for event in seen.events}
        is_within = entries is None or (path[: len(entries)] == entries and len(path) > len(entries) + 1)
        assert len(names) <= is_within, (key, path, is_absent, names)
        touched += len(names)
    source.close()
    assert 0 < touched < len(tried)
