"""A cluster that may be called advertises brokers that may not: it is reached by one name, and advertises another address."""

from pathlib import Path
from typing import Any

import pytest
from tests.servers.broker import Kafka

from lineage_bridge.catalogs.kinds.kafka import KafkaTarget, KafkaTargetSettings
from lineage_bridge.config.outbound import Outbound
from lineage_bridge.errors import SourceError
from lineage_bridge.inputs.kafka.kafka_input import KafkaInput
from lineage_bridge.inputs.kafka.settings import KafkaInputSettings
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures
from lineage_bridge.sources.common.kafka.protocol.records import newest
from lineage_bridge.sources.common.kafka.protocol.tail import TopicTail
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.settings import SourceContext

REFUSED = r"127\.0\.0\.1 is not among the addresses that may be called"
BY_NAME = SourceContext(outbound=Outbound.parse("localhost"))
BOTH = SourceContext(outbound=Outbound.parse("localhost, 127.0.0.1"))


NOT_LOOKED_AT: Any = None
"""Positions of an input that is refused before it looks where to read on."""


def bootstrap(kafka: Kafka) -> dict[str, str]:
    return {"bootstrap_servers": f"localhost:{kafka.ports['PLAINTEXT']}"}


def test_sources_inputs_and_targets_do_not_connect_to_such_brokers(kafka: Kafka, tmp_path: Path) -> None:
    observed = KafkaSettings.model_validate(bootstrap(kafka), context=BY_NAME)
    with pytest.raises(SourceError, match=REFUSED):
        TopicTail(observed, "any")
    with pytest.raises(SourceError, match=REFUSED):
        newest(observed, {"any": (1,)}, {}, Failures())
    read = KafkaInputSettings.model_validate({**bootstrap(kafka), "topics": ["any"]}, context=BY_NAME)
    with pytest.raises(SourceError, match=REFUSED):
        KafkaInput("refused", read).open(NOT_LOOKED_AT)
    checks = list(KafkaInput("refused", read).test(lambda _: ""))
    assert [(check.step, check.works) for check in checks] == [("resolve", True), ("connect", False)]
    written = KafkaTargetSettings.model_validate({**bootstrap(kafka), "topic": "any"}, context=BY_NAME)
    target = KafkaTarget("refused", written, tmp_path)
    with pytest.raises(SourceError, match=REFUSED):
        target.write([])


def test_brokers_whose_address_is_allowed_too_are_used(kafka: Kafka) -> None:
    TopicTail(KafkaSettings.model_validate(bootstrap(kafka), context=BOTH), "any").close()
