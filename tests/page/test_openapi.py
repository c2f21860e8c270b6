"""The description that the page's client is generated from is the server's."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.api.support import Server, running
from tools.openapi import PATH, text_of


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with running(tmp_path, tmp_path / "no store") as started:
        yield started


def test_the_committed_description_is_what_the_server_answers(server: Server) -> None:
    answered = json.loads(text_of(server.client.get("/openapi.json").json()))
    assert json.loads(PATH.read_text(encoding="utf-8")) == answered, "make openapi writes it anew"
