"""Whatever way events come in, the graph is the same, byte for byte."""

from itertools import islice
from pathlib import Path

import pytest
from bench.generator import Corpus, generate
from bench.load import is_json
from pyspark.sql import SparkSession
from tests.inputs.exports import WAYS, Servers, compared
from tests.servers.broker import Kafka
from tests.servers.kinesis import Kinesis

pytestmark = [pytest.mark.spark]

EVENTS = 800
"""How many come by each way."""


def test_every_way_in_gives_the_same_export(kafka: Kafka, kinesis_local: Kinesis, spark: SparkSession, tmp_path: Path) -> None:
    events = [body for sent in islice(generate(Corpus(EVENTS)), EVENTS) if is_json(body := sent.body)]
    lines: list[str] = []
    compared(tmp_path, [*events, b'{"no": "event"}'], Servers(kafka, kinesis_local, spark), lines.append)
    assert len(lines) == len(WAYS)
