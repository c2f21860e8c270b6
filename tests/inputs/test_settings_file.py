"""Inputs of the settings file: as the documentation writes them, beside those that users add."""

import re
from pathlib import Path
from typing import Any

import pytest

from lineage_bridge.config import Settings, load_settings
from lineage_bridge.errors import ConfigError, RequestError
from lineage_bridge.inputs.service import InputService
from lineage_bridge.wiring.inputs import input_service

PAGE = Path(__file__).parents[2] / "docs" / "inputs.md"
OPENMETADATA = """
[inputs.old]
kind = "openmetadata"
brokersUrl = "broker:9092"
topicName = "lineage"
sessionTimeout = 7
"""


def loaded(folder: Path, text: str) -> Settings:
    (folder / "lineage-bridge.toml").write_text(text)
    return load_settings({}, {"LINEAGE_BRIDGE_DATA_DIR": str(folder / "data")}, folder)


def service(folder: Path, text: str) -> InputService:
    return input_service(loaded(folder, text))


def test_every_example_of_the_page_is_valid(tmp_path: Path) -> None:
    examples = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(examples) == 3
    plain, intake, jobs = examples
    (made,) = service(tmp_path, plain + jobs).configured()
    assert (made.name, made.kind, made.origin, made.settings["topics"]) == ("events", "kafka", "file", ["lineage"])
    assert made.settings["jobs"] == {"include": ["team-.*"], "exclude": [".*_test$"]}
    assert loaded(tmp_path, intake).intake == "events"
    (written,) = service(tmp_path, intake).configured()
    assert written.settings["form"] == "stream"


def test_inputs_of_the_file_are_changed_there_alone_and_paused_everywhere(tmp_path: Path) -> None:
    text = '[inputs.events]\nkind = "folder"\nfolder = "/in"\n'
    made = service(tmp_path, f'input_folders = "/in"\n{text}{OPENMETADATA}')
    more: dict[str, Any] = {"bootstrap_servers": "b:9092", "topics": ["t"]}
    assert made.add("added", "kafka", more, replace=False).origin == "added"
    assert [(record.name, record.kind, record.origin) for record in made.configured()] == [
        ("added", "kafka", "added"),
        ("events", "folder", "file"),
        ("old", "kafka", "file"),
    ]
    assert made.record("old").settings == {"bootstrap_servers": "broker:9092", "topics": ["lineage"], "idle_s": 7}
    for change in (lambda: made.add("events", "kafka", more, replace=True), lambda: made.remove("events")):
        with pytest.raises(RequestError, match="input events is defined in the settings file"):
            change()
    assert made.pause("events", paused=True).paused
    again = service(tmp_path, f'input_folders = "/in"\n{text}')
    assert [(record.name, record.paused) for record in again.configured()] == [("added", False), ("events", True)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[inputs.events]\nkind = "kafka"\n', r"input events \(kafka\): setting bootstrap_servers"),
        ('[inputs.events]\nkind = "kafkaa"\n', "unknown kind of input 'kafkaa'"),
        ('[inputs.events]\nfolder = "/in"\n', "unknown kind of input ''"),
        ('[inputs.events]\nkind = "folder"\nfolder = "/in"\n', "inputs may not read /in"),
        ('[inputs."two words"]\nkind = "folder"\nfolder = "/in"\n', "'two words' is not a valid name"),
        (OPENMETADATA + "unheardOf = 1\n", "unknown option unheardOf"),
    ],
)
def test_an_invalid_input_of_the_file_is_named(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        service(tmp_path, text)
