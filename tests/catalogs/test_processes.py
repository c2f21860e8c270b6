"""Publications of a server: what an earlier one has left behind, and what cannot begin."""

import os
from pathlib import Path

import pytest

from lineage_bridge.config import Settings
from lineage_bridge.errors import ConfigError
from lineage_bridge.ports.targets import PublicationReport
from lineage_bridge.store.state.targets import TargetRepository
from lineage_bridge.wiring.shared import state_database
from lineage_bridge.wiring.targets import publishing


def test_a_process_id_that_somebody_else_has_now_does_not_block_a_target(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, targets={"there": {"kind": "files"}})
    service, repository = publishing.target_service(settings), TargetRepository(state_database(settings))
    for pid in (os.getpid(), os.getppid()):
        repository.save_report("there", PublicationReport("running", False, False, False, 1, pid))
        report = service.record("there").report
        assert report is not None
        assert report.state == "interrupted"


def test_why_a_publication_could_not_begin_is_in_its_report(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, outbound_allow="10.0.0.0/8")
    repository = TargetRepository(state_database(settings))
    repository.save("there", "openlineage", {"url": "http://192.168.1.1"})  # which was allowed when it was added
    with pytest.raises(ConfigError):
        publishing.publish(settings, "there", plan_only=True, prune=False, overwrite=False)
    report = repository.report("there")
    assert report is not None
    assert (report.state, "outbound_allow" in report.error) == ("failed", True)


@pytest.mark.parametrize(
    ("state", "pid", "is_kept"), [("running", os.getppid(), True), ("done", os.getppid(), False), ("running", 1, False)]
)
def test_a_report_says_when_the_publication_was_asked_for(tmp_path: Path, state: str, pid: int, is_kept: bool) -> None:
    settings = Settings(data_dir=tmp_path, outbound_allow="10.0.0.0/8")
    repository = TargetRepository(state_database(settings))
    repository.save("there", "openlineage", {"url": "http://192.168.1.1"})
    repository.save_report("there", PublicationReport(state, True, False, False, 7, pid))
    with pytest.raises(ConfigError):
        publishing.publish(settings, "there", plan_only=True, prune=False, overwrite=False)
    report = repository.report("there")
    assert report is not None
    assert (report.state, report.started_us == 7) == ("failed", is_kept)
