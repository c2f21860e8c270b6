"""What a person reads after an extraction in which several things fail: a line for each cause, with its scopes and what to do."""

from typing import Any

import pytest
from tests.sources.http import Reply, Request, Standin, standing

from lineage_bridge.cli.extract import print_task
from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.confluent.hints import DISCOVERY, error_hint
from lineage_bridge.sources.confluent.observer import ConfluentObserver
from lineage_bridge.sources.confluent.settings import ConfluentSettings

KEY = {"key": "KEY", "secret": "${env:HOME}"}
CLUSTERS = ("lkc-1", "lkc-2", "lkc-3")
CRN = "crn://confluent.cloud/organization=o-1/environment=env-1"
GONE = "http://127.0.0.1:9"
"""Where nothing listens."""


def _api(request: Request, url: str) -> Reply:
    path = "/".join(request.parts)
    if path == "org/v2/environments":
        return Reply(200, {"data": [{"id": "env-1", "metadata": {"resource_name": CRN}}]})
    if path == "cmk/v2/clusters":
        return Reply(200, {"data": [{"id": name, "spec": {"http_endpoint": url}} for name in CLUSTERS]})
    if path == "srcm/v3/clusters":
        return Reply(200, {"data": [{"id": "lsrc-1", "spec": {"http_endpoint": GONE}}]})
    return Reply(403, {"errors": [{"detail": "no"}]}) if path.startswith("connect") else Reply(200, {"data": []})


def _settings(url: str) -> ConfluentSettings:
    off = ["metrics", "names", "groups", "links", "audit-log", "catalog", "schema-links", "flink", "ksqldb", "tableflow"]
    return ConfluentSettings.model_validate(
        {
            "url": url,
            "telemetry_url": url,
            "cloud": KEY,
            "registry": {"*": KEY},
            "kafka": {"lkc-2": {"key": "KEY", "secret": "${env:NOT_SET_HERE}"}},
            "off": off,
            "timeout_s": 1,
        }
    )


def _task(planes: list[dict[str, Any]]) -> dict[str, Any]:
    unknown = [plane for plane in planes if plane["state"] not in ("observed", "gone")]
    result = {"node_count": 1, "edge_count": 0}
    return {"planes": planes, "unknown": unknown, "status": "completed", "result": result, "events": 0, "progress": []}


def test_each_cause_is_one_line_with_its_scopes_and_what_to_do(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    with standing(Standin(lambda request: _api(request, standin.url))) as standin:
        observer = ConfluentObserver("cc", _settings(standin.url))
        planes = []
        for step in observer.steps(None, NO_METADATA, 0):
            plane = step.plane
            kind, _, scope = plane.key.partition(" ")
            planes.append(
                {
                    "plane": kind,
                    "scope": scope,
                    "state": str(plane.state),
                    "why": list(plane.why),
                    "hints": list(plane.hints),
                    "events": 0,
                    "requests": 0,
                    "took_s": 0.0,
                }
            )
        observer.close()
    print_task(_task(planes))
    lines = capsys.readouterr().out.splitlines()
    (forbidden,) = [line for line in lines if "403" in line]
    assert all(f"env-1/{name}" in forbidden for name in CLUSTERS)
    assert "grant the owner of the API key in `cloud` a role that sees the cluster's connectors, such as Operator" in forbidden
    (missing,) = [line for line in lines if "LINEAGE_BRIDGE_KAFKA_API_KEY" in line]
    assert "topics env-1/lkc-1, env-1/lkc-3 " in missing
    (unset,) = [line for line in lines if "NOT_SET_HERE" in line]
    assert "topics env-1/lkc-2" in unset
    assert "set it in the environment of `lineage-bridge serve`" in unset
    (unreachable,) = [line for line in lines if "registry env-1/lsrc-1" in line]
    assert "127.0.0.1:9" in unreachable
    assert "check the address, and that the server is running" in unreachable


def test_a_clusters_key_where_a_cloud_key_is_needed_is_the_first_thing_said() -> None:
    with standing(Standin(lambda _: Reply(401, {}))) as standin:
        observer = ConfluentObserver("cc", _settings(standin.url))
        with pytest.raises(SourceError, match="401") as refused:
            observer.observe(None, NO_METADATA, 0)
        observer.close()
    assert refused.value.hint.startswith("set `cloud` to an API key of Cloud resource management, as the key of a cluster does not work")
    assert error_hint(DISCOVERY, refused.value) == refused.value.hint
