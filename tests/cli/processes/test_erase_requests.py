"""Requested erasures: one that cannot be carried out keeps no other waiting, and nothing of a request is left."""

from pathlib import Path

import msgspec
import pytest

from lineage_bridge.config import Settings
from lineage_bridge.errors import NotFoundError
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.model.erasing.erasure import DONE, PERSON, ErasureRequest
from lineage_bridge.wiring.erasing.requests import erasure_requests, waiting_requests
from lineage_bridge.wiring.erasing.server import resume_all

ADA = "ada@example.com"


def test_an_erasure_that_fails_keeps_no_other_waiting(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    LogWriter(settings.paths.log).close()
    requests = erasure_requests(settings)
    asked = requests.request(PERSON, ADA, "", False)
    without_report = settings.paths.erasing / "0.json"
    without_report.write_bytes(msgspec.json.encode(ErasureRequest("0", PERSON, ADA)))
    unfinished = settings.paths.erasing / "1.json.new"
    unfinished.write_text(ADA)
    with pytest.raises(NotFoundError, match="no erasure '0'"):
        resume_all(settings, lambda *_: None)
    assert requests.record(asked.id).status == DONE
    assert [request.id for request in waiting_requests(settings.paths)] == ["0"]
    assert not unfinished.exists()


def test_a_request_that_is_finished_while_requests_are_listed_is_left_out(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    asked = erasure_requests(settings).request(PERSON, ADA, "", False)
    (settings.paths.erasing / "0.json").symlink_to("removed.json")
    assert [request.id for request in waiting_requests(settings.paths)] == [asked.id]
