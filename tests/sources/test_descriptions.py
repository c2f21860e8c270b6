"""What forms are given of the settings of kinds: which are secrets, which are lists, and that numbers may be texts."""

from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.catalogs.kinds.glue.settings import GlueSettings
from lineage_bridge.inputs.kafka.settings import KafkaInputSettings
from lineage_bridge.sources.common.descriptions import describe_settings
from lineage_bridge.sources.flink.settings import FlinkSettings


def test_a_setting_is_a_secret_by_its_type_whatever_its_description_mentions() -> None:
    of_databricks = {setting.name: setting.secret for setting in describe_settings(DatabricksSettings)}
    assert (of_databricks["client_id"], of_databricks["client_secret"], of_databricks["token"]) == (False, True, True)
    of_kafka = {setting.name: setting.secret for setting in describe_settings(KafkaInputSettings)}
    assert (of_kafka["properties"], of_kafka["ssl_key_pem"]) == (False, True)


def test_what_may_be_a_text_instead_is_no_list() -> None:
    assert {setting.name: setting.many for setting in describe_settings(FlinkSettings)}["init_sql"] is False
    assert {setting.name: setting.many for setting in describe_settings(KafkaInputSettings)}["topics"] is True


def test_an_id_of_digits_is_a_text_though_commands_and_forms_read_it_as_a_number() -> None:
    assert GlueSettings.model_validate({"region": "eu-west-1", "catalog_id": 123456789012}).catalog_id == "123456789012"
