"""What users are told to do when a plane cannot be observed."""

import pytest
from tests.sources.http import Reply, Request, Standin, standing

from lineage_bridge.errors import ForbiddenError, SourceError, UnauthenticatedError
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.confluent.hints import DISCOVERY, error_hint, missing_key_hint
from lineage_bridge.sources.confluent.observer import ConfluentObserver
from lineage_bridge.sources.confluent.settings import PLANES, ConfluentSettings

KEY = {"key": "KEY", "secret": "${env:HOME}"}
CRN = "crn://confluent.cloud/organization=o-1/environment=env-1"


@pytest.mark.parametrize("plane", [*PLANES, DISCOVERY])
def test_each_plane_names_the_setting_of_its_key_and_the_rights_that_it_needs(plane: str) -> None:
    missing = missing_key_hint(ConfluentSettings(), plane, "env-1/lkc-1")
    assert "_API_KEY and LINEAGE_BRIDGE_" in missing
    assert missing.startswith("set an API key of ")
    assert error_hint(plane, ForbiddenError("403")).startswith("grant the owner of the API key in `")
    assert error_hint(plane, SourceError("500", "look at it")) == "look at it"
    whole = {
        **dict.fromkeys(("cloud", "metrics"), KEY),
        **{setting: {"*": KEY} for setting in ("kafka", "registry", "flink", "ksqldb", "tableflow")},
        "audit_log": {**KEY, "bootstrap_servers": "b:9092"},
    }
    assert not missing_key_hint(ConfluentSettings.model_validate(whole), plane, "env-1/lkc-1")


def test_of_a_key_that_is_not_accepted_the_likelier_mistake_comes_first() -> None:
    assert error_hint(DISCOVERY, UnauthenticatedError("401")).startswith(
        "set `cloud` to an API key of Cloud resource management, as the key of a cluster"
    )
    assert error_hint("topics", UnauthenticatedError("401")).startswith(
        "set `kafka` to an API key of this Kafka cluster, as a Cloud API key"
    )


def test_steps_and_tests_carry_the_hints() -> None:
    def api(request: Request) -> Reply:
        path = "/".join(request.parts)
        if path == "org/v2/environments":
            return Reply(200, {"data": [{"id": "env-1", "metadata": {"resource_name": CRN}}]})
        if path == "cmk/v2/clusters":
            return Reply(200, {"data": [{"id": "lkc-1", "spec": {"http_endpoint": standin.url}}]})
        return Reply(403, {"errors": [{"detail": "no"}]}) if path.startswith(("connect", "iam", "v2")) else Reply(200, {"data": []})

    with standing(Standin(api)) as standin:
        settings = {
            "url": standin.url,
            "telemetry_url": standin.url,
            "cloud": KEY,
            "off": ["metrics", "names", "groups", "links", "audit-log"],
        }
        observer = ConfluentObserver("cc", ConfluentSettings.model_validate(settings))
        hints = {step.plane.key: step.plane.hints for step in observer.steps(None, NO_METADATA, 0)}
        checks = {check.step: check for check in observer.test()}
        standin.failing["/org"] = Reply(401, {})
        with pytest.raises(SourceError, match="401") as refused:
            observer.observe(None, NO_METADATA, 0)
        observer.close()
    assert hints["connect env-1/lkc-1"] == (
        "grant the owner of the API key in `cloud` a role that sees the cluster's connectors, such as Operator",
    )
    (missing,) = hints["topics env-1/lkc-1"]
    assert missing.startswith("set an API key of this Kafka cluster in `kafka`, under its id or *, or LINEAGE_BRIDGE_KAFKA_API_KEY")
    assert (checks["topics env-1/lkc-1"].hint, checks["topics env-1/lkc-1"].skipped) == (missing, True)
    assert (checks["connect env-1/lkc-1"].works, checks["connect env-1/lkc-1"].skipped) == (False, False)
    assert "Cloud resource management" in refused.value.hint
