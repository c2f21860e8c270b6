"""The organization that variables of the environment name."""

from pathlib import Path

import pytest

from lineage_bridge.config import load_settings
from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.settings import reveal
from lineage_bridge.sources.confluent.environment import source_from_environment
from lineage_bridge.sources.confluent.settings import ConfluentSettings
from lineage_bridge.sources.confluent.variables import VARIABLES
from lineage_bridge.sources.runtime.service import SourceService
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.sources import SourceRepository

EVERY = {name: f"value of {name}" for name in VARIABLES} | {
    "LINEAGE_BRIDGE_AUDIT_LOG_BOOTSTRAP_SERVERS": "audit.example:9092",
    "LINEAGE_BRIDGE_SCHEMA_REGISTRY_ENDPOINT": "https://psrc",
    "LINEAGE_BRIDGE_CLUSTER_CREDENTIALS": '{"lkc-1": {"api_key": "K1", "api_secret": "S1"}}',
}


def test_all_variables_together_define_one_source(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in EVERY.items():
        monkeypatch.setenv(name, value)
    load_settings({}, EVERY, Path("/"), ignored=VARIABLES)
    (settings,) = source_from_environment(EVERY).values()
    assert settings.pop("kind") == "confluent"
    assert all(not secret.startswith("value") for secret in str(settings).split("'secret': '")[1:])
    parsed = ConfluentSettings.model_validate(settings)
    assert parsed.cloud is not None
    assert (parsed.cloud.key, reveal(parsed.cloud.secret)) == tuple(
        EVERY[f"LINEAGE_BRIDGE_CONFLUENT_CLOUD_API_{end}"] for end in ("KEY", "SECRET")
    )
    for plane in ("kafka", "registry", "flink", "ksqldb", "tableflow"):
        other = parsed.credential(plane, "anything")
        assert other is not None
        assert reveal(other.secret).endswith(f"{plane.upper().replace('REGISTRY', 'SCHEMA_REGISTRY')}_API_SECRET")
    credential = parsed.credential("kafka", "lkc-1")
    assert credential is not None
    assert (credential.key, reveal(credential.secret)) == ("K1", "S1")
    assert parsed.audit_log is not None
    assert parsed.registry_urls == {"*": "https://psrc"}


def test_without_a_cloud_key_there_is_no_source() -> None:
    assert source_from_environment({"LINEAGE_BRIDGE_KAFKA_API_KEY": "k", "LINEAGE_BRIDGE_KAFKA_API_SECRET": "s"}) == {}
    assert source_from_environment({"LINEAGE_BRIDGE_CONFLUENT_CLOUD_API_KEY": "k"}) == {}


def test_invalid_cluster_credentials_are_reported_without_their_text() -> None:
    with pytest.raises(ConfigError) as refused:
        source_from_environment({**EVERY, "LINEAGE_BRIDGE_CLUSTER_CREDENTIALS": '{"lkc-1": {"api_key": "hush"}}'})
    assert "CLUSTER_CREDENTIALS" in str(refused.value)
    assert "hush" not in str(refused.value) + refused.value.hint


def test_it_is_paused_until_resumed_and_yields_to_any_other_source(tmp_path: Path) -> None:
    service = SourceService({}, SourceRepository(StateDatabase(tmp_path / "state.db")), in_environment=source_from_environment(EVERY))
    (record,) = service.records()
    assert (record.name, record.origin, record.state.paused) == ("confluent", "environment", True)
    assert not service.pause("confluent", paused=False).state.paused
    service.add("mine", "confluent", {"cloud": {"key": "k", "secret": "${env:S}"}}, replace=False)
    assert [record.name for record in service.records()] == ["mine"]


@pytest.mark.parametrize("prefix", ["LINEAGE_BRIDGE_", ""])
def test_variables_of_confluents_own_tools_are_understood(prefix: str) -> None:
    variables = {f"{prefix}{name}_API_{end}": f"{name} {end}" for name in ("CONFLUENT_CLOUD", "KAFKA") for end in ("KEY", "SECRET")}
    (settings,) = source_from_environment(variables).values()
    assert settings["cloud"] == {"key": "CONFLUENT_CLOUD KEY", "secret": f"${{env:{prefix}CONFLUENT_CLOUD_API_SECRET}}"}
    assert settings["kafka"] == {"*": {"key": "KAFKA KEY", "secret": f"${{env:{prefix}KAFKA_API_SECRET}}"}}


def test_variables_with_the_prefix_count_first_and_half_a_key_is_none() -> None:
    variables = {"CONFLUENT_CLOUD_API_KEY": "own", "CONFLUENT_CLOUD_API_SECRET": "s", "LINEAGE_BRIDGE_CONFLUENT_CLOUD_API_KEY": "half"}
    assert source_from_environment(variables)["confluent"]["cloud"]["key"] == "own"
    variables["LINEAGE_BRIDGE_CONFLUENT_CLOUD_API_SECRET"] = "s"
    assert source_from_environment(variables)["confluent"]["cloud"]["key"] == "half"
    assert source_from_environment({"CONFLUENT_CLOUD_API_KEY": "own"}) == {}
