"""A server compresses its log when it starts, unless it is configured not to, and answers from it as before."""

import time
from pathlib import Path

import pytest
from tests.crash.damage import client_of, event, fold
from tests.crash.damage import settings_of as settings_of_damage

from lineage_bridge.config import Settings
from lineage_bridge.eventlog.segment import list_segments, segment_path


def settings_of(folder: Path, *, is_compressed: bool) -> Settings:
    return settings_of_damage(folder).model_copy(update={"segment_bytes": 40_000, "compress_log": is_compressed})


@pytest.mark.parametrize("is_compressed", [True, False])
def test_a_server_compresses_its_log(tmp_path: Path, is_compressed: bool) -> None:
    settings = settings_of(tmp_path, is_compressed=is_compressed)
    with client_of(settings) as client:
        assert {client.post("/api/v1/lineage", content=event(number)).status_code for number in range(120)} == {201}
    log = settings.paths.log
    closed = list_segments(log)[:-1]
    assert closed
    with client_of(settings) as client:
        deadline = time.monotonic() + 60
        while is_compressed and any(segment_path(log, number).exists() for number in closed) and time.monotonic() < deadline:
            client.get("/api/v1/health")
        assert [segment_path(log, number).exists() for number in closed] == [not is_compressed] * len(closed)
        fold(settings)
        answer = client.get("/api/v1/lineage/events", params={"limit": "200"})
        assert len(answer.json()) == 120
        assert "X-Lineage-Unreadable-Events" not in answer.headers
        assert client.get("/api/v1/ready").json()["parts"]["log"]["state"] == "ok"
