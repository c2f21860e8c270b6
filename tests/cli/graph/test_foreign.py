"""What limited keys said of datasets that are not theirs, on the command line."""

import json
import uuid

import pytest
from tests.events import dataset, run_event, schema

from lineage_bridge.cli.client import Client

RUN = str(uuid.UUID(int=700))
EVIL = run_event(namespace="etl-a", job="evil", run=RUN, inputs=[dataset("foreign orders", "db://shop", schema=schema("evil"))])


@pytest.fixture
def foreign(call, server):
    """Runs the command against the server."""
    return lambda *words: call("foreign", "--url", server.url, *words)


def test_what_was_said_is_listed(foreign, call, server):
    server.fold()
    assert "there are no assertions without effect" in foreign("--principal", "etl").err
    key = call("key", "create", "etl", "--scope", "ingest", "--namespace", "etl-*", "--data-dir", server.paths.data_dir).out.strip()
    with Client(server.url, lambda: key) as client:
        client.post_events(EVIL, "application/json")
    server.fold()
    listed = foreign("--dataset", "db://shop", "foreign orders", "--job", "etl-a", "evil", "--principal", "etl").out
    assert [part in listed for part in ("etl", "etl-a evil", "schema", "db://shop foreign orders", "is about a dataset outside")] == [
        True
    ] * 5
    (item,) = json.loads(foreign("--json", "--principal", "etl").out)["foreign"]
    assert (item["namespaces"], item["facet"]["fields"]) == (["etl-*"], [{"name": "evil", "type": "INT"}])
    refused = foreign("--dataset", "db://shop", "nothing of that name")
    assert (refused.code, "nothing of that name" in refused.err) == (1, True)
