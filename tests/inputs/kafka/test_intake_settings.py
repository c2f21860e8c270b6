"""The setting `intake` names an input whose topic can be a log; everything else is refused before a server starts."""

from pathlib import Path
from typing import Any

import pytest

from lineage_bridge.config import Settings
from lineage_bridge.errors import ConfigError
from lineage_bridge.wiring.inputs import intake_settings

INPUT = {"kind": "kafka", "form": "stream", "bootstrap_servers": "127.0.0.1:9092", "topics": ["received"]}


def settings(folder: Path, **changes: Any) -> Settings:
    return Settings(data_dir=folder, inputs={"events": {**INPUT, **changes}}, intake="events")


def test_the_topic_of_an_input_can_be_the_log(tmp_path: Path) -> None:
    found = intake_settings(settings(tmp_path))
    assert found is not None
    assert found.names == ("received",)
    assert intake_settings(settings(tmp_path).model_copy(update={"intake": ""})) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"form": "embedded"}, "form `stream`"),
        ({"topics": ["a", "b"]}, "exactly one topic"),
        ({"topics": ["received-*"]}, "exactly one topic"),
        ({"exclude_topics": ["received"]}, "exactly one topic"),
        ({"namespaces": ["team-*"]}, "all events"),
        ({"jobs": {"exclude": ["test"]}}, "all events"),
        ({"start": "latest"}, "all events"),
    ],
    ids=["form", "two", "glob", "excluded", "namespaces", "jobs", "start"],
)
def test_an_input_that_would_not_give_back_what_was_written_is_refused(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        intake_settings(settings(tmp_path, **changes))


def test_an_input_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no input 'other'"):
        intake_settings(settings(tmp_path).model_copy(update={"intake": "other"}))
    kinesis = settings(tmp_path).model_copy(update={"inputs": {"events": {"kind": "kinesis", "stream": "s"}}})
    with pytest.raises(ConfigError, match="not of the kind `kafka`"):
        intake_settings(kinesis)
